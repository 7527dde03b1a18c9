// Generated from the table of options: what each method does with each of its options.
import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../src/calls/settings.ts';
import { isName, optionsOf } from '../../src/options/option-names.ts';
import { type Option, type OptionName, optionTable } from '../../src/options/option-table.ts';
import { checkOptions } from '../../src/options/resolve.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { everyMethod, start } from '../helpers/every-method.ts';
import { untyped } from '../helpers/untyped.ts';
import { samplesOf } from './samples.ts';

interface Own {
  readonly name: OptionName;
  readonly option: Option;
}

const listOptions = (method: Parameters<typeof optionsOf>[0]): readonly Own[] =>
  [...optionsOf(method)].flatMap(([name, option]) => (isName(name) ? [{ name, option }] : []));

const names = Object.keys(optionTable);
const throwGone = (): never => {
  throw new Error('the database is gone');
};

/** Misspellings of a name: in snake case, in lower case, and with two letters exchanged. */
function misspell(name: string): readonly string[] {
  const snake = name.replaceAll(/[A-Z]+/g, (capitals) => `_${capitals.toLowerCase()}`);
  const [first = '', second = '', third = ''] = name;
  const exchanged = first + third + second + name.slice(3);
  return [snake, name.toLowerCase(), exchanged].filter((wrong) => !names.includes(wrong));
}

/** Options that accept `null` besides those of the guide: a wait without a limit, and any kind of gateway. */
const acceptNull: ReadonlySet<string> = new Set(['timeout', 'gateway']);

describe.each(everyMethod)('$method()', ({ method, call }) => {
  const own = listOptions(method);
  const base = method === 'client' ? { apiKey: 'sk-test' } : {};
  const tryOptions = async (options: object) => {
    const { client, emulator } = emulated();
    const error = await failureOf(start(call, client, { ...base, ...options })).catch(
      () => undefined,
    );
    const { field, outcome, message }: Record<string, unknown> = Object(error);
    const isUnsent = outcome === 'not_sent' && emulator.requests.length === 0;
    return { field: String(field), message: String(message), isUnsent };
  };

  test('rejects an invalid value of each option before anything is sent', async () => {
    const accepted: string[] = [];
    for (const { name } of own) {
      for (const value of samplesOf(name).invalid) {
        const { field, isUnsent } = await tryOptions({ [name]: value });
        const isNamed =
          field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
        if (!isNamed || !isUnsent)
          accepted.push(`${name}: ${JSON.stringify(value)}, names ${field}`);
      }
    }

    expect(accepted).toEqual([]);
  });

  test('accepts each valid value', () => {
    for (const { name } of own) {
      for (const value of samplesOf(name).valid) {
        expect(checkOptions({ [name]: value }, method)).toMatchObject({ warnings: [] });
      }
    }
  });

  test('rejects options that are not an object', async () => {
    const { client, emulator } = emulated();

    for (const options of [7, 'task_1', ['a']]) {
      const error = await failureOf(start(call, client, untyped(options)));
      expect(error).toMatchObject({ field: 'options', outcome: 'not_sent' });
    }
    expect(emulator.requests).toEqual([]);
  });

  test('names an option whose getter throws', async () => {
    const [name = ''] = optionsOf(method).keys();
    const { client, emulator } = emulated();
    const options = Object.defineProperty({ ...base }, name, {
      enumerable: true,
      get: throwGone,
    });
    const error = await failureOf(start(call, client, options));

    expect(error).toMatchObject({
      field: name,
      message: `${name}: cannot be read: the database is gone.`,
    });
    expect(emulator.requests).toEqual([]);
  });

  test('ignores undefined, and ignores or rejects null', async () => {
    for (const { name, option } of own) {
      expect(checkOptions({ [name]: undefined }, method)).toEqual({ values: {}, warnings: [] });
      if (option.null === 'unset') {
        expect(checkOptions({ [name]: null }, method)).toEqual({ values: {}, warnings: [] });
      } else if (!acceptNull.has(name) && !samplesOf(name).valid.includes(null)) {
        expect(await tryOptions({ [name]: null })).toMatchObject({ field: name, isUnsent: true });
      }
    }
  });

  test('names the option that a misspelt name and an alias mean', async () => {
    const wrong: string[] = [];
    for (const { name, option } of own) {
      for (const other of [...misspell(name), ...(option.aliases ?? [])]) {
        const { field, message, isUnsent } = await tryOptions({ [other]: 1 });
        if (field !== other || !isUnsent || !message.endsWith(`; use ${name}.`)) {
          wrong.push(`${other}: ${message}`);
        }
      }
    }

    expect(wrong).toEqual([]);
  });

  test('a method has valid defaults', () => {
    for (const { name, option } of own) {
      if (option.default === undefined) continue;
      expect(option.check(name, option.default)).toEqual(option.default);
    }
  });
});

test('a client without options has the defaults of the table', () => {
  const { call } = resolveSettings({ apiKey: 'sk-test', baseURL: 'https://gateway.test' });
  const options = optionsOf('client');

  for (const [name, value] of Object.entries(call)) {
    expect([name, value]).toEqual([name, options.get(name)?.default]);
  }
});
