import * as fc from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/errors/gateway-error.ts';
import { credentialOf, type Credential } from '../../src/http/auth.ts';
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

/** The header that a request gets. */
async function sentBy(credential: Credential): Promise<string | null> {
  const headers = new Headers();
  await credential.authorize(headers);
  return headers.get('authorization');
}

describe('credentialOf()', () => {
  test('makes one bearer header', async () => {
    expect(await sentBy(credentialOf('sk-test'))).toBe('Bearer sk-test');
    expect(await sentBy(credentialOf(' sk-test\n'))).toBe('Bearer sk-test');
    expect(await sentBy(credentialOf(() => 'sk-test'))).toBe('Bearer sk-test');
    expect(await sentBy(credentialOf(() => Promise.resolve('sk-test')))).toBe('Bearer sk-test');
  });

  test('a key may hold spaces, as some gateways issue them', async () => {
    expect(await sentBy(credentialOf('team a: sk-test'))).toBe('Bearer team a: sk-test');
  });

  test('null sends nothing', async () => {
    const credential = credentialOf(null);

    expect(await sentBy(credential)).toBeNull();
    expect(credential.reveal()).toBeNull();
  });

  test('asks a function every time', async () => {
    let count = 0;
    const credential = credentialOf(() => `sk-${(count += 1)}`);

    expect(await sentBy(credential)).toBe('Bearer sk-1');
    expect(await sentBy(credential)).toBe('Bearer sk-2');
  });

  test.each([
    ['a line break', 'sk-secret\nsk-other', 'line break'],
    ['a carriage return', 'sk-secret\rx-evil: 1', 'line break'],
    ['its scheme', 'Bearer sk-secret', '"Bearer"'],
    ['a letter that no header can carry', 'sk-secret-\u{1F511}', 'character'],
    ['a null character', 'sk-secret\0', 'character'],
    ['nothing', ' ', 'empty'],
  ])('refuses a key with %s without repeating it', async (_, key, problem) => {
    for (const run of [
      () => credentialOf(key),
      () => sentBy(credentialOf(() => key)),
      () => sentBy(credentialOf(() => Promise.resolve(key))),
    ]) {
      const error = await problemOf(run);

      expect(error.field).toBe('apiKey');
      expect(error.message).toContain(problem);
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('sk-secret');
    }
  });

  test('refuses what is no key, whatever it is', async () => {
    for (const value of [7, true, {}, ['sk-test'], Symbol('sk')]) {
      expect((await problemOf(() => credentialOf(untyped<ApiKey>(value)))).message).toContain(
        'must be a string or a function',
      );
    }
    for (const value of [7, undefined, null, {}]) {
      const credential = credentialOf(() => untyped<string>(value));

      expect((await problemOf(() => sentBy(credential))).field).toBe('apiKey');
    }
  });

  test('says that the function failed, and with what', async () => {
    const cause = new Error('vault is sealed');
    const thrown = await problemOf(() =>
      sentBy(
        credentialOf(() => {
          throw cause;
        }),
      ),
    );
    const rejected = await problemOf(() => sentBy(credentialOf(() => Promise.reject(cause))));

    for (const error of [thrown, rejected]) {
      expect(error.outcome).toBe('not_sent');
      expect(error.cause).toBe(cause);
    }
  });

  test('every key is refused or is a header value that keeps it whole', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(20), async (key) => {
        let value: string | null;
        try {
          value = await sentBy(credentialOf(key));
        } catch (error) {
          return error instanceof InvalidInputError && error.field === 'apiKey';
        }
        return value === `Bearer ${key.trim()}`;
      }),
    );
  });
});
