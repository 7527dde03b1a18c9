import { check } from '../options/check.ts';
import { cleanKey, type Warn } from '../options/clean-key.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey } from '../options/options.ts';
import { Redaction, safeCause, withoutQueries } from './redaction.ts';

/** Returns the key if a header can carry it. Errors never contain the key. */
function checkKey(key: unknown, warn: Warn): string {
  const field = 'apiKey';
  check(typeof key === 'string', field, 'must be a string or a function that returns one.');
  const trimmed = cleanKey(key, warn);
  check(trimmed !== '', field, 'is empty; pass the key of your gateway account.');
  const problem =
    'contains a line break or a character that is invalid in an HTTP header; check how the key was read.';
  check(/^[\x20-\x7e]+$/.test(trimmed), field, problem);
  return trimmed;
}

/** The API key, kept in a closure so that it is never printed. */
export interface Credential {
  /** Sets the key on a request: synchronously, unless the key comes from a function. */
  authorize(headers: Headers): void | Promise<void>;
  /** Returns the key, the function that returns it, or `null` if no key is sent. */
  reveal(): ApiKey | null;
  /** Removes the key from a text; of a function, the last key that it returned. */
  readonly hide: (text: string) => string;
}

/** @param warn - Called with a problem of the key that the client has corrected. */
export function createCredential(apiKey: ApiKey | null, warn: Warn = () => {}): Credential {
  if (apiKey === null) {
    return { authorize: () => {}, reveal: () => null, hide: (text) => text };
  }
  let value = '';
  const hide = (text: string): string => {
    const redaction = new Redaction();
    redaction.remember(new Headers({ authorization: value }), '');
    return redaction.withoutKeys(text);
  };
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey, warn);
    value = `Bearer ${key}`;
    return { authorize: (headers) => headers.set('authorization', value), reveal: () => key, hide };
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
    value = `Bearer ${checkKey(key, warn)}`;
    headers.set('authorization', value);
  };
  return { authorize, reveal: () => apiKey, hide };
}
