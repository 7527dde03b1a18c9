import {
  type ErrorBody,
  readErrorEvent,
  readPlainText,
  isNonEmpty,
  unwrapData,
} from '../answers/failure.ts';
import { hasValue, isObject, parseJSON, parseLines, toFields } from '../answers/objects.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { SentError, type StreamVerdict } from './errors.ts';
import { type EventTaker, tooLarge } from './events.ts';
import type { StreamContext, StreamProgress, StreamProtocol } from './protocol.ts';
import * as verdict from './verdict.ts';

/** The data of the last event of a stream. */
const terminator = /^\s*\[DONE\]\s*$/;

/** Number of items that are compared with their schema. Later ones look the same. */
const comparedItems = 20;

/** Number of events that are read after an error, because gateways then send the usage. */
const lateEvents = 16;

const usageFields = ['usage', 'usageMetadata', 'usage_metadata'];

/** Checks, assembles and yields the items of a stream; see {@link followAnswer}. */
function takeItems<Item>(
  protocol: StreamProtocol<Item>,
  context: StreamContext,
  emit: (item: Item) => void,
  onItem: () => void,
) {
  const { partial = true, validation, holds } = context;
  const progress = protocol.follow(partial);
  const delivery = protocol.deliver?.(emit);
  const unchecked: ReadCheck = { validation: 'off', onIssue: context.onIssue };
  let compared = 0;
  let hasContent = false;
  /** The last event before any content. */
  let unread: string | undefined;
  return {
    progress,
    hasContent: () => hasContent,
    unread: () => (progress.started ? undefined : unread),
    flush: (isComplete: boolean) => delivery?.flush(isComplete),
    /** Yields a ping, which is no part of the response. */
    ping: (value: JsonObject) => emit(protocol.read(value, unchecked)),
    /** Skips an event that is no item. */
    skip(value: unknown): void {
      unread = JSON.stringify(value);
    },
    /** Adds a part of the response that is not yielded. */
    add: (value: unknown) => progress.add(protocol.read(value, unchecked)),
    take(value: unknown): void {
      const isCompared = validation === 'strict' || compared++ < comparedItems;
      // Written before the item is normalized.
      const received = progress.started ? undefined : JSON.stringify(value);
      const item = protocol.read(value, isCompared ? context : unchecked);
      progress.add(item);
      if (!progress.started) unread = received;
      if (holds === true) hasContent ||= protocol.hasContent?.(item) ?? true;
      if (delivery === undefined) emit(item);
      if (delivery?.add(item) !== false) onItem();
    },
  };
}

/** A stream that is followed to its end. */
interface Following<Item> extends EventTaker {
  readonly progress: StreamProgress<Item>;
  /** Takes the parsed data of an event. */
  takeValue(value: unknown): void;
  /**
   * Takes the end of the stream.
   *
   * @throws `SentError` if an error has arrived
   */
  takeEnd(): void;
  /** Yields the items that are held back; see `Delivery.flush`. */
  flush(isComplete: boolean): void;
  /** Returns whether content was received; only known of a stream that is held. */
  hasContent(): boolean;
  /** Returns the last event of a stream without content. */
  unread(): string | undefined;
  /** Returns whether the stream has failed, although more of it is read. */
  hasFailed(): boolean;
  /** Returns whether the response is provably complete. */
  isFinished(): boolean;
  /** Returns whether the response is complete and nothing can follow. */
  isOver(): boolean;
  /** Returns whether the connection should end now. */
  isEnding(): boolean;
  /** Returns the verdict; see {@link verdict.judge}. */
  verdict(isBroken: boolean): StreamVerdict;
}

/**
 * Turns events into checked items, and follows the state of the stream; see `verdict.ts`.
 *
 * An error is kept until its usage has arrived: with it, or in the events up to the end. Then `take()` or
 * `takeEnd()` throws it as a `SentError`. `take()` throws a `ShapeMismatch` in strict mode.
 *
 * @param emit - Yields an item.
 * @param onItem - Called for each item that will be yielded, except pings.
 */
