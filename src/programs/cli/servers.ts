import { type Command, Option } from 'commander';
import { onAbort } from '../../http/abort.ts';
import {
  createEmulator,
  type EmulatedGateway,
  type NewApiEdition,
  type Fault,
  type ReceivedRequest,
} from '../../testing/index.ts';
import type { Operation } from '../../index.ts';
import { systemErrorCode } from '../../adapters/node/durable.ts';
import { emulatedGateways, newApiEditions } from '../../testing/gateways/families.ts';
import { operations } from '../../endpoints.ts';
import { bareCommand, define, gatewayOption, headerOption, type Run } from './command.ts';
import { makeFolder, rememberVideo } from './records.ts';
import { readBaseURL, readHeaders, readKey } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { collect, parseDuration, parseNumber, UsageError } from './usage.ts';

declare const __VERSION__: string;

interface ServerOptions {
  readonly port: number;
}

/** Creates a command that runs a server until it is stopped. */
function serverCommand(
  name: string,
  description: string,
  port: number,
  examples: readonly string[],
): Command {
  return bareCommand(name, description, examples)
    .option(
      '-p, --port <number>',
      'the port; 0 selects a free one',
      parseNumber(0, 65_535, true),
      port,
    )
    .option('--json', 'write one JSON object per line');
}

/** Waits until a server listens, and rewords errors such as a port in use. */
async function waitForListening<Server>(
  start: Promise<Server>,
  port: number,
  host = '127.0.0.1',
): Promise<Server> {
  try {
    return await start;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EADDRINUSE' || (code === 'EACCES' && port !== 0)) {
      throw new UsageError(`Port ${port} is not available. Use a free one: --port 0`);
    }
    if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES'].includes(code)) {
      throw new UsageError(`Cannot listen on ${host}. Choose another address with --host.`);
    }
    throw error;
  }
}

const stopHint = 'Press Ctrl-C to stop.';

/** Resolves on Ctrl-C or SIGTERM, or when the output can no longer be written. */
function waitForStop(signal: AbortSignal, { output }: Terminal): Promise<void> {
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
  readonly gateway: EmulatedGateway;
  readonly edition?: NewApiEdition | undefined;
}

/** Faults by their names on the command line. */
const faults: Readonly<Record<string, Fault>> = {
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
  const [, target = '*', name = '', count = '1'] =
    /^(?:([\w.]+)=)?([\w-]+?)(?:\*(\d+))?$/.exec(text) ?? [];
  const fault = faults[name];
  const operation = target === '*' ? '*' : operations.find((known) => known === target);
  if (fault === undefined) {
    const known = Object.keys(faults).toSorted().join(', ');
    throw new UsageError(`Unknown fault ${text}. Use one of ${known}.`);
  }
  if (operation === undefined) {
    throw new UsageError(`Unknown operation ${target}. Use one of ${operations.join(', ')}.`);
  }
  return { operation, fault, times: Number(count) };
}

/** `model-gateway emulator`. */
export function emulatorCommand(): Command {
  const program = serverCommand(
    'emulator',
    'Run a gateway for development and tests: no account, no network, no cost.',
    4010,
    [
      'emulator --port 4010',
      'emulator --fail videos.create=cut-after-charge',
      'emulator --fail "images.generate=500*3"',
      'curl -H "Authorization: Bearer sk-emulator" localhost:4010/__emulator/charges',
    ],
  )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--key <key>', 'the accepted key', 'sk-emulator')
    .addOption(
      new Option('--video-time <time>', 'the processing time of a video')
        .argParser(parseDuration)
        .default(3_000, '3s'),
    )
    .option(
      '--credit <units>',
      'the credit, after which requests are rejected',
      parseNumber(0, 1e12),
    )
    .option(
      '--fail <operation=fault>',
      'fail the next request, or the next three with *3; repeatable',
      collect,
    )
    .addOption(
      new Option('--gateway <kind>', 'the gateway to emulate')
        .choices(emulatedGateways)
        .default('new-api'),
    )
    .addOption(
      new Option('--edition <year>', 'the build of new-api to emulate').choices(newApiEditions),
    )
    .option('--hold', 'pause videos until the clock is advanced')
    .addHelpText('after', `\nFaults: ${Object.keys(faults).toSorted().join(', ')}`);
  return define<EmulatorCommandOptions>(program, (_, run) => emulate(run));
}

