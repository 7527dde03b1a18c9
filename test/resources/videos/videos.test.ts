import { describe, expect, test } from 'vitest';
import { GatewayError, InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { ContentExpiredError, ContentNotReadyError } from '../../../src/errors/operation-errors.ts';
import { VideoSubmitUnknownError } from '../../../src/errors/operation-errors.ts';
import { parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  loosely,
  order,
} from '../../helpers/videos.ts';
import { bodyOf, failureOf, json, scripted } from '../../helpers/clients.ts';

describe('videos.retrieve()', () => {
  test('accepts an id, a handle or a task', async () => {
    const { emulator, videos } = emulatedVideos();
    const task = await videos.create(order);
    emulator.videos.complete(task.id);

    for (const named of [task.id, task.ref, task, structuredClone({ ...task })]) {
      expect(await loosely(videos, 'retrieve', named)).toMatchObject({
        id: task.id,
        status: 'completed',
        url: expect.stringMatching(/^http/),
      });
    }
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 4 });
  });

  test('keeps a given handle, and creates one otherwise', async () => {
    const { emulator, videos } = emulatedVideos();
    const { id, ref } = await videos.create(order);

    expect((await videos.retrieve(ref)).ref).toEqual(ref);
    expect((await videos.retrieve(id)).ref).toEqual({
      v: 1,
      kind: 'video',
      id,
      route: { type: 'openai' },
      baseURL: emulator.baseURL,
      model: order.model,
      createdAt: expect.any(Number),
    });
  });

  test('keeps the submitted id, whatever later responses contain', async () => {
    const { emulator, videos } = emulatedVideos({}, { quirks: { videoForeignId: true } });
    const { id } = await videos.create(order);

    const task = await videos.retrieve(id);

    expect(task).toMatchObject({ id, task_id: id });
    expect(task.raw).toMatchObject({ task_id: emulator.videos.get(id)?.innerId });
  });

  test('an id with odd characters is escaped', async () => {
    const { requests, videos } = answeredVideos(inTurn({ status: 'queued' }));

    const task = await videos.retrieve('models/veo/operations/a+b=?#%');

    expect(requests[0]?.url).toBe(
      'https://gateway.test/v1/videos/models%2Fveo%2Foperations%2Fa%2Bb%3D%3F%23%25',
    );
    expect(task.id).toBe('models/veo/operations/a+b=?#%');
  });

  test.each(['', '.', '..', undefined, {}])('rejects %j as a task', async (value) => {
    const { emulator, videos } = emulatedVideos();

    const error = await failureOf(loosely(videos, 'retrieve', value));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(emulator.requests).toHaveLength(0);
  });

  test('never requests a handle of another gateway', async () => {
    const { emulator, videos } = emulatedVideos();
    const { ref } = await videos.create(order);
    const foreign = { ...ref, baseURL: 'https://other.test' };

    const calls = [
      videos.retrieve(foreign),
      videos.downloadContent(foreign),
      videos.remix(foreign, { prompt: 'x' }),
      videos.wait(foreign),
    ];
    for (const error of await Promise.all(calls.map(failureOf))) {
      expect(error).toMatchObject({ field: 'ref.baseURL', outcome: 'not_sent' });
    }
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('a failed task is a response and not an error', async () => {
    const { emulator, videos } = emulatedVideos();
    const { id } = await videos.create(order);
    emulator.videos.fail(id, { message: 'Rejected by review.', code: 'content_policy' });

    expect(await videos.retrieve(id)).toMatchObject({
      status: 'failed',
      error: { message: 'Rejected by review.', code: 'content_policy' },
    });
  });

  test('an unknown task is a 400', async () => {
    const { videos } = emulatedVideos();

    const error = await failureOf(videos.retrieve('task_none'));

    expect(error).toMatchObject({ status: 400, code: 'task_not_exist', outcome: 'rejected' });
  });
});

describe('videos.retrieveFromVendor()', () => {
  const bodies = ['task', 'old-task', 'simple', 'flat', 'native', 'video'] as const;

  test.each(bodies)('reads the %s body of a completed task', async (vendorBody) => {
    const { emulator, videos } = emulatedVideos({}, { quirks: { vendorBody } });
    const { id } = await videos.create(order);
    emulator.videos.complete(id);

    const task = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: id });

    expect(task).toMatchObject({ id, task_id: id, status: 'completed', error: null });
    expect(task.url).toMatch(/^http:.*mp4$/);
    expect(emulator.requests.at(-1)?.path).toBe(`/kling/v1/videos/text2video/${id}`);
  });

  test.each(bodies)('reads the %s body of a failed task', async (vendorBody) => {
    const { emulator, videos } = emulatedVideos({}, { quirks: { vendorBody } });
    const { id } = await videos.create(order);
    emulator.videos.fail(id, 'The prompt was refused.');

    const task = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: id });

    expect(task.status).toBe('failed');
    expect(task.error?.message).toBe('The prompt was refused.');
    expect(task).not.toHaveProperty('url');
  });

  test.each([...bodies, 'null' as const])('reads the %s body of a new task', async (vendorBody) => {
    const { videos } = emulatedVideos({}, { quirks: { vendorBody } });
    const { id } = await videos.create(order);

    const task = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: id });

    expect(task).toMatchObject({ id, status: 'queued', error: null });
  });

  test('the handle remembers the route', async () => {
    const { emulator, videos } = emulatedVideos();
    const { id } = await videos.create(order);

    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: id });
    const stored = parseVideoTaskRef(JSON.parse(JSON.stringify(ref)));
    await videos.retrieve(stored);

    expect(stored.route).toEqual({ type: 'vendor', vendorPrefix: 'kling' });
    expect(emulator.requests.at(-1)?.path).toBe(`/kling/v1/videos/text2video/${id}`);
  });

  test.each(['', '.', '..', 'a/b', '/kling', 'kling/', '%2e%2e', 'a b', 'a?b', 'a#b', 'ä', 7])(
    'rejects the prefix %j',
    async (vendorPrefix) => {
      const { emulator, videos } = emulatedVideos();
      const params = { vendorPrefix, taskId: 'task_1' };

      const error = await failureOf(loosely(videos, 'retrieveFromVendor', params));

      expect(error).toMatchObject({ field: 'vendorPrefix', outcome: 'not_sent' });
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test('a wrong prefix returns an HTML page, and the error names it', async () => {
    const { videos } = emulatedVideos({ maxRetries: 0 });

    const error = await failureOf(
      videos.retrieveFromVendor({ vendorPrefix: 'klang', taskId: 'task_1' }),
    );

    expect(String(error)).toMatch(/HTML page.*vendor prefix/);
  });
});

