import { InvalidArgumentError } from 'commander';

/** The command was called with invalid arguments or settings. The program exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Ends the program with a code. The reason has already been printed. */
export class Exit extends Error {
  override readonly name = 'Exit';
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Exit codes of the program. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  /** The call was or may have been charged, but its result is incomplete: do not run it again. */
  unknown: 3,
  /** The time limit was reached; the task continues. */
  stillRunning: 4,
  /** The gateway doesn't know the task. */
  notFound: 5,
  interrupted: 130,
} as const;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Parses `500ms`, `30s`, `5m` or `1h` to milliseconds. A number without a unit is in seconds.
 *
 * @throws `InvalidArgumentError`, to which commander adds the option and its value
 */
export function parseDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(count) * (units[unit] ?? 0);
  if (milliseconds >= 1 && milliseconds <= 2_147_483_647) return Math.round(milliseconds);
  throw new InvalidArgumentError('Use a number with ms, s, m or h, for example 30s.');
}

/** Returns a parser for numbers from `least` to `most`. @throws `InvalidArgumentError` as `parseDuration()` does */
export function parseNumber(least: number, most: number, whole = false) {
  return (text: string): number => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= least && value <= most;
    if (fits && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(
      `It is not a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`,
    );
  };
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

/** Quotes an argument for a shell. */
export function quote(arg: string): string {
  if (/^[\w./:=@%+,-]+$/.test(arg)) return arg;
  return process.platform === 'win32' ? `"${arg}"` : `'${arg.replaceAll("'", `'\\''`)}'`;
}
