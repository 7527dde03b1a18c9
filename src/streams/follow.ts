import {
  type ErrorBody,
  readErrorEvent,
  readPlainText,
  isNonEmpty,
  unwrapData,
} from '../answers/failure.ts';
import { hasValue, isObject, parseJSON, parseLines, toFields } from '../answers/objects.ts';
import { unchecked } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import type { ChunkQueue } from './chunk-queue.ts';
import { SentError, type StreamVerdict } from './errors.ts';
import { type EventTaker, tooLarge } from './events.ts';
import type { Delivery, StreamContext, StreamProgress, StreamProtocol } from './protocol.ts';
import * as verdict from './verdict.ts';

/** The data of the last event of a stream. */
const terminator = /^\s*\[DONE\]\s*$/;

/** Number of items that are compared with their schema. Later ones look the same. */
const comparedItems = 20;

/** Number of events that are read after an error, because gateways then send the usage. */
const lateEvents = 16;

const usageFields = ['usage', 'usageMetadata', 'usage_metadata'];

/**
 * Turns the events of a stream into checked items, and follows its state; see `verdict.ts`.
 *
 * An error is kept until its usage has arrived: with it, or in the events up to the end. Then it is thrown as a
 * `SentError`. In strict mode `take()` also throws a `ShapeMismatch`.
 */
export class StreamFollower<Item> implements EventTaker {
  readonly progress: StreamProgress<Item>;
  /** `true` once an item was taken that is yielded, now or later. Pings don't count. */
  hasNewItems = false;
  /** `true` once content was received; only known of a stream that is held. */
  hasContent = false;
  readonly #protocol: StreamProtocol<Item>;
  readonly #context: StreamContext;
  readonly #items: ChunkQueue<Item>;
  readonly #delivery: Delivery<Item> | undefined;
  readonly #maxEventBytes: number;
  #state: verdict.StreamState = 'open';
  /** The error of the stream, until it is thrown. */
  #failure: SentError | undefined;
  #eventsSinceFailure = 0;
  #compared = 0;
  #last: verdict.LastEvent = 'whole';
  #hasEvents = false;
  /** The last event before any content. */
  #unread: string | undefined;
  /** Lines outside of events since the last event. Gateways write errors as bare JSON. */
  #strayText = '';

  /** @param items - Receives the items. */
  constructor(protocol: StreamProtocol<Item>, context: StreamContext, items: ChunkQueue<Item>) {
    this.#protocol = protocol;
    this.#context = context;
    this.#items = items;
    this.#maxEventBytes = context.settings.maxEventBytes ?? Infinity;
    this.progress = protocol.follow(context.settings.partial ?? true);
    this.#delivery = protocol.deliver?.((item) => items.push(item));
  }

  /** The last event of a stream without content. */
  get unread(): string | undefined {
    return this.progress.started ? undefined : this.#unread;
  }

  /** `true` if the stream has failed, although more of it is read. */
  get hasFailed(): boolean {
    return this.#state === 'failed';
  }

