import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { command, define, type Run } from '../command.ts';
import { chooseTargets, type Targets } from '../files.ts';
import { readBaseURL, readGatewayFinder, readHeaders, readKey } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { collect, exitCodes, parseDuration, parseNumber, UsageError } from '../usage.ts';
import { examine, type Finding } from './checks.ts';
import type { Target } from './probe.ts';
import { compareReports } from './compare.ts';
import { dollars } from './calls/estimate.ts';
import { formatReport } from './format.ts';
import { reportCalls } from './calls/operations.ts';
import { mcpFinding } from './mcp.ts';
import { createReport } from './report.ts';
import type { DoctorReport } from './report-schema.ts';
import { formatPage } from './page.ts';
import { formatProfile } from './settings-advice.ts';
import { isProblem } from './summary.ts';
import type { Plan, SpendOptions } from './calls/spend.ts';
import { watchGateway } from './watch.ts';

interface DoctorOptions {
  /** A limit in US dollars, or `true` for one short chat. */
  readonly spend?: string | true | undefined;
  readonly video?: boolean | undefined;
  readonly only?: readonly string[] | undefined;
  readonly model?: readonly string[] | undefined;
  /** A file, or `true` for standard output. */
  readonly report?: string | true | undefined;
  /** The file of the page. */
  readonly html?: string | undefined;
  readonly writeProfile?: string | undefined;
  readonly force?: boolean | undefined;
  readonly compare?: readonly string[] | undefined;
  /** The interval of a watch, in milliseconds. */
  readonly watch?: number | undefined;
  readonly runs?: number | undefined;
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

/** Reads the limit of `--spend`, in US dollars. */
function parseLimit(text: string): number {
  const limit = Number(text.replace(/^\$/, ''));
  if (limit > 0 && limit <= 1_000) return limit;
  throw new UsageError(`--spend expects a limit in US dollars from 0 to 1000, not ${text}.`);
}

/** Describes the calls of a plan and the most that they can cost. */
function describePlan({ calls, usd, limit }: Plan): string {
  const made = calls.filter(({ skip, estimate }) => skip === undefined && estimate.usd > 0);
  const longest = Math.max(0, ...made.map(({ model }) => model?.id.length ?? 0));
  const lines = made.map(({ call, model, estimate }) => {
    const cost = `${estimate.isKnown ? 'up to' : 'no price; at most'} ${dollars(estimate.usd)}`;
    return `  ${call.id.padEnd(24)} ${(model?.id ?? '').padEnd(longest)}  ${cost}`;
  });
  const count = made.length === 1 ? '1 call costs' : `${made.length} calls cost`;
  const summary = `${count} up to ${dollars(usd)}, of a limit of ${dollars(limit)}:`;
  return [summary, ...lines].join('\n');
}

/** Returns the options of the paid calls; `undefined` without a limit. */
function spendOptions(run: Run<DoctorOptions>): SpendOptions | undefined {
  const { options, terminal } = run;
  const { spend, video = false, only, model = [] } = options;
  if (typeof spend !== 'string') {
    if (video || only !== undefined) {
      throw new UsageError(`--${video ? 'video' : 'only'} requires a limit: --spend 0.50`);
    }
    return undefined;
  }
  const ids = reportCalls.map(({ id }) => id);
  const unknown = only?.find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    throw new UsageError(`--only does not know ${unknown}. Calls: ${ids.join(', ')}.`);
  }
  let isConfirmed = false;
  return {
    wallet: { limit: parseLimit(spend), spent: 0 },
    video,
    only,
    models: model,
    async confirm(plan) {
      if (!isConfirmed) await run.confirmCharge(describePlan(plan), 'No paid call was sent.');
      isConfirmed = true;
    },
    onTask(id) {
      terminal.note(`Submitted ${id}. If this ends: model-gateway video wait ${id}`);
    },
  };
}

