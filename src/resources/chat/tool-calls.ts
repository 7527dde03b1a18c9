import { parseJSON } from '../../answers/objects.ts';
import { appendTexts, copyUnknownFields, type Texts } from '../../answers/pieces.ts';
import type { ChatCompletionMessageToolCall } from './params.ts';
import {
  areArgumentsComplete,
  CallIds,
  findHalves,
  isCut,
  isSameJSON,
  repairArguments,
} from './call-repair.ts';
import type { ChatCompletionChunkToolCall } from './types.ts';
import {
  isBlank,
  isHollowCall,
  isMissing,
  isNamelessCall,
  noArguments,
} from '../../structured/calls.ts';

const textFields = ['arguments', 'input'] as const;
type CalledText = (typeof textFields)[number];
const knownFields = new Set<string>([...textFields, 'name']);
const callFields = new Set(['index', 'id', 'type', 'function', 'custom']);

/** Longer arguments are complete only if they end in a bracket, because arguments aren't primitives. */
const shortText = 64;

/** Indexes of earlier calls, by the piece that was split from them, for readers that assemble chunks again. */
const splitPieces = new WeakMap<object, number>();

/** A tool call that is being assembled. */
export class OpenCall {
  /** Unique index among the calls of the message. Indexes of providers may repeat. */
  readonly index: number;
  readonly call: ChatCompletionMessageToolCall;
  /** The id that the provider sent. Other calls may have it too. */
  wireId = '';
  /** The call that this one was split from, because its complete arguments were followed by an object. */
  splitFrom: OpenCall | undefined;
  /** `true` once its end was emitted. */
  isDone = false;
  /** The last piece of the arguments, as long as each piece repeats the one before. */
  #last: string | undefined = '';
  /** State of the scan for the end of the arguments. */
  #offset = 0;
  #depth = 0;
  #isInString = false;
  #isWhole: boolean | undefined;

  constructor(index: number, call: ChatCompletionMessageToolCall) {
    this.index = index;
    this.call = call;
  }