  /** `true` if the response is provably complete. */
  get isFinished(): boolean {
    return verdict.isFinished(this.#state, this.progress);
  }

  /** `true` if the response is complete and nothing can follow. */
  get isOver(): boolean {
    return verdict.isOver(this.#state, this.progress);
  }

  /** `true` if the connection should end now. */
  get isEnding(): boolean {
    return verdict.isEnding(this.#state);
  }

  /** Returns the verdict; see {@link verdict.judge}. */
  verdict(isBroken: boolean): StreamVerdict {
    const { endIsProof } = this.#protocol;
    return verdict.judge(this.#state, this.progress, this.#last, isBroken, endIsProof);
  }

  /** Yields the items that are held back; see `Delivery.flush`. */
  flush(isComplete: boolean): void {
    this.#delivery?.flush(isComplete);
  }

  take(data: string, name: string | undefined, isOpen: boolean): void {
    // Events after the end of a complete response are ignored.
    if (this.isOver) return;
    if (data.trim() === '') {
      this.#takeStrayAnswer();
      return;
    }
    if (this.#strayText !== '') this.#refuseErrors(this.#strayText);
    if (this.#protocol.isPlain !== true && terminator.test(data)) {
      this.#move('terminator');
      return;
    }
    this.#strayText = '';
    // Parsing would throw for each of many keep-alives.
    if (!isOpen && !data.startsWith('{') && keepAliveText.test(data)) return;
    const value = parseJSON(data);
    if (value === undefined) this.#takeText(data, name, isOpen);
    else this.takeValue(value, name);
  }

  /** Takes the parsed data of an event. */
  takeValue(value: unknown, name?: string): void {
    const { isPlain = false, keepsPings = false } = this.#protocol;
    this.#hasEvents = true;
    if (this.hasFailed) this.#takeLate(value);
    else if (isPlain) this.#takeItem(value);
    else if (Array.isArray(value) && name !== 'error') {
      for (const item of value) this.takeValue(item, name);
    } else {
      const error = this.#readError(value, name);
      if (error !== undefined) this.#refuse(value, error);
      else if (typeof value === 'string') refuseText(value, name);
      else if (!isPing(value, name)) this.#takeParts(value);
      else if (keepsPings && isObject(value)) {
        this.#items.push(this.#protocol.read(value, unchecked));
      }
    }
  }

  /** Takes a line outside of events. */
  takeStrayLine(line: string): void {
    this.#strayText += `${line}\n`;
    if (this.#strayText.length > this.#maxEventBytes) throw tooLarge(this.#maxEventBytes);
  }

  /**
   * Takes the end of the stream.
   *
   * @throws `SentError` if an error has arrived
   */
  takeEnd(): void {
    this.#move('settled');
    const text = this.#strayText.trim();
    if (text !== '' && !this.isOver) this.#takeInstead(text);
    this.#move('settled');
    if (verdict.hasLostError(this.#state) && !this.isFinished) {
      throw new SentError('the gateway forwarded an error of the provider, but lost its message');
    }
  }

  #move(sign: verdict.StreamSign): void {
    this.#state = verdict.nextState(this.#state, sign);
    if (this.#state === 'thrown' && this.#failure !== undefined) throw this.#failure;
  }

  #readError(value: unknown, name: string | undefined): ErrorBody | undefined {
    return (this.#protocol.readError ?? readErrorEvent)(value, name);
  }

  /** Takes an event that is not JSON. */
  #takeText(data: string, name: string | undefined, isOpen: boolean): void {
    const joined = parseJSON(withoutTerminator(data));
    if (joined !== undefined) {
      this.takeValue(joined, name);
      this.#move('terminator');
      return;
    }
    if (this.hasFailed) return;
    if (isOpen) this.#last = this.#protocol.isTornContent?.(data) === true ? 'torn' : 'cut';
    else refuseText(data, name);
  }

  #takeParts(value: unknown): void {
    const parts = this.#protocol.split?.(value) ?? [];
    if (parts.length > 0) for (const part of parts) this.#takeItem(part);
    else if (isHollow(value)) this.#move('hollow');
    else if (isObject(value) || this.#context.check.validation === 'strict') this.#takeItem(value);
    else this.#unread = JSON.stringify(value);
  }

  #takeItem(value: unknown): void {
    const { progress } = this;
    const protocol = this.#protocol;
    const { check, holds } = this.#context;
    const isCompared = check.validation === 'strict' || this.#compared++ < comparedItems;
    // Written before the item is normalized.
    const received = progress.started ? undefined : JSON.stringify(value);
    const item = protocol.read(value, isCompared ? check : unchecked);
    progress.add(item);
    if (!progress.started) this.#unread = received;
    if (holds === true) this.hasContent ||= protocol.hasContent?.(item) ?? true;
    if (this.#delivery === undefined) this.#items.push(item);
    if (this.#delivery?.add(item) !== false) this.hasNewItems = true;
    if (protocol.endsAtProof === true && progress.isFinished(false)) this.#move('terminator');
  }

  /** Takes the error of an event. Keeps content from the same event, because it is paid for. */
  #refuse(value: unknown, error: ErrorBody): void {
    this.#failure = new SentError(error);
    this.#move('error');
    this.#addRest((this.#protocol.responseBeside ?? responseBeside)(value));
    if (hasUsage(value)) this.#move('settled');
  }

  /** Takes an event after an error. Of the response, only the usage is kept. */
  #takeLate(value: unknown): void {
    const rest = this.#protocol.responseBeside?.(value) ?? pickFields(value, usageFields);
    if (hasUsage(value)) this.#addRest(rest);
    this.#eventsSinceFailure += 1;
    if (this.#eventsSinceFailure >= lateEvents) this.#move('settled');
  }

  /** Adds a part of the response that is not yielded. */
  #addRest(rest: JsonObject | undefined): void {
    if (rest !== undefined) this.progress.add(this.#protocol.read(rest, unchecked), true);
  }

  /** Takes a response in the line after an empty `data:`. */
  #takeStrayAnswer(): void {
    // Parsing would throw for each of many empty events.
    const value = this.#strayText === '' ? undefined : parseJSON(this.#strayText);
    if (!isObject(value)) return;
    this.#strayText = '';
    if (!this.#takeAnswer(value)) this.takeValue(value);
  }

  /** Takes a complete response in place of events. Returns `false` if the value is not one. */
  #takeAnswer(value: unknown): boolean {
    const instead = this.#hasEvents ? undefined : toEvents(value, this.#protocol);
    if (instead === undefined) return false;
    for (const event of instead.events) this.takeValue(event);
    if (instead.isWhole) this.#move('whole');
    return true;
  }

  /** Takes text at the end of the stream: a late error, or a complete response instead of events. */
  #takeInstead(text: string): void {
    if (this.#takeAnswer(parseJSON(text, parseLines))) return;
    this.#refuseErrors(text);
    if (!this.hasFailed && !this.isFinished) throw new SentError(readPlainText(text));
  }

  #refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const lines = text.split('\n').map(withoutTerminator);
    const values = whole === undefined ? lines.map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = this.#readError(value, undefined);
      if (error !== undefined && !this.hasFailed) this.#refuse(value, error);
    }
  }
}

/** Returns a line without a terminator at its end, which some relays join to an error. */
function withoutTerminator(line: string): string {
  const end = line.lastIndexOf('data:');
  return end > 0 && terminator.test(line.slice(end + 5)) ? line.slice(0, end) : line;
}

/** @throws `SentError` unless text is a heartbeat */
function refuseText(text: string, name?: string): void {
  const isKeepAlive = text.trim() === '' || keepAliveText.test(text);
  if (!isKeepAlive && !isPing(undefined, name)) throw new SentError(readPlainText(text));
}

/** Events made from a JSON response. */
interface Instead {
  readonly events: readonly unknown[];
  /** `true` if complete JSON makes the response complete; a list of chunks needs the proof of a stream. */
  readonly isWhole: boolean;
}

/** Turns a JSON response into events. Returns `undefined` if it contains no result. */
export function toEvents<Item>(
  value: unknown,
  protocol: StreamProtocol<Item>,
): Instead | undefined {
  const findResponse = (item: unknown): unknown =>
    protocol.fromResponse(item).length > 0 ? item : unwrapData(item);
  const values = Array.isArray(value) ? value.map(findResponse) : [findResponse(value)];
  const eventsByValue = values.map((item) => protocol.fromResponse(item));
  if (eventsByValue.every((events) => events.length === 0)) return undefined;
  // Values without a result are errors.
  const events = eventsByValue.flatMap((list, index) =>
    list.length === 0 ? [values[index]] : list,
  );
  return { events, isWhole: !Array.isArray(value) && protocol.isPiece?.(values[0]) !== true };
}

/** Returns the fields of the response from an event that also has an error. */
const responseBeside = (value: unknown): JsonObject | undefined =>
  pickFields(value, ['choices', 'candidates', ...usageFields]);

/** Returns whether an event has the usage of the response. */
function hasUsage(value: unknown): boolean {
  if (!isObject(value)) return false;
  return [value, toFields(value['response'])].some((holder) =>
    usageFields.some((field) => hasValue(holder[field])),
  );
}

/** Returns the fields of an object that are not empty; `undefined` if there are none. */
function pickFields(value: unknown, fields: readonly string[]): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const entries = fields
    .map((field): [string, unknown] => [field, value[field]])
    .filter(([, content]) => isNonEmpty(content) || Array.isArray(content));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Returns whether a chunk is a provider's error that a gateway converted to a chunk: all fields are there, and
 * all are empty.
 */
function isHollow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { choices, usage, id, model } = value;
  return choices === null && usage === null && id === '' && model === '';
}

const keepAlive = /^(ping|keep[_-]?alive|heart[_-]?beat)$/i;

/** Comments, such as `: OPENROUTER PROCESSING`, and words that gateways send as data to keep a stream alive. */
const keepAliveText = /^\s*(:|(ping|keep[_-]?alive|heart[_-]?beat)\s*$)/i;

/** Returns whether an event is only a heartbeat. */
function isPing(value: unknown, name = ''): boolean {
  const type = isObject(value) ? value['type'] : undefined;
  return keepAlive.test(name) || (typeof type === 'string' && keepAlive.test(type));
}
