import type { JsonObject } from '../types.ts';
import { hasValue, isObject, parseJSON, trimmedText } from '../answers/objects.ts';

/**
 * The problem of a response that has such a call, as the end of a sentence. The text beside it is paid for, so no other
 * model is asked.
 */
export const namelessCall = 'contains a tool call with arguments, but without a name';

/** The JSON text of empty arguments. */
export const noArguments = '{}';

/** Returns whether arguments are missing. Gateways written in Go send `null` for them. */
export function isMissing(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === '' || trimmed === 'null';
}

/** Returns whether the arguments of a call, as text or parsed, have no argument. */
export function isBlank(args: unknown): boolean {
  if (isObject(args)) return Object.keys(args).length === 0;
  if (typeof args !== 'string') return !hasValue(args);
  return isMissing(args) || /^\s*\{\s*\}\s*$/.test(args);
}

const hasName = (name: unknown): boolean => trimmedText(name) !== undefined;

/** Returns whether a call has neither a name nor arguments. Some models write such calls beside text. */
export const isHollowCall = (name: unknown, args: unknown): boolean =>
  !hasName(name) && isBlank(args);

/** Returns whether a call has arguments, but no name. */
export const isNamelessCall = (name: unknown, args: unknown): boolean =>
  !hasName(name) && !isBlank(args);

/**
 * Returns a call of a conversation with arguments that are JSON. vLLM, SGLang and llama.cpp parse them, and refuse the
 * conversation if they cannot.
 */
export function withJSON(call: JsonObject): JsonObject {
  const { arguments: text } = call;
  if (typeof text !== 'string' || (!isMissing(text) && parseJSON(text) !== undefined)) return call;
  return { ...call, arguments: noArguments };
}