/** A completed task. */
async function completed(...setup: Parameters<typeof emulatedVideos>) {
  const { emulator, videos } = emulatedVideos(...setup);
  const task = await videos.create({ ...order, seconds: 1, size: '64x64' });
  emulator.videos.complete(task.id);
  return { emulator, videos, task };
}

describe('videos.downloadContent()', () => {
  test('streams the bytes of a completed task', async () => {
    const { videos, task } = await completed();

    const response = await videos.downloadContent(task);
    const bytes = new Uint8Array(await response.arrayBuffer());

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(bytes.length).toBe(Number(response.headers.get('content-length')));
    expect(new TextDecoder().decode(bytes.slice(4, 8))).toBe('ftyp');
  });

  test('a range may be ignored or honoured', async () => {
    const { emulator, videos, task } = await completed();
    const options = { headers: { range: 'bytes=0-99' } };

    expect((await videos.downloadContent(task, options)).status).toBe(200);
    emulator.quirks.contentRange = 'honoured';
    const part = await videos.downloadContent(task, options);

    expect(part.status).toBe(206);
    expect((await part.arrayBuffer()).byteLength).toBe(100);
  });

  test('fails if the body ends before its length', async () => {
    const { emulator, videos, task } = await completed();
    const fault = { type: 'cut', bytes: 50, how: 'end' } as const;
    emulator.fail({ operation: 'videos.downloadContent', fault });

    const response = await videos.downloadContent(task);

    expect(String(await failureOf(response.arrayBuffer()))).toMatch(/50 of \d+ bytes/);
  });

  test('does not send the key to another host of a redirect', async () => {
    const { emulator, videos, task } = await completed(
      {},
      {
        quirks: { contentDelivery: 'redirect' },
      },
    );

    const response = await videos.downloadContent(task.ref);

    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    const [last, before] = emulator.requests.toReversed();
    expect(before?.hasKey).toBe(true);
    expect(last?.hasKey).toBe(false);
    expect(last?.origin).not.toBe(before?.origin);
  });

  test('a task that is not completed is a typed error with advice', async () => {
    const { videos } = emulatedVideos();
    const task = await videos.create(order);

    const error = await failureOf(videos.downloadContent(task));

    expect(ContentNotReadyError.isInstance(error)).toBe(true);
    expect(String(error)).toContain('videos.wait()');
  });

  test('expired content is a typed error', async () => {
    const { emulator, videos, task } = await completed();
    emulator.videos.expire(task.id);

    expect(ContentExpiredError.isInstance(await failureOf(videos.downloadContent(task)))).toBe(
      true,
    );
  });

  test('JSON instead of a file is an error', async () => {
    const { videos } = answeredVideos(inTurn({ url: 'https://cdn.example/v.mp4' }), {
      maxRetries: 0,
    });

    expect(String(await failureOf(videos.downloadContent('a')))).toContain(
      'JSON instead of a file',
    );
  });

  test("a variant is sent in the query, also in OpenAI's three-argument form", async () => {
    const { requests, videos } = answeredVideos(() => new Response('bytes'));

    await videos.downloadContent('a', { variant: 'thumbnail', query: { n: 1 } });
    await videos.downloadContent('a', { variant: 'thumbnail' }, { headers: { 'x-a': 'b' } });
    await videos.downloadContent('a', null);

    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      '?n=1&variant=thumbnail',
      '?variant=thumbnail',
      '',
    ]);
    expect(requests[1]?.headers.get('x-a')).toBe('b');
  });
});

