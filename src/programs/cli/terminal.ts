import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Exit, exitCodes, UsageError } from './usage.ts';

/**
 * Removes control characters, except line breaks and tabs, so that a server cannot move the cursor, set
 * titles or access the clipboard.
 */
export function withoutControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** Escapes the control characters that JSON allows in strings. */
function escapeControls(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
}

const formatSeconds = (milliseconds: number): string => `${Math.round(milliseconds / 1_000)} s`;

/** Formats a time, for example `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 60_000) return formatSeconds(milliseconds);
  return `${Math.floor(milliseconds / 60_000)} min ${formatSeconds(milliseconds % 60_000)}`;
}

/** Formats US dollars, for example `$0.0012`. */
export const formatDollars = (dollars: number): string =>
  `$${dollars.toLocaleString('en', { maximumSignificantDigits: 4 })}`;

/** The reason why an output stream can no longer be written. */
interface OutputFailure {
  readonly code: string;
  /** `true` if the reader closed the pipe, as `head` does. */
  readonly isReaderGone: boolean;
}

/**
 * Standard output or standard error. Writing never throws and never ends the process; writes after the
 * first failure are skipped.
 */
class Output {
  readonly #stream: NodeJS.WriteStream;
  readonly #unwritten: string[] = [];
  #failure: OutputFailure | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.on('error', (error) => this.#fail(error));
  }

  /** The first failure. Only after `flush()` is it certain that there was none. */
  get failure(): OutputFailure | undefined {
    return this.#failure;
  }

  /** Calls a listener on the first failure, or at once if writing has already failed. */
  onFailure(listener: () => void): void {
    if (this.#failure === undefined) this.#stream.once('error', listener);
    else listener();
  }

  /** The results that could not be written. */
  get unwritten(): string {
    return this.#unwritten.join('');
  }

  write(data: string | Uint8Array): void {
    if (this.#failure !== undefined) return;
    this.#stream.write(data, (error) => error && this.#fail(error));
  }

  /** Writes a result. If that fails, it is kept in `unwritten`. */
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

/**
 * The output of a command: results go to stdout, everything else to stderr.
 *
 * Progress lines are shown only on a terminal; so are colours, unless `NO_COLOR` is set.
 */
export class Terminal {
  /** `true` if stdout is a terminal. */
  readonly isOutput = process.stdout.isTTY;
  /** `true` if stderr is a terminal. */
  readonly isMessages = process.stderr.isTTY;
  /** `true` if the user can be asked for input. */
  readonly canAsk = process.stdin.isTTY && process.stderr.isTTY;
  /** `true` if the terminal knows no escape sequences and cannot go back in a line. */
  readonly isDumb = process.env['TERM'] === 'dumb';
  readonly #hasColour = (process.env['NO_COLOR'] ?? '') === '' && !this.isDumb;
  /** Standard output. */
  readonly output = new Output(process.stdout);
  readonly #messages = new Output(process.stderr);
  #hasProgress = false;
  /** The last progress line of a dumb terminal, without its numbers. */
  #lastProgress = '';

  /** Writes text from a server, without control characters if stdout is a terminal. */
  data(text: string): void {
    this.output.write(this.isOutput ? withoutControls(text) : text);
  }

  /** Writes bytes or escape sequences unchanged. */
  raw(data: string | Uint8Array): void {
    this.output.write(data);
  }

  /** Writes a line of the result. */
  line(text: string): void {
    this.output.writeResult(`${this.isOutput ? withoutControls(text) : text}\n`);
  }

  /** Writes the result as JSON. */
  json(value: unknown): void {
    const text = this.isOutput
      ? escapeControls(JSON.stringify(value, undefined, 2))
      : JSON.stringify(value);
    this.output.writeResult(`${text}\n`);
  }

  /** Writes a line to stderr. */
  note(text: string): void {
    this.endProgress();
    this.#messages.write(`${withoutControls(text)}\n`);
  }

  /** Writes dimmed text to stderr without a line break, if stderr is a terminal. */
  aside(text: string): void {
    if (this.isMessages) this.#messages.write(this.#paint(2, withoutControls(text)));
  }

  /** Replaces the progress line, if stderr is a terminal. A dumb one gets a line for each new state. */
  progress(text: string): void {
    if (!this.isMessages) return;
    if (this.isDumb) {
      const state = text.replaceAll(/\d+/g, '');
      if (state !== this.#lastProgress) this.#messages.write(`${withoutControls(text)}\n`);
      this.#lastProgress = state;
      return;
    }
    this.#hasProgress = true;
    // A line that wraps could not be replaced. Terminals without a known size have 0 columns.
    const { columns } = process.stderr;
    const line = withoutControls(text).slice(0, columns > 1 ? columns - 1 : 80);
    this.#messages.write(`\r\u001B[K${line}`);
  }

  endProgress(): void {
    if (this.#hasProgress) this.#messages.write('\r\u001B[K');
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

  warning(text: string): string {
    return this.#paint(33, text);
  }

  /** Asks for yes or no. An empty answer means no. */
  async confirm(question: string, signal: AbortSignal): Promise<boolean> {
    const terminal = !this.isDumb;
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal });
    try {
      const answer = await lines.question(`${question} [y/N] `, { signal });
      return /^y(es)?$/i.test(answer.trim());
    } catch {
      // Ctrl-C and Ctrl-D leave the cursor behind the question.
      this.#messages.write('\n');
      throw new Exit(exitCodes.interrupted);
    } finally {
      lines.close();
    }
  }

  #paint(code: number, text: string): string {
    const isVisible = this.#hasColour && (this.isOutput || this.isMessages);
    return isVisible ? `\u001B[${code}m${text}\u001B[0m` : text;
  }
}

/** Time that a command waits for standard input before it prints a hint, in milliseconds. */
const noteDelay = 2_000;

/** Reads standard input to its end, or returns an empty text if it is a terminal. */
export async function readInput(terminal: Terminal, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) return '';
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => {
    terminal.note('Reading standard input to its end. To run without it, add: < /dev/null');
  }, noteDelay);
  await new Promise<void>((resolve, reject) => {
    stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
    stdin.once('end', resolve);
    stdin.once('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  }).finally(() => {
    clearTimeout(timer);
    // An open pipe would keep the program running.
    stdin.destroy();
  });
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns whether standard input is a pipe of a shell or a file that isn't empty. */
function hasInput(): boolean {
  try {
    const stats = fstatSync(process.stdin.fd);
    return stats.isFIFO() || (stats.isFile() && stats.size > 0);
  } catch {
    return false;
  }
}

/**
 * Returns the prompt: the arguments, or standard input without arguments. The argument `-` appends standard
 * input. Otherwise it is not read, because it may belong to a shell loop around the command.
 */
export async function readPrompt(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  const texts = args.filter((arg) => arg !== '-');
  const readsInput = texts.length === 0 || texts.length < args.length;
  if (!readsInput && hasInput()) {
    terminal.note(
      'Standard input is not read; to append it to the text, add -, otherwise < /dev/null.',
    );
  }
  const input = readsInput ? (await readInput(terminal, signal)).trimEnd() : '';
  const prompt = [texts.join(' ').trim(), input].filter((text) => text !== '').join('\n\n');
  if (prompt !== '') return prompt;
  throw new UsageError('The text is missing. Pass it as an argument, or pipe it in.');
}
