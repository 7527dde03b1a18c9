import { appendTexts, copyUnknownFields, growText, isObject } from './objects.ts';
import type { JsonObject } from '../types.ts';

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
const noFields = new Set<string>();

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
    copyUnknownFields(fields, last, noFields);
  }
}

/** Returns whether a value is a block of thinking as Anthropic defines it. */
function isThinking(value: unknown): value is JsonObject & { thinking: string } {
  return isObject(value) && value['type'] === 'thinking' && typeof value['thinking'] === 'string';
}
