import { InvalidInputError } from '../errors/gateway-error.ts';
import type { Logger, LogLevel } from '../options.ts';
import { shown } from './option-checks.ts';

const ranks: Readonly<Record<LogLevel, number>> = { off: 0, error: 1, warn: 2, info: 3, debug: 4 };

/** Checks a log level that may come from the environment. */
export function parseLogLevel(value: unknown, field: string): LogLevel {
  const level = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (level === 'off' || level === 'error' || level === 'warn') return level;
  if (level === 'info' || level === 'debug') return level;
  throw new InvalidInputError(
    field,
    `${shown(value)} is not a log level; use "off", "error", "warn", "info" or "debug".`,
  );
}

/** What a log line may carry: no key and no prompt, and of what a gateway says only what errors show. */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes log lines at or above the chosen level. */
export class Log {
  readonly #logger: Logger;
  readonly #rank: number;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#rank = ranks[level];
  }

  /** Whether lines of `level` are written; ask before building details on a hot path. */
  enabled(level: Exclude<LogLevel, 'off'>): boolean {
    return this.#rank >= ranks[level];
  }

  write(level: Exclude<LogLevel, 'off'>, message: string, details: LogDetails): void {
    if (!this.enabled(level)) return;
    try {
      this.#logger[level](`[model-gateway] ${message}`, details);
    } catch {
      // A logger that fails must not fail a call that is already paid for.
    }
  }
}
