import { GatewayError } from 'model-gateway';

const isTerminal = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;

function paint(code: number, text: string): string {
  return isTerminal ? `\u001B[${code}m${text}\u001B[0m` : text;
}

let lastLive = '';

/** What the demo shows. */
export const print = {
  /** Whether lines can be written over. */
  isLive: isTerminal,
  title(text: string): void {
    console.log(`\n${paint(1, text)}`);
  },
  step(text: string): void {
    console.log(`\n${paint(36, `▸ ${text}`)}`);
  },
  note(text: string): void {
    console.log(`  ${text}`);
  },
  /** Text as it comes, without a line end. */
  token(text: string): void {
    process.stdout.write(text.replaceAll('\n', '\n  '));
  },
  /** A line that is written over by the next one in a terminal, and printed on change elsewhere. */
  live(text: string): void {
    if (isTerminal) process.stdout.write(`\r\u001B[K  ${text}`);
    else if (text !== lastLive) console.log(`  ${text}`);
    lastLive = text;
  },
  endLive(): void {
    if (isTerminal) process.stdout.write('\n');
    lastLive = '';
  },
  failure(error: unknown): void {
    if (GatewayError.isInstance(error)) {
      console.log(`  ${paint(31, error.name)} (${error.outcome}): ${error.message}`);
    } else {
      console.log(`  ${paint(31, String(error))}`);
    }
  },
};

/** A size that a person can read. */
export function size(bytes: number): string {
  return bytes < 10_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} kB`;
}
