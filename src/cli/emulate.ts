import { Command } from 'commander';
import { createEmulator, type Fault, type ReceivedRequest } from '../testing/index.ts';
import { InvalidInputError, type Operation } from '../index.ts';
import { codeOf } from '../node/durable.ts';
import { operations } from '../testing/server/router.ts';
import { ended, Terminal } from './terminal.ts';
import { collect, exitCodes, parseDuration, parseNumber, UsageError } from './usage.ts';

interface EmulatorCommandOptions {
  readonly port: number;
  readonly host: string;
  readonly key: string;
  readonly videoTime: number;
  readonly credit?: number | undefined;
  readonly fail?: readonly string[] | undefined;
  readonly hold?: boolean | undefined;
  readonly json?: boolean | undefined;
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
  const examples = [
    '  $ model-gateway emulator --port 4010',
    '  $ model-gateway emulator --fail videos.create=cut-after-charge',
    '  $ curl -H "Authorization: Bearer sk-emulator" localhost:4010/__emulator/charges',
  ];
  return new Command('emulator')
    .description('Serve a gateway for development and tests: no account, no network, no cost.')
    .option('-p, --port <number>', '0 takes a free one', parseNumber(0, 65_535, true), 4010)
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
    .option('--json', 'one line of JSON for each request')
    .addHelpText(
      'after',
      `\nFaults: ${Object.keys(named).toSorted().join(', ')}\n\nExamples:\n${examples.join('\n')}`,
    )
    .action(async (options: EmulatorCommandOptions) => {
      const terminal = new Terminal();
      try {
        await serve(options, terminal);
      } catch (error) {
        process.exitCode = exitCodes.usage;
        const code = codeOf(error);
        if (code === 'EADDRINUSE') {
          terminal.note(`model-gateway: Port ${options.port} is in use. Choose another: --port 0`);
        } else if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES'].includes(code)) {
          terminal.note(
            `model-gateway: It cannot listen on ${options.host}, port ${options.port}. Choose others by --host and --port.`,
          );
        } else if (error instanceof UsageError || InvalidInputError.isInstance(error)) {
          terminal.note(`model-gateway: ${error.message}`);
        } else {
          throw error;
        }
      }
    });
}

async function serve(options: EmulatorCommandOptions, terminal: Terminal): Promise<void> {
  const { port, host, key, videoTime, credit, fail = [], hold, json } = options;
  const emulator = createEmulator({
    apiKey: key,
    videoDuration: videoTime,
    ...(credit === undefined ? {} : { credit }),
  });
  for (const text of fail) emulator.fail(parseFault(text));
  if (hold === true) emulator.clock.hold();
  const server = await emulator.listen(port, host);
  const { url } = server;
  if (json === true) {
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
      if (json === true) terminal.json({ ...summary(request), charged: charge?.amount ?? 0 });
      else terminal.line(lineOf(request, charge?.amount));
    }
  };
  const timer = setInterval(tell, 50);
  await ended();
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
