import { GatewayError } from 'model-gateway';

const isTerminal = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;

function paint(code: number, text: string): string {
  return isTerminal ? `\u001B[${code}m${text}\u001B[0m` : text;
}

let lastLive = '';

/** Prints the output of the demo. */
export const print = {
  /** `true` if lines can be overwritten. */
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
  /** Prints text without a line break. */
  token(text: string): void {
    process.stdout.write(text.replaceAll('\n', '\n  '));
  },
  /** Replaces a progress line on a terminal; elsewhere, prints it if it has changed. */
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

/** Formats a size in bytes. */
export function size(bytes: number): string {
  return bytes < 10_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} kB`;
}
