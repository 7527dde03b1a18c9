import { createInterface } from 'node:readline/promises';
import { Exit, exitCodes, UsageError } from './usage.ts';

/**
 * Text without what steers a terminal: a server must not move the cursor, set titles or reach the
 * clipboard. Line breaks and tabs stay.
 */
function withoutControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1_000)} s`;

/** Time in words that a person reads, for example `2 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return seconds(milliseconds);
  return `${Math.floor(milliseconds / 60_000)} min ${seconds(milliseconds % 60_000)}`;
}

/**
 * Where a command writes: data to stdout, everything else to stderr.
 *
 * Colours and lines that are written over appear only on a terminal, and not with `NO_COLOR`.
 */
export class Terminal {
  /** Whether a person, and not a program, reads stdout. */
  readonly isOutput = process.stdout.isTTY;
  /** Whether a person reads stderr. */
  readonly isMessages = process.stderr.isTTY;
  /** Whether a person can answer a question. */
  readonly canAsk = process.stdin.isTTY && process.stderr.isTTY;
  readonly #hasColour = (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  #hasProgress = false;

  /** Data: text from a server. A terminal gets it without what steers it, a program as it is. */
  data(text: string): void {
    process.stdout.write(this.isOutput ? withoutControls(text) : text);
  }

  /** Escape sequences of our own, such as a picture. */
  raw(text: string): void {
    process.stdout.write(text);
  }

  line(text: string): void {
    this.data(`${text}\n`);
  }

  json(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value, undefined, this.isOutput ? 2 : undefined)}\n`);
  }

  /** A line for the person, on stderr. */
  note(text: string): void {
    this.endProgress();
    process.stderr.write(`${withoutControls(text)}\n`);
  }

  /** Text of a server for the person, dimmed, without a line break of its own. */
  aside(text: string): void {
    if (this.isMessages) process.stderr.write(this.#paint(2, withoutControls(text)));
  }

  /** A line that the next one writes over. Programs do not get it. */
  progress(text: string): void {
    if (!this.isMessages) return;
    this.#hasProgress = true;
    process.stderr.write(`\r\u001B[K${withoutControls(text)}`);
  }

  endProgress(): void {
    if (this.#hasProgress) process.stderr.write('\r\u001B[K');
    this.#hasProgress = false;
  }

  faint(text: string): string {
    return this.#paint(2, text);
  }

  good(text: string): string {
    return this.#paint(32, text);
  }

  bad(text: string): string {
    return this.#paint(31, text);
  }

  doubtful(text: string): string {
    return this.#paint(33, text);
  }

  /** Asks for yes or no; an empty answer is yes. */
  async agrees(question: string, signal: AbortSignal): Promise<boolean> {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const answer = await lines.question(`${question} [Y/n] `, { signal });
      return /^(y(es)?)?$/i.test(answer.trim());
    } catch {
      // Ctrl-C and Ctrl-D end the question: the line goes on behind it.
      process.stderr.write('\n');
      throw new Exit(exitCodes.interrupted);
    } finally {
      lines.close();
    }
  }

  #paint(code: number, text: string): string {
    const isSeen = this.#hasColour && (this.isOutput || this.isMessages);
    return isSeen ? `\u001B[${code}m${text}\u001B[0m` : text;
  }
}

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
