// Where each gateway puts a video's fields, and which gateway a handle belongs to.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { experimental_generateVideo as generateVideo } from 'ai';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { downloadVideo } from '../../src/adapters/node/index.ts';
import {
  ContentNotReadyError,
  Gateway,
  type GatewayProfile,
  InvalidInputError,
  parseVideoTaskRef,
  VideoFailedError,
  type VideoTask,
} from '../../src/index.ts';
import { bodyOf, emulated, failureOf, json, scripted } from '../helpers/clients.ts';
import { passTimeFaster } from '../helpers/fast-time.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { untyped } from '../helpers/untyped.ts';

const gateway: GatewayProfile = {
  name: 'reels',
  paths: { 'videos.create': '/reels', 'videos.retrieve': '/reels/{task_id}' },
  requests: {
    'videos.create': { body: 'json', names: { seconds: 'duration', size: null } },
  },
  video: {
    id: 'job.key',
    status: 'job.phase',
    statuses: { brewing: 'in_progress', served: 'completed', spilt: 'failed' },
    url: 'job.files[0].href',
    error: 'job.reason',
  },
};

const params = { model: 'm-video', prompt: 'A fox', seconds: 5 };
const href = 'https://files.test/1.mp4';

describe('videos of a profile', () => {
  test('videos of a profile are sent and read by its rules, and submitted once', async () => {
    const { client, requests } = scripted(
      [
        json({ job: { key: 'r1', phase: 'brewing' } }),
        json({ job: { key: 'r1', phase: 'served', files: [{ href }] } }),
      ],
      { gateway },
    );

    const task = await client.videos.create(params, { extraBody: { size: 'wide' } });
    const done = await client.videos.retrieve(task);

    expect(task).toMatchObject({ id: 'r1', status: 'in_progress' });
    expect(task.ref).toMatchObject({ gateway: 'reels', baseURL: 'https://gateway.test' });
    expect(done).toMatchObject({ status: 'completed', url: href });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://gateway.test/reels',
      'GET https://gateway.test/reels/r1',
    ]);
    expect(await bodyOf(requests[0])).toEqual({
      model: 'm-video',
      prompt: 'A fox',
      duration: '5',
      size: 'wide',
    });
  });

  test('videos of a profile have the failure reason that the profile reads', async () => {
    const { client } = scripted(
      [json({ job: { key: 'r1', phase: 'spilt', reason: 'The milk boiled over' } })],
      { gateway },
    );

    expect(await client.videos.retrieve('r1')).toMatchObject({
      status: 'failed',
      error: { message: 'The milk boiled over' },
    });
  });

  test('videos of a profile reject an unsupported parameter before anything is sent', async () => {
    const { client, requests } = scripted([json({})], { gateway });

    const error = await failureOf(client.videos.create({ ...params, size: '720x1280' }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: 'size' });
    expect(requests).toHaveLength(0);
  });
});

/** A gateway whose status is asked by POST, and whose content has an id of its own, as Azure's generations have. */
const studio: GatewayProfile = {
  name: 'studio',
  paths: { 'videos.retrieve': '/v1/videos/status' },
  requests: { 'videos.retrieve': { method: 'POST' } },
  video: { contentId: 'generations[0].id' },
};

const copy = (value: VideoTask): VideoTask => JSON.parse(JSON.stringify(value));

function openStudio() {
  const { client, emulator } = emulated(
    { gateway: studio },
    {
      videoDuration: 300,
      quirks: { videoStatusRoute: 'body', videoContentId: 'generation', videoUrl: 'missing' },
    },
  );
  const asked = () => emulator.requests.map(({ operation }) => operation);
  return { client, emulator, asked };
}

