import { check } from '../options/check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey } from '../options/options.ts';
import { safeCause, withoutQueries } from './redaction.ts';

/** Receives a warning about a key. */
type Warn = (message: string) => void;

/** Removes white space, and the quotes that Docker's `--env-file` keeps around a value. */
export function withoutQuotes(text: string): string {
  const trimmed = text.trim();
  const [quote] = trimmed;
  const isQuoted =
    (quote === '"' || quote === "'") && trimmed.length > 1 && trimmed.endsWith(quote);
  return isQuoted ? trimmed.slice(1, -1).trim() : trimmed;
}

/** Removes quotes and the scheme from a key, and warns about them. */
export function cleanKey(key: string, warn: Warn): string {
  const unquoted = withoutQuotes(key);
  const [scheme = ''] = /^bearer(?:\s+|$)/i.exec(unquoted) ?? [];
  const rest = unquoted.slice(scheme.length);
  const bare = withoutQuotes(rest);
  if (scheme !== '') warn('apiKey begins with "Bearer", which the client adds: pass only the key');
  if (unquoted !== key.trim() || bare !== rest) {
    warn(
      "apiKey is in quotes, which are not sent: Docker's --env-file keeps the quotes of a value",
    );
  }
  return bare;
}

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
}

const setKey = (headers: Headers, key: string): void =>
  headers.set('authorization', `Bearer ${key}`);

/** @param warn - Called with a problem of the key that the client has corrected. */
export function createCredential(apiKey: ApiKey | null, warn: Warn = () => {}): Credential {
  if (apiKey === null) return { authorize: () => {}, reveal: () => null };
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey, warn);
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
    setKey(headers, checkKey(key, warn));
  };
  return { authorize, reveal: () => apiKey };
}
