import type { ErrorBody } from '../answers/failure.ts';
import { isObject } from '../answers/objects.ts';
import { mergeUsage } from '../answers/usage.ts';
import { type ReadCheck, readValue, type ResponseSchema } from '../answers/reader.ts';
import type { IncomingResponse } from '../http/responses/response-body.ts';
import type { JsonObject } from '../types.ts';
import type { StreamErrorBase, StreamVerdict } from './errors.ts';
import type { StreamLimits } from './timeouts.ts';

/** The verdict of a stream, and the error that its reader receives. */
export interface StreamOutcome {
  readonly verdict: StreamVerdict;
  readonly error?: unknown;
}

/** Options of a call that its stream follows. */
interface StreamSettings extends StreamLimits {
  readonly onTruncated?: 'throw' | 'warn' | 'allow' | undefined;
  readonly maxEventBytes?: number | undefined;
  /** The largest size in bytes of a stream that is collected into one response. */
  readonly maxResponseBytes?: number | undefined;
  /** `true` keeps the response so far, assembled from its chunks. */
  readonly partial?: boolean | undefined;
}

/** The request behind a stream. Its methods must not throw. */
interface StreamOwner {
  /** Writes a warning to the caller's logger. */
  warn(message: string): void;
  /** Called when items arrive, once for those that arrive together. */
  noteChunk(): void;
  /** Called exactly once, when reading ends. */
  endStream(outcome: StreamOutcome, progress: StreamProgress<unknown>): void;
}

/** What a stream needs of its call. */
export interface StreamContext {
  readonly settings: StreamSettings;
  readonly check: ReadCheck;
  /** Aborts the request. The stream aborts it too, if it is closed before its end. */
  readonly controller: AbortController;
  /** The caller's own signal. When it is aborted the stream throws `APIUserAbortError`. */
  readonly signal?: AbortSignal | null | undefined;
  /** When the call began, on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly owner?: StreamOwner | undefined;
  /** The largest size of this stream in bytes; no limit by default. */
  readonly maxBytes?: number | undefined;
  /** `true` reads the stream up to its first content before the caller does; see `StreamReader.begun`. */
  readonly holds?: boolean | undefined;
  /** Returns the details of the call that errors have. */
  describe(): StreamErrorBase;
}

declare const addsUpTo: unique symbol;

/**
 * Links the type of a chunk to the types of its complete response and token usage. Exists only for the
 * compiler.
 */
export interface PieceOf<Whole, Usage> {
  readonly [addsUpTo]?: readonly [Whole, Usage];
}

/** The type of the complete response that the items of a stream add up to. */
export type WholeOf<Item> = Item extends PieceOf<infer Whole, unknown> ? Whole : unknown;

export type UsageOf<Item> = Item extends PieceOf<unknown, infer Usage> ? Usage : unknown;

/** Assembles the items of one stream and decides whether they are complete. */
export interface StreamProgress<Item> {
  /**
   * Adds the next item, and may fill in fields of it from earlier ones.
   *
   * @param isBesideError - `true` if the item is the rest of an event that is an error, or follows one.
   */
  add(item: Item, isBesideError?: boolean): void;
  /** `true` once any part of a response was received; usage alone doesn't count. */
  readonly started: boolean;
  /** Returns `true` if the response is provably complete. `terminated`: a terminator arrived. */
  isFinished(terminated: boolean): boolean;
  /** The reason the response is not usable, as the end of a sentence; `undefined` if there is none. */
  readonly failure?: string | undefined;
  /** What proves that the response is complete, for errors; default: a finish reason. */
  readonly proof?: string | undefined;
  /** The response so far, in the shape of a complete one, if it is kept. */
  readonly partial: WholeOf<Item> | undefined;
  /** The last token usage that was reported. */
  readonly usage: UsageOf<Item> | undefined;
}

/** Delivers the items of one stream to its reader. May delay or convert them. */
export interface Delivery<Item> {
  /**
   * Adds the next item.
   *
   * @returns whether this item itself is yielded, now or later
   */
  add(item: Item): boolean;
  /**
   * Yields the items that are held back, at the end of the stream.
   *
   * @param isComplete - `true` if the response is complete.
   */
  flush(isComplete: boolean): void;
}

