import { Command } from 'commander';
import type { Gateway } from '../index.ts';
import { report, reportOutput, type Context } from './report.ts';
import { openClient, type CommonOptions } from './settings.ts';
import { Terminal } from './terminal.ts';
import { Exit, exitCodes, parseDuration } from './usage.ts';

/** What the body of a command works with. */
export interface Run<Options> {
  readonly options: Options & CommonOptions;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether results are written as JSON. */
  readonly json: boolean;
  readonly context: Context;
  /** A client as the options say, for errors too. */
  client(model?: string): Promise<Gateway>;
  /** Writes a result: as JSON, or as lines for a person, who is told when there is `none`. */
  show(value: unknown, lines: readonly string[], none?: string): void;
  /**
   * Says what will be charged, and asks a person to confirm.
   *
   * @throws `Exit` when the answer is no
   */
  agree(what: string): Promise<void>;
}

/** A new command, with examples below its help. */
export function bareCommand(
  name: string,
  description: string,
  examples: readonly string[],
): Command {
  const lines = examples.map((example) =>
    example.includes('model-gateway ') || example.startsWith('curl ')
      ? `  $ ${example}`
      : `  $ model-gateway ${example}`,
  );
  return new Command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** A new command with the options that all have that call a gateway. */
export function command(name: string, description: string, examples: readonly string[]): Command {
  return bareCommand(name, description, examples)
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL)')
    .option('--key-file <path>', 'a file with the key (default: GATEWAY_API_KEY)')
    .option('--timeout <time>', 'how long it may take, such as 30s or 5m', parseDuration)
    .option('--json', 'write JSON, as in a pipe');
}

/** Adds the options of a command that writes files. */
export function withOut(program: Command, what = 'the file'): Command {
  return program.option('-o, --out <path>', what).option('--force', 'replace a file that exists');
}

/** Adds the options of a command that is charged for a result. */
export function withCharge(program: Command): Command {
  return program
    .option('--call-id <id>', 'your name for this call: a second run does not pay again')
    .option('-y, --yes', 'do not ask before it is charged');
}

/**
 * Gives a command its body: what it throws becomes a line and an exit code, and Ctrl-C aborts it.
 *
 * @param body - Gets the arguments as text, and what it works with.
 */
export function define<Options>(
  program: Command,
  body: (words: readonly string[], run: Run<Options>) => Promise<void>,
): Command {
  return program.action(async () => {
    const options = program.opts<Options & CommonOptions & { readonly yes?: boolean }>();
    const terminal = new Terminal();
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (): void => {
      // A second time it is meant.
      if (signal.aborted) process.exit(exitCodes.interrupted);
      controller.abort();
    };
    process.on('SIGINT', stop);
    const context: Context = {};
    const json = options.json ?? !terminal.isOutput;
    const run: Run<Options> = {
      options,
      terminal,
      signal,
      json,
      context,
      show(value, lines, none) {
        if (json) return terminal.json(value);
        if (lines.length === 0 && none !== undefined) terminal.note(none);
        for (const line of lines) terminal.line(line);
      },
      async client(model) {
        context.client = await openClient(options);
        context.model = model;
        return context.client;
      },
      async agree(what) {
        context.isCharged = true;
        terminal.note(what);
        if (options.yes === true || !terminal.canAsk) return;
        if (!(await terminal.agrees('Go on?', signal))) throw new Exit(exitCodes.refused);
      },
    };
    try {
      await body(program.args, run);
    } catch (error) {
      const code = await report(error, terminal, context);
      process.exitCode = signal.aborted ? exitCodes.interrupted : code;
    } finally {
      terminal.endProgress();
      const code = await reportOutput(terminal, context);
      if (code !== undefined) process.exitCode ||= code;
      process.off('SIGINT', stop);
    }
  });
}
