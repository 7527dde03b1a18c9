import type { JsonObject } from '../../types.ts';
import { present } from './json.ts';

/** Numeric types of usage log entries. */
const types = { consume: 2, error: 5, refund: 6 } as const;

/** An entry of the usage log. */
export interface BookLine {
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
export class Books {
  #lines: BookLine[] = [];
  #reads: number[] = [];

  write(line: BookLine): void {
    this.#lines.push(line);
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
    const shown = this.#lines.filter(({ at }) => at + lag <= now);
    // Refunds are logged late, when the account is read, so sort by time.
    const inOrder = shown.toSorted((one, other) => one.at - other.at).toReversed();
    return inOrder.slice(0, most).map((line, index) => toLogEntry(line, index + 1));
  }

  /** Returns the entry of a charge by its request, once it is visible. */
  find(requestId: string, now: number, lag: number): BookLine | undefined {
    return this.#lines.find((line) => line.requestId === requestId && line.at + lag <= now);
  }

  clear(): void {
    this.#lines = [];
    this.#reads = [];
  }
}

function toLogEntry(line: BookLine, position: number): unknown {
  const { tokens: [prompt, completion] = [0, 0] } = line;
  return present({
    id: position,
    user_id: 2,
    created_at: Math.floor(line.at / 1000),
    type: types[line.type],
    content: line.content ?? '',
    username: 'emulator',
    token_name: 'emulator',
    model_name: line.model,
    quota: line.quota,
    prompt_tokens: prompt,
    completion_tokens: completion,
    use_time: 0,
    is_stream: line.isStream ?? false,
    channel: 1,
    channel_name: '',
    token_id: 1,
    group: 'default',
    ip: '',
    request_id: line.requestId,
    other: JSON.stringify(line.other),
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
