import type { JsonObject } from '../../types.ts';
import { present } from './json.ts';

/** What the gateway calls the kinds of lines in its books. */
const types = { consume: 2, error: 5, refund: 6 } as const;

/** A line in the books. */
export interface BookLine {
  readonly type: keyof typeof types;
  readonly model: string;
  readonly quota: number;
  /** In milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  readonly tokens?: readonly [prompt: number, completion: number] | undefined;
  readonly isStream?: boolean | undefined;
  readonly content?: string | undefined;
  /** Consume and error lines have it, refunds never. */
  readonly requestId?: string | undefined;
  /** What the line holds besides, as JSON text on the wire. */
  readonly other: JsonObject;
}

/** How long a read of the books counts, in milliseconds. */
const limitWindow = 20 * 60_000;

/** The books of the account, as the gateway keeps them beside its charges: they may have no line for one. */
export class Books {
  #lines: BookLine[] = [];
  #reads: number[] = [];

  write(line: BookLine): void {
    this.#lines.push(line);
  }

  /** Counts a read. @returns whether it is within the limit; 0 is none */
  mayRead(now: number, limit: number): boolean {
    const counted = this.#reads.filter((at) => now - at < limitWindow);
    const isWithin = limit === 0 || counted.length < limit;
    this.#reads = isWithin ? [...counted, now] : counted;
    return isWithin;
  }

  /** The newest lines as the gateway sends them, the newest first. */
  read(now: number, { most, lag }: { readonly most: number; readonly lag: number }): unknown[] {
    const shown = this.#lines.filter(({ at }) => at + lag <= now);
    // Refunds are written down when somebody looks, and were made before.
    const inOrder = shown.toSorted((one, other) => one.at - other.at).toReversed();
    return inOrder.slice(0, most).map((line, index) => bodyOf(line, index + 1));
  }

  clear(): void {
    this.#lines = [];
    this.#reads = [];
  }
}

function bodyOf(line: BookLine, position: number): unknown {
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

/** What an image, or a second of a video, costs in US dollars: 1,000 units. Others are paid by the token. */
export const pricePerCall = 0.002;

/** What the line of a charge holds besides. */
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
