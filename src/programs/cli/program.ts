import { type AddHelpTextContext, Command, CommanderError, Help } from 'commander';
import { closeTo } from '../../answers/similar-names.ts';
import { chatCommand } from './chat.ts';
import { addCompletion } from './completion.ts';
import { doctorCommand } from './doctor/command.ts';
import {
  drawCommand,
  editCommand,
  embedCommand,
  speakCommand,
  transcribeCommand,
  translateCommand,
} from './media.ts';
import { mcpCommand, mcpThumbnailCommand, mcpWorkerCommand } from './mcp.ts';
import { accountCommand, getCommand, modelsCommand, postCommand } from './request.ts';
import { emulatorCommand, playgroundCommand } from './servers.ts';
import { withoutControls } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { videoCommand } from './video.ts';

const footer = [
  'Exit codes: 0 success, 1 failed, 2 wrong usage, 3 charged or possibly charged with an incomplete result (do not run it again), 4 time limit reached and the task continues, 5 task not found, 130 interrupted.',
  'The key is read from GATEWAY_API_KEY or a file (--key-file, GATEWAY_API_KEY_FILE), the address from GATEWAY_BASE_URL or --base-url, the kind of gateway from GATEWAY_PROFILE or --gateway.',
];

/** Returns the end of the help, wrapped as the rest of it. */
function wrapFooter({ command: program }: AddHelpTextContext): string {
  const help = program.createHelp();
  const width = program.configureOutput().getOutHelpWidth?.() ?? 80;
  return `\n${footer.map((text) => help.boxWrap(text, width)).join('\n\n')}`;
}

/** The least width of a column of descriptions. Where it has no room, they are below their terms. */
const leastWidth = 30;

/** Formats a line of the help, such as an option, so that no line is wider than the terminal. */
function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  const { helpWidth = 80 } = help;
  const standard = Object.assign(new Help(), { helpWidth, minWidthToWrap: leastWidth });
  if (description === '' || helpWidth - termWidth - 4 >= leastWidth) {
    return standard.formatItem(term, termWidth, description, help);
  }
  const lines = help.boxWrap(description, helpWidth - 6).split('\n');
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join('\n');
}

/** Returns the error of the first option that the command doesn't have, if there is one. */
function unknownOption(program: Command, args: readonly string[]): string | undefined {
  const [arg] = program.parseOptions([...args]).unknown;
  if (arg === undefined) return undefined;
  const name = arg.replace(/=.*/s, '');
  const known = [...program.options.flatMap(({ long }) => long ?? []), '--help'];
  const [similar] = name.startsWith('--') ? closeTo(name, known) : [];
  const hint = similar === undefined ? '' : `\n(Did you mean ${similar}?)`;
  return `error: unknown option '${name}'${hint}\n`;
}

/** Makes a command and its subcommands throw instead of ending the process, and point to --help. */
function configure(program: Command, args: readonly string[]): void {
  program.exitOverride();
  program.showSuggestionAfterError();
  program.showHelpAfterError('See --help.');
  program.configureHelp({ minWidthToWrap: leastWidth, formatItem });
  program.configureOutput({
    outputError(text, write) {
      // commander reports a missing option before an unknown one, which often is the missing one misspelled.
      const isOption = /^error: (required|unknown) option/.test(text);
      write((isOption ? unknownOption(program, args) : undefined) ?? text);
    },
  });
  for (const child of program.commands) configure(child, args);
}

/** Options of every command that calls a gateway, and whether a value follows. */
const commonOptions: ReadonlyMap<string, boolean> = new Map([
  ['--base-url', true],
  ['--gateway', true],
  ['--key-file', true],
  ['--timeout', true],
  ['--json', false],
]);

/** Moves common options that precede the command after it, where commander reads them. */
function moveOptions(args: readonly string[]): string[] {
  let start = 0;
  for (let arg = args[start]; arg !== undefined; arg = args[start]) {
    const hasValue = commonOptions.get(arg.replace(/=.*/s, ''));
    if (hasValue === undefined) break;
    start += hasValue && !arg.includes('=') ? 2 : 1;
  }
  const end = args.indexOf('--', start);
  const command = args.slice(start, end === -1 ? undefined : end);
  return [...command, ...args.slice(0, start), ...(end === -1 ? [] : args.slice(end))];
}

/** Creates the program with all its commands. */
export function createProgram(): Command {
  const program = new Command('model-gateway')
    .description('Call an AI gateway: chat, images, speech and videos.')
    .option('-V, --version', 'print the version')
    .commandsGroup('Create:')
    .addCommand(chatCommand())
    .addCommand(drawCommand())
    .addCommand(editCommand())
    .addCommand(speakCommand())
    .addCommand(transcribeCommand())
    .addCommand(translateCommand())
    .addCommand(embedCommand())
    .addCommand(videoCommand())
    .commandsGroup('Look at the gateway:')
    .addCommand(modelsCommand())
    .addCommand(accountCommand())
    .addCommand(doctorCommand())
    .addCommand(getCommand())
    .addCommand(postCommand())
    .commandsGroup('Run a server:')
    .addCommand(emulatorCommand())
    .addCommand(playgroundCommand())
    .addCommand(mcpCommand())
    .addCommand(mcpWorkerCommand(), { hidden: true })
    .addCommand(mcpThumbnailCommand(), { hidden: true })
    .addHelpText('after', wrapFooter);
  program.commandsGroup('Other commands:').helpCommand(true);
  addCompletion(program);
  return program;
}

/** Runs the command line. Sets the exit code of the process. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram();
  configure(program, args);
  // Commands report what they could not write. The help and usage errors may be cut off.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await program.parseAsync(moveOptions(args), { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`model-gateway: ${withoutControls(error.message)}\n`);
      process.exitCode = exitCodes.usage;
    } else if (error instanceof CommanderError) {
      // commander has already printed the message. Code 0 means that help was requested.
      process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    } else {
      throw error;
    }
  }
}