describe('the body of a remix', () => {
  const accepted = json({ id: 'task_2', status: 'queued' });

  test('the body of a remix is JSON', async () => {
    const { client, requests } = scripted([accepted]);

    await client.videos.remix('task_1', { prompt: 'At night' });

    expect(await bodyOf(requests[0])).toEqual({ prompt: 'At night' });
  });

  test.each([
    ['415', json({ error: { message: 'no' } }, 415)],
    [
      'its message',
      json({ error: { message: "request Content-Type isn't multipart/form-data" } }, 400),
    ],
  ])('the body of a remix is sent once more as a form if %s rejects JSON', async (_, rejection) => {
    const { client, requests } = scripted([rejection, accepted]);

    expect((await client.videos.remix('task_1', { prompt: 'At night' })).id).toBe('task_2');
    expect(requests.map(({ headers }) => headers.get('content-type')?.slice(0, 19))).toEqual([
      'application/json',
      'multipart/form-data',
    ]);
  });

  test.each([
    ['another rejection', json({ error: { message: 'No credit' } }, 403), {}],
    ['an unknown outcome', json({ error: { message: 'bad multipart form' } }, 502), {}],
    ['a format of the caller', json({ error: { message: 'no' } }, 415), { bodyFormat: 'json' }],
  ] as const)('the body of a remix is not sent twice after %s', async (_, rejection, options) => {
    const { client, requests } = scripted([rejection]);

    await failureOf(client.videos.remix('task_1', { prompt: 'At night' }, options));

    expect(requests).toHaveLength(1);
  });
});

describe('videos.remix()', () => {
  test('submits once, and the handle names the original', async () => {
    const { emulator, videos } = emulatedVideos();
    const original = await videos.create(order);

    const task = await videos.remix(original, { prompt: 'At night' });

    expect(task.id).not.toBe(original.id);
    expect(task.ref).toMatchObject({ id: task.id, remixOf: original.id, model: order.model });
    expect(countRequests(emulator)).toEqual({ posts: 2, gets: 0 });
    expect(emulator.videos.get(task.id)).toMatchObject({ remixedFrom: original.id });
  });

  test('a new video in place of a remix is charged, and only the answer shows it', async () => {
    const { emulator, videos } = emulatedVideos();
    const original = await videos.create(order);
    const remix = await videos.remix(original, { prompt: 'At night' });
    emulator.quirks.videoRemix = 'new';

    const another = await videos.remix(original, { prompt: 'At night' });

    expect(remix.remixed_from_video_id).toBe(original.id);
    expect(another.remixed_from_video_id).toBeUndefined();
    expect(emulator.charges).toHaveLength(3);
  });

  test('is never sent twice', async () => {
    const { emulator, videos } = emulatedVideos({ maxRetries: 5 });
    const original = await videos.create(order);
    const fault = { type: 'reset', when: 'after-charge' } as const;
    emulator.fail({ operation: 'videos.remix', fault, times: 10 });

    const error = await failureOf(videos.remix(original.id, { prompt: 'At night' }));

    expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
    expect(countRequests(emulator).posts).toBe(2);
  });

  test.each([undefined, {}, { prompt: ' ' }])(
    'rejects %j before anything is sent',
    async (params) => {
      const { emulator, videos } = emulatedVideos();

      const error = await failureOf(loosely(videos, 'remix', 'task_1', params));

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test('an unknown original is a rejection', async () => {
    const { videos } = emulatedVideos();

    const error = await failureOf(videos.remix('task_none', { prompt: 'x' }));

    expect(GatewayError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: 'task_not_exist', outcome: 'rejected' });
  });
});
