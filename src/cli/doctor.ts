import type { Command } from 'commander';
import { command, define } from './command.ts';
import { examine, type Finding } from './doctor-checks.ts';
import { readBaseURL, readGatewayFinder, readKey } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

interface DoctorOptions {
  readonly spend?: boolean | undefined;
  readonly model?: string | undefined;
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

/** `model-gateway doctor`. */
export function doctorCommand(): Command {
  const program = command('doctor', 'Check whether a gateway works and what it supports. Free.', [
    'doctor',
    'doctor -m gpt-4o-mini',
    'doctor --spend -m gpt-4o-mini',
    'doctor --base-url https://gateway.example --gateway litellm --json',
  ])
    .option(
      '--spend',
      'also stream a short chat, which costs a few tokens; media models are not called',
    )
    .option('-m, --model <name>', 'a model to check, and to call with --spend');
  return define<DoctorOptions>(program, async (_, run) => {
    const { options, terminal, signal, json } = run;
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
    const findings: Finding[] = [];
    for await (const finding of examine(target)) {
      findings.push(finding);
      if (!json) print(finding, terminal);
    }
    if (json) terminal.json(findings);
    if (findings.some(({ status }) => status === 'fail')) process.exitCode = exitCodes.refused;
  });
}
