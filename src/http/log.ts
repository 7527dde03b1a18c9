import type { Logger, LogLevel } from '../options.ts';
import { checkWord } from '../check.ts';

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/** Checks a log level that may come from the environment. */
export function parseLogLevel(value: unknown, field: string): LogLevel {
  return checkWord(field, typeof value === 'string' ? value.trim().toLowerCase() : value, levels);
}

/** What a log line may carry: no key and no prompt, and of what a gateway says only what errors show. */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes log lines at or above the chosen level. */
export class Log {
  readonly #logger: Logger;
  readonly #rank: number;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#rank = levels.indexOf(level);
  }

  /** Whether lines of `level` are written; ask before building details on a hot path. */
  enabled(level: Exclude<LogLevel, 'off'>): boolean {
    return this.#rank >= levels.indexOf(level);
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
