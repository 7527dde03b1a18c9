import { text as readAll } from 'node:stream/consumers';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { ReportedCosts } from '../reported-costs.ts';
import { bareCommand, define, gatewayOption, headerOption, type Run } from './command.ts';
import { configure, type Host, hosts, isForAllProjects, outputName } from '../mcp/configuration.ts';
import type { McpOptions, serveOnStdio } from '../mcp/start.ts';
import { busyCode, type Kind, kinds } from '../mcp/jobs/job.ts';
import type { WorkerMessage } from '../mcp/jobs/jobs.ts';
import { spawnWorker } from '../mcp/jobs/spawn-worker.ts';
import { makeFolder } from './records.ts';
import {
  type CommonOptions,
  defaultKeyFile,
  openClient,
  readBaseURL,
  readKey,
} from './settings.ts';
import { collect, exitCodes, parseDuration, parseNumber, UsageError } from './usage.ts';

declare const __VERSION__: string;

interface McpCommandOptions {
  readonly http?: number | true | undefined;
  readonly dir?: string | undefined;
  readonly root?: readonly string[] | undefined;
  readonly inputHost?: readonly string[] | undefined;
  readonly allow?: readonly Kind[] | undefined;
  readonly model?: readonly string[] | undefined;
  readonly anyModel?: boolean | undefined;
  readonly budget?: number | undefined;
  readonly dailyBudget?: number | undefined;
  readonly price?: readonly string[] | undefined;
  readonly confirm?: number | undefined;
  readonly inline: 'none' | 'thumbnail' | 'full';
  readonly wait: number;
  readonly concurrency: number;
  readonly ledger?: string | undefined;
  readonly print?: Host | undefined;
}

const maxDollars = 1_000_000;

const parseDollars = parseNumber(0, maxDollars);

function parseKinds(list: string): readonly Kind[] {
  return list.split(',').map((name) => {
    const kind = kinds.find((known) => known === name.trim());
    if (kind === undefined) throw new UsageError(`--allow takes ${kinds.join(', ')}, not ${name}.`);
    return kind;
  });
}

/** Parses repeated options such as `image=gpt-image-1`. */
function parsePairs(option: string, pairs: readonly string[] = []): (readonly [string, string])[] {
  return pairs.map((pair) => {
    const [, name = '', value = ''] = /^(.*)=([^=]+)$/.exec(pair) ?? [];
    if (name === '') throw new UsageError(`${option} takes name=value, not ${pair}.`);
    return [name, value];
  });
}

function parseModels(pairs: readonly string[] | undefined): Partial<Record<Kind, string>> {
  const models: Partial<Record<Kind, string>> = {};
  for (const [name, model] of parsePairs('--model', pairs)) {
    const kind = kinds.find((known) => known === name);
    if (kind === undefined) {
      throw new UsageError(
        `--model takes ${kinds.join(', ')}, not ${name}: --model image=gpt-image-1`,
      );
    }
    models[kind] = model;
  }
  return models;
}

function parsePrices(pairs: readonly string[] | undefined): Record<string, number> {
  return Object.fromEntries(
    parsePairs('--price', pairs).map(([model, price]) => {
      const dollars = Number(price);
      if (dollars >= 0 && dollars <= maxDollars) return [model, dollars];
      throw new UsageError(
        `--price of ${model}: ${price} is not a number from 0 to ${maxDollars}.`,
      );
    }),
  );
}

/** The settings that a process for a paid call needs. The key is read again from its source. */
type WorkerSettings = Pick<CommonOptions, 'baseUrl' | 'gateway' | 'keyFile' | 'header'> & {
  readonly ledger: string;
};

/** Returns the location of the ledger. A URL may contain a password, which other users can see in arguments. */
async function ledgerLocation({ ledger }: McpCommandOptions): Promise<string> {
  const location = ledger ?? process.env['MODEL_GATEWAY_LEDGER'] ?? '';
  return location === '' ? makeFolder(join('mcp', 'ledger')) : location;
}

