import { UsageError } from './usage.ts';

/** A pipe that says nothing for so long says nothing, when the prompt is there already. */
const silence = 300;

/** What is piped into the command, or nothing. @param isNeeded - Waits until stdin ends or has text. */
export async function readInput(isNeeded: boolean, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) return '';
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const timer = isNeeded ? undefined : setTimeout(resolve, silence);
    stdin.on('data', (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
    });
    stdin.once('end', resolve);
    stdin.once('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  }).finally(() => {
    // An open pipe would keep the program from ending.
    stdin.destroy();
  });
  return Buffer.concat(chunks).toString('utf8');
}

/** The prompt of the arguments, and below it what is piped in. */
export async function readPrompt(words: readonly string[], signal: AbortSignal): Promise<string> {
  const given = words.join(' ').trim();
  const piped = (await readInput(given === '', signal)).trimEnd();
  const prompt = [given, piped].filter((part) => part !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new UsageError('There is no text. Give it as an argument, or pipe it in.');
}