/** Checks the file of `--write-profile` before anything is sent. It is never replaced. */
async function checkProfilePath(path: string): Promise<void> {
  if (!/\.m?ts$/.test(path)) {
    throw new UsageError(`--write-profile writes TypeScript: name a .ts file, not ${path}.`);
  }
  await chooseTargets('profile', { out: path });
}

async function writeProfile(
  path: string,
  { settings }: DoctorReport,
  terminal: Terminal,
): Promise<void> {
  if (settings === undefined) {
    terminal.note('No profile is written, because the gateway could not be examined.');
    return;
  }
  await writeFile(path, formatProfile(settings), { flag: 'wx' });
  terminal.note(`The profile is in ${path}`);
}

/** Writes a report as Markdown, as JSON with `--json` or to a `.json` file, and as a page with `--html`. */
async function report(target: Target, run: Run<DoctorOptions>): Promise<void> {
  const { options, terminal } = run;
  const { html, writeProfile: profilePath } = options;
  const out = typeof options.report === 'string' ? options.report : undefined;
  const isJSON = options.json === true || out?.endsWith('.json') === true;
  if (profilePath !== undefined) await checkProfilePath(profilePath);
  const choose = (file: string | undefined) =>
    file === undefined ? undefined : chooseTargets('report', { ...options, out: file });
  const [files, pages] = [await choose(out), await choose(html)];
  const document = await createReport(target, { spend: spendOptions(run) });
  const write = async (targets: Targets, extension: string, text: string): Promise<void> => {
    const path = await targets.write(extension, (file) => writeFile(file, `${text}\n`));
    terminal.note(`The report is in ${path}`);
  };
  const text = isJSON ? JSON.stringify(document, undefined, 2) : formatReport(document);
  if (files !== undefined) await write(files, isJSON ? 'json' : 'md', text);
  if (pages !== undefined) await write(pages, 'html', formatPage(document));
  const isPrinted = options.report === true || options.json === true || html === undefined;
  if (files === undefined && isPrinted) terminal.line(text);
  if (profilePath !== undefined) await writeProfile(profilePath, document, terminal);
  if (document.rows.some(isProblem)) process.exitCode = exitCodes.refused;
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

/** Parses the interval of `--watch`. */
function parseInterval(text: string): number {
  const interval = parseDuration(text);
  if (interval >= 1_000 && interval <= 86_400_000) return interval;
  throw new UsageError(`--watch expects an interval from 1s to 24h, not ${text}.`);
}

/** Rejects options that a watch does not use. */
function checkWatch({
  watch,
  runs,
  report: file,
  html,
  writeProfile: profile,
  compare,
}: DoctorOptions): void {
  if (watch === undefined) {
    if (runs !== undefined)
      throw new UsageError('--runs requires --watch: doctor --watch 1h --runs 24');
    return;
  }
  const others = {
    '--report': file,
    '--html': html,
    '--write-profile': profile,
    '--compare': compare,
  };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) throw new UsageError(`--watch cannot be combined with ${other}.`);
}

/** Prints a line for each change of a gateway until the watch ends. */
async function runWatch(target: Target, interval: number, run: Run<DoctorOptions>): Promise<void> {
  const { options, terminal, signal } = run;
  const spend = spendOptions(run);
  const isGood = await watchGateway({
    interval,
    runs: options.runs,
    signal,
    wallet: spend?.wallet,
    createReport: () => createReport(target, { spend }),
    onStart({ rows }) {
      const problems = rows.filter(isProblem);
      const count = problems.length === 0 ? 'no problems' : `problems: ${problems.length}`;
      terminal.note(`First report: ${rows.length} rows, ${count}. Ctrl-C ends the watch.`);
      for (const { id, status, detail } of problems) terminal.note(`  ${id}: ${status} ${detail}`);
    },
    onChange({ id, before, after, change }, at) {
      const line = { at, id, change, before, after };
      if (options.json === true) terminal.line(JSON.stringify(line));
      else terminal.line(`${at}  ${change.padEnd(7)}  ${id}: ${before} → ${after}`);
    },
    onSpent(count) {
      terminal.note(
        `The watch ends after ${count} reports: the rest of the limit is too small for another.`,
      );
    },
  });
  process.exitCode = isGood ? exitCodes.done : exitCodes.refused;
}

