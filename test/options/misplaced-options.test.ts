// An option among the parameters would do nothing: a ledger that claims nothing, a signal that stops nothing.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Gateway, memoryLedger, tool } from '../../src/index.ts';
import type { NoOptions } from '../../src/options/options.ts';
import { type Option, type OptionName, optionTable } from '../../src/options/option-table.ts';
import { emulated, failureOf, json } from '../helpers/clients.ts';
import { logged } from '../helpers/transport.ts';
import { untyped } from '../helpers/untyped.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const file = new File([new Uint8Array([0x49, 0x44, 0x33, 4])], 'a.mp3');
const order = { model: 'm-video', prompt: 'A boat' };
const picture = { model: 'm-image', prompt: 'A boat' };
const contents = { model: 'm-chat', contents: 'Hi' };
const functions = [tool({ name: 'f', schema: { type: 'object' }, execute: () => '' })];

/** Each method with parameters, called with more fields among them as JavaScript can. */
const methods: Readonly<Record<string, (client: Gateway, more: never) => unknown>> = {
  'chat.completions.create': ({ chat }, more) =>
    chat.completions.create({ model: 'm', messages, ...untyped<object>(more) }),
  'chat.completions.create, streamed': ({ chat }, more) =>
    chat.completions.create({ model: 'm', messages, stream: true, ...untyped<object>(more) }),
  'chat.completions.parse': ({ chat }, more) =>
    chat.completions.parse({ model: 'm', messages, ...untyped<object>(more) }),
  'chat.completions.stream': ({ chat }, more) =>
    chat.completions.stream({ model: 'm', messages, ...untyped<object>(more) }).done(),
  'chat.completions.runTools': ({ chat }, more) =>
    chat.completions.runTools({ model: 'm', messages, tools: [], ...untyped<object>(more) }).done(),
  'responses.create': ({ responses }, more) =>
    responses.create({ model: 'm', input: 'Hi', ...untyped<object>(more) }),
  'responses.parse': ({ responses }, more) =>
    responses.parse({ model: 'm', input: 'Hi', ...untyped<object>(more) }),
  'generate.content': ({ generate }, more) =>
    generate.content({ ...contents, ...untyped<object>(more) }),
  'generate.contentStream': ({ generate }, more) =>
    generate.contentStream({ ...contents, ...untyped<object>(more) }),
  'generate.runTools': ({ generate }, more) =>
    generate.runTools({ ...contents, functions, ...untyped<object>(more) }),
  'embeddings.create': ({ embeddings }, more) =>
    embeddings.create({ model: 'm', input: 'Hi', ...untyped<object>(more) }),
  'embeddings.createForEngine': ({ embeddings }, more) =>
    embeddings.createForEngine({ model: 'm', input: 'Hi', ...untyped<object>(more) }),
  'embeddings.createMany': ({ embeddings }, more) =>
    embeddings.createMany({ model: 'm', input: ['Hi'], ...untyped<object>(more) }),
  'audio.speech.create': ({ audio }, more) =>
    audio.speech.create({ model: 'm', voice: 'v', input: 'Hi', ...untyped<object>(more) }),
  'audio.transcriptions.create': ({ audio }, more) =>
    audio.transcriptions.create({ model: 'm', file, ...untyped<object>(more) }),
  'audio.translations.create': ({ audio }, more) =>
    audio.translations.create({ model: 'm', file, ...untyped<object>(more) }),
  'images.generate': ({ images }, more) =>
    images.generate({ ...picture, ...untyped<object>(more) }),
  'images.generate, streamed': ({ images }, more) =>
    images.generate({ ...picture, stream: true, ...untyped<object>(more) }),
  'images.edit': ({ images }, more) =>
    images.edit({ ...picture, image: 'https://a.test/a.png', ...untyped<object>(more) }),
  'images.generateMany': ({ images }, more) =>
    images.generateMany([{ ...picture, ...untyped<object>(more) }]).next(),
  'videos.create': ({ videos }, more) => videos.create({ ...order, ...untyped<object>(more) }),
  'videos.createAndWait': ({ videos }, more) =>
    videos.createAndWait({ ...order, ...untyped<object>(more) }),
  'videos.createAndWaitAll': ({ videos }, more) =>
    videos.createAndWaitAll([{ ...order, ...untyped<object>(more) }]).next(),
  'videos.remix': ({ videos }, more) =>
    videos.remix('task', { prompt: 'x', ...untyped<object>(more) }),
  'videos.remixAndWait': ({ videos }, more) =>
    videos.remixAndWait('task', { prompt: 'x', ...untyped<object>(more) }),
};

const start = (name: string, client: Gateway, more: object): Promise<unknown> =>
  Promise.resolve().then(() => methods[name]?.(client, untyped<never>(more)));

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
  test.each(Object.keys(methods))(
    'an option among the parameters of %s is refused before anything is sent, with the place for it',
    async (method) => {
      const { client, emulator } = emulated();
      const refused = [...refusable, 'abortSignal', 'maxAttempts', 'fallbackModels'];
      const accepted: string[] = [];
      for (const name of refused) {
        const error = await failureOf(start(method, client, { [name]: values[name] ?? 1 })).catch(
          () => undefined,
        );
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
    const cases: readonly (readonly [string, string, string])[] = [
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
    for (const [method, name, message] of cases) {
      const error = await failureOf(start(method, client, { [name]: values[name] ?? 'a' }));

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

      await start('chat.completions.create', client, { [name]: { a: 1 } });
      await start('chat.completions.create', client, { [name]: { a: 1 } });

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

      await start('chat.completions.create', client, { model: 'gpt-4o-mini', [name]: null });

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
