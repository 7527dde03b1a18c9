import { Command, Option } from 'commander';
import { gatewayNames } from '../../gateways/index.ts';
import type { CostQuery, Gateway } from '../../index.ts';
import { ReportedCosts } from '../reported-costs.ts';
import { saveUnread } from './files.ts';
import { report, reportOutput, type Context } from './report.ts';
import { openClient, type CommonOptions } from './settings.ts';
import { formatDollars, Terminal } from './terminal.ts';
import { collect, Exit, exitCodes, parseDuration } from './usage.ts';

/** The options, output and client of a command that runs. */
export interface Run<Options> {
  readonly options: Options & CommonOptions;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** `true` if results are written as JSON. */
  readonly json: boolean;
  readonly context: Context;
  /** Creates a client from the options. `model` is used in error messages. */
  client(model?: string): Promise<Gateway>;
  /** Writes a result as JSON or as lines. Without lines, prints the text `none`. */
  show(value: unknown, lines: readonly string[], none?: string): void;
  /**
   * Returns the price of a call by the gateway's price list, such as `, about $0.04`; an empty text if it is
   * unknown or nobody is asked for confirmation. Free.
   */
  price(call: CostQuery): Promise<string>;
  /**
   * Prints the charge, and asks for confirmation on a terminal.
   *
   * @param refusal - Printed if the user declines.
   * @throws `Exit` if the user declines
   */
  confirmCharge(message: string, refusal?: string): Promise<void>;
}

/** Time limit for reading a price before the question, in milliseconds. */
const priceTime = 5_000;

/** Adds examples below the help of a command. */
export function withExamples(program: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) =>
    /\bmodel-gateway |^curl /.test(example) ? `  $ ${example}` : `  $ model-gateway ${example}`,
  );
  return program.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Creates a command with examples below its help. */
export function bareCommand(
  name: string,
  description: string,
  examples: readonly string[],
): Command {
  return withExamples(new Command(name).description(description), examples);
}

/** Creates the option for the kind of gateway. */
export const gatewayOption = (): Option =>
  new Option(
    '--gateway <kind>',
    'the kind of gateway (default: GATEWAY_PROFILE, or auto, by its host)',
  ).choices(gatewayNames);

/** Creates the option for headers of every request. */
export const headerOption = (): Option =>
  new Option(
    '--header <name: value>',
    'a header of every request; repeatable (default: GATEWAY_HEADERS, one a line)',
  ).argParser(collect);

/** Creates a command with the options of every command that calls a gateway. */
export function command(name: string, description: string, examples: readonly string[]): Command {
  return bareCommand(name, description, examples)
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL)')
    .addOption(gatewayOption())
    .option('--key-file <path>', 'a file that contains the key (default: GATEWAY_API_KEY_FILE)')
    .addOption(headerOption())
    .option('--timeout <time>', 'time limit, such as 30s or 5m', parseDuration)
    .option('--json', 'write JSON, which is the default in a pipe');
}

/** Adds the options of a command that writes files. */
export function withOut(program: Command, description = 'the output file'): Command {
  return program
    .option('-o, --out <path>', description)
    .option('--force', 'replace an existing file');
}

/** Adds the options of a command whose result is charged. */
export function withCharge(program: Command): Command {
  return program
    .option('--call-id <id>', 'an id for this call: a second run with it is not charged again')
    .option('-y, --yes', 'do not ask for confirmation before the charge; only a terminal is asked');
}

/** Adds the option of a command whose call may be sent again after a lost response. */
export function withResend(program: Command): Command {
  return program.option(
    '--resend',
    'send the call again if its response is lost, which may be billed twice (default: once)',
  );
}

/**
 * Sets the action of a command. Errors are printed and set the exit code; Ctrl-C aborts `run.signal`.
 *
 * @param body - Receives the arguments and the run.
 */
export function define<Options>(
  program: Command,
  body: (args: readonly string[], run: Run<Options>) => Promise<void>,
): Command {
  return program.action(async () => {
    const options = program.opts<Options & CommonOptions & { readonly yes?: boolean }>();
    const terminal = new Terminal();
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (): void => {
      // A second Ctrl-C exits immediately.
      if (signal.aborted) process.exit(exitCodes.interrupted);
      controller.abort();
    };
    process.on('SIGINT', stop);
    const context: Context = { costs: new ReportedCosts() };
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
        context.client = await openClient(options, context.costs);
        context.model = model;
        return context.client;
      },
      async price(call) {
        if (options.yes === true || !terminal.canAsk) return '';
        try {
          const limit = AbortSignal.any([signal, AbortSignal.timeout(priceTime)]);
          const estimate = await context.client?.account.estimate(call, { signal: limit });
          const { amount } = estimate ?? {};
          return amount?.unit === 'USD' ? `, about ${formatDollars(amount.value)}` : '';
        } catch {
          // Not every gateway publishes prices; the question is asked without one.
          return '';
        }
      },
      async confirmCharge(message, refusal = 'Nothing was sent.') {
        context.isCharged = true;
        terminal.note(message);
        if (options.yes === true || !terminal.canAsk) return;
        if (await terminal.confirm('Continue?', signal)) return;
        terminal.note(refusal);
        throw new Exit(exitCodes.refused);
      },
    };
    try {
      await body(program.args, run);
    } catch (error) {
      const code = await report(error, terminal, context);
      if (context.isCharged === true) {
        await saveUnread(error, 'out' in options ? String(options.out) : undefined, terminal);
      }
      process.exitCode = signal.aborted ? exitCodes.interrupted : code;
    } finally {
      terminal.endProgress();
      const cost = context.costs.total;
      if (cost !== undefined && context.hasShownCost !== true) {
        terminal.aside(`${formatDollars(cost)}, as reported by the gateway\n`);
      }
      const code = await reportOutput(terminal, context);
      if (code !== undefined) process.exitCode ||= code;
      process.off('SIGINT', stop);
    }
  });
}
