import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { command, define, type Run } from '../command.ts';
import { examine, type Finding, type Target } from './checks.ts';
import { compareReports } from './compare.ts';
import { createReport, formatReport } from './report.ts';
import { chooseTargets } from '../files.ts';
import { readBaseURL, readGatewayFinder, readKey } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { exitCodes, UsageError } from '../usage.ts';

interface DoctorOptions {
  readonly spend?: boolean | undefined;
  readonly model?: string | undefined;
  /** A file, or `true` for standard output. */
  readonly report?: string | true | undefined;
  readonly force?: boolean | undefined;
  readonly compare?: readonly string[] | undefined;
}

function print({ id, status, detail, fix }: Finding, terminal: Terminal): void {
  const signs = {
    ok: terminal.good('ok  '),
    warn: terminal.warning('warn'),
    fail: terminal.bad('FAIL'),
    skip: terminal.faint('skip'),
  };
  terminal.raw(`${signs[status]}  `);
  terminal.line(`${id.padEnd(15)} ${detail}`);
  if (fix !== undefined) terminal.line(`      ${''.padEnd(15)} → ${fix}`);
}

/** Writes a report as Markdown, or as JSON with `--json` or to a `.json` file. */
async function writeReport(target: Target, { options, terminal }: Run<DoctorOptions>) {
  const out = typeof options.report === 'string' ? options.report : undefined;
  const isJSON = options.json === true || out?.endsWith('.json') === true;
  const files = out === undefined ? undefined : await chooseTargets('report', { ...options, out });
  const report = await createReport(target);
  const text = isJSON ? JSON.stringify(report, undefined, 2) : formatReport(report);
  const path = await files?.path(0, isJSON ? 'json' : 'md');
  if (path === undefined) return { report, text };
  await writeFile(path, `${text}\n`);
  terminal.note(`The report is in ${path}`);
  return { report, text: undefined };
}

async function printDifferences(files: readonly string[], run: Run<DoctorOptions>) {
  const [first, second, ...others] = files;
  if (first === undefined || second === undefined || others.length > 0) {
    throw new UsageError('--compare requires two reports: doctor --compare a.json b.json');
  }
  const differences = await compareReports(first, second);
  const lines = differences.map(({ id, before, after }) => `${id}: ${before} → ${after}`);
  run.show(differences, lines, 'Nothing differs.');
  if (differences.length > 0) process.exitCode = exitCodes.refused;
}

/** `model-gateway doctor`. */
export function doctorCommand(): Command {
  const program = command('doctor', 'Check whether a gateway works and what it supports. Free.', [
    'doctor',
    'doctor -m gpt-4o-mini',
    'doctor --spend -m gpt-4o-mini',
    'doctor --report report.md',
    'doctor --compare yesterday.json today.json',
    'doctor --base-url https://gateway.example --gateway litellm --json',
  ])
    .option(
      '--spend',
      'also stream a short chat, which costs a few tokens; media models are not called',
    )
    .option(
      '--report [file]',
      'write a report for an issue, as Markdown or with --json: also probes each route; without the key, host and account',
    )
    .option('--force', 'replace an existing report')
    .option('--compare <files...>', 'compare two reports in JSON; exits with 1 if they differ')
    .option('-m, --model <name>', 'a model to check, and to call with --spend');
  return define<DoctorOptions>(program, async (_, run) => {
    const { options, terminal, signal, json } = run;
    if (options.compare !== undefined) {
      await printDifferences(options.compare, run);
      return;
    }
    if (options.spend === true && options.model === undefined) {
      throw new UsageError('--spend requires a model: doctor --spend -m gpt-4o-mini');
    }
    const target = {
      baseURL: readBaseURL(options),
      findGateway: readGatewayFinder(options),
      key: await readKey(options),
      signal,
      timeout: options.timeout ?? 10_000,
      model: options.model,
      spend: options.spend === true,
    };
    if (options.report !== undefined) {
      const { report, text } = await writeReport(target, run);
      if (text !== undefined) terminal.line(text);
      if (report.rows.some(({ status }) => status === 'fail')) process.exitCode = exitCodes.refused;
      return;
    }
    const findings: Finding[] = [];
    for await (const finding of examine(target)) {
      findings.push(finding);
      if (!json) print(finding, terminal);
    }
    if (json) terminal.json(findings);
    if (findings.some(({ status }) => status === 'fail')) process.exitCode = exitCodes.refused;
  });
}
