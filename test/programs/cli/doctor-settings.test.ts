import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ReportSettings } from '../../../src/programs/cli/doctor/report-schema.ts';
import { createReport } from '../../../src/programs/cli/doctor/report.ts';
import { formatProfile } from '../../../src/programs/cli/doctor/settings-advice.ts';
import { readGateway } from '../../../src/gateways/index.ts';
import { Gateway, type GatewayOptions } from '../../../src/index.ts';
import { createEmulator, type Emulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import { root } from '../../helpers/run-program.ts';
import { begin } from './run.ts';

/** A gateway that differs from those that the package knows. */
interface Case {
  readonly name: string;
  readonly options?: EmulatorOptions;
  /** The calls that show the difference. */
  readonly only?: readonly string[];
  /** Changes requests and responses of the emulator. */
  readonly change?: Change;
  readonly settings: Partial<ReportSettings>;
  /** A call that the settings are for. */
  readonly call: (client: Gateway) => Promise<unknown>;
}

type Change = (fetch: Emulator['fetch']) => Emulator['fetch'];

/** Serves some paths of the emulator elsewhere. */
const moved =
  (from: RegExp, to: (path: string) => string | undefined): Change =>
  (fetch) =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { pathname, search, origin } = url;
    const path = to(pathname) ?? (from.test(pathname) ? '/v1/missing' : pathname);
    return fetch(new URL(path + search, origin), init);
  };

/** Rejects requests with a content type. */
const rejecting =
  (path: string, type: string): Change =>
  (fetch) =>
  async (input, init) => {
    const sent = new Headers(init?.headers).get('content-type') ?? '';
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const isRejected = pathname === path && sent.startsWith(type);
    return isRejected
      ? Response.json({ error: { message: 'Unsupported media type' } }, { status: 415 })
      : fetch(input, init);
  };

const messages = [{ role: 'user' as const, content: 'Hi' }];

