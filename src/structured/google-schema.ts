import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

const shared =
  /^(type|title|description|format|pattern|required|default|(min|max)(imum|Items|Length))$/;

function allOf(schemas: readonly unknown[]): JsonObject[] | undefined {
  const converted = schemas.map(toGoogleSchema).filter((schema) => schema !== undefined);
  return converted.length === schemas.length ? converted : undefined;
}

/**
 * A JSON Schema in Google's subset of OpenAPI, which gateways also convert for other providers;
 * `undefined` when it says more than can be said there.
 */
export function toGoogleSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const google: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'type' && Array.isArray(value)) {
      const types = value.filter((type) => type !== 'null');
      if (types.length === 1 && types.length < value.length) google['nullable'] = true;
      google[keyword] = types.length === 1 ? types[0] : undefined;
    } else if (shared.test(keyword)) google[keyword] = value;
    else if (keyword === 'items') google[keyword] = toGoogleSchema(value);
    else if (keyword === 'anyOf' && Array.isArray(value)) google[keyword] = allOf(value);
    else if (keyword === 'enum' && Array.isArray(value)) {
      google[keyword] = value.every((word) => typeof word === 'string') ? value : undefined;
    } else if (keyword === 'properties' && isObject(value)) {
      const names = Object.keys(value);
      const inner = allOf(Object.values(value));
      google[keyword] = inner && Object.fromEntries(names.map((name, at) => [name, inner[at]]));
    } else if (keyword === 'additionalProperties' && value === false) continue;
    if (google[keyword] === undefined) return undefined;
  }
  return google;
}
