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

/** Why standard output cannot be written any more. */
interface OutputFailure {
  readonly code: string;
  /** Whether the reader closed the pipe, as `head` does. */
  readonly isReaderGone: boolean;
}

/**
 * Standard output or standard error. Writing never throws and never ends the process: after the first
 * failure, nothing more is written.
 */
class Output {
  readonly #stream: NodeJS.WriteStream;
  readonly #unwritten: string[] = [];
  #failure: OutputFailure | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.on('error', (error) => this.#fail(error));
  }

  /** Why it cannot be written, as far as that is known yet: see `flush()`. */
  get failure(): OutputFailure | undefined {
    return this.#failure;
  }

  /** Calls a listener once it cannot be written any more. */
  onFailure(listener: () => void): void {
    if (this.#failure === undefined) this.#stream.once('error', listener);
    else listener();
  }

  /** The results that were not written. */
  get unwritten(): string {
    return this.#unwritten.join('');
  }

  write(data: string | Uint8Array): void {
    if (this.#failure !== undefined) return;
    this.#stream.write(data, (error) => error && this.#fail(error));
  }

  /** Writes a result, which is kept in `unwritten` if that fails. */
  writeResult(text: string): void {
    if (this.#failure !== undefined) {
      this.#unwritten.push(text);
      return;
    }
    this.#stream.write(text, (error) => {
      if (!error) return;
      this.#fail(error);
      this.#unwritten.push(text);
    });
  }

  /** Waits until everything is written or has failed. */
  async flush(): Promise<void> {
    if (this.#failure !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#stream.write('', (error) => {
        if (error) this.#fail(error);
        resolve();
      });
    });
  }

  #fail(error: Error): void {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message;
    const isReaderGone = /^(EPIPE|EOF|ECONNRESET|ERR_STREAM_DESTROYED)$/.test(code);
    this.#failure ??= { code, isReaderGone };
  }
}

const standardOutput = new Output(process.stdout);
const standardError = new Output(process.stderr);

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

  /** Standard output. */
  get output(): Output {
    return standardOutput;
  }

  /** Writes a piece of a server's text. A terminal gets it without control characters. */
  data(text: string): void {
    standardOutput.write(this.isOutput ? withoutControls(text) : text);
  }

  /** Writes bytes, or escape sequences of our own, such as a picture. */
  raw(data: string | Uint8Array): void {
    standardOutput.write(data);
  }

  /** Writes a line of the result. */
  line(text: string): void {
    standardOutput.writeResult(`${this.isOutput ? withoutControls(text) : text}\n`);
  }

  /** Writes the result as JSON. */
  json(value: unknown): void {
    const text = JSON.stringify(value, undefined, this.isOutput ? 2 : undefined);
    standardOutput.writeResult(`${text}\n`);
  }

  /** A line for the person, on stderr. */
  note(text: string): void {
    this.endProgress();
    standardError.write(`${withoutControls(text)}\n`);
  }

  /** Text of a server for the person, dimmed, without a line break of its own. */
  aside(text: string): void {
    if (this.isMessages) standardError.write(this.#paint(2, withoutControls(text)));
  }

  /** A line that the next one writes over. Programs do not get it. */
  progress(text: string): void {
    if (!this.isMessages) return;
    this.#hasProgress = true;
    standardError.write(`\r\u001B[K${withoutControls(text)}`);
  }

  endProgress(): void {
    if (this.#hasProgress) standardError.write('\r\u001B[K');
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
      standardError.write('\n');
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

/** How long a command reads its input before it says so, in milliseconds. */
const silence = 2_000;

/** Reads what is piped into the command, to its end. A terminal is not read. */
export async function readInput(terminal: Terminal, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) return '';
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => {
    terminal.note('Reading standard input to its end. To run without it, add: < /dev/null');
  }, silence);
  await new Promise<void>((resolve, reject) => {
    stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
    stdin.once('end', resolve);
    stdin.once('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  }).finally(() => {
    clearTimeout(timer);
    // An open pipe would keep the program from ending.
    stdin.destroy();
  });
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads the prompt: the arguments, and below them the standard input. */
export async function readPrompt(
  words: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  const argument = words.join(' ').trim();
  const piped = (await readInput(terminal, signal)).trimEnd();
  const prompt = [argument, piped].filter((part) => part !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new UsageError('There is no text. Pass it as an argument, or pipe it in.');
}
