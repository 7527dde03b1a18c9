// An option among the parameters would do nothing: a ledger that claims nothing, a signal that stops nothing.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Gateway, memoryLedger } from '../../src/index.ts';
import type { NoOptions } from '../../src/options/options.ts';
import { type Method, methods } from '../../src/options/methods.ts';
import { type Option, type OptionName, optionTable } from '../../src/options/option-table.ts';
import { emulated, failureOf, json } from '../helpers/clients.ts';
import { calls, start } from '../helpers/every-method.ts';
import { logged } from '../helpers/transport.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const picture = { model: 'm-image', prompt: 'A boat' };

const methodsWithParameters = methods.posts.filter((method) => method !== 'request');

/** Each method with parameters, and some that stream, called with more fields among them as JavaScript can. */
const cases: readonly (readonly [title: string, method: Method, more: object])[] = [
  ...methodsWithParameters.map((method) => [method, method, {}] as const),
  ...(['chat.completions.create', 'images.generate'] as const).map(
    (method) => [`${method}, streamed`, method, { stream: true }] as const,
  ),
];

const startWith = (method: Method, client: Gateway, more: object): Promise<unknown> =>
  start(calls[method], client, undefined, more);

const table = Object.entries<Option | readonly Option[]>(optionTable);
const refusable = table
  .filter(([, entry]) => [entry].flat().every(({ asParameter }) => asParameter === undefined))
  .map(([name]) => name);
const values: Readonly<Record<string, unknown>> = {
  ledger: memoryLedger(),
  budget: { limit: 0 },
  signal: AbortSignal.abort(),
  fallback: ['b'],
  onSubmitted: () => {},
};

describe('an option among the parameters', () => {
  test.each(cases)(
    'an option among the parameters of %s is refused before anything is sent, with the place for it',
    async (_, method, params) => {
      const { client, emulator } = emulated();
      const refused = [...refusable, 'abortSignal', 'maxAttempts', 'fallbackModels'];
      const accepted: string[] = [];
      for (const name of refused) {
        const error = await failureOf(
          startWith(method, client, { ...params, [name]: values[name] ?? 1 }),
        ).catch(() => undefined);
        const { field = '', outcome, message = '' }: Record<string, string> = Object(error);
        const isNamed = field === name || field === `params[0].${name}`;
        const isPlaced = /(second|third) argument|withOptions\(\)/.test(message);
        if (!isNamed || !isPlaced || outcome !== 'not_sent') accepted.push(`${name}: ${message}`);
      }

      expect(refused.length).toBeGreaterThan(50);
      expect(accepted).toEqual([]);
      expect(emulator.requests).toEqual([]);
    },
  );

  test('an option among the parameters is named with what to do', async () => {
    const { client } = emulated();
    const advice: readonly (readonly [Method, string, string])[] = [
      [
        'images.generate',
        'ledger',
        'ledger: is an option, not a parameter; put it into the second argument of images.generate().',
      ],
      [
        'videos.remix',
        'callId',
        'callId: is an option, not a parameter; put it into the third argument of videos.remix().',
      ],
      [
        'chat.completions.create',
        'budget',
        'budget: is an option of the client, not a parameter of chat.completions.create; pass it to the constructor or withOptions().',
      ],
      [
        'chat.completions.create',
        'abortSignal',
        'abortSignal: is an option, not a parameter; put signal into the second argument of chat.completions.create().',
      ],
    ];
    for (const [method, name, message] of advice) {
      const error = await failureOf(startWith(method, client, { [name]: values[name] ?? 'a' }));

      expect(error).toHaveProperty('message', message);
    }
  });

  test.each(['timeout', 'headers', 'query'])(
    'an option among the parameters is sent with one warning if gateways know a parameter of its name: %s',
    async (name) => {
      const completion = {
        choices: [{ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      };
      const { client, requests, lines } = logged([() => json(completion)()], { logLevel: 'warn' });

      await startWith('chat.completions.create', client, { [name]: { a: 1 } });
      await startWith('chat.completions.create', client, { [name]: { a: 1 } });

      const bodies = await Promise.all(requests.map((request) => request.json()));
      expect(bodies).toEqual([
        expect.objectContaining({ [name]: { a: 1 } }),
        expect.objectContaining({ [name]: { a: 1 } }),
      ]);
      expect(lines).toEqual([
        expect.objectContaining({ message: expect.stringContaining(`The parameter "${name}"`) }),
      ]);
    },
  );

  test.each(['fallback', 'ledger', 'timeout'])(
    'an option among the parameters is not given if it is null: %s',
    async (name) => {
      const { client, emulator } = emulated();

      await startWith('chat.completions.create', client, { model: 'gpt-4o-mini', [name]: null });

      expect(emulator.requests).toHaveLength(1);
    },
  );

  test('an option among the parameters is always sent through extraBody', async () => {
    const { client, emulator } = emulated();

    await client.chat.completions.create(
      { model: 'gpt-4o-mini', messages },
      { extraBody: { budget: { limit: 1 } } },
    );

    expect(emulator.requests).toHaveLength(1);
  });
});

test('the types refuse it too, also in a variable and in a spread', () => {
  type Entry<Name extends OptionName> = (typeof optionTable)[Name] extends readonly (infer Each)[]
    ? Each
    : (typeof optionTable)[Name];
  type Refused = {
    [Name in OptionName]: Extract<Entry<Name>, { readonly asParameter: string }> extends never
      ? Name
      : never;
  }[OptionName];
  expectTypeOf<keyof NoOptions>().toEqualTypeOf<Refused>();

  const { client } = emulated();
  const ledger = memoryLedger();
  const more = { signal: null };
  const job = { ...picture, ledger, callId: 'job' };
  // @ts-expect-error -- ledger and callId are options
  const draw = () => client.images.generate(job);
  // @ts-expect-error -- signal is an option
  const ask = () => client.chat.completions.create({ model: 'm', messages, ...more });
  expect([draw, ask]).toHaveLength(2);
});
