import { hasValue, isObject, listObjects, normalizeItems } from '../../answers/objects.ts';
import { isHollowCall, isNamelessCall } from '../../structured/calls.ts';
import type { JsonObject } from '../../types.ts';

function partText({ text, refusal }: JsonObject): string {
  const content = text ?? refusal;
  return typeof content === 'string' ? content : '';
}

/** Returns whether an item is a message of the model, whose type some gateways omit. */
const isMessage = ({ type, role }: JsonObject): boolean =>
  type === 'message' || (type === undefined && role === 'assistant');

/** Returns the parts of a message of the model. */
const listParts = (item: JsonObject): JsonObject[] =>
  isMessage(item) ? listObjects(item['content']) : [];

/** Returns the text of an item, without refusals and reasoning. */
export function messageText(item: JsonObject): string {
  let text = '';
  for (const part of listParts(item)) {
    const { type } = part;
    if (type === 'output_text' || type === 'text') text += partText(part);
  }
  return text;
}

/** Returns whether the model refused in an item. */
export function isRefusal(item: JsonObject): boolean {
  return listParts(item).some((part) => part['type'] === 'refusal' && partText(part) !== '');
}

/** Returns the text of all messages, as `openai` computes it. */
export function outputText(output: readonly JsonObject[]): string {
  let text = '';
  for (const item of output) text += messageText(item);
  return text;
}

/** Returns whether items have content: text, a refusal, or anything but a message. */
export function hasOutput(items: readonly JsonObject[]): boolean {
  return items.some(
    (item) => !isMessage(item) || listParts(item).some((part) => partText(part) !== ''),
  );
}

/** Returns whether a part is for text, but has none. */
const isEmptyPart = (part: JsonObject): boolean =>
  ('text' in part || 'refusal' in part) && partText(part) === '';

/** Returns whether a field of an item has no content: it is empty, or a list of parts without text. */
export function isHollow(value: unknown): boolean {
  return !hasValue(value) || (Array.isArray(value) && listObjects(value).every(isEmptyPart));
}

/** Returns the name and the arguments of a call of the caller's tools. */
function readCall(item: JsonObject): readonly [name: unknown, args: unknown] | undefined {
  const { type, name, arguments: args, input } = item;
  if (type === 'function_call') return [name, args];
  return type === 'custom_tool_call' ? [name, input] : undefined;
}

/** Returns whether an item is a call without a name and arguments. */
export function isHollowItem(item: JsonObject): boolean {
  const call = readCall(item);
  return call !== undefined && isHollowCall(...call);
}

/** Returns whether an item is a call with arguments, but without a name. */
export function isNamelessItem(item: JsonObject): boolean {
  const call = readCall(item);
  return call !== undefined && isNamelessCall(...call);
}

/** Converts an item to the documented format. Changes only fields that are `null` or of another type. */
export function normalizeItem(item: JsonObject): void {
  const { type, content, arguments: args } = item;
  if (isMessage(item)) {
    if (typeof content === 'string') {
      item['content'] = [{ type: 'output_text', text: content, annotations: [] }];
    }
    normalizeItems(item, 'content', normalizePart);
  }
  if (type === 'reasoning') normalizeItems(item, 'summary', normalizePart);
  // Some providers send the arguments themselves instead of their JSON.
  if (isObject(args)) item['arguments'] = JSON.stringify(args);
}

function normalizePart(part: JsonObject): void {
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  part[field] ??= '';
}
