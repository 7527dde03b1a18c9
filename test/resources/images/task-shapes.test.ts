import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findImages } from '../../../src/resources/images/pictures.ts';
import { listRoutes } from '../../../src/resources/images/poll.ts';
import type { ImageTaskShape, Quirks } from '../../../src/testing/faults/quirks.ts';
import { markers } from '../../../src/testing/index.ts';
import { collect, emulated, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

const order = { model: 'm-image', prompt: 'A paper boat', size: '16x16' };

const found: readonly ImageTaskShape[] = [
  'list',
  'several',
  'text',
  'object',
  'data',
  'accepted',
  'status-url',
  'polling-url',
  'task-info',
];
const lost: readonly ImageTaskShape[] = ['foreign-url', 'nowhere'];

fakeWaitingTime();

function emulatedTasks(imageTasks: ImageTaskShape, quirks: Partial<Quirks> = {}) {
  const { client, emulator } = emulated({}, { quirks: { imageTasks, ...quirks } });
  const count = () => {
    const posts = emulator.requests.filter(({ method }) => method === 'POST').length;
    return { posts, charges: emulator.charges.length };
  };
  return { client, emulator, count };
}

describe.each(found)('a response with a task as "%s"', (shape) => {
  test('resolves to the images, with one submission and one charge', async () => {
    const { client, count } = emulatedTasks(shape);
    const end = await settle(client.images.generate(order));
    expect(end).toHaveProperty('value.data.0.url', expect.stringMatching(/^http.*\.png$/));
    expect(count()).toEqual({ posts: 1, charges: 1 });
  });

  test('resolves to the bytes of an image', async () => {
    const { client } = emulatedTasks(shape, { imageFormat: 'b64_json' });
    const end = await settle(client.images.generate(order));
    const { url, b64_json: bytes } = Object(end).value.data[0];
    expect(url ?? bytes).toMatch(/^(iVBOR|data:image\/png)/);
  });

  test('resolves to the events of a stream', async () => {
    const { client, count } = emulatedTasks(shape);
    const streamed = async () => collect(await client.images.generate({ ...order, stream: true }));
    const end = await settle(streamed());
    expect(end).toHaveProperty('value.0.type', 'image_generation.completed');
    expect(count()).toEqual({ posts: 1, charges: 1 });
  });

  test('resolves to the edited images', async () => {
    const { client, count } = emulatedTasks(shape);
    const image = 'https://pictures.test/before.png';
    const end = await settle(client.images.edit({ ...order, image }));
    expect(end).toHaveProperty('value.data.0.url');
    expect(count()).toEqual({ posts: 1, charges: 1 });
  });

  test('rejects with the reason of a failed task', async () => {
    const { client, count } = emulatedTasks(shape);
    const prompt = `${markers.fail} A paper boat`;
    const end = await settle(client.images.generate({ ...order, prompt }));
    expect(end).toHaveProperty('error.name', 'ImageFailedError');
    expect(end).toHaveProperty('error.reason', 'The prompt was refused by moderation');
    expect(count().posts).toBe(1);
  });

  test('a task in a response can be awaited by its handle in another client', async () => {
    const { client, emulator } = emulatedTasks(shape, { imageTaskTime: 60_000 });
    const end = await settle(client.images.generate(order, { taskTimeout: 5_000 }));
    const { ref } = Object(end).error;
    const { apiKey, baseURL, fetch } = emulator;
    const other = client.withOptions({ apiKey, baseURL, fetch });

    const images = await settle(other.images.wait(JSON.parse(JSON.stringify(ref))));

    expect(end).toHaveProperty('error.name', 'ImageWaitTimeoutError');
    expect(images).toHaveProperty('value.data.0.url');
  });
});

test('returns the image of each of several tasks', async () => {
  const { client, count } = emulatedTasks('several');
  const end = await settle(client.images.generate({ ...order, n: 3 }));
  expect(end).toHaveProperty('value.data.length', 3);
  expect(count()).toEqual({ posts: 1, charges: 1 });
});

test.each(lost)('a response with a task as "%s" rejects with its handle', async (shape) => {
  const { client, count } = emulatedTasks(shape);

  const end = await settle(client.images.generate(order));

  expect(end).toHaveProperty('error.name', 'ImageWaitError');
  expect(end).toHaveProperty('error.ref.id', expect.stringMatching(/^imgtask_/));
  expect(count()).toEqual({ posts: 1, charges: 1 });
});

test.each([
  ['polling_url without a status', { id: 'task_1', polling_url: '/v1/images/tasks/task_1' }],
  ['task_info', { task_info: { id: 'task_1' } }],
  ['requestId', { requestId: 'task_1' }],
  ['request_id', { request_id: 'task_1' }],
  ['generation_id', { generation_id: 'task_1' }],
  ['generationId', { data: { generationId: 'task_1' } }],
  ['queue_id', { queue_id: 'task_1' }],
  ['Response.JobId', { Response: { JobId: 'task_1', RequestId: 'r' } }],
])('the id of a task is read at %s', async (_, body) => {
  const url = 'https://pictures.test/a.png';
  const { client, requests } = scripted([
    json(body),
    json({ id: 'task_1', status: 'completed', images: [{ url }] }),
  ]);

  const end = await settle(client.images.generate(order));

  expect(end).toHaveProperty('value.data.0.url', url);
  expect(requests.map((request) => request.method)).toEqual(['POST', 'GET']);
  expect(requests[1]?.url).toMatch(/\/task_1$/);
});

test.each([
  ['an empty list', { generation_id: 'g', data: [] }, []],
  ['images', { requestId: 'r', images: [{ url: 'https://a.example/b.png' }] }, [{}]],
])('an id beside %s is not a task', async (_, body, data) => {
  const { client, requests } = scripted([json(body)]);

  expect((await client.images.generate(order)).data).toMatchObject(data);
  expect(requests).toHaveLength(1);
});

describe('the polled routes', () => {
  const baseURL = 'https://gateway.test/sub';
  const route = fc.constantFrom(
    undefined,
    '/v1/images/tasks/{id}',
    '/v1/tasks/{id}',
    '/house/{id}',
    '/house/{id}/status',
  );

  test('property: each is requested once, the likeliest first, and all are of this gateway', () => {
    fc.assert(
      fc.property(route, route, route, (path, own, known) => {
        const routes = listRoutes({ path, baseURL }, own, known);
        const said = path === undefined ? undefined : `https://gateway.test${path}`;
        const [first] = [said, own, known, '/v1/images/tasks/{id}'].filter(Boolean);
        expect(routes[0]).toBe(first);
        expect(new Set(routes).size).toBe(routes.length);
        expect(routes.length).toBeGreaterThanOrEqual(4);
        for (const one of routes) {
          expect(new URL(one, baseURL).origin).toBe('https://gateway.test');
          expect(one).toContain('{id}');
        }
      }),
    );
  });
});

describe('the images of a finished task', () => {
  const url = 'https://pictures.test/a.png';

  test.each<{ name: string; body: object; images: object }>([
    { name: "OpenAI's list", body: { data: [{ url }] }, images: { data: [{ url }] } },
    {
      name: 'a wrapper',
      body: { code: 0, data: { data: [{ b64_json: 'AA' }] } },
      images: { data: [{ b64_json: 'AA' }] },
    },
    {
      name: 'a list of objects',
      body: { images: [{ url, width: 1 }] },
      images: { data: [{ url }] },
    },
    {
      name: 'a list of texts',
      body: { output: [url, `${url}?2`] },
      images: { data: [{ url }, { url: `${url}?2` }] },
    },
    { name: 'a text', body: { output: url }, images: { data: [{ url }] } },
    {
      name: 'JSON in a text',
      body: { resultJson: `{"resultUrls":["${url}"]}` },
      images: { data: [{ url }] },
    },
    { name: 'an imageUrl', body: { id: 't', imageUrl: url }, images: { data: [{ url }] } },
    { name: 'results', body: { output: { results: [{ url }] } }, images: { data: [{ url }] } },
    {
      name: 'a result',
      body: { task_result: { images: [{ index: 0, url }] } },
      images: { data: [{ url }] },
    },
    { name: 'an empty list', body: { data: [] }, images: { data: [] } },
  ])('$name', ({ body, images }) => {
    expect(findImages({ ...body })).toMatchObject(images);
    expect(findImages({ ...body })?.['data']).toEqual(Reflect.get(images, 'data'));
  });

  test.each<[string, object]>([
    ['the input', { input: { image: url } }],
    ['addresses of the task', { status_url: url, response_url: url, urls: { get: url } }],
    ['words', { message: 'done', progress: '100%' }],
  ])('%s is not an image', (_, body) => {
    expect(findImages({ ...body })).toBeUndefined();
  });
});
