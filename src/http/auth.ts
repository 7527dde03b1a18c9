import { check } from '../options/check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey } from '../options/options.ts';
import { safeCause, withoutQueries } from './redaction.ts';

/** Returns the key if a header can carry it. Errors never contain the key. */
function checkKey(key: unknown): string {
  const field = 'apiKey';
  check(typeof key === 'string', field, 'must be a string or a function that returns one.');
  const trimmed = key.trim();
  check(trimmed !== '', field, 'is empty; pass the key of your gateway account.');
  const problem =
    'contains a line break or a character that is invalid in an HTTP header; check how the key was read.';
  check(/^[\x20-\x7e]+$/.test(trimmed), field, problem);
  const hasScheme = /^bearer\s/i.test(trimmed);
  check(!hasScheme, field, 'begins with "Bearer", which the client adds; pass only the key.');
  return trimmed;
}

/** The API key, kept in a closure so that it is never printed. */
export interface Credential {
  /** Sets the key on a request: synchronously, unless the key comes from a function. */
  authorize(headers: Headers): void | Promise<void>;
  /** Returns the key, the function that returns it, or `null` if no key is sent. */
  reveal(): ApiKey | null;
}

const setKey = (headers: Headers, key: string): void =>
  headers.set('authorization', `Bearer ${key}`);

export function createCredential(apiKey: ApiKey | null): Credential {
  if (apiKey === null) return { authorize: () => {}, reveal: () => null };
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey);
    return { authorize: (headers) => setKey(headers, key), reveal: () => key };
  }
  const authorize = async (headers: Headers): Promise<void> => {
    let key: unknown;
    try {
      key = await apiKey();
    } catch (error) {
      throw new InvalidInputError('apiKey', 'the function that returns the key failed.', {
        cause: safeCause(error, withoutQueries),
      });
    }
    setKey(headers, checkKey(key));
  };
  return { authorize, reveal: () => apiKey };
}
