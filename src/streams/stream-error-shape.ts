import { type ErrorBody, foreignError, readErrorValue } from '../answers/error-body.ts';
import { holdsSomething, isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** Fields that only an answer carries; next to them a `message` or `code` is no error. */
const answerFields = ['choices', 'candidates', 'usageMetadata', 'promptFeedback', 'object'];

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return isObject(value) ? Object.keys(value).length > 0 : value === true;
}

/**
 * An error without an `error` field around it: `{code, message}`, `{object: "error"}`,
 * `{success: false}`, `{detail}`.
 */
function isBareError(value: JsonObject): boolean {
  if (value['object'] === 'error' || holdsSomething(foreignError(value))) return true;
  if (answerFields.some((field) => field in value)) return false;
  if (value['success'] === false) return true;
  if (typeof value['message'] !== 'string') return holdsSomething(value['detail']);
  const { code, type } = value;
  if (code === 0 || code === 200 || code === 'success') return false;
  // Some gateways also tell of their progress, with a type and a message.
  const isErrorType = typeof type === 'string' && /error/i.test(type);
  return isErrorType || 'code' in value || 'param' in value;
}

function isErrorObject(value: JsonObject): boolean {
  const { error } = value;
  if (error !== undefined && saysSomething(error)) return true;
  if (Array.isArray(value['choices'] ?? value['candidates'])) return false;
  return value['type'] === 'error' || isBareError(value);
}

/**
 * Reads the parsed data of an event as an error, or gives `undefined` when it is none.
 *
 * Gateways forward the errors of fifty providers: under `error` as an object, a string or with a
 * `null` code, bare, typed, named by the event, or in a list.
 */
export function readErrorEvent(
  value: unknown,
  eventName: string | undefined,
): ErrorBody | undefined {
  if (eventName === 'error') return readErrorValue(value);
  if (isObject(value)) return isErrorObject(value) ? readErrorValue(value) : undefined;
  if (!Array.isArray(value)) return undefined;
  const found = value.find((item) => isObject(item) && isErrorObject(item));
  return found === undefined ? undefined : readErrorValue(found);
}

/** What an event with an error in it says of the answer itself; `undefined` when nothing. */
export function answerBeside(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const fields = ['choices', 'candidates', 'usage', 'usageMetadata', 'usage_metadata'];
  const said = fields.filter((field) => saysSomething(value[field]) || Array.isArray(value[field]));
  return said.length === 0
    ? undefined
    : Object.fromEntries(said.map((field) => [field, value[field]]));
}

/**
 * Whether a chunk is what remains of a provider's error after a gateway has squeezed it into the
 * form of a chunk: every field is there and nothing is in them.
 */
export function isHollow(value: unknown): boolean {
  return (
    isObject(value) &&
    value['choices'] === null &&
    value['usage'] === null &&
    value['id'] === '' &&
    value['model'] === ''
  );
}

/** Whether an event only says that the connection is alive. */
export function isPing(value: unknown, eventName: string | undefined): boolean {
  return eventName === 'ping' || (isObject(value) && value['type'] === 'ping');
}
