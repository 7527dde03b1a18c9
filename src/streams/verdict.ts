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
import type { StreamContext, StreamProtocol } from './protocol.ts';
import { tooLarge } from './events.ts';

/** The data of the last event of a stream. */
const terminator = /^\s*\[DONE\]\s*$/;

/** Number of items that are compared with their schema. Later ones look the same. */
const comparedItems = 20;

/** Number of events that are read after an error, because gateways then send the usage. */
const lateEvents = 16;

const usageFields = ['usage', 'usageMetadata', 'usage_metadata'];

/**
 * Turns events into checked items, and decides whether the response is complete.
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
) {
  const { partial = true, maxEventBytes = Infinity, validation } = context;
  const readError = protocol.readError ?? readErrorEvent;
  const progress = protocol.follow(partial);
  const delivery = protocol.deliver?.(emit);
  const unchecked: ReadCheck = { validation: 'off', onIssue: context.onIssue };
  let compared = 0;
  let isTerminated = false;
  let isCut = false;
  /** `true` if the stream ended within an event that has content. */
  let hasTornContent = false;
  let hasEvents = false;
  let hasHollowChunk = false;
  let isWhole = false;
  /** Lines outside of events since the last event. Gateways write errors as bare JSON. */
  let strayText = '';

  /** Returns `true` if a terminator arrived and nothing contradicts it. */
  const isEnded = (): boolean => isTerminated && !hasHollowChunk;
  /** Returns `true` if the response is provably complete. */
  const isFinished = (): boolean => isWhole || progress.isFinished(isEnded());
  /** Returns `true` if the response is complete and nothing can follow. */
  const isOver = (): boolean => isTerminated && progress.isFinished(isEnded());
  /** The error of the stream, until it is thrown. */
  let failure: SentError | undefined;
  let eventsSinceFailure = 0;
  /** Returns `true` if the stream should end now. */
  const isEnding = (): boolean => isTerminated || failure !== undefined;

  function verdict(isBroken: boolean): StreamVerdict {
    if (isFinished() && !hasTornContent) return 'complete';
    if (isBroken || isCut) return 'truncated';
    if (protocol.endIsProof === true) return 'complete';
    if (!progress.started) return 'truncated';
    // A terminator alone proves nothing, because gateways also write it after time-outs.
    return isTerminated ? 'no_finish_reason' : 'no_terminator';
  }

  /** Takes one event. */
  function take(data: string, name: string | undefined, isOpen: boolean): void {
    // Events after the end of a complete response are ignored.
    if (isOver()) return;
    if (data.trim() === '') {
      takeStrayAnswer();
      return;
    }
    if (strayText !== '') refuseErrors(strayText);
    if (protocol.isPlain !== true && terminator.test(data)) {
      isTerminated = true;
      throwFailure();
      return;
    }
    strayText = '';
    // Parsing would throw for each of many keep-alives.
    if (!isOpen && !data.startsWith('{') && keepAliveText.test(data)) return;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      const joined = parseJSON(withoutTerminator(data));
      if (joined !== undefined) {
        takeValue(joined, name);
        isTerminated = true;
        return;
      }
      if (failure !== undefined) return;
      if (isOpen) {
        isCut = true;
        hasTornContent ||= protocol.isTornContent?.(data) === true;
      } else if (!isPing(undefined, name)) throw new SentError(readPlainText(data));
      return;
    }
    takeValue(value, name);
  }

  /** Takes the parsed data of an event. */
  function takeValue(value: unknown, name?: string): void {
    hasEvents = true;
    if (failure !== undefined) {
      takeLate(value);
      return;
    }
    if (protocol.isPlain === true) {
      takeItem(value);
      return;
    }
    if (Array.isArray(value) && name !== 'error') {
      for (const item of value) takeValue(item, name);
      return;
    }
    const error = readError(value, name);
    if (error !== undefined) {
      refuse(value, error);
      return;
    }
    if (typeof value === 'string') {
      const isKeepAlive = value.trim() === '' || keepAliveText.test(value);
      if (isKeepAlive || isPing(undefined, name)) return;
      throw new SentError(readPlainText(value));
    }
    if (isPing(value, name)) {
      if (protocol.keepsPings === true && isObject(value)) emit(protocol.read(value, unchecked));
      return;
    }
    const parts = protocol.split?.(value) ?? [];
    if (parts.length > 0) for (const part of parts) takeItem(part);
    else if (isHollow(value)) hasHollowChunk = true;
    else if (isObject(value) || validation === 'strict') takeItem(value);
    else unread = JSON.stringify(value);
  }

  let hasContent = false;
  /** The last event before any content. */
  let unread: string | undefined;

  function takeItem(value: unknown): void {
    const isCompared = validation === 'strict' || compared++ < comparedItems;
    // Written before the item is normalized.
    const received = progress.started ? undefined : JSON.stringify(value);
    const item = protocol.read(value, isCompared ? context : unchecked);
    progress.add(item);
    if (!progress.started) unread = received;
    if (protocol.endsAtProof === true && progress.isFinished(false)) isTerminated = true;
    if (context.holds === true) hasContent ||= protocol.hasContent?.(item) ?? true;
    if (delivery === undefined) emit(item);
    if (delivery?.add(item) !== false) onItem();
  }

  /** Yields the items that are held back. */
  function flush(isComplete: boolean): void {
    delivery?.flush(isComplete);
  }

  /** Takes a response in the line after an empty `data:`. */
  function takeStrayAnswer(): void {
    // Parsing would throw for each of many empty events.
    if (strayText === '') return;
    const value = parseJSON(strayText);
    if (!isObject(value)) return;
    strayText = '';
    if (!takeAnswer(value)) takeValue(value);
  }

  /** Takes a complete response in place of events. Returns `false` if the value is not one. */
  function takeAnswer(value: unknown): boolean {
    const instead = hasEvents ? undefined : toEvents(value, protocol);
    if (instead === undefined) return false;
    for (const event of instead.events) takeValue(event);
    isWhole = instead.isWhole;
    return true;
  }

  /** Takes a line outside of events. */
  function takeStrayLine(line: string): void {
    strayText += `${line}\n`;
    if (strayText.length > maxEventBytes) throw tooLarge(maxEventBytes);
  }

  /** Takes the end of the stream. */
  function takeEnd(): void {
    throwFailure();
    const text = strayText.trim();
    if (text !== '' && !isOver()) takeInstead(text);
    throwFailure();
    if (!hasHollowChunk || isFinished()) return;
    throw new SentError('the gateway forwarded an error of the provider, but lost its message');
  }

  /** Takes text at the end of the stream: a late error, or a complete response instead of events. */
  function takeInstead(text: string): void {
    if (takeAnswer(parseJSON(text, parseLines))) return;
    refuseErrors(text);
    if (failure === undefined && !isFinished()) throw new SentError(readPlainText(text));
  }

  function refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const lines = text.split('\n').map(withoutTerminator);
    const values = whole === undefined ? lines.map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = readError(value, undefined);
      if (error !== undefined && failure === undefined) refuse(value, error);
    }
  }

  /** Takes the error of an event. Keeps content from the same event, because it is paid for. */
  function refuse(value: unknown, error: ErrorBody): void {
    failure = new SentError(error);
    const rest = (protocol.answerBeside ?? answerBeside)(value);
    if (rest !== undefined) progress.add(protocol.read(rest, unchecked));
    if (hasUsage(value)) throwFailure();
  }

  /** Takes an event after an error. Of the response, only the usage is kept. */
  function takeLate(value: unknown): void {
    const rest = protocol.answerBeside?.(value) ?? pickFields(value, usageFields);
    if (rest !== undefined && hasUsage(value)) progress.add(protocol.read(rest, unchecked));
    eventsSinceFailure += 1;
    if (eventsSinceFailure >= lateEvents) throwFailure();
  }

  function throwFailure(): void {
    if (failure !== undefined) throw failure;
  }

  return {
    progress,
    /** Returns whether content was received; only known of a stream that is held. */
    hasContent: () => hasContent,
    /** Returns the last event of a stream without content. */
    unread: () => (progress.started ? undefined : unread),
    isFinished,
    isOver,
    isEnding,
    /** Returns whether the stream has failed, although more of it is read. */
    hasFailed: () => failure !== undefined,
    take,
    takeValue,
    takeStrayLine,
    takeEnd,
    flush,
    verdict,
  };
}

/** Returns a line without a terminator at its end, which some relays join to an error. */
function withoutTerminator(line: string): string {
  const end = line.lastIndexOf('data:');
  return end > 0 && terminator.test(line.slice(end + 5)) ? line.slice(0, end) : line;
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
