import type { Command } from 'commander';
import { onAbort } from '../http/abort.ts';
import { createEmulator, type Fault, type ReceivedRequest } from '../testing/index.ts';
import type { Operation } from '../index.ts';
import { codeOf } from '../node/durable.ts';
import { operations } from '../testing/server/router.ts';
import { bareCommand, define, type Run } from './command.ts';
import { makeFolder, rememberVideo } from './records.ts';
import { readBaseURL, readKey } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { collect, parseDuration, parseNumber, UsageError } from './usage.ts';

declare const __VERSION__: string;

interface ServerOptions {
  readonly port: number;
}

/** A command that serves until the person or the system ends it. */
function serverCommand(
  name: string,
  description: string,
  port: number,
  examples: readonly string[],
): Command {
  return bareCommand(name, description, examples)
    .option('-p, --port <number>', '0 takes a free one', parseNumber(0, 65_535, true), port)
    .option('--json', 'write lines of JSON');
}

/** Words what keeps a server from listening. */
async function listening<Server>(
  start: Promise<Server>,
  port: number,
  host = '127.0.0.1',
): Promise<Server> {
  try {
    return await start;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE' || (code === 'EACCES' && port !== 0)) {
      throw new UsageError(`Port ${port} cannot be had. Choose another: --port 0`);
    }
    if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES'].includes(code)) {
      throw new UsageError(`It cannot listen on ${host}. Choose another by --host.`);
    }
    throw error;
  }
}

/** Resolves when the person or the system ends the program, or the reader of its output is gone. */
function ended(signal: AbortSignal, { output }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
    process.once('SIGTERM', () => resolve());
    output.onFailure(resolve);
  });
}

interface EmulatorCommandOptions extends ServerOptions {
  readonly host: string;
  readonly key: string;
  readonly videoTime: number;
  readonly credit?: number | undefined;
  readonly fail?: readonly string[] | undefined;
  readonly hold?: boolean | undefined;
}

/** Faults that have a name on the command line. */
const named: Readonly<Record<string, Fault>> = {
  reset: { type: 'reset', when: 'before-charge' },
  'cut-after-charge': { type: 'reset', when: 'after-charge' },
  hang: { type: 'hang', charged: true },
  html: { type: 'html', status: 502 },
  'rate-limit': { type: 'rate-limit', retryAfter: 1 },
  'error-in-200': { type: 'error-in-200' },
  '499': { type: 'error', status: 499, charged: true },
  '500': { type: 'error', status: 500 },
  'cut-stream': { type: 'cut-events', after: 3 },
  'stall-stream': { type: 'stall-events', after: 3 },
  'no-finish': { type: 'no-finish', done: true },
  'missing-task': { type: 'task-not-exist' },
};

/** Reads `operation=fault`, `fault` or `operation=fault*3`. */
function parseFault(text: string): { operation: Operation | '*'; fault: Fault; times: number } {
  const [, at = '*', name = '', count = '1'] =
    /^(?:([\w.]+)=)?([\w-]+?)(?:\*(\d+))?$/.exec(text) ?? [];
  const fault = named[name];
  const operation = at === '*' ? '*' : operations.find((known) => known === at);
  if (fault === undefined) {
    const known = Object.keys(named).toSorted().join(', ');
    throw new UsageError(`There is no fault ${text}. There are ${known}.`);
  }
  if (operation === undefined) {
    throw new UsageError(`There is no operation ${at}. There are ${operations.join(', ')}.`);
  }
  return { operation, fault, times: Number(count) };
}

/** `model-gateway emulator`. */
export function emulatorCommand(): Command {
  const program = serverCommand(
    'emulator',
    'Serve a gateway for development and tests: no account, no network, no cost.',
    4010,
    [
      'emulator --port 4010',
      'emulator --fail videos.create=cut-after-charge',
      'curl -H "Authorization: Bearer sk-emulator" localhost:4010/__emulator/charges',
    ],
  )
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option('--key <key>', 'the key that it accepts', 'sk-emulator')
    .option('--video-time <time>', 'how long a video takes', parseDuration, 3_000)
    .option('--credit <units>', 'what may be charged before it refuses', parseNumber(0, 1e12))
    .option(
      '--fail <operation=fault>',
      'the next request fails, *3 for three; again for more',
      collect,
    )
    .option('--hold', 'videos stand still until the clock is moved')
    .addHelpText('after', `\nFaults: ${Object.keys(named).toSorted().join(', ')}`);
  return define<EmulatorCommandOptions>(program, (_, run) => emulate(run));
}

