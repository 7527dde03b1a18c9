import * as fc from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/errors/gateway-error.ts';
import { Credential } from '../../src/http/auth.ts';
import type { ApiKey } from '../../src/options.ts';
import { anyText } from '../helpers/any-text.ts';
import { untyped } from '../helpers/untyped.ts';

async function problemOf(run: () => unknown): Promise<InvalidInputError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('Credential', () => {
  test('rule 11: makes one bearer header', async () => {
    expect(await new Credential('sk-test').authorization()).toBe('Bearer sk-test');
    expect(await new Credential(' sk-test\n').authorization()).toBe('Bearer sk-test');
    expect(await new Credential(() => 'sk-test').authorization()).toBe('Bearer sk-test');
    expect(await new Credential(() => Promise.resolve('sk-test')).authorization()).toBe(
      'Bearer sk-test',
    );
  });

  test('asks a function every time', async () => {
    let count = 0;
    const credential = new Credential(() => `sk-${(count += 1)}`);

    expect(await credential.authorization()).toBe('Bearer sk-1');
    expect(await credential.authorization()).toBe('Bearer sk-2');
  });

  test('can be refreshed only when it is a function', () => {
    expect(new Credential('sk-test').canRefresh).toBe(false);
    expect(new Credential(() => 'sk-test').canRefresh).toBe(true);
  });

  test.each([
    ['a line break', 'sk-secret\nsk-other', 'line break'],
    ['a carriage return', 'sk-secret\rx-evil: 1', 'line break'],
    ['a space', 'Bearer sk-secret', 'space'],
    ['a letter that no header can carry', 'sk-secret-\u{1F511}', 'character'],
    ['a null character', 'sk-secret\0', 'character'],
    ['nothing', ' ', 'empty'],
  ])('refuses a key with %s without repeating it', async (_, key, problem) => {
    for (const run of [
      () => new Credential(key),
      () => new Credential(() => key).authorization(),
      () => new Credential(() => Promise.resolve(key)).authorization(),
    ]) {
      const error = await problemOf(run);

      expect(error.field).toBe('apiKey');
      expect(error.message).toContain(problem);
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('sk-secret');
    }
  });

  test('refuses what is no key, whatever it is', async () => {
    for (const value of [7, true, {}, ['sk-test'], Symbol('sk')]) {
      expect((await problemOf(() => new Credential(untyped<ApiKey>(value)))).message).toContain(
        'must be a string or a function',
      );
    }
    for (const value of [7, undefined, null, {}]) {
      const credential = new Credential(() => untyped<string>(value));

      expect((await problemOf(() => credential.authorization())).field).toBe('apiKey');
    }
  });

  test('says that the function failed, and with what', async () => {
    const cause = new Error('vault is sealed');
    const thrown = await problemOf(() =>
      new Credential(() => {
        throw cause;
      }).authorization(),
    );
    const rejected = await problemOf(() =>
      new Credential(() => Promise.reject(cause)).authorization(),
    );

    for (const error of [thrown, rejected]) {
      expect(error.outcome).toBe('not_sent');
      expect(error.cause).toBe(cause);
    }
  });

  test('every key is refused or is a header value that keeps it whole', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(20), async (key) => {
        let value: string;
        try {
          value = await new Credential(key).authorization();
        } catch (error) {
          return error instanceof InvalidInputError && error.field === 'apiKey';
        }
        const headers = new Headers({ authorization: value });
        return headers.get('authorization') === `Bearer ${key.trim()}`;
      }),
    );
  });
});