async function emulate({
  options: { port, host, key, videoTime, credit, fail = [], gateway, edition, hold, json = false },
  terminal,
  signal,
}: Run<EmulatorCommandOptions>): Promise<void> {
  const emulator = createEmulator({
    apiKey: key,
    gateway,
    edition,
    videoDuration: videoTime,
    ...(credit === undefined ? {} : { credit }),
  });
  for (const text of fail) emulator.fail(parseFault(text));
  if (hold === true) emulator.clock.hold();
  const server = await waitForListening(emulator.listen(port, host), port, host);
  const { url } = server;
  if (json) {
    terminal.json({ baseURL: url, apiKey: key });
  } else {
    const set = process.platform === 'win32' ? 'set ' : 'export ';
    terminal.line(`${set}GATEWAY_BASE_URL=${url}`);
    terminal.line(`${set}GATEWAY_API_KEY=${key}`);
    terminal.note(
      `Control it with this key below ${url}/__emulator: charges, requests, faults, clock.`,
    );
    terminal.note(stopHint);
  }
  let printed = 0;
  const printRequests = (): void => {
    const { requests, charges } = emulator;
    for (; printed < requests.length; printed += 1) {
      const request = requests[printed];
      // A request in progress is printed once it has a response.
      if (request === undefined || (request.status === undefined && !request.disconnected)) return;
      const charge = charges.find(({ requestId }) => requestId === request.id);
      if (json) terminal.json({ ...summary(request), charged: charge?.amount ?? 0 });
      else terminal.line(formatRequest(request, charge?.amount));
    }
  };
  const timer = setInterval(printRequests, 50);
  await waitForStop(signal, terminal);
  clearInterval(timer);
  printRequests();
  await server.close();
}

function summary({ id, method, path, operation, status, disconnected }: ReceivedRequest): object {
  return { id, method, path, operation, status, disconnected };
}

function formatRequest(request: ReceivedRequest, amount: number | undefined): string {
  const { method, path, status, disconnected } = request;
  const charged = amount === undefined ? '' : `  charged ${amount}`;
  const gone = disconnected ? '  client disconnected' : '';
  return `${status ?? '---'} ${method} ${path}${charged}${gone}`;
}

interface PlaygroundCommandOptions extends ServerOptions {
  readonly emulator?: boolean | undefined;
}

/** `model-gateway playground`. */
export function playgroundCommand(): Command {
  const program = serverCommand(
    'playground',
    'Try the SDK in a browser, and see what a retry costs.',
    4020,
    [
      'playground',
      'GATEWAY_BASE_URL=https://gateway.example.com GATEWAY_API_KEY=sk-… model-gateway playground',
      'playground --emulator --port 0',
    ],
  )
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL, else the emulator)')
    .addOption(gatewayOption())
    .option('--key-file <path>', 'a file that contains the key (default: GATEWAY_API_KEY_FILE)')
    .addOption(headerOption())
    .option('--emulator', 'use the emulator even if GATEWAY_BASE_URL is set');
  return define<PlaygroundCommandOptions>(program, (_, run) => play(run));
}

async function play({ options, terminal, signal }: Run<PlaygroundCommandOptions>): Promise<void> {
  const { baseUrl, port, emulator = false, json = false } = options;
  const isReal = !emulator && (baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? '') !== '';
  const gateway = isReal
    ? {
        baseURL: readBaseURL(options),
        gateway: options.gateway,
        apiKey: await readKey(options),
        defaultHeaders: readHeaders(options),
      }
    : undefined;
  // Loaded only for this command, because it is large.
  const { startPlayground } = await import('../playground/start.ts');
  const folder = isReal ? await makeFolder('playground') : undefined;
  const playground = await waitForListening(
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
        ? `Open it in a browser. Calls are charged by ${playground.baseURL}; the key stays on this computer.`
        : 'Open it in a browser. It runs on the emulator: no account, no network, no cost.',
    );
    terminal.note(stopHint);
  }
  await waitForStop(signal, terminal);
  await playground[Symbol.asyncDispose]();
}
