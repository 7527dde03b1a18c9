import { noArguments } from './schema.ts';
import type { ChatCompletionMessageToolCall } from './messages.ts';
import type { ChatCompletionChunkToolCall } from './types.ts';
import { GrowingJSON } from '../structured/json.ts';
import { growText } from '../streams/protocol.ts';

/** A tool call that is being put together. */
interface OpenCall {
  /** Its place among the calls of the message; unique, while what providers send is not always. */
  readonly index: number;
  readonly call: ChatCompletionMessageToolCall;
  readonly json: GrowingJSON;
  /** Whether it came without arguments and was given empty ones. */
  isFilled?: boolean;
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
  readonly #open: OpenCall[] = [];
  /** The call that a piece with an index belongs to now. */
  readonly #byWireIndex = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  readonly #byIndex = new Map<number, OpenCall>();
  /** The calls that have begun since the last end. */
  #fresh: OpenCall[] = [];

  /** The call with an index. */
  get(index: number): ChatCompletionMessageToolCall | undefined {
    return this.#byIndex.get(index)?.call;
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
      if (piece.index !== open.index) piece.index = open.index;
      if (open.isFilled && open.call.type === 'function' && piece.function?.arguments) {
        open.call.function.arguments = '';
        open.isFilled = false;
      }
      merge(open.call, piece);
      if (open.call.id !== '') this.#byId.set(open.call.id, open);
    });
  }

  /** Gives functions that are called without arguments empty ones; some models write nothing. */
  end(): void {
    for (const open of this.#fresh) {
      if (open.call.type !== 'function' || open.call.function.arguments.trim() !== '') {
        continue;
      }
      open.call.function.arguments = noArguments;
      open.isFilled = true;
    }
    this.#fresh = [];
  }

  /** One index is of several calls when their ids say so and each has a name. */
  #findByIndex(piece: ChatCompletionChunkToolCall, index: number): OpenCall | undefined {
    const known = this.#byWireIndex.get(index);
    const { id = '' } = piece;
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
    const { id = '' } = piece;
    if (id !== '') return this.#byId.get(id);
    const known = this.#open[count === 1 ? this.#open.length - 1 : position];
    return known !== undefined && beginsAnother(known, piece) ? undefined : known;
  }

  /** The index that a provider gives to a call, or the next one when another call has it. */
  #freeIndex(wished: unknown): number {
    const next = (this.#open.at(-1)?.index ?? -1) + 1;
    if (typeof wished !== 'number') return next;
    return wished >= next || this.get(wished) === undefined ? wished : next;
  }

  #begin(index: number, piece: ChatCompletionChunkToolCall): OpenCall {
    const isCustom = piece.type === 'custom' || (piece.custom !== undefined && !piece.function);
    const call: ChatCompletionMessageToolCall = isCustom
      ? { id: '', type: 'custom', custom: { name: '', input: '' } }
      : { id: '', type: 'function', function: { name: '', arguments: '' } };
    const open: OpenCall = { index, call, json: new GrowingJSON() };
    const place = placeOf(index, this.#open);
    this.#open.splice(place, 0, open);
    this.calls.splice(place, 0, call);
    this.#byIndex.set(index, open);
    this.#fresh.push(open);
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

function merge(call: ChatCompletionMessageToolCall, piece: ChatCompletionChunkToolCall): void {
  if (call.id === '' && piece.id !== undefined) call.id = piece.id;
  if (call.type === 'custom') {
    const { name, input } = piece.custom ?? {};
    if (name) call.custom.name = name;
    if (typeof input === 'string') call.custom.input = growText(call.custom.input, input);
    return;
  }
  const { name, arguments: text } = piece.function ?? {};
  if (name) call.function.name = name;
  if (typeof text === 'string') {
    call.function.arguments = growText(call.function.arguments, text);
  }
}

/**
 * Whether a piece with a name begins a call of its own, although it is labelled as a piece of `call`:
 * it does when that call is whole already.
 */
function beginsAnother({ call, json }: OpenCall, piece: ChatCompletionChunkToolCall): boolean {
  if (!hasName(piece) || call.type !== 'function' || call.function.name === '') return false;
  return json.isWhole(call.function.arguments);
}

function hasName(piece: ChatCompletionChunkToolCall): boolean {
  return Boolean(piece.function?.name ?? piece.custom?.name);
}
