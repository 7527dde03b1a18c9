import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { Account, Chat, createGateway, Embeddings, Images, Videos } from '../../src/core.ts';
import { BudgetError, InvalidInputError } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { root } from '../helpers/run-program.ts';

const messages = [{ role: 'user' as const, content: 'Hello!' }];

function createOptions() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, options: { apiKey, baseURL, fetch } };
}

describe('createGateway()', () => {
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
    const client = createGateway(options, {});

    const models = await client.get('/v1/models');

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
    const problem = /^budget: .*account: Account/;

    expect(() => createGateway({ ...options, budget }, { chat: Chat })).toThrow(problem);
    expect(() => createGateway(options, { chat: Chat }).withOptions({ budget })).toThrow(problem);
    expect(() => createGateway({ ...options, budget: null }, { chat: Chat })).not.toThrow();
  });

  test('rejects names of other members', () => {
    const { options } = createOptions();
    const resources: Record<string, typeof Embeddings> = { get: Embeddings };

    const create = () => createGateway(options, resources);

    expect(create).toThrow(InvalidInputError);
    expect(create).toThrow(/^resources\.get: /);
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

test('a page with chat alone loads no other resource', async () => {
  const files = await bundledFiles('Chat');

  expect(files).toContain('src/resources/chat/chat.ts');
  const others =
    /^src\/(client\/openai|resources\/(account|audio|embeddings|generate|images|models|videos))\//;
  expect(files.filter((file) => others.test(file))).toEqual([]);
});

test('a page with images loads them, and no chat', async () => {
  const files = await bundledFiles('Images');

  expect(files).toContain('src/resources/images/images.ts');
  expect(files.filter((file) => /^src\/resources\/(account|chat|videos)\//.test(file))).toEqual([]);
});