async function readOptions({
  options,
}: Run<McpCommandOptions>): Promise<McpOptions & { readonly ledger: string }> {
  const baseUrl = readBaseURL(options);
  // Read before the server starts, so that a missing key is reported to the host at once.
  await readKey(options);
  const { gateway, keyFile, header, root = [], dir, inputHost: inputHosts = [] } = options;
  const ledger = await ledgerLocation(options);
  const settings: WorkerSettings = { baseUrl, gateway, keyFile, header, ledger };
  const [, program = ''] = process.argv;
  const worker = [process.execPath, ...process.execArgv, program, 'mcp-worker'];
  return {
    version: __VERSION__,
    state: await makeFolder('mcp'),
    openClient: (costs = new ReportedCosts()) => openClient(options, costs),
    runWorker: (message) => spawnWorker(worker, message),
    settings,
    ledger,
    concurrency: options.concurrency,
    workspace: { roots: root, dir, hosts: inputHosts },
    allowed: new Set(options.allow ?? kinds),
    defaultModels: parseModels(options.model),
    anyModel: options.anyModel ?? false,
    prices: parsePrices(options.price),
    budgets: { process: options.budget, day: options.dailyBudget },
    confirmAbove: options.confirm,
    inline: options.inline,
    wait: options.wait,
  };
}

/** Options whose values are in the environment of a printed configuration, or not in it. */
const ownOptions = /^--(print|base-url|gateway)$/;

/** Options whose values are paths, or the URL of a ledger. */
const pathOptions = /^--(key-file|dir|root|ledger)$/;

/**
 * Returns the other options of the command line, for a configuration.
 *
 * @param isForAll - Whether the configuration is for all projects: paths are absolute then.
 */
function otherOptions(args: readonly string[], isForAll: boolean): string[] {
  const place = (name: string, value: string): string =>
    isForAll && pathOptions.test(name) && !value.includes('://') ? resolve(value) : value;
  const others: string[] = [];
  for (let index = args.indexOf('mcp') + 1; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const [, name = arg, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    if (ownOptions.test(name)) {
      if (value === undefined) index += 1;
    } else if (value === undefined) {
      others.push(place(args[index - 1] ?? '', arg));
    } else {
      others.push(`${name}=${place(name, value)}`);
    }
  }
  return others;
}

function printConfiguration(host: Host, { options, terminal }: Run<McpCommandOptions>): void {
  const { baseUrl, gateway = process.env['GATEWAY_PROFILE'], dir, root } = options;
  const baseURL = baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? 'https://gateway.example.com';
  const args = otherOptions(process.argv.slice(2), isForAllProjects(host));
  // It may start its servers in a folder that cannot be written.
  if (host === 'claude-desktop' && dir === undefined && root === undefined) {
    args.push('--dir', join(homedir(), outputName));
  }
  const { where, text } = configure(host, { baseURL, gateway }, args);
  terminal.note(`Put this into ${where}:`);
  terminal.line(text);
  if (host === 'claude-desktop' && options.keyFile === undefined) {
    terminal.note(
      `Claude Desktop does not pass GATEWAY_API_KEY on: put the key into ${defaultKeyFile()} (chmod 600).`,
    );
  }
}

type ServeOnStdio = typeof serveOnStdio;

async function serve(
  run: Run<McpCommandOptions>,
  serveOneClient: ServeOnStdio | undefined,
): Promise<void> {
  const { options, terminal, signal } = run;
  if (options.print !== undefined) {
    printConfiguration(options.print, run);
    return;
  }
  const mcp = await readOptions(run);
  // Loaded only for this command, because it is large.
  const [start, { openLedger, SettingError }] = await Promise.all([
    import('../mcp/start.ts'),
    import('../mcp/jobs/ledger.ts'),
  ]);
  // Opened once to report a wrong location now, and not with the first call.
  const opened = await openLedger(mcp.ledger).catch((error: unknown) => {
    throw error instanceof SettingError ? new UsageError(error.message) : error;
  });
  await opened.close();
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal.addEventListener('abort', stop, { once: true });
  process.once('SIGTERM', stop);
  if (options.http === undefined) {
    await (serveOneClient ?? start.serveOnStdio)(mcp, controller.signal);
    process.off('SIGTERM', stop);
    return;
  }
  const port = options.http === true ? 4030 : options.http;
  const token = process.env['MODEL_GATEWAY_MCP_TOKEN'];
  const server = await start.serveOnHttp(mcp, port, token === '' ? undefined : token);
  terminal.line(server.url);
  terminal.note(`Send this header with every request: Authorization: Bearer ${server.token}`);
  await new Promise<void>((end) => {
    controller.signal.addEventListener('abort', () => end(), { once: true });
  });
  terminal.note('Finishing running calls…');
  await server.close();
}

/** `model-gateway mcp`. @param serveOneClient - Serves a client without `--http`; default: on standard input and output. */
export function mcpCommand(serveOneClient?: ServeOnStdio): Command {
  const program = bareCommand(
    'mcp',
    'Run an MCP server with tools for images, speech and videos. Its paid calls are charged once.',
    [
      'mcp --print claude',
      'mcp --model image=gpt-image-1 --model video=sora-2 --budget 5',
      'mcp --allow image,speech --daily-budget 20 --confirm 0.5',
      'mcp --http 4030',
    ],
  )
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL)')
    .addOption(gatewayOption())
    .option('--key-file <path>', 'a file that contains the key (default: GATEWAY_API_KEY_FILE)')
    .addOption(headerOption())
    .option('--http [port]', 'serve on a local port instead of standard input', (text) =>
      parseNumber(0, 65_535, true)(text),
    )
    .option(
      '--dir <folder>',
      'the folder for results (default: model-gateway-output in the workspace)',
    )
    .option('--root <folder>', 'a folder whose files the tools may read; repeatable', collect)
    .option('--input-host <name>', 'a host whose image URLs are allowed; repeatable', collect)
    .option(
      '--allow <kinds>',
      `the paid tools, separated by commas: ${kinds.join(', ')} (default: all)`,
      parseKinds,
    )
    .option('-m, --model <kind=name>', 'the default model of a kind; repeatable', collect)
    .option('--any-model', 'send names of models that the gateway does not list')
    .option('--budget <USD>', 'the most that this server may spend', parseDollars)
    .option(
      '--daily-budget <USD>',
      'the most that all servers of this user may spend a day',
      parseDollars,
    )
    .option(
      '--price <model=USD>',
      'the price of an image, a second of video or another call; repeatable',
      collect,
    )
    .option('--confirm <USD>', 'ask before a call that is expected to cost more', parseDollars)
    .addOption(
      new Option('--inline <size>', 'how much of an image is in a result')
        .choices(['none', 'thumbnail', 'full'])
        .default('thumbnail'),
    )
    .addOption(
      new Option('--wait <time>', 'the longest time that a tool call takes')
        .argParser(parseDuration)
        .default(45_000, '45s'),
    )
    .option('--concurrency <number>', 'paid calls at the same time', parseNumber(1, 100, true), 8)
    .option(
      '--ledger <folder>',
      'the ledger (default: MODEL_GATEWAY_LEDGER, a folder, or a postgres:// or redis:// URL)',
    )
    .addOption(new Option('--print <host>', 'print the configuration of a host').choices(hosts));
  return define<McpCommandOptions>(program, async (_, run) => serve(run, serveOneClient));
}

