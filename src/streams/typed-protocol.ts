import { readValue, type ResponseSchema } from '../answers/reader.ts';
import type { StreamProgress, StreamProtocol } from './protocol.ts';

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

/** Follows a stream of typed events: it is whole when its events of the last type have come. */
class TypedProgress implements StreamProgress<TypedEvent> {
  readonly #endType: string;
  readonly #expected: number;
  readonly #kept: TypedEvent[] | undefined;
  #ends = 0;
  started = false;
  usage: unknown;

  constructor(endType: string, expected: number, keeps: boolean) {
    this.#endType = endType;
    this.#expected = expected;
    this.#kept = keeps ? [] : undefined;
  }

  /** The finished images: they are paid for, whatever becomes of the rest. */
  get partial(): unknown {
    return this.#ends === 0 ? undefined : this.#kept;
  }

  isFinished(terminated: boolean): boolean {
    return this.#ends >= (terminated ? 1 : this.#expected);
  }

  add(item: TypedEvent): void {
    this.started = true;
    this.usage = item.usage ?? this.usage;
    if (item.type !== this.#endType) return;
    this.#ends += 1;
    this.#kept?.push(item);
  }
}

/** How streams of typed events, such as those of images and speech, are read. */
export function typedProtocol<Item extends TypedEvent>(
  stream: TypedStream<Item>,
): StreamProtocol<Item>;
export function typedProtocol(stream: TypedStream<TypedEvent>): StreamProtocol<TypedEvent> {
  const { schema, endType, expected = 1, fromAnswer } = stream;
  return {
    read: (value, check) => readValue(value, schema, check),
    follow: (keeps) => new TypedProgress(endType, expected, keeps),
    fromAnswer,
  };
}
