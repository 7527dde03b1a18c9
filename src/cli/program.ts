import { Command, CommanderError } from 'commander';
import { chatCommand } from './chat.ts';
import { doctorCommand } from './doctor.ts';
import { drawCommand, editCommand, embedCommand, speakCommand, translateCommand } from './media.ts';
import { accountCommand, getCommand, modelsCommand, postCommand } from './request.ts';
import { emulatorCommand, playgroundCommand } from './servers.ts';
import { exitCodes, UsageError } from './usage.ts';
import { videoCommand } from './video.ts';

const codes = `
Exit codes: 0 done, 1 refused, 2 wrong usage, 3 charged, or possibly charged, without its whole result
(do not run it again), 4 time is over and the task goes on, 130 interrupted.

The key comes from GATEWAY_API_KEY or a file, the address from GATEWAY_BASE_URL or --base-url.`;

/** Makes commands throw in place of ending the process, and show whole help after a mistake. */
function tame(program: Command): void {
  program.exitOverride();
  program.showSuggestionAfterError();
  program.showHelpAfterError('See --help.');
  for (const child of program.commands) tame(child);
}

/** Runs the command line. Sets the exit code of the process. */
export async function run(words: readonly string[]): Promise<void> {
  const program = new Command('model-gateway')
    .description('Talks to an AI gateway: chat, pictures, speech, videos.')
    .option('-V, --version', 'print the version')
    .addCommand(chatCommand())
    .addCommand(drawCommand())
    .addCommand(editCommand())
    .addCommand(speakCommand())
    .addCommand(translateCommand())
    .addCommand(embedCommand())
    .addCommand(videoCommand())
    .addCommand(modelsCommand())
    .addCommand(accountCommand())
    .addCommand(getCommand())
    .addCommand(postCommand())
    .addCommand(doctorCommand())
    .addCommand(emulatorCommand())
    .addCommand(playgroundCommand())
    .addHelpText('after', codes);
  tame(program);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`model-gateway: ${error.message}\n`);
      process.exitCode = exitCodes.usage;
    } else if (error instanceof CommanderError) {
      // Help that was asked for is no mistake; the message is written already.
      process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    } else {
      throw error;
    }
  }
}