async function emulate({
  options: { port, host, key, videoTime, credit, fail = [], hold, json = false },
  terminal,
  signal,
}: Run<EmulatorCommandOptions>): Promise<void> {
  const emulator = createEmulator({
    apiKey: key,
    videoDuration: videoTime,
    ...(credit === undefined ? {} : { credit }),
  });
  for (const text of fail) emulator.fail(parseFault(text));
  if (hold === true) emulator.clock.hold();
  const server = await listening(emulator.listen(port, host), port, host);
  const { url } = server;
  if (json) {
    terminal.json({ baseURL: url, apiKey: key });
  } else {
    terminal.line(`GATEWAY_BASE_URL=${url}`);
    terminal.line(`GATEWAY_API_KEY=${key}`);
    terminal.note(
      `Steer it with this key below ${url}/__emulator: charges, requests, faults, clock.`,
    );
  }
  let told = 0;
  const tell = (): void => {
    const { requests, charges } = emulator;
    for (; told < requests.length; told += 1) {
      const request = requests[told];
      // An answer that is still being made is told of when it is there.
      if (request === undefined || (request.status === undefined && !request.disconnected)) return;
      const charge = charges.find(({ requestId }) => requestId === request.id);
      if (json) terminal.json({ ...summary(request), charged: charge?.amount ?? 0 });
      else terminal.line(lineOf(request, charge?.amount));
    }
  };
  const timer = setInterval(tell, 50);
  await ended(signal, terminal);
  clearInterval(timer);
  tell();
  await server.close();
}

function summary({ id, method, path, operation, status, disconnected }: ReceivedRequest): object {
  return { id, method, path, operation, status, disconnected };
}

function lineOf(request: ReceivedRequest, amount: number | undefined): string {
  const { method, path, status, disconnected } = request;
  const charged = amount === undefined ? '' : `  charged ${amount}`;
  const gone = disconnected ? '  the client went away' : '';
  return `${status ?? '---'} ${method} ${path}${charged}${gone}`;
}

interface PlaygroundCommandOptions extends ServerOptions {
  readonly emulator?: boolean | undefined;
}

/** `model-gateway playground`. */
export function playgroundCommand(): Command {
  const program = serverCommand(
    'playground',
    'Try everything in a browser, and see what a retry costs.',
    4020,
    [
      'playground',
      'GATEWAY_BASE_URL=https://gateway.example.com GATEWAY_API_KEY=sk-… model-gateway playground',
      'playground --emulator --port 0',
    ],
  )
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL, else the emulator)')
    .option('--key-file <path>', 'a file with the key (default: GATEWAY_API_KEY)')
    .option('--emulator', 'the emulator, whatever the environment says');
  return define<PlaygroundCommandOptions>(program, (_, run) => play(run));
}

async function play({ options, terminal, signal }: Run<PlaygroundCommandOptions>): Promise<void> {
  const { baseUrl, port, emulator = false, json = false } = options;
  const isReal = !emulator && (baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? '') !== '';
  const gateway = isReal
    ? { baseURL: readBaseURL(options), apiKey: await readKey(options) }
    : undefined;
  // Who does not ask for it does not load it.
  const { startPlayground } = await import('../playground/start.ts');
  const folder = isReal ? await makeFolder('playground') : undefined;
  const playground = await listening(
    startPlayground({
      version: __VERSION__,
      port,
      gateway,
      ...(folder === undefined ? {} : { folder, onSubmitted: rememberVideo }),
    }),
    port,
  );
  if (json) {
    const { url, baseURL, isEmulator } = playground;
    terminal.json({ url, baseURL, isEmulator });
  } else {
    terminal.line(playground.url);
    terminal.note(
      isReal
        ? `Open it in a browser. What it does is charged by ${playground.baseURL}; the key stays here.`
        : 'Open it in a browser. It runs on the emulator: no account, no network, no cost.',
    );
    terminal.note('Ctrl-C ends it.');
  }
  await ended(signal, terminal);
  await playground[Symbol.asyncDispose]();
}
