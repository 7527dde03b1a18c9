import { InvalidInputError } from '../errors/gateway-error.ts';
import type { HeaderValues } from '../options.ts';

/** The names and values of headers, in whichever form they were given. */
function headerEntries(values: HeaderValues): Iterable<[string, string | null | undefined]> {
  return values instanceof Headers ? values.entries() : Object.entries(values);
}

/** Adds a level of headers; `null` removes a header, `undefined` leaves it. */
export function applyHeaders(
  headers: Headers,
  values: HeaderValues | undefined,
  field: string,
): void {
  if (values === undefined) return;
  for (const [name, value] of headerEntries(values)) {
    if (value === undefined) continue;
    try {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    } catch {
      // The runtime's own message repeats the value, which may be a secret.
      throw new InvalidInputError(field, `"${name}" is not a valid header; check name and value.`);
    }
  }
}
