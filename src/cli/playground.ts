import { Command } from 'commander';
import { InvalidInputError } from '../index.ts';
import { FileError } from '../node/index.ts';
import { makeFolder, rememberVideo } from './records.ts';
import { readBaseURL, readKey } from './settings.ts';
import { ended, Terminal } from './terminal.ts';
import { exitCodes, parseNumber, UsageError } from './usage.ts';

declare const __VERSION__: string;

interface PlaygroundCommandOptions {
  readonly port: number;
  readonly baseUrl?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly emulator?: boolean | undefined;
  readonly json?: boolean | undefined;
}

async function serve(options: PlaygroundCommandOptions, terminal: Terminal): Promise<void> {
  const { baseUrl, port, emulator = false, json = false } = options;
  const isReal = !emulator && (baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? '') !== '';
  const gateway = isReal
    ? { baseURL: readBaseURL(options), apiKey: await readKey(options) }
    : undefined;
  // Who does not ask for it does not load it.
  const { startPlayground } = await import('../playground/start.ts');
  const playground = await startPlayground({
    version: __VERSION__,
    port,
    gateway,
    ...(isReal ? { folder: await makeFolder('playground'), onSubmitted: rememberVideo } : {}),
  });
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
  await ended();
  await playground[Symbol.asyncDispose]();
}

/** `model-gateway playground`. */
export function playgroundCommand(): Command {
  const examples = [
    '  $ model-gateway playground',
    '  $ GATEWAY_BASE_URL=https://gateway.example.com GATEWAY_API_KEY=sk-… model-gateway playground',
    '  $ model-gateway playground --emulator --port 0',
  ];
  return new Command('playground')
    .description('Try everything in a browser, and see what a retry costs.')
    .option('-p, --port <number>', '0 takes a free one', parseNumber(0, 65_535, true), 4020)
    .option('--base-url <url>', 'the gateway (default: GATEWAY_BASE_URL, else the emulator)')
    .option('--key-file <path>', 'a file with the key (default: GATEWAY_API_KEY)')
    .option('--emulator', 'the emulator, whatever the environment says')
    .option('--json', 'write the address as JSON')
    .addHelpText('after', `\nExamples:\n${examples.join('\n')}`)
    .action(async (options: PlaygroundCommandOptions) => {
      const terminal = new Terminal();
      try {
        await serve(options, terminal);
      } catch (error) {
        process.exitCode = exitCodes.usage;
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code === 'EADDRINUSE' || code === 'EACCES') {
          terminal.note(
            `model-gateway: Port ${options.port} cannot be had. Choose another: --port 0`,
          );
        } else if (
          error instanceof UsageError ||
          InvalidInputError.isInstance(error) ||
          FileError.isInstance(error)
        ) {
          terminal.note(`model-gateway: ${error.message}`);
        } else {
          throw error;
        }
      }
    });
}
