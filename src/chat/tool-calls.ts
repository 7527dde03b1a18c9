import { parseJSON, copyUnknownFields, growText } from '../answers/objects.ts';
import type { ChatCompletionMessageToolCall } from './params.ts';
import { isWholeArguments, noArguments } from './normalize.ts';
import type { ChatCompletionChunkToolCall } from './types.ts';

const calledTexts = ['arguments', 'input'] as const;
type CalledText = (typeof calledTexts)[number];
const calledFields = new Set<string>([...calledTexts, 'name']);
const callFields = new Set(['index', 'id', 'type', 'function', 'custom']);

/** Numbers and words may be longer, but no arguments are made of them. */
const shortText = 64;

/** A tool call that is being put together. */
export class OpenCall {
  /** Its place among the calls of the message; unique, while what providers send is not always. */
  readonly index: number;
  readonly call: ChatCompletionMessageToolCall;
  /** Whether the event of its end was emitted. */
  isDone = false;
  /** How far its arguments were looked at, and what is open there. */
  #at = 0;
  #depth = 0;
  #isInString = false;
  #isWhole: boolean | undefined;

  constructor(index: number, call: ChatCompletionMessageToolCall) {
    this.index = index;
    this.call = call;
  }

  /**
   * Whether the arguments so far are JSON as a whole. A list or an object is parsed when it has ended, and
   * only then; up to there each character is looked at once.
   */
  get isWhole(): boolean {
    if (this.call.type !== 'function') return false;
    const { arguments: text } = this.call.function;
    if (text.length < shortText) return parseJSON(text) !== undefined;
    for (; this.#at < text.length && this.#isWhole === undefined; this.#at += 1) {
      const char = text[this.#at];
      if (char === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#at += Number(char === '\\');
      else if (char === '{' || char === '[') this.#depth += 1;
      else if ((char === '}' || char === ']') && --this.#depth <= 0) {
        this.#isWhole = parseJSON(text) !== undefined;
      }
    }
    return this.#isWhole === true;
  }
}

/**
 * Puts tool calls together from their pieces.
 *
 * Pieces are matched by their index when they have one, else by their id, else by their position.
 * Providers start indexes at 1, leave them out, give the same one to every call or a new id to every
 * piece, and send empty ids and names with later pieces.
 */
export class ToolCallAssembler {
  /** The calls in the order of their index. */
  readonly calls: ChatCompletionMessageToolCall[] = [];
  /** The same ones in the same order. */
  readonly #open: OpenCall[] = [];
  /** The call that a piece with an index belongs to now. */
  readonly #byWireIndex = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  /** The calls that have begun since the last end of an answer. */
  begun: OpenCall[] = [];
  /** Those that had begun at that end. */
  ended: readonly OpenCall[] = [];

  /** The call with an index. */
  get(index: number): OpenCall | undefined {
    const open = this.#open[placeOf(index, this.#open)];
    return open?.index === index ? open : undefined;
  }

  /** Takes the pieces of one chunk, and writes into each the index of its call. */
  add(pieces: readonly ChatCompletionChunkToolCall[]): void {
    pieces.forEach((piece, position) => {
      // The index is promised, but not every provider keeps the promise.
      const { index }: { index?: unknown } = piece;
      const known =
        typeof index === 'number'
          ? this.#findByIndex(piece, index)
          : this.#findByPosition(piece, position, pieces.length);
      const open = known ?? this.#begin(this.#freeIndex(index), piece);
      if (typeof index === 'number') this.#byWireIndex.set(index, open);
      piece.index = open.index;
      // An answer that goes on after its finish reason may complete the call.
      if (open.call.incomplete === true && !this.begun.includes(open)) this.begun.push(open);
      addPiece(open, piece);
      if (open.call.id !== '') this.#byId.set(open.call.id, open);
    });
  }

  /** Whether there are calls, and the arguments of each are a whole JSON object. */
  get areWhole(): boolean {
    return this.#open.length > 0 && this.#open.every(hasWholeArguments);
  }

  /**
   * Ends the calls that have begun, at a finish reason.
   *
   * @param isFinished - Whether the model ended its answer itself. Many models write nothing for a call
   *   without arguments; in an answer that was cut they may be missing.
   */
  end(isFinished: boolean): void {
    for (const { call } of this.begun) {
      if (isFinished) {
        delete call.incomplete;
        if (call.type === 'function' && call.function.arguments.trim() === '') {
          call.function.arguments = noArguments;
        }
      } else if (call.type !== 'function' || !isWholeArguments(call.function.arguments)) {
        call.incomplete = true;
      }
    }
    this.ended = this.begun;
    this.begun = [];
  }

  /** One index is of several calls when their ids say so and each has a name. */
  #findByIndex(piece: ChatCompletionChunkToolCall, index: number): OpenCall | undefined {
    const known = this.#byWireIndex.get(index);
    const id = piece.id ?? '';
    if (known === undefined || id === '' || id === known.call.id) return known;
    const another = this.#byId.get(id);
    if (another !== undefined) return another;
    const begins = known.call.id === '' ? beginsAnother(known, piece) : hasName(piece);
    return begins ? undefined : known;
  }

  #findByPosition(
    piece: ChatCompletionChunkToolCall,
    position: number,
    count: number,
  ): OpenCall | undefined {
    const id = piece.id ?? '';
    if (id !== '') return this.#byId.get(id);
    const known = this.#open.at(count === 1 ? -1 : position);
    return known !== undefined && beginsAnother(known, piece) ? undefined : known;
  }

