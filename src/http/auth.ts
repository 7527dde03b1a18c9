import { withoutQueries } from '../answers/without-queries.ts';
import { safeCause } from './safe-cause.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey } from '../options.ts';

/** A key that a header can carry, or an error that does not repeat the key. */
function checkKey(key: unknown): string {
  if (typeof key !== 'string') {
    throw new InvalidInputError('apiKey', 'must be a string or a function that gives one.');
  }
  if (key.trim() === '') {
    throw new InvalidInputError('apiKey', 'is empty; give the key of your gateway account.');
  }
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new InvalidInputError(
      'apiKey',
      'holds a space, a line break or a character that no HTTP header can carry; check how the key was read.',
    );
  }
  return trimmed;
}

/** Where the bearer key comes from. The key itself is in a private field, so nothing prints it. */
export class Credential {
  readonly #source: string | (() => string | Promise<string>);

  constructor(apiKey: ApiKey) {
    this.#source = typeof apiKey === 'function' ? apiKey : checkKey(apiKey);
  }

  /** Whether asking again can give another key, so that one 401 is worth a second attempt. */
  get canRefresh(): boolean {
    return typeof this.#source === 'function';
  }

  /** The `authorization` header of one attempt: at once, unless a function gives the key. */
  authorization(): string | Promise<string> {
    if (typeof this.#source === 'string') return `Bearer ${this.#source}`;
    return this.#asked(this.#source);
  }

  async #asked(source: () => string | Promise<string>): Promise<string> {
    let key: unknown;
    try {
      key = await source();
    } catch (error) {
      throw new InvalidInputError('apiKey', 'the function that gives the key failed.', {
        cause: safeCause(error, withoutQueries),
      });
    }
    return `Bearer ${checkKey(key)}`;
  }
}
