import {
  type ErrorBody,
  readErrorEvent,
  readErrorValue,
  readPlainText,
} from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import { parseJSON, parseLines } from '../answers/parse-json.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { StreamProgress, StreamProtocol } from './protocol.ts';
import type { ServerSentEvent } from './read-events.ts';
import { answerBeside, isHollow, isPing } from './stream-error-shape.ts';

/** The gateway sent an error inside the stream. */
export class SentError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.message);
    this.body = body;
  }
}

const terminator = '[DONE]';

/** Only text that is shorter than any chunk is looked at for a terminator with spaces around it. */
const longestTerminator = 32;

const unchecked: ReadCheck = { validation: 'off', onIssue: () => undefined };

/** What came in place of events. */
interface Instead {
  readonly events: readonly unknown[];
  /** Whether it is whole because its JSON is; a list of pieces needs the proof of a stream. */
  readonly isWhole: boolean;
}

/** Makes events of JSON that came in place of them; `undefined` when nothing of an answer is in it. */
export function toEvents<Item>(
  value: unknown,
  protocol: StreamProtocol<Item>,
): Instead | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const made = values.map((one) => protocol.fromAnswer(one));
  if (made.every((events) => events.length === 0)) return undefined;
  // What is no answer is among them an error.
  const events = made.flatMap((some, index) => (some.length === 0 ? [values[index]] : some));
  return { events, isWhole: !Array.isArray(value) && protocol.isPiece?.(value) !== true };
}

/** Turns the data of events into checked items and follows how far the answer has come. */
export class EventDecoder<Item> {
  readonly #protocol: StreamProtocol<Item>;
  readonly #check: ReadCheck;
  readonly #onItem: (item: Item) => void;
  readonly progress: StreamProgress<Item>;
  /** Whether a terminator came. */
  terminated = false;
  /** Whether an event was cut by the end of the stream. */
  isCut = false;
  #hasEvents = false;
  #hasHollowChunk = false;
  #isWhole = false;

  constructor(
    protocol: StreamProtocol<Item>,
    check: ReadCheck,
    progress: StreamProgress<Item>,
    onItem: (item: Item) => void,
  ) {
    this.#protocol = protocol;
    this.#check = check;
    this.#onItem = onItem;
    this.progress = progress;
  }

  /** Whether the answer is whole and nothing of it can follow. */
  get isOver(): boolean {
    return this.terminated && this.progress.isFinished(true);
  }

  /** Whether there is proof that the answer is whole. */
  get isFinished(): boolean {
    return this.#isWhole || this.progress.isFinished(this.terminated);
  }

  /**
   * Takes one event.
   *
   * @throws `SentError` for an error event, `ShapeMismatch` in strict mode.
   */
  readonly take = ({ name, data, isOpen }: ServerSentEvent): void => {
    // What comes after the end of a whole answer says nothing about it.
    if (data === '' || this.isOver) return;
    if (this.#isTerminator(data)) {
      this.terminated = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      if (isOpen) this.isCut = true;
      else if (!isPing(undefined, name)) throw new SentError(readPlainText(data));
      return;
    }
    this.#takeValue(value, name);
  };

  #isTerminator(data: string): boolean {
    if (data.length > longestTerminator || this.#protocol.isPlain === true) return false;
    return data.trim() === terminator;
  }

  /**
   * Takes the text between two events.
   *
   * @throws `SentError` when it is an error
   */
  readonly takeTextBetween = (text: string): void => {
    if (!this.isOver) this.#refuseErrors(text.trim());
  };

  /**
   * Takes the text that belonged to no event, at the end of the stream: a late error, or a whole
   * answer in place of events.
   *
   * @throws `SentError` when it is an error.
   */
  takeStrayText(text: string): void {
    const trimmed = text.trim();
    if (trimmed === '' || this.isOver) return;
    const answer = this.#hasEvents
      ? undefined
      : toEvents(parseJSON(trimmed, parseLines), this.#protocol);
    if (answer !== undefined) {
      for (const value of answer.events) this.#takeValue(value, undefined);
      this.#isWhole = answer.isWhole;
      return;
    }
    this.#refuseErrors(trimmed);
    if (!this.isFinished) throw new SentError(readPlainText(trimmed));
  }

  #refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const values = whole === undefined ? text.split('\n').map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = readErrorEvent(value, undefined);
      if (error !== undefined) this.#fail(value, error);
    }
  }

  /** @throws `SentError` when an error chunk came whose text a gateway has lost, and nothing after it. */
  checkEnding(): void {
    if (!this.#hasHollowChunk || this.isFinished) return;
    throw new SentError({
      ...readErrorValue(undefined),
      message: 'the gateway forwarded an error of the provider, but lost what it said',
    });
  }

  #takeValue(value: unknown, name: string | undefined): void {
    this.#hasEvents = true;
    if (this.#protocol.isPlain === true) {
      this.#takeItem(value);
      return;
    }
    if (Array.isArray(value) && name !== 'error') {
      for (const item of value) this.#takeValue(item, name);
      return;
    }
    const error = readErrorEvent(value, name);
    if (error !== undefined) this.#fail(value, error);
    if (typeof value === 'string') throw new SentError(readPlainText(value));
    if (isPing(value, name)) return;
    if (isHollow(value)) this.#hasHollowChunk = true;
    else if (isObject(value) || this.#check.validation === 'strict') this.#takeItem(value);
  }

  /** What came along with an error was paid for, like what came before it. */
  #fail(value: unknown, error: ErrorBody): never {
    const rest = answerBeside(value);
    if (rest !== undefined) this.progress.add(this.#protocol.read(rest, unchecked));
    throw new SentError(error);
  }

  #takeItem(value: unknown): void {
    const item = this.#protocol.read(value, this.#check);
    this.progress.add(item);
    if (this.#protocol.isHidden?.(item) !== true) this.#onItem(item);
  }
}