describe('a status that is asked by POST, and content with an id of its own', () => {
  passTimeFaster();

  const order = { model: 'm-video', prompt: 'A paper boat' };
  const make = (client: Gateway) => client.videos.createAndWait(order, { interval: 1_000 });

  test.each<[string, (client: Gateway, id: string) => Promise<unknown>]>([
    ['retrieve', (client, id) => client.videos.retrieve(id)],
    ['wait', (client, id) => client.videos.wait(id)],
    ['step', async (client, id) => (await client.videos.step(id)).task],
    [
      'watch',
      async (client, id) => {
        for await (const event of client.videos.watch(id)) {
          if (event.type === 'completed') return event.task;
        }
        return undefined;
      },
    ],
  ])('a status by POST and an id of content are read by videos.%s', async (_, read) => {
    const { client, emulator } = openStudio();
    const { id } = await make(client);
    const before = emulator.requests.length;

    const task = await read(client, id);

    expect(task).toMatchObject({ id, status: 'completed', content_id: `gen_${id}` });
    expect(emulator.requests.slice(before)).toMatchObject([
      { method: 'POST', path: '/v1/videos/status', body: { value: { task_id: id } } },
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a status by POST and an id of content have the names of the profile', async () => {
    const requests = {
      'videos.retrieve': { method: 'POST', names: { task_id: 'requestId' } },
    } as const;
    const { client, requests: sent } = scripted([json({ id: 'r1', status: 'queued' })], {
      gateway: { ...studio, requests },
    });

    await client.videos.retrieve('r1');

    expect(await bodyOf(sent[0])).toEqual({ requestId: 'r1' });
  });

  test('a status by POST and an id of content are read again after a lost answer, and after a 503', async () => {
    const { client, emulator } = openStudio();
    const { id } = await make(client);
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'reset', when: 'after-charge' } });
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'error', status: 503 } });

    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'completed' });
  });

  test.each<[string, number, (client: Gateway, task: VideoTask) => PromiseLike<Response>]>([
    ['the task', 0, (client, task) => client.videos.downloadContent(task)],
    ['its handle', 0, (client, task) => client.videos.downloadContent(task.ref)],
    ['its JSON', 0, (client, task) => client.videos.downloadContent(copy(task))],
    ['its id', 1, (client, task) => client.videos.downloadContent(task.id)],
    [
      'its stored handle',
      1,
      (client, task) =>
        client.videos.downloadContent(parseVideoTaskRef(JSON.parse(JSON.stringify(task.ref)))),
    ],
    [
      'its id, with a range',
      1,
      (client, task) =>
        client.videos.downloadContent(task.id, {}, { headers: { range: 'bytes=0-' } }),
    ],
  ])(
    'content with an id of its own is downloaded by %s, with %i reads of the status',
    async (_, reads, load) => {
      const { client, emulator, asked } = openStudio();
      const task = await make(client);
      const before = asked().length;

      const response = await load(client, task);

      const content = await emulator.videos.content(task.id);
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(content));
      const status = Array.from({ length: reads }, () => 'videos.retrieve');
      expect(asked().slice(before)).toEqual([...status, 'videos.downloadContent']);
    },
  );

  test('content with an id of its own is saved by downloadVideo(), from the task and from its id', async () => {
    const { client, emulator } = openStudio();
    const task = await make(client);
    const content = await emulator.videos.content(task.id);
    const folder = await temporaryFolder();

    for (const [name, source] of Object.entries({ task, id: task.id })) {
      const to = join(folder, `${name}.mp4`);
      await downloadVideo(client, source, { to });
      expect((await readFile(to)).equals(content)).toBe(true);
    }
  });

  test('a video with an id of its content is made by the AI SDK', async () => {
    const { client, emulator } = openStudio();
    const model = createModelGateway({ client }).videoModel('m-video');

    const { video } = await generateVideo({ model, prompt: 'A paper boat' });

    const content = await emulator.videos.content(emulator.videos.list[0]?.id ?? '');
    expect(video.uint8Array).toEqual(new Uint8Array(content));
    expect(emulator.charges).toHaveLength(1);
  });

  test('content with an id of its own is not asked for before the task is completed, or after it failed', async () => {
    const answers = [json({ id: 'r1', status: 'queued' }), json({ id: 'r1', status: 'failed' })];
    const { client, requests } = scripted(answers, { gateway: studio });

    const early = await failureOf(client.videos.downloadContent('r1'));
    const late = await failureOf(client.videos.downloadContent('r1'));

    expect(early).toBeInstanceOf(ContentNotReadyError);
    expect(early).toMatchObject({ outcome: 'not_sent' });
    expect(late).toBeInstanceOf(VideoFailedError);
    expect(requests.map(({ url }) => url)).toEqual([
      'https://gateway.test/v1/videos/status',
      'https://gateway.test/v1/videos/status',
    ]);
  });

  test('a profile reads the status and the content of Azure', async () => {
    const azure: GatewayProfile = {
      name: 'azure-video',
      paths: {
        'videos.create': '/v1/video/generations/jobs',
        'videos.retrieve': '/v1/video/generations/jobs/{task_id}',
        'videos.downloadContent': '/v1/video/generations/{task_id}/content/video',
      },
      requests: { 'videos.create': { body: 'json', names: { seconds: 'n_seconds' } } },
      video: { statuses: { succeeded: 'completed' }, contentId: 'generations[0].id' },
    };
    const done = { id: 'task_1', status: 'succeeded', generations: [{ id: 'gen_2' }] };
    const { client, requests } = scripted(
      [json({ id: 'task_1', status: 'queued' }), json(done), () => new Response('film')],
      {
        gateway: azure,
        baseURL: 'https://films.openai.azure.com/openai/v1',
        defaultQuery: { 'api-version': 'preview' },
      },
    );

    const task = await client.videos.createAndWait(order, { interval: 1_000 });
    const response = await client.videos.downloadContent(task);

    expect(await response.text()).toBe('film');
    const root = 'https://films.openai.azure.com/openai/v1/video/generations';
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${root}/jobs?api-version=preview`,
      `GET ${root}/jobs/task_1?api-version=preview`,
      `GET ${root}/gen_2/content/video?api-version=preview`,
    ]);
  });

  test.each([
    [
      { requests: { 'videos.create': { method: 'POST' } } },
      'gateway.requests.videos.create.method',
    ],
    [{ requests: { 'videos.retrieve': { method: 'GET' } } }, 'must be "POST", for a read'],
    [{ paths: { 'videos.retrieve': '/status' } }, 'gateway.paths.videos.retrieve: must contain'],
    [{ video: { contentId: 3 } }, 'gateway.video.contentId'],
  ])('the names of a status and of content are checked in the profile: %j', (fields, problem) => {
    const options = untyped<{ gateway: GatewayProfile }>({ gateway: { name: 'other', ...fields } });

    expect(() => new Gateway({ ...options, apiKey: 'sk-test', baseURL: 'https://a.test' })).toThrow(
      problem,
    );
  });
});

describe('a handle', () => {
  const ref = {
    v: 1,
    kind: 'video',
    id: 'task_1',
    route: { type: 'openai' },
    baseURL: 'https://gateway.test',
    createdAt: 1,
  } as const;

  test('a handle of new-api has no kind of gateway, like older handles', async () => {
    const { client } = emulated();

    const task = await client.videos.create(params);

    expect(task.ref).not.toHaveProperty('gateway');
  });

  test('a handle keeps its gateway kind in JSON', () => {
    const parsed = parseVideoTaskRef(JSON.parse(JSON.stringify({ ...ref, gateway: 'openai' })));

    expect(parsed.gateway).toBe('openai');
  });

  test('a handle without a kind uses that of its client', async () => {
    const { client, requests } = scripted([json({ job: { key: 'r1', phase: 'brewing' } })], {
      gateway,
    });

    expect(await client.videos.retrieve(ref)).toMatchObject({ status: 'in_progress' });
    expect(requests[0]?.url).toBe('https://gateway.test/reels/task_1');
  });

  test('a handle is read as its own kind by any client', async () => {
    const { client, requests } = scripted([json({ id: 'task_1', status: 'queued' })], { gateway });

    expect(await client.videos.retrieve({ ...ref, gateway: 'openai' })).toMatchObject({
      status: 'queued',
    });
    expect(requests[0]?.url).toBe('https://gateway.test/v1/videos/task_1');
  });

  test('a handle with an unknown kind is read by the profile of its client', async () => {
    const { client, requests } = scripted([json({ job: { phase: 'brewing' } })], { gateway });

    await client.videos.retrieve({ ...ref, gateway: 'films' });

    expect(requests[0]?.url).toBe('https://gateway.test/reels/task_1');
  });
});
