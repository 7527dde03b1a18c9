import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import {
  Account,
  Chat,
  ChatWithRuns,
  createGateway,
  Embeddings,
  type GatewayOptions,
  Images,
  Routes,
  Videos,
  withFallback,
  withLimits,
  withObservers,
  withOutputModes,
} from '../../src/core.ts';
import { BudgetError, InvalidInputError } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { root } from '../helpers/run-program.ts';
import { untyped } from '../helpers/untyped.ts';

const messages = [{ role: 'user' as const, content: 'Hello!' }];

function createOptions() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, options: { apiKey, baseURL, fetch } };
}

describe('createGateway()', () => {
  test('a policy of the caller may serve an option of this package', () => {
    const { options } = createOptions();
    const limiting = { name: 'own-limits', options: ['limits'] } as const;

    const create = () =>
      createGateway({ ...options, limits: { concurrency: 1 } }, { chat: Chat }, [limiting]);

    expect(create).not.toThrow();
  });

  test('makes a client with only the given resources', async () => {
    const { options } = createOptions();
    const client = createGateway(options, { chat: Chat, clips: Videos });

    const completion = await client.chat.completions.create({ model: 'm-chat', messages });

    expect(completion.choices[0]?.message.content).toContain('Hello!');
    expect(client.chat).toBeInstanceOf(Chat);
    expect(client.clips).toBeInstanceOf(Videos);
    expect(client).not.toHaveProperty('images');
    expect(client).not.toHaveProperty('responses.create');
  });

  test('calls any route, without showing the key', async () => {
    const { emulator, options } = createOptions();
    const client = createGateway(options, { routes: Routes });

    const models = await client.routes.get('/v1/models');

    expect(models).toHaveProperty('data');
    expect(JSON.stringify(client)).not.toContain(emulator.apiKey);
    expect(Object.keys(client)).not.toContain('apiKey');
    expect(client.apiKey).toBe(emulator.apiKey);
  });

  test('keeps its resources in withOptions()', async () => {
    const { options } = createOptions();
    const client = createGateway(options, { chat: Chat, account: Account });

    const copy = client.withOptions({ maxRetries: 0 });
    await copy.chat.completions.create({ model: 'm-chat', messages });

    expect(copy.maxRetries).toBe(0);
    expect(client.maxRetries).toBe(2);
    expect((await client.account.spent()).lines).toHaveLength(1);
  });

  test('keeps a budget with the resource account', async () => {
    const { emulator, options } = createOptions();
    const budget = { limit: 0 };
    const client = createGateway({ ...options, budget }, { images: Images, account: Account });

    const call = client.images.generate({ model: 'm-image', prompt: 'A fox' });

    await expect(call).rejects.toThrow(BudgetError);
    expect(emulator.charges).toEqual([]);
  });

  test('rejects a budget without the resource account, in copies too', () => {
    const { options } = createOptions();
    const budget = { limit: 1 };
    const withBudget: GatewayOptions = { ...options, budget };
    const problem = /^budget: .*account: Account/;

    expect(() => createGateway(withBudget, { chat: Chat })).toThrow(problem);
    expect(() => createGateway(options, { chat: Chat }).withOptions({ budget })).toThrow(problem);
    const unset: GatewayOptions = { ...options, budget: null };
    expect(() => createGateway(unset, { chat: Chat })).not.toThrow();
  });

  test('rejects names of other members', () => {
    const { options } = createOptions();
    const resources: Record<string, typeof Embeddings> = { withOptions: Embeddings };

    const create = () => createGateway(options, resources);

    expect(create).toThrow(InvalidInputError);
    expect(create).toThrow(/^resources\.withOptions: /);
  });
});

describe('an option whose policy the client lacks', () => {
  const limits = { concurrency: 1 };
  const cases: readonly { name: string; options: GatewayOptions; policy: string }[] = [
    { name: 'fallback', options: { fallback: ['m-plain'] }, policy: 'withFallback()' },
    { name: 'fallbackOn', options: { fallbackOn: ['limits'] }, policy: 'withFallback()' },
    { name: 'onFallback', options: { onFallback: () => {} }, policy: 'withFallback()' },
    {
      name: 'structuredOutput',
      options: { structuredOutput: 'auto' },
      policy: 'withOutputModes()',
    },
    { name: 'limits', options: { limits }, policy: 'withLimits()' },
    { name: 'observer', options: { observer: { start: () => ({}) } }, policy: 'withObservers()' },
    { name: 'onRequest', options: { onRequest: () => {} }, policy: 'withObservers()' },
    { name: 'onResponse', options: { onResponse: () => {} }, policy: 'withObservers()' },
  ];

  test.for(cases)('$name is an error of the client that names $policy', ({ options, ...row }) => {
    const own = createOptions().options;
    const message = `${row.name}: needs ${row.policy} in the policies of createGateway().`;

    expect(() => createGateway({ ...own, ...options }, { chat: Chat })).toThrow(message);
    expect(() => createGateway(own, { chat: Chat }).withOptions(options)).toThrow(message);
    const all = [withOutputModes(), withObservers(), withLimits(), withFallback()];
    expect(() => createGateway({ ...own, ...options }, { chat: Chat }, all)).not.toThrow();
  });

  test('an option whose policy the client lacks is an error of a call, before anything is sent, unless it is null', async () => {
    const { emulator, options } = createOptions();
    const client = createGateway(options, { chat: ChatWithRuns, videos: Videos });
    const params = { model: 'm-chat', messages };
    const fallback = ['m-plain'];
    const problem = /^InvalidInputError: fallback: needs withFallback\(\)/;

    for (const promise of [
      client.chat.completions.create(params, { fallback }),
      client.chat.completions.runTools({ ...params, tools: [] }, { fallback }).done(),
      client.videos.createAndWait({ model: 'm-video', prompt: 'A fox' }, { fallback }),
    ]) {
      await expect(promise.then(undefined, String)).resolves.toMatch(problem);
    }
    expect(emulator.requests).toEqual([]);
    await client.chat.completions.create(params, { fallback: null });
    await client.chat.completions.runTools({ ...params, tools: [] }).done();
    expect(emulator.charges).toHaveLength(2);
  });
});