/** Makes the call of a message. @returns the exit code of a worker */
export async function makeCall(text: string): Promise<number> {
  const message: WorkerMessage & WorkerSettings = JSON.parse(text);
  const { job, ledger: location, ...options } = message;
  const [{ runJob }, { openLedger }, { jobsFolder, JobStore, spareFolder }] = await Promise.all([
    import('../mcp/jobs/worker.ts'),
    import('../mcp/jobs/ledger.ts'),
    import('../mcp/jobs/store.ts'),
  ]);
  const state = await makeFolder('mcp');
  const costs = new ReportedCosts();
  const client = await openClient(options, costs);
  const { ledger, close } = await openLedger(location);
  const store = await JobStore.open(jobsFolder(state));
  const context = { client, ledger, store, spareFolder: spareFolder(state), costs };
  const isMade = await runJob(job, context);
  await client.settled();
  await close();
  return isMade ? exitCodes.done : busyCode;
}

/** `model-gateway mcp-worker`: makes one paid call for `model-gateway mcp`, and survives it. */
export function mcpWorkerCommand(): Command {
  return new Command('mcp-worker').action(async () => {
    process.exitCode = await makeCall(await readAll(process.stdin));
  });
}

/** `model-gateway mcp-thumbnail`: prints a small version of an image for `model-gateway mcp`, within limits. */
export function mcpThumbnailCommand(): Command {
  return new Command('mcp-thumbnail').argument('<path>').action(async (path: string) => {
    const { createThumbnailOf } = await import('../mcp/jobs/thumbnail.ts');
    process.stdout.write((await createThumbnailOf(path)) ?? '');
  });
}