  /** The index that a provider gives to a call, or the next one when another call has it. */
  #freeIndex(wished: unknown): number {
    const next = (this.#open.at(-1)?.index ?? -1) + 1;
    return typeof wished === 'number' && this.get(wished) === undefined ? wished : next;
  }

  #begin(index: number, piece: ChatCompletionChunkToolCall): OpenCall {
    const isCustom = piece.type === 'custom' || (piece.custom !== undefined && !piece.function);
    const call: ChatCompletionMessageToolCall = isCustom
      ? { id: '', type: 'custom', custom: { name: '', input: '' } }
      : { id: '', type: 'function', function: { name: '', arguments: '' } };
    const open = new OpenCall(index, call);
    const place = placeOf(index, this.#open);
    this.#open.splice(place, 0, open);
    this.calls.splice(place, 0, call);
    this.begun.push(open);
    return open;
  }
}

/** Where an index belongs in a sorted list, by halving: thousands may come in any order. */
export function placeOf(index: number, sorted: readonly { readonly index: number }[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.index ?? index) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addPiece({ call }: OpenCall, piece: ChatCompletionChunkToolCall): void {
  call.id ||= piece.id ?? '';
  // Providers want some of what they add back, as Gemini its signatures.
  copyUnknownFields(piece, call, callFields);
  if (call.type === 'custom') {
    addCalled(call.custom, piece.custom ?? {});
    return;
  }
  // Empty ones, that it was given at its end, are no beginning of others.
  const isEmpty = call.function.arguments === noArguments;
  if (isEmpty && piece.function?.arguments) call.function.arguments = '';
  addCalled(call.function, piece.function ?? {});
}

function hasWholeArguments(open: OpenCall): boolean {
  const { call } = open;
  if (call.type !== 'function' || call.function.name === '') return false;
  return call.function.arguments.trimStart().startsWith('{') && open.isWhole;
}

type Texts<Name extends string> = { [Each in Name]?: string | null | undefined };

/** Adds a piece of what is called to those before. */
export function addCalled(
  called: { name: string } & Texts<CalledText>,
  piece: { name?: string | null | undefined } & Texts<CalledText>,
): void {
  copyUnknownFields(piece, called, calledFields);
  if (piece.name) called.name = piece.name;
  growTexts(called, piece, calledTexts);
}

/** Adds the pieces of texts to those before. Tolerant reading lets other types through, which add nothing. */
export function growTexts<Name extends string>(
  sum: Texts<Name>,
  pieces: Texts<Name>,
  names: readonly Name[],
): void {
  for (const name of names) {
    const piece = pieces[name];
    if (typeof piece === 'string') sum[name] = growText(sum[name], piece);
  }
}

/**
 * Whether a piece with a name begins a call of its own, although it is labelled as a piece of `call`:
 * it does when that call is whole already.
 */
function beginsAnother(open: OpenCall, piece: ChatCompletionChunkToolCall): boolean {
  const { call } = open;
  return hasName(piece) && call.type === 'function' && call.function.name !== '' && open.isWhole;
}

function hasName(piece: ChatCompletionChunkToolCall): boolean {
  return Boolean(piece.function?.name ?? piece.custom?.name);
}