describe('policies of createGateway()', () => {
  test('work in any order', async () => {
    for (const policies of [
      [withFallback(), withObservers()],
      [withObservers(), withFallback()],
    ] as const) {
      const { emulator, options } = createOptions();
      emulator.fail({ fault: { type: 'error', status: 429 } });
      const models: (string | undefined)[] = [];
      const observer = {
        start: ({ model }: { model: string | undefined }) => void models.push(model),
      };
      const own = { ...options, maxRetries: 0, fallback: ['m-plain'], observer };
      const client = createGateway(own, { chat: Chat }, policies);

      await client.chat.completions.create({ model: 'm-chat', messages });

      expect(models).toEqual(['m-chat', 'm-plain']);
    }
  });

  test('policies of createGateway() are kept in withOptions()', async () => {
    const { emulator, options } = createOptions();
    emulator.fail({ fault: { type: 'error', status: 429 } });
    const client = createGateway(options, { chat: Chat }, [withFallback()]);

    const copy = client.withOptions({ maxRetries: 0, fallback: ['m-plain'] });
    await copy.chat.completions.create({ model: 'm-chat', messages });

    expect(emulator.charges.map(({ model }) => model)).toEqual(['m-plain']);
  });

  test('policies of createGateway() must be policies', () => {
    const { options } = createOptions();
    const policies = [untyped<ReturnType<typeof withFallback>>({})];

    const create = () => createGateway(options, { chat: Chat }, policies);

    expect(create).toThrow(/^policies\[0\]: is not a policy/);
  });

  test.each([
    ['no list', withFallback(), /^policies: must be a list, such as \[withFallback\(\)\]/],
    ['text', 'fallback', /^policies: must be a list/],
    [
      'one that is listed twice',
      [withLimits(), withFallback(), withLimits()],
      /^policies\[2\]: is listed twice: policies\[0\] is the same policy, "limits"/,
    ],
    ['fallbacks twice', [withFallback(), withFallback()], /^policies\[1\]: is listed twice/],
    ['observers twice', [withObservers(), withObservers()], /^policies\[1\]: is listed twice/],
    ['modes twice', [withOutputModes(), withOutputModes()], /^policies\[1\]: is listed twice/],
  ])('policies of createGateway() cannot be %s', (_, policies, message) => {
    const { options } = createOptions();

    const create = () => createGateway(options, { chat: Chat }, untyped<[]>(policies));

    expect(create).toThrow(message);
  });

  test('policies of createGateway() cannot be those of another copy of the package', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(root, 'src/core.ts')],
      bundle: true,
      format: 'esm',
      platform: 'node',
      write: false,
    });
    const url = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`;
    const other: { withFallback: typeof withFallback; withLimits: typeof withLimits } =
      await import(/* @vite-ignore */ url);
    const { options } = createOptions();

    const create = () =>
      createGateway(options, { chat: Chat }, [withFallback(), other.withLimits()]);

    expect(create).toThrow(/^policies\[1\]: is of another copy of the package/);
  });

  test('policies of createGateway() are copied', async () => {
    const { options } = createOptions();
    const policies = untyped<[ReturnType<typeof withFallback>]>([withFallback()]);

    const client = createGateway(options, { chat: Chat }, policies);
    policies.pop();

    expect(() => client.withOptions({ fallback: ['m-plain'] })).not.toThrow();
  });
});

/** Returns the files of `src` whose code is in the bundle of a page with these resources. */
async function bundledFiles(names: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: {
      contents: `import { createGateway, ${names} } from './src/core.ts';
        globalThis.client = createGateway({}, { ${names} });`,
      resolveDir: root,
    },
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { __VERSION__: '"0.0.0"' },
    outdir: 'out',
    absWorkingDir: root,
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => file),
  );
}

test('a page with chat alone loads no other resource, no run and no policy', async () => {
  const files = await bundledFiles('Chat');

  expect(files).toContain('src/resources/chat/create.ts');
  const idle =
    /^src\/(policies\/(fallback|modes|limits)|resources\/(routes|chat\/(runs|run-operations|output-parser)))/;
  expect(files.filter((file) => idle.test(file))).toEqual([]);
  const others =
    /^src\/(client\/openai|resources\/(account|audio|embeddings|generate|images|models|videos))\//;
  expect(files.filter((file) => others.test(file))).toEqual([]);
});

test('a page with images loads them, and no chat', async () => {
  const files = await bundledFiles('Images');

  expect(files).toContain('src/resources/images/images.ts');
  expect(files.filter((file) => /^src\/resources\/(account|chat|videos)\//.test(file))).toEqual([]);
});
