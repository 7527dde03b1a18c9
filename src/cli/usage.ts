/** What is wrong with how a command was called: the program ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Ends the program with a code after what there is to say has been said. */
export class Exit extends Error {
  override readonly name = 'Exit';
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** How the program ends. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  /** It was or may have been charged, without its whole result: do not run it again. */
  unknown: 3,
  /** The time is over, and the task goes on. */
  stillRunning: 4,
  interrupted: 130,
} as const;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `30s`, `5m`, `1h`, `500ms`; plain numbers are seconds. */
export function parseDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(count) * (units[unit] ?? 0);
  if (milliseconds >= 1 && milliseconds <= 2_147_483_647) return Math.round(milliseconds);
  throw new UsageError(`A time is a number with ms, s, m or h, for example 30s; ${text} is none.`);
}

/** Reads a number in a range. */
export function parseNumber(least: number, most: number, whole = false) {
  return (text: string): number => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= least && value <= most;
    if (fits && (!whole || Number.isInteger(value))) return value;
    throw new UsageError(`${text} is no ${whole ? 'whole ' : ''}number from ${least} to ${most}.`);
  };
}

/** For options that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