async function readTarget(
  options: Run<DoctorOptions>['options'],
  signal: AbortSignal,
): Promise<Target> {
  const kind = options.gateway ?? process.env['GATEWAY_PROFILE'] ?? '';
  return {
    baseURL: readBaseURL(options),
    findGateway: readGatewayFinder(options),
    isAuto: kind.trim() === '' || kind.trim() === 'auto',
    key: await readKey(options),
    headers: readHeaders(options),
    signal,
    timeout: options.timeout ?? 10_000,
    model: options.model?.[0],
    spend: options.spend === true,
  };
}

/** `model-gateway doctor`. */
export function doctorCommand(): Command {
  const program = command(
    'doctor',
    'Check whether a gateway works and what it supports. Free without --spend.',
    [
      'doctor',
      'doctor -m gpt-4o-mini',
      'doctor --spend -m gpt-4o-mini',
      'doctor --report report.md',
      'doctor --html report.html',
      'doctor --report report.md --spend 0.50 -m gpt-4o-mini -m gpt-image-1',
      'doctor --write-profile gateway.ts --spend 0.50',
      'doctor --compare yesterday.json today.json',
      'doctor --watch 15m',
      'doctor --base-url https://gateway.example --gateway litellm --json',
    ],
  )
    .option(
      '--spend [usd]',
      'with a limit in US dollars: report what one tiny call of each operation returns and costs; without: stream a short chat with -m',
    )
    .option('--video', 'also create a video; requires a limit')
    .option('--only <calls...>', 'only these calls of --spend, such as chat-stream image')
    .option('-y, --yes', 'do not ask for confirmation before the calls of --spend')
    .option(
      '--report [file]',
      'write a report for an issue, as Markdown or with --json: also probes each route; without the key, host and account',
    )
    .option('--html <file>', 'write the report as one page for a browser')
    .option(
      '--write-profile <file>',
      'write the profile of the gateway as TypeScript, to a new file',
    )
    .option('--force', 'replace an existing report')
    .option('--compare <files...>', 'compare two reports in JSON; exits with 1 if they differ')
    .option(
      '--watch <interval>',
      'report again and again, such as every 15m, and print a line for each change; exits with 1 if something failed or got worse',
      parseInterval,
    )
    .option(
      '--runs <number>',
      'end --watch after this many reports',
      parseNumber(1, 1_000_000, true),
    )
    .option(
      '-m, --model <name>',
      'a model to check, and to call with --spend; repeatable for calls of other kinds',
      collect,
    );
  return define<DoctorOptions>(program, async (_, run) => {
    const { options, terminal, signal, json } = run;
    checkWatch(options);
    if (options.compare !== undefined) {
      await printDifferences(options.compare, run);
      return;
    }
    if (typeof options.spend !== 'string' && (options.model?.length ?? 0) > 1) {
      throw new UsageError('-m can be repeated only with a limit: doctor --spend 0.50 -m …');
    }
    if (options.spend === true && options.model === undefined) {
      throw new UsageError('--spend requires a model or a limit: doctor --spend -m gpt-4o-mini');
    }
    const isReport =
      options.report !== undefined ||
      options.html !== undefined ||
      options.writeProfile !== undefined ||
      typeof options.spend === 'string';
    spendOptions(run);
    const target = await readTarget(options, signal);
    if (options.watch !== undefined) {
      await runWatch(target, options.watch, run);
      return;
    }
    if (isReport) {
      await report(target, run);
      return;
    }
    const findings: Finding[] = [];
    const add = (finding: Finding): void => {
      findings.push(finding);
      if (!json) print(finding, terminal);
    };
    for await (const finding of examine(target)) add(finding);
    add(await mcpFinding());
    if (json) terminal.json(findings);
    if (findings.some(({ status }) => status === 'fail')) process.exitCode = exitCodes.refused;
  });
}
