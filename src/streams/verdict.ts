import {
  type ErrorBody,
  readErrorEvent,
  readErrorValue,
  readPlainText,
  saysSomething,
} from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import { parseJSON, parseLines } from '../answers/parse-json.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { SentError, type StreamVerdict } from './errors.ts';
import type { StreamProgress, StreamProtocol } from './protocol.ts';

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

/** Makes checked items of events, and decides whether the answer in them is whole. */
export class StreamedAnswer<Item> {
  readonly #protocol: StreamProtocol<Item>;
  readonly #check: ReadCheck;
  readonly #onItem: (item: Item) => void;
  readonly progress: StreamProgress<Item>;
  /** Whether a terminator came. */
  terminated = false;
  #isCut = false;
  #hasEvents = false;
  #hasHollowChunk = false;
  #isWhole = false;

  constructor(
    protocol: StreamProtocol<Item>,
    check: ReadCheck,
    keeps: boolean,
    onItem: (item: Item) => void,
  ) {
    this.#protocol = protocol;
    this.#check = check;
    this.#onItem = onItem;
    this.progress = protocol.follow(keeps);
  }

  /** Decides how the stream has ended. */
  verdict(isBroken: boolean): StreamVerdict {
    if (this.isFinished) return 'complete';
    if (isBroken || this.#isCut) return 'truncated';
    if (this.#protocol.endIsProof === true) return 'complete';
    if (!this.progress.started) return 'truncated';
    return this.terminated ? 'no_finish_reason' : 'no_terminator';
  }

  /** Whether there is proof that the answer is whole. A terminator alone is none: gateways write it after time-outs. */
  get isFinished(): boolean {
    return this.#isWhole || this.progress.isFinished(this.terminated);
  }

  /** Whether the answer is whole and nothing of it can follow. */
  get isOver(): boolean {
    return this.terminated && this.progress.isFinished(true);
  }

  /**
   * Takes the data of one event.
   *
   * @throws `SentError` for an error event, `ShapeMismatch` in strict mode.
   */
  readonly take = (data: string, name: string | undefined, isOpen: boolean): void => {
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
      if (isOpen) this.#isCut = true;
      else if (!isPing(undefined, name)) throw new SentError(readPlainText(data));
      return;
    }
    this.takeValue(value, name);
  };

  #isTerminator(data: string): boolean {
    if (data.length > longestTerminator || this.#protocol.isPlain === true) return false;
    return data.trim() === terminator;
  }

  /** Takes one event as a value. Throws as `take` does. */
  takeValue(value: unknown, name?: string): void {
    this.#hasEvents = true;
    if (this.#protocol.isPlain === true) {
      this.#takeItem(value);
      return;
    }
    if (Array.isArray(value) && name !== 'error') {
      for (const item of value) this.takeValue(item, name);
      return;
    }
    const error = readErrorEvent(value, name);
    if (error !== undefined) this.#fail(value, error);
    if (typeof value === 'string') throw new SentError(readPlainText(value));
    if (isPing(value, name)) return;
    if (isHollow(value)) this.#hasHollowChunk = true;
    else if (isObject(value) || this.#check.validation === 'strict') this.#takeItem(value);
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
   * Ends the answer.
   *
   * @param strayText - What belonged to no event: a late error, or a whole answer in place of events.
   * @throws `SentError` when it is an error, or when an error chunk came whose text a gateway has lost
   */
  end(strayText: string): void {
    const text = strayText.trim();
    if (text !== '' && !this.isOver) this.#takeStrayText(text);
    if (!this.#hasHollowChunk || this.isFinished) return;
    throw new SentError({
      ...readErrorValue(undefined),
      message: 'the gateway forwarded an error of the provider, but lost what it said',
    });
  }

  #takeStrayText(text: string): void {
    const answer = this.#hasEvents
      ? undefined
      : toEvents(parseJSON(text, parseLines), this.#protocol);
    if (answer !== undefined) {
      for (const value of answer.events) this.takeValue(value);
      this.#isWhole = answer.isWhole;
      return;
    }
    this.#refuseErrors(text);
    if (!this.isFinished) throw new SentError(readPlainText(text));
  }

  #refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const values = whole === undefined ? text.split('\n').map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = readErrorEvent(value, undefined);
      if (error !== undefined) this.#fail(value, error);
    }
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

/** What an event with an error in it says of the answer itself; `undefined` when nothing. */
function answerBeside(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const fields = ['choices', 'candidates', 'usage', 'usageMetadata', 'usage_metadata'];
  const said = fields.filter((field) => saysSomething(value[field]) || Array.isArray(value[field]));
  return said.length === 0
    ? undefined
    : Object.fromEntries(said.map((field) => [field, value[field]]));
}

/**
 * Whether a chunk is what remains of a provider's error after a gateway has squeezed it into the
 * form of a chunk: every field is there and nothing is in them.
 */
function isHollow(value: unknown): boolean {
  return (
    isObject(value) &&
    value['choices'] === null &&
    value['usage'] === null &&
    value['id'] === '' &&
    value['model'] === ''
  );
}

/** Whether an event only says that the connection is alive. */
function isPing(value: unknown, eventName: string | undefined): boolean {
  return eventName === 'ping' || (isObject(value) && value['type'] === 'ping');
}
