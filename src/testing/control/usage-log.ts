import type { JsonObject } from '../../types.ts';
import { present } from './json.ts';

/** Numeric types of usage log entries. */
const types = { consume: 2, error: 5, refund: 6 } as const;

/** An entry of the usage log. */
export interface LogEntry {
  readonly type: keyof typeof types;
  readonly model: string;
  readonly quota: number;
  /** In milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  readonly tokens?: readonly [prompt: number, completion: number] | undefined;
  readonly isStream?: boolean | undefined;
  readonly content?: string | undefined;
  /** Set in consume and error entries, never in refunds. */
  readonly requestId?: string | undefined;
  /** Further fields, sent as JSON text. */
  readonly other: JsonObject;
}

/** Window of the rate limit for reading the log, in milliseconds. */
const limitWindow = 20 * 60_000;

/** The usage log of the account. The gateway keeps it separately from charges, and may not log all of them. */
export class UsageLog {
  #entries: LogEntry[] = [];
  #reads: number[] = [];

  write(entry: LogEntry): void {
    this.#entries.push(entry);
  }

  /** Counts a read. Returns whether it is within the limit; 0 means no limit. */
  mayRead(now: number, limit: number): boolean {
    const counted = this.#reads.filter((at) => now - at < limitWindow);
    const isWithin = limit === 0 || counted.length < limit;
    this.#reads = isWithin ? [...counted, now] : counted;
    return isWithin;
  }

  /** Returns the newest entries as the gateway sends them, newest first. */
  read(now: number, { most, lag }: { readonly most: number; readonly lag: number }): unknown[] {
    const shown = this.#entries.filter(({ at }) => at + lag <= now);
    // Refunds are logged late, when the account is read, so sort by time.
    const inOrder = shown.toSorted((one, other) => one.at - other.at).toReversed();
    return inOrder.slice(0, most).map((entry, index) => toJSON(entry, index + 1));
  }

  /** Returns the entry of a charge by its request, once it is visible. */
  find(requestId: string, now: number, lag: number): LogEntry | undefined {
    return this.#entries.find((entry) => entry.requestId === requestId && entry.at + lag <= now);
  }

  clear(): void {
    this.#entries = [];
    this.#reads = [];
  }
}

function toJSON(entry: LogEntry, position: number): unknown {
  const { tokens: [prompt, completion] = [0, 0] } = entry;
  return present({
    id: position,
    user_id: 2,
    created_at: Math.floor(entry.at / 1000),
    type: types[entry.type],
    content: entry.content ?? '',
    username: 'emulator',
    token_name: 'emulator',
    model_name: entry.model,
    quota: entry.quota,
    prompt_tokens: prompt,
    completion_tokens: completion,
    use_time: 0,
    is_stream: entry.isStream ?? false,
    channel: 1,
    channel_name: '',
    token_id: 1,
    group: 'default',
    ip: '',
    request_id: entry.requestId,
    other: JSON.stringify(entry.other),
  });
}

/**
 * Price of an image, or of a second of video, in US dollars: 1,000 units. Other models are billed per token.
 */
export const pricePerCall = 0.002;

/** Returns the further fields of a charge in the log. */
export function chargeDetails(path: string, taskId: string | undefined): JsonObject {
  const shared = { group_ratio: 1, request_path: path };
  if (path.startsWith('/v1/videos')) {
    return present({ ...shared, is_task: true, model_price: pricePerCall, task_id: taskId });
  }
  const isImage = path.startsWith('/v1/images');
  return {
    ...shared,
    billing_source: 'wallet',
    cache_ratio: 0,
    cache_tokens: 0,
    completion_ratio: isImage ? 0 : 1,
    frt: -1000,
    model_price: isImage ? pricePerCall : -1,
    model_ratio: isImage ? 0 : 1,
    request_conversion: ['OpenAI Compatible'],
    user_group_ratio: -1,
  };
}
