import type { Evidence } from '../errors/gateway-error.ts';
import type { StreamVerdict } from './errors.ts';
import type { ErrorBody } from '../answers/error-body.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { ChatCompletionChunk, ChatCompletion, CompletionUsage } from '../chat/types.ts';
import type { GenerateContentResponse, UsageMetadata } from '../generate/types.ts';

/** How long a stream may take, in milliseconds; `null` for no limit. */
export interface StreamLimits {
  readonly firstByteTimeout: number | null;
  readonly idleTimeout: number | null;
  readonly chunkTimeout: number | null;
  /** Counted from `StreamContext.startedAt`, so over every attempt. */
  readonly totalTimeout: number | null;
}

/** Takes keys and the queries of URLs out of what others say. */
interface StreamRedaction {
  said(words: ErrorBody): ErrorBody;
  cause(cause: unknown): unknown;
  headers(headers: Headers): Headers;
}

/** What every error of a stream carries. */
export interface StreamErrorBase {
  /** The operation, for messages, for example `chat.completions.create`. */
  readonly operation: string;
  readonly callId?: string | undefined;
  readonly requestID?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  readonly evidence?: Evidence | undefined;
  /** Takes out of what the gateway or the runtime says what may not be in errors. */
  readonly redaction?: StreamRedaction | undefined;
}

/** How a stream is over: with or without an error that its reader gets. */
export interface Settlement {
  readonly verdict: StreamVerdict;
  readonly error?: unknown;
}

/** What a stream needs to know of the call that it answers. */
export interface StreamContext {
  /** Aborts the request. The stream aborts it too, when it is left before its end. */
  readonly controller: AbortController;
  /** The caller's own signal. When it is aborted the stream throws `APIUserAbortError`. */
  readonly signal?: AbortSignal | null | undefined;
  readonly limits: StreamLimits;
  /** When the call began, on the clock of `monotonicNow()`. */
  readonly startedAt: number;
  readonly onTruncated: 'throw' | 'warn' | 'allow';
  readonly maxEventBytes: number;
  /** How many bytes are read of a stream that is put together into one answer. */
  readonly maxResponseBytes: number;
  /** Whether what has come is kept, in the form of a whole answer. */
  readonly partial: boolean;
  readonly check: ReadCheck;
  readonly error: StreamErrorBase;
  /** Writes a warning to the caller's logger. Details hold no text of prompts or answers. */
  readonly warn: (
    message: string,
    details: Readonly<Record<string, string | number | boolean | undefined>>,
  ) => void;
  /** Called exactly once, when nothing more is read, whatever the reason. It must not throw. */
  readonly release: (settlement: Settlement) => void;
}

/** What the items of a stream add up to. */
export type WholeOf<Item> = Item extends ChatCompletionChunk
  ? ChatCompletion
  : Item extends GenerateContentResponse
    ? GenerateContentResponse
    : unknown;

/** How a stream of such items reports its token usage. */
export type UsageOf<Item> = Item extends ChatCompletionChunk
  ? CompletionUsage
  : Item extends GenerateContentResponse
    ? UsageMetadata
    : unknown;

/** Follows one stream: puts its pieces together and knows whether they are whole. */
export interface StreamProgress<Item> {
  /** Takes the next item, and may fill fields of it that earlier ones hold. */
  add(item: Item): void;
  /** Whether there was anything of an answer; usage alone is not. */
  readonly started: boolean;
  /** Whether there is proof that the answer is whole, given whether a terminator came. */
  isFinished(terminated: boolean): boolean;
  /** What has been received so far and is kept, in the form of a whole answer. */
  readonly partial: WholeOf<Item> | undefined;
  /** The last token usage that was reported. */
  readonly usage: UsageOf<Item> | undefined;
}

/** What the events of a kind of stream mean. */
export interface StreamProtocol<Item> {
  /** Makes an item of the parsed data of one event: checks it, reports differences, repairs it. */
  read(value: unknown, check: ReadCheck): Item;
  /**
   * Starts to follow a stream.
   *
   * @param keeps - Whether what has come is kept for `partial`.
   */
  follow(keeps: boolean): StreamProgress<Item>;
  /**
   * Makes events of a JSON answer, for gateways that do not stream although asked to. Empty when the
   * value is no answer.
   */
  fromAnswer(answer: unknown): readonly unknown[];
  /** Whether such an answer is a piece of one, whatever its label says. */
  isPiece?(answer: unknown): boolean;
  /** Makes events of a whole file, for providers that do not stream although asked to. */
  fromFile?(bytes: Uint8Array): readonly unknown[];
  /** Whether an item only counts for what all items add up to, and is given to nobody. */
  isHidden?(item: Item): boolean;
  /** Whether every value is an item: no error, ping or terminator is looked for. */
  readonly isPlain?: boolean | undefined;
  /** Whether nobody reads the items, as the stream is put together into one answer. */
  readonly isCollected?: boolean | undefined;
  /** Whether a clean end is proof enough that the answer is whole. */
  readonly endIsProof?: boolean | undefined;
}
