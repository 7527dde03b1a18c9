import {
  type ErrorBody,
  readErrorEvent,
  readPlainText,
  saysSomething,
} from '../answers/error-body.ts';
import { isObject, parseJSON, parseLines } from '../answers/objects.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { SentError, type StreamVerdict } from './errors.ts';
import type { StreamContext, StreamProtocol } from './protocol.ts';
import { tooLarge } from './events.ts';

/** The data of the event behind the last piece of an answer. */
const terminator = /^\s*\[DONE\]\s*$/;

/** How many items of a stream are compared with their schema; those that follow are alike. */
const comparedItems = 20;

/**
 * Makes checked items of events, and decides whether the answer in them is whole.
 *
 * Taking an event throws a `SentError` for an error, and a `ShapeMismatch` in strict mode.
 *
 * @param emit - Hands an item out.
 * @param onItem - Called when an item has come that will be handed out; pings do not count.
 */
export function followAnswer<Item>(
  protocol: StreamProtocol<Item>,
  context: StreamContext,
  emit: (item: Item) => void,
  onItem: () => void,
) {
  const { partial = true, maxEventBytes = Infinity, validation } = context;
  const progress = protocol.follow(partial);
  const delivery = protocol.deliver?.(emit);
  const unchecked: ReadCheck = { validation: 'off', onIssue: context.onIssue };
  let compared = 0;
  let isTerminated = false;
  let isCut = false;
  let hasEvents = false;
  let hasHollowChunk = false;
  let isWhole = false;
  /** The text since the last event that belonged to none: gateways write errors as bare JSON. */
  let strayText = '';

  /** Whether a terminator came that nothing contradicts. */
  const isEnded = (): boolean => isTerminated && !hasHollowChunk;
  /** Whether there is proof that the answer is whole. */
  const isFinished = (): boolean => isWhole || progress.isFinished(isEnded());
  /** Whether it is whole and nothing of it can follow. */
  const isOver = (): boolean => isTerminated && progress.isFinished(isEnded());
  /** Whether the end of the stream should follow. */
  const isEnding = (): boolean => isTerminated;

  /** Decides how the stream has ended. */
  function verdict(isBroken: boolean): StreamVerdict {
    if (isFinished()) return 'complete';
    if (isBroken || isCut) return 'truncated';
    if (protocol.endIsProof === true) return 'complete';
    if (!progress.started) return 'truncated';
    // A terminator alone proves nothing: gateways write it after time-outs too.
    return isTerminated ? 'no_finish_reason' : 'no_terminator';
  }

  /** Takes one event. */
  function take(data: string, name: string | undefined, isOpen: boolean): void {
    // What comes after the end of a whole answer says nothing about it.
    if (data === '' || isOver()) return;
    if (strayText !== '') refuseErrors(strayText);
    if (protocol.isPlain !== true && terminator.test(data)) {
      isTerminated = true;
      return;
    }
    strayText = '';
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      if (isOpen) isCut = true;
      else if (!isPing(undefined, name)) throw new SentError(readPlainText(data));
      return;
    }
    takeValue(value, name);
  }

  /** Takes one event that is parsed already. */
  function takeValue(value: unknown, name?: string): void {
    hasEvents = true;
    if (protocol.isPlain === true) {
      takeItem(value);
      return;
    }
    if (Array.isArray(value) && name !== 'error') {
      for (const item of value) takeValue(item, name);
      return;
    }
    const error = readErrorEvent(value, name);
    if (error !== undefined) refuse(value, error);
    if (typeof value === 'string') throw new SentError(readPlainText(value));
    if (isPing(value, name)) {
      if (protocol.keepsPings === true) emit(protocol.read(value, unchecked));
      return;
    }
    if (isHollow(value)) hasHollowChunk = true;
    else if (isObject(value) || validation === 'strict') takeItem(value);
  }

  function takeItem(value: unknown): void {
    const isCompared = validation === 'strict' || compared++ < comparedItems;
    const item = protocol.read(value, isCompared ? context : unchecked);
    progress.add(item);
    if (delivery === undefined) emit(item);
    if (delivery?.add(item) !== false) onItem();
  }

  /** Hands out the items that are held. */
  function flush(): void {
    delivery?.flush();
  }

  /** Takes a line that belongs to no event. */
  function takeStrayLine(line: string): void {
    strayText += `${line}\n`;
    if (strayText.length > maxEventBytes) throw tooLarge(maxEventBytes);
  }

  /** Takes the end of the stream. */
  function takeEnd(): void {
    const text = strayText.trim();
    if (text !== '' && !isOver()) takeInstead(text);
    if (!hasHollowChunk || isFinished()) return;
    throw new SentError('the gateway forwarded an error of the provider, but lost what it said');
  }

  /** Takes the text at the end: a late error, or a whole answer in place of events. */
  function takeInstead(text: string): void {
    const instead = hasEvents ? undefined : toEvents(parseJSON(text, parseLines), protocol);
    if (instead !== undefined) {
      for (const value of instead.events) takeValue(value);
      isWhole = instead.isWhole;
      return;
    }
    refuseErrors(text);
    if (!isFinished()) throw new SentError(readPlainText(text));
  }

  function refuseErrors(text: string): void {
    const whole = parseJSON(text);
    const values = whole === undefined ? text.split('\n').map((line) => parseJSON(line)) : [whole];
    for (const value of values) {
      const error = readErrorEvent(value, undefined);
      if (error !== undefined) refuse(value, error);
    }
  }

  /** What came along with an error was paid for, like what came before it. */
  function refuse(value: unknown, error: ErrorBody): never {
    const rest = answerBeside(value);
    if (rest !== undefined) progress.add(protocol.read(rest, unchecked));
    throw new SentError(error);
  }

  return {
    progress,
    isFinished,
    isOver,
    isEnding,
    take,
    takeValue,
    takeStrayLine,
    takeEnd,
    flush,
    verdict,
  };
}

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

/** What an event with an error in it says of the answer itself; `undefined` when nothing. */
function answerBeside(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const fields = ['choices', 'candidates', 'usage', 'usageMetadata', 'usage_metadata'];
  const said = fields
    .map((field): [string, unknown] => [field, value[field]])
    .filter(([, content]) => saysSomething(content) || Array.isArray(content));
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/**
 * Whether a chunk is what remains of a provider's error after a gateway has squeezed it into the
 * form of a chunk: every field is there and nothing is in them.
 */
function isHollow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { choices, usage, id, model } = value;
  return choices === null && usage === null && id === '' && model === '';
}

/** Whether an event only says that the connection is alive. */
function isPing(value: unknown, name: string | undefined): boolean {
  return name === 'ping' || (isObject(value) && value['type'] === 'ping');
}