  /** The texts of the calls in the arguments; see `repairArguments()`. */
  get repaired(): readonly string[] {
    const { call } = this;
    if (call.type !== 'function') return [];
    return repairArguments(call.function.arguments, this.#last || undefined);
  }

  /** Returns whether arguments are those of the call that this one was split from. */
  repeats(text: string): boolean {
    const [own, earlier] = [this.call, this.splitFrom?.call];
    if (own.type !== 'function' || earlier?.type !== 'function') return false;
    const isSameTool = own.function.name === earlier.function.name;
    return isSameTool && isSameJSON(earlier.function.arguments, text);
  }

  notePiece(piece: string): void {
    if (piece === '' || this.#last === undefined) return;
    // Empty arguments may stand for those that follow.
    const last = this.#last === noArguments ? '' : this.#last;
    this.#last = piece.startsWith(last) ? piece : undefined;
  }

  /** `true` if the arguments so far are a complete object. */
  get isWholeObject(): boolean {
    const { call } = this;
    return call.type === 'function' && /^\s*\{/.test(call.function.arguments) && this.isWhole;
  }

  /**
   * `true` if the arguments so far are complete JSON. A list or an object is parsed only once, at its end;
   * before that, each character is scanned once.
   */
  get isWhole(): boolean {
    if (this.call.type !== 'function') return false;
    const { arguments: text } = this.call.function;
    if (text.length < shortText) return parseJSON(text) !== undefined;
    for (; this.#offset < text.length && this.#isWhole === undefined; this.#offset += 1) {
      const char = text[this.#offset];
      if (char === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#offset += Number(char === '\\');
      else if (char === '{' || char === '[') this.#depth += 1;
      else if ((char === '}' || char === ']') && --this.#depth <= 0) {
        this.#isWhole = parseJSON(text) !== undefined;
      }
    }
    return this.#isWhole === true;
  }

  /**
   * `true` if the arguments were incomplete at an earlier finish reason, and their outermost bracket or quote is
   * still open. Such arguments are not parsed again, because a server may send a finish reason with each piece.
   */
  get isStillOpen(): boolean {
    const { call } = this;
    if (call.type !== 'function' || call.incomplete !== true) return false;
    const { arguments: text } = call.function;
    if (text.length < shortText || areArgumentsComplete(this.#last)) return false;
    // A bracket before the whole object is removed by the repair.
    if (/^\s*\{\s*\{/.test(text.slice(0, shortText))) return false;
    return !this.isWhole && this.#isWhole === undefined && (this.#depth > 0 || this.#isInString);
  }
}

/**
 * Assembles tool calls from their pieces.
 *
 * Pieces are matched by index, else by id, else by position. Providers start indexes at 1, omit them, repeat
 * one index for every call or send a new id with every piece, and send empty ids and names with later pieces.
 */
export class ToolCallAssembler {
  /** The calls, sorted by index. */
  readonly calls: ChatCompletionMessageToolCall[] = [];
  /** The same calls in the same order. */
  readonly #open: OpenCall[] = [];
  /** The current call for each index of the provider. */
  readonly #byWireIndex = new Map<number, OpenCall>();
  /** The latest call for each id of the provider. */
  readonly #byId = new Map<string, OpenCall>();
  readonly #ids = new CallIds();
  /** Calls that began since the last finish reason. */
  begun: OpenCall[] = [];
  /** Calls that ended at the last finish reason. */
  ended: readonly OpenCall[] = [];

  get(index: number | undefined): OpenCall | undefined {
    if (index === undefined) return undefined;
    const open = this.#open[findPosition(index, this.#open)];
    return open?.index === index ? open : undefined;
  }

  /** Adds the pieces of a chunk, and sets the index of each piece to the index of its call. */
  add(pieces: readonly ChatCompletionChunkToolCall[]): void {
    pieces.forEach((piece, position) => {
      // The index is required, but some providers omit it.
      const { index }: { index?: unknown } = piece;
      const match =
        typeof index === 'number'
          ? this.#findByIndex(piece, index)
          : this.#findByPosition(piece, position, pieces.length);
      const isAnother = match !== undefined && this.#startsAnother(match, piece);
      const open =
        match === undefined || isAnother ? this.#begin(this.#freeIndex(index), piece) : match;
      if (isAnother) splitFrom(open, match, piece);
      else if (match === undefined) open.splitFrom = this.get(splitPieces.get(piece));
      if (typeof index === 'number') this.#byWireIndex.set(index, open);
      piece.index = open.index;
      // Pieces after the finish reason may complete the call.
      if (open.call.incomplete === true && !this.begun.includes(open)) this.begun.push(open);
      addPiece(open, piece);
      this.#nameCall(open, piece);
    });
  }

  /** Sets the id of a call that has none, and replaces an id that another call has. */
  #nameCall(open: OpenCall, piece: ChatCompletionChunkToolCall): void {
    const { id } = piece;
    if (!id) return;
    if (open.wireId === '') {
      open.wireId = id;
      open.call.id = this.#ids.take(id);
    }
    if (id !== open.wireId) return;
    piece.id = open.call.id;
    this.#byId.set(id, open);
  }

  /** Returns whether a piece that is labelled as one of `open` has the arguments of another call. */
  #startsAnother(open: OpenCall, piece: ChatCompletionChunkToolCall): boolean {
    const { call } = open;
    if (call.type !== 'function' || !piece.function) return false;
    const { name, arguments: text } = piece.function;
    const isNamed = Boolean(name && call.function.name) && name !== call.function.name;
    if (!isNamed && (!text || !/^\s*\{/.test(text))) return false;
    if (!open.isWholeObject) return false;
    // Some providers send empty arguments before the real ones.
    if (isNamed || !text || isBlank(call.function.arguments)) return isNamed;
    if (!isSameJSON(call.function.arguments, text)) return true;
    // The same arguments are sent again.
    piece.function.arguments = '';
    return false;
  }

  /** `true` if there are calls and the arguments of each are a complete JSON object. */
  get areWhole(): boolean {
    return (
      this.#open.length > 0 &&
      this.#open.every((open) => open.isWholeObject && contentOf(open).name !== '')
    );
  }

  /**
   * Ends the open calls at a finish reason.
   *
   * @param isFinished - `true` if the model ended the response itself. Many models write no text for a call
   *   without arguments; in a cut response, arguments may be missing.
   */
  end(isFinished: boolean): void {
    this.#joinHalves();
    const stillOpen = new Set(this.begun.filter(({ isStillOpen }) => isStillOpen));
    for (const open of this.begun.slice()) if (!stillOpen.has(open)) this.#repair(open);
    for (const open of this.begun) {
      if (stillOpen.has(open)) continue;
      const { call } = open;
      const text = call.type === 'function' ? call.function.arguments : undefined;
      // Some servers report that the model ended the response, although a limit cut it.
      if (isFinished ? isCut(text) : !areArgumentsComplete(text)) call.incomplete = true;
      else delete call.incomplete;
      if (isFinished && call.type === 'function' && isMissing(call.function.arguments)) {
        call.function.arguments = noArguments;
      }
    }
    this.ended = this.begun;
    this.begun = [];
  }

  /** `true` if a call has arguments, but no name. */
  get hasNameless(): boolean {
    return this.#open.some((open) => {
      const { name, text } = contentOf(open);
      return isNamelessCall(name, text);
    });
  }

  /** Joins the halves of a call whose arguments were sent under an index of their own. */
  #joinHalves(): void {
    const [named, other] = findHalves(this.begun, contentOf);
    if (named?.call.type !== 'function' || other?.call.type !== 'function') return;
    named.call.function.arguments = other.call.function.arguments;
    this.#remove(other);
  }

  /** Repairs the arguments of a call, and removes it if it is empty or a repetition. */
  #repair(open: OpenCall): void {
    const { call } = open;
    const { name, text } = contentOf(open);
    const [first = text, ...others] = open.repaired;
    if (isHollowCall(name, text) || open.repeats(first)) {
      this.#remove(open);
      return;
    }
    if (call.type !== 'function') return;
    call.function.arguments = first;
    for (const other of others) {
      const split = this.#begin(this.#freeIndex(undefined), {
        index: open.index,
        function: { name },
      });
      Object.assign(split.call, { ...call, id: this.#ids.take(open.wireId) });
      if (split.call.type === 'function')
        split.call.function = { ...call.function, arguments: other };
    }
  }

  #remove(open: OpenCall): void {
    const position = this.#open.indexOf(open);
    this.#open.splice(position, 1);
    this.calls.splice(position, 1);
    this.begun.splice(this.begun.indexOf(open), 1);
  }

  /** One index refers to several calls if their ids differ and each has a name. */
  #findByIndex(piece: ChatCompletionChunkToolCall, index: number): OpenCall | undefined {
    const current = this.#byWireIndex.get(index);
    const id = piece.id ?? '';
    if (current === undefined || id === '' || id === current.wireId) return current;
    const another = this.#byId.get(id);
    if (another !== undefined) return another;
    const isNewCall = current.wireId === '' ? startsNewCall(current, piece) : hasName(piece);
    return isNewCall ? undefined : current;
  }

  #findByPosition(
    piece: ChatCompletionChunkToolCall,
    position: number,
    count: number,
  ): OpenCall | undefined {
    const id = piece.id ?? '';
    if (id !== '') return this.#byId.get(id);
    const candidate = this.#open.at(count === 1 ? -1 : position);
    return candidate !== undefined && startsNewCall(candidate, piece) ? undefined : candidate;
  }

  /** Returns the provider's index, or the next one if that is taken or is not a position. */
  #freeIndex(preferred: unknown): number {
    const next = (this.#open.at(-1)?.index ?? -1) + 1;
    const isPosition = typeof preferred === 'number' && preferred >= 0;
    return isPosition && this.get(preferred) === undefined ? preferred : next;
  }

  #begin(index: number, piece: ChatCompletionChunkToolCall): OpenCall {
    const isCustom = piece.type === 'custom' || (piece.custom !== undefined && !piece.function);
    const call: ChatCompletionMessageToolCall = isCustom
      ? { id: '', type: 'custom', custom: { name: '', input: '' } }
      : { id: '', type: 'function', function: { name: '', arguments: '' } };
    const open = new OpenCall(index, call);
    const position = findPosition(index, this.#open);
    this.#open.splice(position, 0, open);
    this.calls.splice(position, 0, call);
    this.begun.push(open);
    return open;
  }
}

/**
 * Returns the position for an index in a sorted list, by binary search, because thousands may arrive in any
 * order.
 */
export function findPosition(index: number, sorted: readonly { readonly index: number }[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.index ?? index) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Completes a piece that begins a call which the provider labels as a part of an earlier one. */
function splitFrom(open: OpenCall, earlier: OpenCall, piece: ChatCompletionChunkToolCall): void {
  if (earlier.call.type !== 'function' || !piece.function) return;
  open.splitFrom = earlier;
  splitPieces.set(piece, earlier.index);
  piece.function.name ||= earlier.call.function.name;
  piece.id ||= earlier.wireId;
}

function addPiece(open: OpenCall, piece: ChatCompletionChunkToolCall): void {
  const { call } = open;
  // Providers require some of their extra fields in later requests, such as Gemini's signatures.
  copyUnknownFields(piece, call, callFields);
  if (call.type === 'custom') {
    addCallPiece(call.custom, piece.custom ?? {});
    return;
  }
  // Empty arguments that were filled in at the end are not a prefix of later ones.
  const isEmpty = call.function.arguments === noArguments;
  if (isEmpty && piece.function?.arguments) call.function.arguments = '';
  open.notePiece(piece.function?.arguments ?? '');
  addCallPiece(call.function, piece.function ?? {});
}

/** Returns the id of a call of either type, with its name and its text. */
function contentOf({ call }: OpenCall) {
  const { id } = call;
  return call.type === 'function'
    ? { id, name: call.function.name, text: call.function.arguments }
    : { id, name: call.custom.name, text: call.custom.input };
}

/** Adds a piece of a function call to the previous ones. */
export function addCallPiece(
  called: { name: string } & Texts<CalledText>,
  piece: { name?: string | null | undefined } & Texts<CalledText>,
): void {
  copyUnknownFields(piece, called, knownFields);
  if (piece.name) called.name = piece.name;
  appendTexts(called, piece, textFields);
}

/**
 * Returns whether a piece with a name starts a new call, although it is labelled as a piece of `call`. It
 * does if that call is complete.
 */
function startsNewCall(open: OpenCall, piece: ChatCompletionChunkToolCall): boolean {
  const { call } = open;
  return hasName(piece) && call.type === 'function' && call.function.name !== '' && open.isWhole;
}

function hasName(piece: ChatCompletionChunkToolCall): boolean {
  return Boolean(piece.function?.name ?? piece.custom?.name);
}
