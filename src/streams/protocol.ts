import { type ReadCheck, readValue, type ResponseSchema } from '../answers/reader.ts';
import type { StreamErrorBase, StreamVerdict } from './errors.ts';
import type { StreamLimits } from './timeouts.ts';

/** How a stream is over: with or without an error that its reader gets. */
export interface StreamOutcome {
  readonly verdict: StreamVerdict;
  readonly error?: unknown;
}

/** What a stream needs to know of the call that it answers. */
export interface StreamContext extends StreamLimits, ReadCheck {
  /** Aborts the request. The stream aborts it too, when it is left before its end. */
  readonly controller: AbortController;
  /** The caller's own signal. When it is aborted the stream throws `APIUserAbortError`. */
  readonly signal?: AbortSignal | null | undefined;
  /** When the call began, on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly onTruncated?: 'throw' | 'warn' | 'allow' | undefined;
  readonly maxEventBytes?: number | undefined;
  /** How many bytes are read of this stream; no limit when left out. */
  readonly maxBytes?: number | undefined;
  /** How many bytes are read of a stream that is put together into one answer. */
  readonly maxResponseBytes?: number | undefined;
  /** Whether what has come is kept, in the form of a whole answer. */
  readonly partial?: boolean | undefined;
  readonly error: StreamErrorBase;
  /** Writes a warning to the caller's logger. */
  readonly warn?: (message: string) => void;
  /** Called exactly once, when nothing more is read, whatever the reason. It must not throw. */
  readonly release?: (outcome: StreamOutcome, progress: StreamProgress<unknown>) => void;
  /** Called when an item has come; maybe more than once. It must not throw. */
  readonly firstChunk?: (() => void) | undefined;
}

declare const addsUpTo: unique symbol;

/**
 * A piece of a streamed answer: it tells the compiler what such pieces add up to, and how they report
 * the token usage. At run time there is no such field.
 */
export interface PieceOf<Whole, Usage> {
  readonly [addsUpTo]?: readonly [Whole, Usage];
}

/** What the items of a stream add up to. */
export type WholeOf<Item> = Item extends PieceOf<infer Whole, unknown> ? Whole : unknown;

export type UsageOf<Item> = Item extends PieceOf<unknown, infer Usage> ? Usage : unknown;

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

/** Hands out the items of one stream, maybe later or in another form. */
export interface Delivery<Item> {
  /**
   * Takes the next item.
   *
   * @returns whether it is handed out itself, now or later
   */
  add(item: Item): boolean;
  /** Hands out whatever is held, at the end of the stream. */
  flush(): void;
}

/** What the events of a kind of stream mean. */
export interface StreamProtocol<Item> {
  /** Makes an item of the parsed data of one event: compares it, reports what differs, normalizes it. */
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
  /** Decides how the items of one stream are handed out. Without it, each is as soon as it comes. */
  deliver?(emit: (item: Item) => void): Delivery<Item>;
  /** Whether pings are items. They count neither for the answer nor for its time limits. */
  readonly keepsPings?: boolean | undefined;
  /** Whether every value is an item: no error, ping or terminator is looked for. */
  readonly isPlain?: boolean | undefined;
  /** Whether a clean end is proof enough that the answer is whole. */
  readonly endIsProof?: boolean | undefined;
}

/** An event that names its kind in itself. */
interface TypedEvent {
  readonly type: string;
  readonly usage?: unknown;
}

/** What is special about a stream of typed events. */
export interface TypedStream<Item> {
  readonly schema: ResponseSchema<Item>;
  /** The type of the events that finish something: an image, or the whole speech. */
  readonly endType: string;
  /** How many such events are expected; a terminator settles for one. */
  readonly expected?: number | undefined;
  /** Makes events of an answer in one piece. */
  readonly fromAnswer: (answer: unknown) => readonly unknown[];
}

/** How streams of typed events are read: one is whole when its events of the last type have come. */
export function typedProtocol<Item extends TypedEvent>(
  stream: TypedStream<Item>,
): StreamProtocol<Item>;
export function typedProtocol(stream: TypedStream<TypedEvent>): StreamProtocol<TypedEvent> {
  const { schema, endType, expected = 1, fromAnswer } = stream;
  return {
    read: (value, check) => readValue(value, schema, check),
    fromAnswer,
    follow(keeps) {
      const finished: TypedEvent[] = [];
      let started = false;
      let ends = 0;
      let usage: unknown;
      return {
        get started() {
          return started;
        },
        get usage() {
          return usage;
        },
        /** The finished images: they are paid for, whatever becomes of the rest. */
        get partial() {
          return keeps && ends > 0 ? finished : undefined;
        },
        isFinished: (terminated) => ends >= (terminated ? 1 : expected),
        add(event) {
          started = true;
          usage = event.usage ?? usage;
          if (event.type !== endType) return;
          ends += 1;
          if (keeps) finished.push(event);
        },
      };
    },
  };
}
