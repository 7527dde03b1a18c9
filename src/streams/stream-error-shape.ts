import { saysSomething } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

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