export function followAnswer<Item>(
  protocol: StreamProtocol<Item>,
  context: StreamContext,
  emit: (item: Item) => void,
  onItem: () => void,
): Following<Item> {
  const { maxEventBytes = Infinity } = context;
  const { isPlain = false, readError = readErrorEvent } = protocol;
  const items = takeItems(protocol, context, emit, onItem);
  const { progress, flush, hasContent, unread } = items;
  let state: verdict.StreamState = 'open';
  /** The error of the stream, until it is thrown. */
  let failure: SentError | undefined;
  let eventsSinceFailure = 0;
  let last: verdict.LastEvent = 'whole';
  let hasEvents = false;
  /** Lines outside of events since the last event. Gateways write errors as bare JSON. */
  let strayText = '';

  const isFinished = (): boolean => verdict.isFinished(state, progress);
  const isOver = (): boolean => verdict.isOver(state, progress);

  function move(sign: verdict.StreamSign): void {
    state = verdict.nextState(state, sign);
    if (state === 'thrown' && failure !== undefined) throw failure;
  }

  function take(data: string, name: string | undefined, isOpen: boolean): void {
    // Events after the end of a complete response are ignored.
    if (isOver()) return;
    if (data.trim() === '') {
      takeStrayAnswer();
      return;
    }
    if (strayText !== '') refuseErrors(strayText);
    if (!isPlain && terminator.test(data)) {
      move('terminator');
      return;
    }
    strayText = '';
    // Parsing would throw for each of many keep-alives.
    if (!isOpen && !data.startsWith('{') && keepAliveText.test(data)) return;
    const value = parseJSON(data);
    if (value === undefined) takeText(data, name, isOpen);
    else takeValue(value, name);
  }

  /** Takes an event that is not JSON. */
  function takeText(data: string, name: string | undefined, isOpen: boolean): void {
    const joined = parseJSON(withoutTerminator(data));
    if (joined !== undefined) {
      takeValue(joined, name);
      move('terminator');
      return;
    }
    if (state === 'failed') return;
    if (isOpen) last = protocol.isTornContent?.(data) === true ? 'torn' : 'cut';
    else refuseText(data, name);
  }

  function takeValue(value: unknown, name?: string): void {
    hasEvents = true;
    if (state === 'failed') takeLate(value);
    else if (isPlain) takeItem(value);
    else if (Array.isArray(value) && name !== 'error') {
      for (const item of value) takeValue(item, name);
    } else {
      const error = readError(value, name);
      if (error !== undefined) refuse(value, error);
      else if (typeof value === 'string') refuseText(value, name);
      else if (!isPing(value, name)) takeParts(value);
      else if (protocol.keepsPings === true && isObject(value)) items.ping(value);
    }
  }

  function takeParts(value: unknown): void {
    const parts = protocol.split?.(value) ?? [];
    if (parts.length > 0) for (const part of parts) takeItem(part);
    else if (isHollow(value)) move('hollow');
    else if (isObject(value) || context.validation === 'strict') takeItem(value);
    else items.skip(value);
  }

  function takeItem(value: unknown): void {
    items.take(value);
    if (protocol.endsAtProof === true && progress.isFinished(false)) move('terminator');
  }

  /** Takes the error of an event. Keeps content from the same event, because it is paid for. */
  function refuse(value: unknown, error: ErrorBody): void {
    failure = new SentError(error);
    move('error');
    const rest = (protocol.answerBeside ?? answerBeside)(value);
    if (rest !== undefined) items.add(rest);
    if (hasUsage(value)) move('settled');
  }

  /** Takes an event after an error. Of the response, only the usage is kept. */
  function takeLate(value: unknown): void {
    const rest = protocol.answerBeside?.(value) ?? pickFields(value, usageFields);
    if (rest !== undefined && hasUsage(value)) items.add(rest);
    eventsSinceFailure += 1;
    if (eventsSinceFailure >= lateEvents) move('settled');
  }

  /** Takes a line outside of events. */
  function takeStrayLine(line: string): void {
    strayText += `${line}\n`;
    if (strayText.length > maxEventBytes) throw tooLarge(maxEventBytes);
  }

  /** Takes a response in the line after an empty `data:`. */
  function takeStrayAnswer(): void {
    // Parsing would throw for each of many empty events.
    const value = strayText === '' ? undefined : parseJSON(strayText);
    if (!isObject(value)) return;
    strayText = '';
    if (!takeAnswer(value)) takeValue(value);
  }

  /** Takes a complete response in place of events. Returns `false` if the value is not one. */
  function takeAnswer(value: unknown): boolean {
    const instead = hasEvents ? undefined : toEvents(value, protocol);
    if (instead === undefined) return false;
    for (const event of instead.events) takeValue(event);
    if (instead.isWhole) move('whole');
    return true;
  }

  function takeEnd(): void {
    move('settled');
    const text = strayText.trim();
    if (text !== '' && !isOver()) takeInstead(text);
    move('settled');
    if (verdict.hasLostError(state) && !isFinished()) {
      throw new SentError('the gateway forwarded an error of the provider, but lost its message');
    }
  }

  /** Takes text at the end of the stream: a late error, or a complete response instead of events. */
  function takeInstead(text: string): void {
    if (takeAnswer(parseJSON(text, parseLines))) return;
    refuseErrors(text);
    if (state !== 'failed' && !isFinished()) throw new SentError(readPlainText(text));
  }

  function refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const lines = text.split('\n').map(withoutTerminator);
    const values = whole === undefined ? lines.map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = readError(value, undefined);
      if (error !== undefined && state !== 'failed') refuse(value, error);
    }
  }

  return {
    progress,
    flush,
    hasContent,
    unread,
    isFinished,
    isOver,
    isEnding: () => verdict.isEnding(state),
    hasFailed: () => state === 'failed',
    take,
    takeValue,
    takeStrayLine,
    takeEnd,
    verdict: (isBroken) => verdict.judge(state, progress, last, isBroken, protocol.endIsProof),
  };
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
  const findAnswer = (item: unknown): unknown =>
    protocol.fromAnswer(item).length > 0 ? item : unwrapData(item);
  const values = Array.isArray(value) ? value.map(findAnswer) : [findAnswer(value)];
  const eventsByValue = values.map((item) => protocol.fromAnswer(item));
  if (eventsByValue.every((events) => events.length === 0)) return undefined;
  // Values without a result are errors.
  const events = eventsByValue.flatMap((list, index) =>
    list.length === 0 ? [values[index]] : list,
  );
  return { events, isWhole: !Array.isArray(value) && protocol.isPiece?.(values[0]) !== true };
}

/** Returns the fields of the response from an event that also has an error. */
const answerBeside = (value: unknown): JsonObject | undefined =>
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