/** The rules of one kind of stream. */
export interface StreamProtocol<Item> {
  /**
   * Converts the parsed data of an event to an item: compares it with the schema, reports differences and
   * normalizes.
   */
  read(value: unknown, check: ReadCheck): Item;
  /**
   * Starts to follow a stream.
   *
   * @param keeps - `true` keeps the response so far for `partial`.
   */
  follow(keeps: boolean): StreamProgress<Item>;
  /**
   * Converts a JSON response to events, for gateways that don't stream on request. Empty if the value is not a
   * response.
   */
  fromResponse(response: unknown): readonly unknown[];
  /** Reads the parsed data of an event as an error. Default: `readErrorEvent()`. */
  readonly readError?: (value: unknown, eventName: string | undefined) => ErrorBody | undefined;
  /**
   * Returns the parts of the response in an event that is an error, which are paid for. Default: choices,
   * candidates and usage.
   */
  readonly responseBeside?: (value: unknown) => JsonObject | undefined;
  /** Returns `true` if a JSON response is only a chunk. */
  isPiece?(response: unknown): boolean;
  /**
   * Converts the parsed data of an event that another API defines to events of this one; empty for any other event.
   */
  split?(value: unknown): readonly unknown[];
  /**
   * Converts a whole file to events, for providers that don't stream on request.
   *
   * @throws `ReadFailure` if the file is not whole
   */
  fromFile?(bytes: Uint8Array, incoming: IncomingResponse): readonly unknown[];
  /**
   * Converts text to events, for providers that return text instead of a stream. Empty if the text is not a response.
   *
   * @param type - The content type of the text.
   */
  fromText?(text: string, type: string): readonly unknown[];
  /** Controls how the items of one stream are yielded. By default each is yielded as it arrives. */
  deliver?(emit: (item: Item) => void): Delivery<Item>;
  /** Returns whether an item has content of the response. By default each has. */
  hasContent?(item: Item): boolean;
  /**
   * Returns whether an event that is cut off has content, so that the response is incomplete in spite of a
   * finish reason.
   */
  isTornContent?(data: string): boolean;
  /** `true` yields pings. They are not part of the response, and its time limits don't count them as chunks. */
  readonly keepsPings?: boolean | undefined;
  /** `true` if every value is an item, and never an error, a ping or a terminator. */
  readonly isPlain?: boolean | undefined;
  /** `true` if the proof that a response is complete is its last event, after which nothing is read. */
  readonly endsAtProof?: boolean | undefined;
  /** `true` if a clean end proves that the response is complete. */
  readonly endIsProof?: boolean | undefined;
}

/** An event with a `type`. */
interface TypedEvent {
  readonly type: string;
  readonly usage?: unknown;
}

/** The properties of a stream of typed events. */
export interface TypedStream<Item> {
  readonly schema: ResponseSchema<Item>;
  /** The type of the events that complete an image or the speech. */
  readonly endType: string;
  /** The number of these events that complete the stream. If the terminator arrives, one is enough. */
  readonly expected?: number | undefined;
  /** Converts a complete response to events. */
  readonly fromResponse: (response: unknown) => readonly unknown[];
  /** Returns the problem with a last event that has no result; see `StreamProgress.failure`. */
  readonly missing?: ((event: Item) => string | undefined) | undefined;
}

/** What proves that a stream of events with types is complete. */
export const lastEvent = 'its last event';

/** The types of events of images and speech. Gateways send errors and progress with other types. */
const ownTypes = /^(image_|speech\.)/;

/** Returns the protocol of a stream that is complete once all its events of the last type have arrived. */
export function typedProtocol<Item extends TypedEvent>(
  stream: TypedStream<Item>,
): StreamProtocol<Item>;
export function typedProtocol(stream: TypedStream<TypedEvent>): StreamProtocol<TypedEvent> {
  const { schema, endType, expected = 1, fromResponse, missing } = stream;
  return {
    read: (value, check) => readValue(value, schema, check),
    fromResponse,
    follow(keeps) {
      const finished: TypedEvent[] = [];
      let started = false;
      let ends = 0;
      let usage: JsonObject | undefined;
      let failure: string | undefined;
      return {
        proof: lastEvent,
        get started() {
          return started;
        },
        get usage() {
          return usage;
        },
        /** The finished images, which are paid for even if the stream fails. */
        get partial() {
          return keeps && ends > 0 ? finished : undefined;
        },
        get failure() {
          return failure;
        },
        isFinished: (terminated) => ends >= (terminated ? 1 : expected),
        add(event) {
          started ||= ownTypes.test(event.type);
          if (isObject(event.usage)) usage = mergeUsage(usage, event.usage);
          if (event.type !== endType) return;
          failure = missing?.(event);
          if (failure !== undefined) return;
          ends += 1;
          if (keeps) finished.push(event);
        },
      };
    },
  };
}
