import { noArguments } from '../schemas/chat-parts.ts';
import type {
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageToolCall,
} from '../types/chat-messages.ts';
import type { ChatCompletionChunkToolCall } from '../types/chat-stream.ts';
import { growText } from './grow-text.ts';

/** A tool call that is being put together. */
interface OpenCall {
  /** Its place among the calls of the message; unique, while what providers send is not always. */
  readonly index: number;
  readonly call: ChatCompletionMessageToolCall;
  /** Whether it came without arguments and was given empty ones. */
  isFilled?: boolean;
}

/**
 * Puts tool calls together from their pieces.
 *
 * Pieces are matched by their index when they have one, else by their id, else by their position.
 * Providers start indexes at 1, leave them out, give the same one to every call, and send empty ids
 * and names with later pieces.
 */
export class ToolCallAssembler {
  /** The calls in the order of their index. */
  readonly calls: ChatCompletionMessageToolCall[] = [];
  readonly #open: OpenCall[] = [];
  /** The call that a piece with an index belongs to now. */
  readonly #byWireIndex = new Map<number, OpenCall>();

  /** The indexes of the calls, in order. */
  get indexes(): readonly number[] {
    return this.#open.map(({ index }) => index);
  }

  /** The call with an index. */
  get(index: number): ChatCompletionMessageToolCall | undefined {
    return this.#open.find((open) => open.index === index)?.call;
  }

  /** Takes the pieces of one chunk, and writes into each the index of its call. */
  add(pieces: readonly ChatCompletionChunkToolCall[]): void {
    pieces.forEach((piece, position) => {
      const open = this.#find(piece, position, pieces.length);
      if (piece.index !== open.index) piece.index = open.index;
      if (open.isFilled && open.call.type === 'function' && piece.function?.arguments) {
        open.call.function.arguments = '';
        open.isFilled = false;
      }
      merge(open.call, piece);
    });
  }

  /** Gives functions that are called without arguments empty ones; some models write nothing. */
  end(): void {
    for (const open of this.#open) {
      if (open.call.type !== 'function' || open.call.function.arguments !== '') continue;
      open.call.function.arguments = noArguments;
      open.isFilled = true;
    }
  }

  #find(piece: ChatCompletionChunkToolCall, position: number, count: number): OpenCall {
    // The index is promised, but not every provider keeps the promise.
    const { index, id = '' }: { index?: unknown; id?: string | undefined } = piece;
    if (typeof index === 'number') {
      const known = this.#byWireIndex.get(index);
      const isAnother = known !== undefined && id !== '' && id !== known.call.id;
      if (known !== undefined && !(isAnother && beginsAnother(known.call, piece))) return known;
      const open = this.#begin(known === undefined ? index : this.#nextIndex(), piece);
      this.#byWireIndex.set(index, open);
      return open;
    }
    const known =
      id === ''
        ? this.#open[count === 1 ? this.#open.length - 1 : position]
        : this.#open.find(({ call }) => call.id === id);
    if (known !== undefined && (id !== '' || !beginsAnother(known.call, piece))) return known;
    return this.#begin(this.#nextIndex(), piece);
  }

  #nextIndex(): number {
    return this.#open.reduce((next, { index }) => Math.max(next, index + 1), 0);
  }

  #begin(index: number, piece: ChatCompletionChunkToolCall): OpenCall {
    const isCustom = piece.type === 'custom' || (piece.custom !== undefined && !piece.function);
    const call: ChatCompletionMessageToolCall = isCustom
      ? { id: '', type: 'custom', custom: { name: '', input: '' } }
      : { id: '', type: 'function', function: { name: '', arguments: '' } };
    const open: OpenCall = { index, call };
    const place = this.#open.findIndex((other) => other.index > index);
    const at = place === -1 ? this.#open.length : place;
    this.#open.splice(at, 0, open);
    this.calls.splice(at, 0, call);
    return open;
  }
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
function beginsAnother(
  call: ChatCompletionMessageToolCall,
  piece: ChatCompletionChunkToolCall,
): boolean {
  const name = piece.function?.name;
  return Boolean(name) && call.type === 'function' && isWhole(call);
}

function isWhole({ function: { name, arguments: text } }: ChatCompletionMessageFunctionToolCall) {
  if (name === '') return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
