// An option that a method cannot use would vanish: a ledger that claims nothing, a limit that ends nothing.
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  type Account,
  type Gateway,
  type GatewayOptions,
  memoryLedger,
  type RouteRequest,
} from '../../src/index.ts';
import { type Method, methods } from '../../src/options/methods.ts';
import { optionsOf } from '../../src/options/option-names.ts';
import {
  type NameFor,
  type Option,
  type OptionName,
  optionTable,
} from '../../src/options/option-table.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { ask, calls, everyMethod, start } from '../helpers/every-method.ts';
import { untyped } from '../helpers/untyped.ts';

const entries = Object.entries<Option | readonly Option[]>(optionTable).map(([name, entry]) => ({
  name,
  options: [entry].flat(),
}));

describe('an option that a method cannot use', () => {
  test.each(everyMethod)(
    '$method refuses it by name before anything is sent, if it concerns money or limits',
    async ({ method, call }) => {
      const own = optionsOf(method);
      const foreign = entries.filter(
        ({ name, options }) => !own.has(name) && options.some((o) => o.elsewhere === 'refuse'),
      );
      const { client, emulator } = emulated();
      const accepted: string[] = [];
      for (const { name } of foreign) {
        const options = { ...(method === 'client' && { apiKey: 'k' }), [name]: 1 };
        const error = await failureOf(start(call, client, options)).catch(() => undefined);
        const isNamed = error instanceof Error && Reflect.get(error, 'field') === name;
        if (!isNamed || Reflect.get(error, 'outcome') !== 'not_sent') accepted.push(name);
      }

      expect(foreign.length).toBeGreaterThan(9);
      expect(accepted).toEqual([]);
      expect(emulator.requests).toEqual([]);
    },
  );

  test('an option that a method cannot use is named with what to do', async () => {
    const { client } = emulated();
    const ledger = memoryLedger();
    const cases: readonly (readonly [Method, object, string])[] = [
      [
        'audio.speech.create',
        { ledger },
        'ledger: cannot be used for audio.speech.create; omit it.',
      ],
      [
        'videos.wait',
        { totalTimeout: 400 },
        'totalTimeout: cannot be used for videos.wait; use timeout, the limit of the whole wait.',
      ],
      [
        'images.wait',
        { taskTimeout: 400 },
        'taskTimeout: cannot be used for images.wait; use timeout, the limit of the whole wait.',
      ],
      [
        'images.generateMany',
        { idempotencyKey: 'a' },
        'idempotencyKey: would be shared by different requests; omit it, and each request gets its own.',
      ],
      [
        'generate.runTools',
        { maxChatCompletions: 3 },
        'maxChatCompletions: cannot be used for generate.runTools; use maxCalls.',
      ],
      [
        'videos.create',
        { onSubmitted: () => {} },
        'onSubmitted: cannot be used for videos.create, which returns the task; store task.ref.',
      ],
      [
        'images.generate',
        { budget: { limit: 1 } },
        'budget: is an option of the client, not of images.generate; use withOptions().',
      ],
      [
        'request',
        { fallback: ['m'] },
        'fallback: cannot be used for POST /v1/responses: its request has no model to replace; omit it.',
      ],
      ['client', { apiKey: 'k', ledger }, 'ledger: is an option of a call, not of a client.'],
    ];
    for (const [method, options, message] of cases) {
      const error = await failureOf(start(calls[method], client, options));

      expect(error).toHaveProperty('message', message);
    }
  });

  test('an option that a method cannot use is refused if it is spread from options for another method', async () => {
    const { client, emulator } = emulated();
    const common = { ledger: memoryLedger(), callId: 'job-1', onUnknown: 'resubmit' as const };
    const speech = { model: 'm', voice: 'alloy', input: 'Hi' };

    const error = await failureOf(client.audio.speech.create(speech, { ...common }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'ledger' });
    expect(emulator.requests).toEqual([]);
  });

  test('an option that a method cannot use is ignored without a value', async () => {
    const { client } = emulated();
    const options = untyped<object>({ ledger: null, taskTimeout: undefined, interval: null });

    await expect(client.chat.completions.create(ask, options)).resolves.toHaveProperty('id');
  });

  test('an option that a method cannot use logs a warning if it concerns neither money nor limits', async () => {
    const warn = vi.fn<(message: string, details: unknown) => void>();
    const logger = { error: vi.fn(), warn, info: vi.fn(), debug: vi.fn() };
    const { client } = emulated(untyped<GatewayOptions>({ logger, logLevel: 'warn' }));
    const options = untyped<object>({ onUpdate: () => {}, variant: 'thumbnail' });

    await client.chat.completions.create(ask, options);
    await client.chat.completions.create(ask, options);

    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      '[model-gateway] The option "onUpdate" has no effect for chat.completions.create',
      '[model-gateway] The option "variant" has no effect for chat.completions.create',
    ]);
  });
});

type Last<Parameters extends readonly unknown[]> =
  Required<Parameters> extends readonly [...unknown[], infer Options]
    ? keyof Exclude<Options, undefined | null>
    : never;

/** The member of a client at a path such as `chat.completions.create`. */
type MemberAt<Client, Path> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof Client
    ? MemberAt<Client[Head], Rest>
    : never
  : Path extends keyof Client
    ? Client[Path]
    : never;

type ParametersOf<Member> = Member extends (...input: infer Input) => unknown ? Input : never;

/** The options of what is not the last argument of a method. */
interface OtherTyped {
  client: keyof GatewayOptions;
  account: Last<Parameters<Account['balance']>>;
  request: keyof RouteRequest;
  'videos.downloadContent': keyof NonNullable<Parameters<Gateway['videos']['downloadContent']>[1]>;
}

/** The names of the options that each method has by its type. */
type Typed = OtherTyped & {
  [M in Exclude<Method, keyof OtherTyped>]: Last<ParametersOf<MemberAt<Gateway, M>>>;
};

type Refused = {
  [Name in OptionName]: (typeof optionTable)[Name] extends { readonly elsewhere: 'warn' }
    ? never
    : Name;
}[OptionName];

/** Options that a method has by the table, but not by its type. */
type Untyped = { [M in Method]: Exclude<NameFor<M>, Typed[M]> };
/** Options that a method refuses, although its type has them, or that the table does not have. */
type Unusable = {
  [M in Method]: Exclude<Typed[M], NameFor<M> | Exclude<OptionName, Refused> | `__${string}`>;
};

describe('the types', () => {
  test('the types have the options of the table and none that is refused', () => {
    expectTypeOf<Untyped[Method]>().toEqualTypeOf<never>();
    expectTypeOf<Unusable[Method]>().toEqualTypeOf<never>();
    expectTypeOf<NameFor<'chat.completions.create'>>().not.toBeNever();
  });
});

const names = (method: Method) => [...optionsOf(method).keys()];

test('videos and images have the same options of waits', () => {
  expect(names('images.wait')).toEqual(names('videos.wait'));
  expect(names('images.step')).toEqual(names('videos.step'));
  for (const method of methods.waits)
    expect(names(method)).toEqual(expect.arrayContaining(names('videos.wait')));
});