const cases: readonly Case[] = [
  {
    name: 'LiteLLM, by a header',
    options: { gateway: 'litellm' },
    settings: { gateway: 'litellm', options: {} },
    call: (client) => client.account.prices(),
  },
  {
    name: 'a server with OpenAI’s API alone, by its errors',
    options: { gateway: 'openai' },
    settings: { gateway: 'openai', options: {} },
    call: (client) => client.models.list(),
  },
  {
    name: 'routes that are not below /v1',
    options: { gateway: 'openai' },
    change: moved(/^\/v1\//, (path) => (path.startsWith('/v1/') ? undefined : `/v1${path}`)),
    settings: { profile: expect.objectContaining({ basePath: '' }) },
    call: (client) => client.chat.completions.create({ model: 'm-large', messages }),
  },
  {
    name: 'the engine path without /v1',
    options: { quirks: { enginePath: 'embeddings' } },
    change: moved(/^\/v1\/engines\//, (path) =>
      path.startsWith('/engines/') ? `/v1${path}` : undefined,
    ),
    settings: {
      gateway: 'new-api',
      profile: expect.objectContaining({
        paths: { 'embeddings.createForEngine': '/engines/{+model}/embeddings' },
      }),
    },
    call: (client) => client.embeddings.createForEngine({ model: 'm-embedding', input: 'Hi' }),
  },
  {
    name: 'image edits as JSON alone',
    only: ['image-edit-form', 'image-edit-json'],
    change: rejecting('/v1/images/edits', 'multipart/'),
    settings: {
      profile: expect.objectContaining({ requests: { 'images.edit': { body: 'json' } } }),
    },
    call: (client) =>
      client.images.edit({
        model: 'm-image',
        prompt: 'Bluer',
        image: new File([new Uint8Array([1])], 'a.png', { type: 'image/png' }),
      }),
  },
  {
    name: 'videos as JSON alone',
    only: ['video'],
    options: { videoDuration: 0 },
    change: rejecting('/v1/videos', 'multipart/'),
    settings: { options: { bodyFormat: 'json' } },
    call: (client) => client.videos.create({ model: 'm-video', prompt: 'A boat' }),
  },
  {
    name: 'a model with JSON mode and without schemas',
    only: ['json-schema', 'json-object'],
    options: { models: [{ id: 'm-json', structuredOutput: 'json_object' }] },
    settings: { options: { structuredOutput: 'json_object' } },
    call: (client) => client.chat.completions.create({ model: 'm-json', messages }),
  },
  {
    name: 'a model without JSON mode',
    only: ['json-schema', 'json-object'],
    options: { models: [{ id: 'm-plain', structuredOutput: 'none' }] },
    settings: { options: { structuredOutput: 'prompt' } },
    call: (client) => client.chat.completions.create({ model: 'm-plain', messages }),
  },
  {
    name: "Gemini's format below /gemini, as at One Hub",
    change: moved(/^\/v1beta\//, (path) => /^\/gemini(\/v1beta\/models\/.*)/.exec(path)?.[1]),
    settings: {
      profile: expect.objectContaining({
        paths: expect.objectContaining({
          'generate.content': '/gemini/v1beta/models/{model}:generateContent',
          'generate.contentStream': '/gemini/v1beta/models/{model}:streamGenerateContent',
        }),
      }),
    },
    call: async ({ generate }) => {
      const contents = [{ role: 'user' as const, parts: [{ text: 'Hi' }] }];
      await generate.content({ model: 'm-large', contents });
      for await (const chunk of await generate.contentStream({ model: 'm-large', contents })) {
        expect(chunk).toHaveProperty('candidates');
      }
    },
  },
  {
    name: 'an unusual route of image tasks',
    only: ['image'],
    options: { quirks: { imageTasks: 'data', imageTaskTime: 0 } },
    settings: { profile: expect.objectContaining({ imageTask: '/v1/tasks/{id}' }) },
    call: (client) => client.images.generate({ model: 'm-image', prompt: 'A fox' }),
  },
  {
    name: 'a header with request ids that no gateway has',
    options: { gateway: 'openai' },
    change: (fetch) => async (input, init) => {
      const response = await fetch(input, init);
      const headers = new Headers(response.headers);
      headers.set('x-acme-trace-id', headers.get('x-request-id') ?? '');
      headers.delete('x-request-id');
      return new Response(response.body, { status: response.status, headers });
    },
    settings: { profile: expect.objectContaining({ requestIdHeaders: ['x-acme-trace-id'] }) },
    call: async (client) => {
      const { request_id: id } = await client.models.list().withResponse();
      expect(id).toMatch(/^req_/);
    },
  },
];

function start({ options, change }: Case) {
  const emulator = createEmulator(options);
  emulator.clock.speed = 1_000;
  return { emulator, fetch: change?.(emulator.fetch) ?? emulator.fetch };
}

async function advise(each: Case): Promise<ReportSettings> {
  const { emulator, fetch } = start(each);
  vi.stubGlobal('fetch', fetch);
  const target = {
    baseURL: emulator.baseURL,
    findGateway: readGateway('auto'),
    isAuto: true,
    key: emulator.apiKey,
    headers: {},
    signal: new AbortController().signal,
    timeout: 10_000,
    spend: false,
  };
  const spend = {
    wallet: { limit: 100, spent: 0 },
    video: true,
    only: each.only,
    models: [],
    confirm: () => Promise.resolve(),
    onTask: () => {},
  };
  const { settings } = await createReport(target, each.only === undefined ? {} : { spend });
  if (settings === undefined) throw new Error('The report has no settings.');
  return settings;
}

// Inside the package, so that `model-gateway` is the package that was built.
const folder = join(root, 'test', '.profiles');

describe('the settings of a report', () => {
  beforeAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(cases)('the settings of a report make the client work with $name', async (each) => {
    const settings = await advise(each);
    const path = join(folder, `${each.name.replaceAll(/\W+/g, '-')}.ts`);
    await writeFile(path, formatProfile(settings));
    await writeFile(path.replace('.ts', '-client.ts'), `${settings.code}\nexport { client };\n`);
    const { options }: { options: GatewayOptions } = await import(/* @vite-ignore */ path);
    const { emulator, fetch } = start(each);
    const { baseURL, apiKey } = emulator;
    const client = new Gateway({ ...options, baseURL, apiKey, fetch, maxRetries: 0 });

    expect(settings).toMatchObject(each.settings);
    await each.call(client);
    expect(emulator.requests.length).toBeGreaterThan(0);
  });

  test(
    'the settings of a report compile as a profile and as code to paste',
    { timeout: 60_000 },
    async () => {
      const config = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const output = await new Promise<string>((resolve) => {
        const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
        execFile(process.execPath, [tsc, '-p', folder], (_, stdout, stderr) => {
          resolve(stdout + stderr);
        });
      });

      expect(output).toBe('');
    },
  );
});

describe('--write-profile', () => {
  test('writes a new file, and never replaces one', async () => {
    const { machine, emulator } = await begin();
    const first = await machine.run(['doctor', '--write-profile', 'gateway.ts']);
    const written = await readFile(join(machine.folder, 'gateway.ts'), 'utf8');
    emulator.reset();
    const second = await machine.run(['doctor', '--write-profile', 'gateway.ts', '--force']);

    expect(first).toMatchObject({ code: 0, stderr: 'The profile is in gateway.ts\n' });
    expect(first.stdout).toContain('#### Set these options');
    expect(written).toContain('export const profile: GatewayProfile = newApi;');
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') });
    expect(emulator.requests).toEqual([]);
    expect(await readFile(join(machine.folder, 'gateway.ts'), 'utf8')).toBe(written);
  });

  test('requires a TypeScript file', async () => {
    const { machine } = await begin();
    const { code, stderr } = await machine.run(['doctor', '--write-profile', 'gateway.json']);

    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('.ts file') });
  });
});
