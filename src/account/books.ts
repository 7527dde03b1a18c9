import { isNumber, isObject, parseJSON, textOf } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import { type Routes, unsupported } from './readings.ts';
import type { ChargeLine } from './types.ts';

const path = '/api/log/token';
const what = 'what it has charged';

/** The newest lines of the books. */
export interface Books {
  /** The newest first. */
  readonly lines: readonly BookLine[];
  /** How far the gateway's clock is ahead of ours, in milliseconds; browsers are not told its time. */
  readonly clockAhead: number | undefined;
}

/** A line, with what only a settlement needs. */
export interface BookLine extends ChargeLine {
  /** Whether it is about a video task. */
  readonly isTask: boolean;
  /** What a task cost in the end, of a line that corrects its price. */
  readonly finalQuota: number | undefined;
}

/** The gateway's numbers for kinds of lines. */
const types: Readonly<Record<number, string>> = {
  1: 'top_up',
  2: 'consume',
  3: 'manage',
  4: 'system',
  5: 'error',
  6: 'refund',
};

/** @throws `UnsupportedByGatewayError` when it has no amount or no time: half a line could mislead */
function readLine(raw: JsonObject): BookLine {
  const { type, quota, created_at: seconds, other: given } = raw;
  const parsed = typeof given === 'string' ? parseJSON(given) : given;
  const other = isObject(parsed) ? parsed : {};
  if (!isNumber(quota) || quota < 0 || !isNumber(seconds)) {
    throw unsupported(path, what, 'a line has no amount or no time');
  }
  const final = other['actual_quota'];
  const tokens = {
    input: Number(raw['prompt_tokens']) || 0,
    output: Number(raw['completion_tokens']) || 0,
  };
  const taskId = textOf(other['task_id']);
  return hideRaw({
    type: isNumber(type) ? (types[type] ?? `${type}`) : (textOf(type) ?? 'unknown'),
    amount: { value: quota, unit: 'quota' } as const,
    model: textOf(raw['model_name']),
    at: seconds * 1_000,
    requestId: textOf(raw['request_id']),
    taskId,
    reason: textOf(other['reason']) ?? textOf(raw['content']),
    tokens,
    isTask: other['is_task'] === true || taskId !== undefined,
    finalQuota: isNumber(final) ? final : undefined,
    raw: { ...raw, other },
  });
}

/** Keeps what came out of logs and JSON. */
export function hideRaw<T extends { readonly raw: JsonObject }>(entry: T): T {
  return Object.defineProperty(entry, 'raw', { enumerable: false });
}

/** Reads the usage log of a key. */
export class BookReader {
  readonly #routes: Routes;
  /** Whether the gateway has shown that it reads the key of these requests. */
  #readsKey = false;

  constructor(routes: Routes) {
    this.#routes = routes;
  }

  /**
   * Reads the newest entries.
   *
   * @throws `UnsupportedByGatewayError` when the gateway has no log, or takes the key only in the URL
   */
  async read(): Promise<Books> {
    const { data: answer, response } = await this.#routes.get(path, what, true);
    const { data } = answer;
    // Go writes an empty list as `null`.
    const lines: unknown = data ?? (answer['success'] === true ? [] : undefined);
    if (!Array.isArray(lines) || !lines.every(isObject)) {
      throw unsupported(path, what, 'the answer holds no lines');
    }
    if (lines.length === 0) await this.#checkKeyIsRead();
    else this.#readsKey = true;
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      lines: lines.map(readLine).toSorted((one, other) => other.at - one.at),
      clockAhead: Number.isNaN(date) ? undefined : date - Date.now(),
    };
  }

  /** Gateways of 2025 take the key in the query alone, and return an empty list to everybody else. */
  async #checkKeyIsRead(): Promise<void> {
    if (this.#readsKey) return;
    const ignoresKey = await this.#routes.ignoresKey(path);
    if (ignoresKey === true) {
      const finding =
        'it returns an empty list, also without a key: it takes the key in the URL alone, where proxies would log it';
      throw unsupported(path, what, finding);
    }
    this.#readsKey = ignoresKey === false;
  }
}
