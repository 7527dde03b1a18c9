import { parseJSON } from '../../answers/objects.ts';
import { appendTexts, copyUnknownFields, type Texts } from '../../answers/pieces.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageToolCall } from './params.ts';
import {
  areArgumentsComplete,
  CallIds,
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
export class PendingToolCall {
  /** Unique index among the calls of the message. Indexes of providers may repeat. */
  readonly index: number;
  readonly call: ChatCompletionMessageToolCall;
  /** The id that the provider sent. Other calls may have it too. */
  wireId = '';
  /** The call that this one was split from, because its complete arguments were followed by an object. */
  splitFrom: PendingToolCall | undefined;
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

  /** The called function; `undefined` for a custom tool. */
  get function(): ChatCompletionFunctionCall | undefined {
    return this.call.type === 'function' ? this.call.function : undefined;
  }

  get name(): string {
    return this.call.type === 'function' ? this.call.function.name : this.call.custom.name;
  }

  /** The arguments of a function, or the input of a custom tool. */
  get text(): string {
    return this.call.type === 'function' ? this.call.function.arguments : this.call.custom.input;
  }

  /** The texts of the calls in the arguments; see `repairArguments()`. */
  get repaired(): readonly string[] {
    return this.function ? repairArguments(this.text, this.#last || undefined) : [];
  }

  /** Returns whether arguments are those of the call that this one was split from. */
  repeats(text: string): boolean {
    const earlier = this.splitFrom;
    if (!this.function || !earlier?.function) return false;
    return this.name === earlier.name && isSameJSON(earlier.text, text);
  }

  notePiece(piece: string): void {
    if (piece === '' || this.#last === undefined) return;
    // Empty arguments may stand for those that follow.
    const last = this.#last === noArguments ? '' : this.#last;
    this.#last = piece.startsWith(last) ? piece : undefined;
  }

  /**
   * Returns whether the arguments so far are complete JSON. A list or an object is parsed only once, at its end;
   * before that, each character is scanned once.
   */
  isComplete(): boolean {
    if (!this.function) return false;
    if (this.text.length < shortText) return parseJSON(this.text) !== undefined;
    this.#scan();
    return this.#isWhole === true;
  }

  /**
   * Returns whether the arguments were incomplete at an earlier finish reason, and their outermost bracket or quote
   * is still open. Such arguments are not parsed again, because a server may send a finish reason with each piece.
   */
  isStillOpen(): boolean {
    const { call, text } = this;
    if (!this.function || call.incomplete !== true) return false;
    if (text.length < shortText || areArgumentsComplete(this.#last)) return false;
    // A bracket before the whole object is removed by the repair.
    if (/^\s*\{\s*\{/.test(text.slice(0, shortText))) return false;
    this.#scan();
    return this.#isWhole === undefined && (this.#depth > 0 || this.#isInString);
  }

  /** Scans the arguments that were added since the last scan, up to the end of the outermost bracket. */
  #scan(): void {
    const { text } = this;
    for (; this.#offset < text.length && this.#isWhole === undefined; this.#offset += 1) {
      const char = text[this.#offset];
      if (char === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#offset += Number(char === '\\');
      else if (char === '{' || char === '[') this.#depth += 1;
      else if ((char === '}' || char === ']') && --this.#depth <= 0) {
        this.#isWhole = parseJSON(text) !== undefined;
      }
    }
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
  readonly #open: PendingToolCall[] = [];
  /** The current call for each index of the provider. */
  readonly #byWireIndex = new Map<number, PendingToolCall>();
  /** The latest call for each id of the provider. */
  readonly #byId = new Map<string, PendingToolCall>();
  readonly #ids = new CallIds();
  /** Calls that began since the last finish reason. */
  #begun: PendingToolCall[] = [];
  readonly #ended = new Set<PendingToolCall>();

  /** The calls with the state of their assembly. */
  get open(): readonly PendingToolCall[] {
    return this.#open;
  }

  get(index: number | undefined): PendingToolCall | undefined {
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
      const isCustom = piece.type === 'custom' || (piece.custom !== undefined && !piece.function);
      const open = match === undefined || isAnother ? this.#begin(index, isCustom) : match;
      if (isAnother) splitFrom(open, match, piece);
      else if (match === undefined) open.splitFrom = this.get(splitPieces.get(piece));
      if (typeof index === 'number') this.#byWireIndex.set(index, open);
      piece.index = open.index;
      // Pieces after the finish reason may complete the call.
      if (open.call.incomplete === true && !this.#begun.includes(open)) this.#begun.push(open);
      addPiece(open, piece);
      this.#nameCall(open, piece);
    });
  }

  /** Sets the id of a call that has none, and replaces an id that another call has. */
  #nameCall(open: PendingToolCall, piece: ChatCompletionChunkToolCall): void {
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
  #startsAnother(open: PendingToolCall, piece: ChatCompletionChunkToolCall): boolean {
    if (!open.function || !piece.function) return false;
    const { name, arguments: text } = piece.function;
    const isNamed = Boolean(name && open.name) && name !== open.name;
    if (!isNamed && (!text || !/^\s*\{/.test(text))) return false;
    if (!/^\s*\{/.test(open.text) || !open.isComplete()) return false;
    // Some providers send empty arguments before the real ones.
    if (isNamed || !text || isBlank(open.text)) return isNamed;
    if (!isSameJSON(open.text, text)) return true;
    // The same arguments are sent again.
    piece.function.arguments = '';
    return false;
  }

  /** Returns whether there are calls, and each is one of a function with complete arguments. */
  areComplete(): boolean {
    return (
      this.#open.length > 0 &&
      this.#open.every((open) => open.name !== '' && areArgumentsComplete(open.function?.arguments))
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
    this.#begun = this.#begun.filter((open) => !open.isStillOpen());
    for (const open of this.#begun.slice()) this.#repair(open);
    for (const open of this.#begun) {
      const { call, function: called } = open;
      this.#ended.add(open);
      const text = called?.arguments;
      // Some servers report that the model ended the response, although a limit cut it.
      if (isFinished ? isCut(text) : !areArgumentsComplete(text)) call.incomplete = true;
      else delete call.incomplete;
      if (isFinished && called && isMissing(called.arguments)) called.arguments = noArguments;
    }
    this.#begun = [];
  }

  /** Returns the calls that a finish reason ended since they were last taken, sorted by index. */
  takeEnded(): readonly PendingToolCall[] {
    const ended = [...this.#ended].toSorted((one, other) => one.index - other.index);
    this.#ended.clear();
    return ended;
  }

  /** `true` if a call has arguments, but no name. */
  get hasNameless(): boolean {
    return this.#open.some(({ name, text }) => isNamelessCall(name, text));
  }

  /**
   * Joins the halves of a call whose arguments were sent as another one: the only named call without arguments, and
   * the only one with arguments but without name and id.
   */
  #joinHalves(): void {
    const functions = this.#begun.filter((open) => open.function);
    const named = functions.filter(({ name, text }) => name !== '' && isMissing(text));
    const nameless = functions.filter(
      ({ call, name, text }) => call.id === '' && name === '' && !isMissing(text),
    );
    const [first, second] = [named[0], nameless[0]];
    if (named.length > 1 || nameless.length > 1 || !first?.function || !second?.function) return;
    first.function.arguments = second.text;
    this.#remove(second);
  }

  /** Repairs the arguments of a call, and removes it if it is empty or a repetition. */
  #repair(open: PendingToolCall): void {
    const { call, function: called, name, text } = open;
    const [first = text, ...others] = open.repaired;
    if (isHollowCall(name, text) || open.repeats(first)) {
      this.#remove(open);
      return;
    }
    if (!called) return;
    called.arguments = first;
    for (const other of others) {
      const split = this.#begin(undefined, false);
      copyUnknownFields(call, split.call, callFields);
      split.call.id = this.#ids.take(open.wireId);
      if (split.function) addCallPiece(split.function, { ...called, arguments: other });
    }
  }

  #remove(open: PendingToolCall): void {
    const position = this.#open.indexOf(open);
    this.#open.splice(position, 1);
    this.calls.splice(position, 1);
    this.#begun.splice(this.#begun.indexOf(open), 1);
    this.#ended.delete(open);
  }

  /** One index refers to several calls if their ids differ and each has a name. */
  #findByIndex(piece: ChatCompletionChunkToolCall, index: number): PendingToolCall | undefined {
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
  ): PendingToolCall | undefined {
    const id = piece.id ?? '';
    if (id !== '') return this.#byId.get(id);
    const candidate = this.#open.at(count === 1 ? -1 : position);
    return candidate !== undefined && startsNewCall(candidate, piece) ? undefined : candidate;
  }

  /** Begins a call with the provider's index, or the next one if that is taken or is not a position. */
  #begin(preferred: unknown, isCustom: boolean): PendingToolCall {
    const isFree =
      typeof preferred === 'number' && preferred >= 0 && this.get(preferred) === undefined;
    const index = isFree ? preferred : (this.#open.at(-1)?.index ?? -1) + 1;
    const call: ChatCompletionMessageToolCall = isCustom
      ? { id: '', type: 'custom', custom: { name: '', input: '' } }
      : { id: '', type: 'function', function: { name: '', arguments: '' } };
    const open = new PendingToolCall(index, call);
    const position = findPosition(index, this.#open);
    this.#open.splice(position, 0, open);
    this.calls.splice(position, 0, call);
    this.#begun.push(open);
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
function splitFrom(
  open: PendingToolCall,
  earlier: PendingToolCall,
  piece: ChatCompletionChunkToolCall,
): void {
  if (!piece.function) return;
  open.splitFrom = earlier;
  splitPieces.set(piece, earlier.index);
  piece.function.name ||= earlier.name;
  piece.id ||= earlier.wireId;
}

function addPiece(open: PendingToolCall, piece: ChatCompletionChunkToolCall): void {
  const { call } = open;
  // Providers require some of their extra fields in later requests, such as Gemini's signatures.
  copyUnknownFields(piece, call, callFields);
  if (call.type === 'custom') {
    addCallPiece(call.custom, piece.custom ?? {});
    return;
  }
  const text = piece.function?.arguments ?? '';
  // Empty arguments that were filled in at the end are not a prefix of later ones.
  if (text !== '' && open.text === noArguments) call.function.arguments = '';
  open.notePiece(text);
  addCallPiece(call.function, piece.function ?? {});
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
function startsNewCall(open: PendingToolCall, piece: ChatCompletionChunkToolCall): boolean {
  return hasName(piece) && open.name !== '' && open.isComplete();
}

function hasName(piece: ChatCompletionChunkToolCall): boolean {
  return Boolean(piece.function?.name ?? piece.custom?.name);
}
