import * as fc from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import { createCredential, type Credential } from '../../src/http/auth.ts';
import type { ApiKey } from '../../src/options/options.ts';
import { anyText } from '../helpers/any-text.ts';
import { untyped } from '../helpers/untyped.ts';

async function catchInvalidInput(run: () => unknown): Promise<InvalidInputError> {
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

describe('createCredential()', () => {
  test('creates one bearer header', async () => {
    expect(await sentBy(createCredential('sk-test'))).toBe('Bearer sk-test');
    expect(await sentBy(createCredential(' sk-test\n'))).toBe('Bearer sk-test');
    expect(await sentBy(createCredential(() => 'sk-test'))).toBe('Bearer sk-test');
    expect(await sentBy(createCredential(() => Promise.resolve('sk-test')))).toBe('Bearer sk-test');
  });

  test('accepts spaces in a key, as some gateways issue them', async () => {
    expect(await sentBy(createCredential('team a: sk-test'))).toBe('Bearer team a: sk-test');
  });

  test('null sends nothing', async () => {
    const credential = createCredential(null);

    expect(await sentBy(credential)).toBeNull();
    expect(credential.reveal()).toBeNull();
  });

  test('calls the function every time', async () => {
    let count = 0;
    const credential = createCredential(() => `sk-${(count += 1)}`);

    expect(await sentBy(credential)).toBe('Bearer sk-1');
    expect(await sentBy(credential)).toBe('Bearer sk-2');
  });

  test.each([
    { name: 'a line break', key: 'sk-secret\nsk-other', problem: 'line break' },
    { name: 'a carriage return', key: 'sk-secret\rx-evil: 1', problem: 'line break' },
    { name: 'a letter that no header can carry', key: 'sk-secret-\u{1F511}', problem: 'character' },
    { name: 'a null character', key: 'sk-secret\0', problem: 'character' },
    { name: 'nothing', key: ' ', problem: 'empty' },
    { name: 'only quotes', key: '""', problem: 'empty' },
    { name: 'only its scheme', key: 'Bearer ', problem: 'empty' },
  ])('rejects a key with $name without quoting it', async ({ key, problem }) => {
    for (const run of [
      () => createCredential(key),
      () => sentBy(createCredential(() => key)),
      () => sentBy(createCredential(() => Promise.resolve(key))),
    ]) {
      const error = await catchInvalidInput(run);

      expect(error.field).toBe('apiKey');
      expect(error.message).toContain(problem);
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('sk-secret');
    }
  });

  test.each([
    ['"sk-secret"', ['quotes']],
    ["'sk-secret'\n", ['quotes']],
    ['" sk-secret "', ['quotes']],
    ['Bearer sk-secret', ['Bearer']],
    ['bearer  sk-secret', ['Bearer']],
    ['"Bearer sk-secret"', ['Bearer', 'quotes']],
    [`Bearer 'sk-secret'`, ['Bearer', 'quotes']],
  ])('removes what is not part of the key with a warning: %s', async (key, expected) => {
    for (const apiKey of [key, () => key]) {
      const warnings: string[] = [];
      const credential = createCredential(apiKey, (warning) => warnings.push(warning));

      expect(await sentBy(credential)).toBe('Bearer sk-secret');
      expect(warnings.map((text) => /Bearer|quotes/.exec(text)?.[0])).toEqual(expected);
      expect(warnings.join(' ')).not.toContain('sk-secret');
    }
  });

  test.each(['sk-"secret"', '"sk-secret', "sk-secret'", 'bearer-sk-secret'])(
    'sends %s unchanged',
    async (key) => {
      const credential = createCredential(key, () => expect.unreachable());

      expect(await sentBy(credential)).toBe(`Bearer ${key}`);
    },
  );

  test('rejects values that are not keys', async () => {
    for (const value of [7, true, {}, ['sk-test'], Symbol('sk')]) {
      expect(
        (await catchInvalidInput(() => createCredential(untyped<ApiKey>(value)))).message,
      ).toContain('must be a string or a function');
    }
    for (const value of [7, undefined, null, {}]) {
      const credential = createCredential(() => untyped<string>(value));

      expect((await catchInvalidInput(() => sentBy(credential))).field).toBe('apiKey');
    }
  });

  test('reports that the function failed, with its error as the cause', async () => {
    const cause = new Error('vault is sealed');
    const thrown = await catchInvalidInput(() =>
      sentBy(
        createCredential(() => {
          throw cause;
        }),
      ),
    );
    const rejected = await catchInvalidInput(() =>
      sentBy(createCredential(() => Promise.reject(cause))),
    );

    for (const error of [thrown, rejected]) {
      expect(error.outcome).toBe('not_sent');
      expect(error.cause).toBe(cause);
    }
  });

  test('rejects every key or sends it unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(20), async (key) => {
        fc.pre(!/^\s*(?:["']|bearer)/i.test(key));
        let value: string | null;
        try {
          value = await sentBy(createCredential(key));
        } catch (error) {
          return error instanceof InvalidInputError && error.field === 'apiKey';
        }
        return value === `Bearer ${key.trim()}`;
      }),
    );
  });
});
