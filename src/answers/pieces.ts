import { isObject } from './objects.ts';
import type { JsonObject } from '../types.ts';

/**
 * Copies unknown fields, so that additions of providers are kept. The last value wins; lists are concatenated
 * if `joinLists` is set, because they are sent in pieces.
 */
export function copyUnknownFields(
  from: object,
  to: object,
  known?: ReadonlySet<string>,
  joinLists = false,
): void {
  for (const key in from) {
    if (known?.has(key) === true || key === '__proto__') continue;
    const value: unknown = Reflect.get(from, key);
    if (value === null || value === undefined) continue;
    const existing: unknown = Reflect.get(to, key);
    if (!joinLists || !Array.isArray(value)) Reflect.set(to, key, value);
    else if (Array.isArray(existing)) existing.push(...value);
    else Reflect.set(to, key, [...value]);
  }
}

/** Longer pieces are not flattened, because they waste little memory in a tree. */
const shortPiece = 64;

/** Text is flattened each time it has grown by about a third, but at least by 4 KiB. */
const smallestStep = 12;

/** Any expression works, because engines flatten text before searching it. */
const nothing = /^$/;

/**
 * Appends a piece to a growing text.
 *
 * Engines store concatenated text as a tree of its pieces, which takes ten times the memory of short ones.
 * This flattens the tree each time the text has grown by a fraction of its length, so the total work stays
 * proportional to the length.
 */
export function growText(existing: string | null | undefined, piece: string): string {
  if (!existing) return piece;
  const text = existing + piece;
  if (piece.length < shortPiece) {
    const step = Math.max(smallestStep, 30 - Math.clz32(text.length));
    if (existing.length >> step !== text.length >> step) nothing.test(text);
  }
  return text;
}

/** Fields of text. */
export type Texts<Name extends string> = { [Each in Name]?: string | null | undefined };

/** Appends pieces of text. Values of other types are ignored. */
export function appendTexts<Name extends string>(
  sum: Texts<Name>,
  pieces: Texts<Name>,
  names: readonly Name[],
): void {
  for (const name of names) {
    const piece = pieces[name];
    if (typeof piece === 'string') sum[name] = growText(sum[name], piece);
  }
}

/** A step of reasoning, or a piece of one, in OpenRouter's format. */
interface ReasoningStep {
  readonly type?: unknown;
  readonly index?: unknown;
  readonly id?: unknown;
  readonly data?: unknown;
  readonly signature?: unknown;
  text?: string | null | undefined;
  summary?: string | null | undefined;
}

const stepTexts = ['text', 'summary'] as const;
const stepFields = new Set<string>(stepTexts);

/** Adds a piece of `reasoning_details` to the step that it continues, or as a new step. */
export function addReasoning<Step extends ReasoningStep>(steps: Step[], piece: Step): void {
  const { type, index, id, data } = piece;
  const step = steps.findLast(
    (candidate, position) =>
      candidate.type === type &&
      (!id || !candidate.id || candidate.id === id) &&
      // Without an index, a piece continues the last step unless that has its signature.
      (index == null
        ? position === steps.length - 1 && !candidate.signature
        : candidate.index === index),
  );
  // Encrypted steps are sent whole, and may be repeated.
  if (step === undefined || (data && data !== step.data)) {
    steps.push({ ...piece });
    return;
  }
  appendTexts(step, piece, stepTexts);
  copyUnknownFields(piece, step, stepFields);
}

/**
 * Adds an item of a list, or the next piece of a thinking block, which ends with its signature. LiteLLM sends the
 * whole text with the signature.
 */
export function addBlock(list: unknown[], item: unknown): void {
  const last = list.at(-1);
  if (!isThinking(item)) list.push(item);
  else if (!isThinking(last) || last['signature']) list.push({ ...item });
  else {
    const { thinking, ...fields } = item;
    const isWhole = Boolean(item['signature']) && thinking.startsWith(last.thinking);
    last.thinking = isWhole ? thinking : growText(last.thinking, thinking);
    copyUnknownFields(fields, last);
  }
}

/** Returns whether a value is a block of thinking as Anthropic defines it. */
function isThinking(value: unknown): value is JsonObject & { thinking: string } {
  return isObject(value) && value['type'] === 'thinking' && typeof value['thinking'] === 'string';
}
