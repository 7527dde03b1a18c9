import { describe, expect, test, vi } from 'vitest';
import { ContentExpiredError, ContentUnavailableError, Gateway } from '../../../src/index.ts';
import { readExpiry } from '../../../src/http/signed-url.ts';
import { isFetchable } from '../../../src/http/url.ts';
import { failureOf } from '../../helpers/clients.ts';
import { emulatedVideos, order } from '../../helpers/videos.ts';

const film = 'the bytes of a video';
const gateway = 'https://gateway.test';
const cdn = 'https://cdn.example/v.mp4?X-Amz-Signature=s3cr3t';

/** A gateway whose content route and task respond as given, and a host with the file. */
function served(
  content: number | (() => Response),
  { task = { metadata: { url: cdn } }, file = () => new Response(film) }: Setup = {},
) {
  const requests: Request[] = [];
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: `${gateway}/v1`,
    defaultHeaders: { 'x-team': 'blue' },
    defaultQuery: { team: 'blue' },
    logLevel: 'off',
    maxRetries: 0,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request);
      const { origin, pathname } = new URL(request.url);
      if (origin !== gateway) return file(request);
      if (!pathname.endsWith('/content')) {
        return Response.json({ id: 'task_1', status: 'completed', ...task });
      }
      if (typeof content === 'function') return content();
      const error = { message: 'domain not in whitelist' };
      return Response.json({ error }, { status: content });
    },
  });
  return { client, requests, videos: client.videos };
}

interface Setup {
  readonly task?: object;
  readonly file?: (request: Request) => Response | Promise<Response>;
}

const textOf = async (response: Promise<Response>): Promise<string> => (await response).text();

const html = (): Response =>
  new Response('<!doctype html><title>Console</title>', {
    headers: { 'content-type': 'text/html' },
  });

describe('a content route that fails', () => {
  test.each([403, 404, 405, 410, 500, 501, 502, 400])(
    'downloads from the URL in the task after a %d, without the key',
    async (status) => {
      const { videos, requests } = served(status);

      const task = await videos.retrieve('task_1');

      expect(await textOf(videos.downloadContent(task))).toBe(film);
      expect(requests).toHaveLength(3);
      const last = requests.at(-1);
      expect(last?.url).toBe(cdn);
      expect(Object.fromEntries(last?.headers ?? [])).toEqual({
        accept: '*/*',
        'accept-encoding': 'identity',
      });
    },
  );

  test.each([
    ['HTML', html],
    ['JSON', () => Response.json({ code: 'ok' })],
  ])('a content route that fails counts %s with status 200 as a failure', async (_, answer) => {
    const { videos } = served(answer);

    expect(await textOf(videos.downloadContent(await videos.retrieve('task_1')))).toBe(film);
  });

  test('a content route that fails reads the task if only its id or a handle is known', async () => {
    const { videos, requests } = served(403);
    const { ref } = await videos.retrieve('task_1');

    expect(await textOf(videos.downloadContent('task_1'))).toBe(film);
    expect(await textOf(videos.downloadContent(structuredClone(ref)))).toBe(film);
    // The handle was read before by this process.
    expect(await textOf(videos.downloadContent(ref))).toBe(film);
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/videos/task_1',
      '/v1/videos/task_1/content',
      '/v1/videos/task_1',
      '/v.mp4',
      '/v1/videos/task_1/content',
      '/v1/videos/task_1',
      '/v.mp4',
      '/v1/videos/task_1/content',
      '/v.mp4',
    ]);
  });

  test('the URL in a task also applies to asResponse() and withResponse()', async () => {
    const { videos } = served(403);
    const task = await videos.retrieve('task_1');

    expect(await (await videos.downloadContent(task).asResponse()).text()).toBe(film);
    const { data, response } = await videos.downloadContent(task).withResponse();
    expect(response.status).toBe(200);
    expect(await data.text()).toBe(film);
  });

  test('a data URL in a task is decoded', async () => {
    const url = `data:video/mp4;base64,${btoa(film)}`;
    const { videos } = served(501, { task: { url } });

    const response = await videos.downloadContent('task_1');

    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(await response.text()).toBe(film);
  });

  test('a range is passed on to the URL in a task', async () => {
    const { videos, requests } = served(403);

    await videos.downloadContent(await videos.retrieve('task_1'), {
      headers: { range: 'bytes=5-', 'x-other': 'secret' },
    });

    expect(requests.at(-1)?.headers.get('range')).toBe('bytes=5-');
    expect(requests.at(-1)?.headers.has('x-other')).toBe(false);
  });

  test('a content route that fails reads the task again if its URL has expired', async () => {
    const { videos } = served(403, {
      file: ({ url }) =>
        new URL(url).pathname === '/v.mp4' ? new Response(film) : new Response('', { status: 403 }),
    });
    const stale = await videos.retrieve('task_1');
    stale.url = 'https://cdn.example/stale.mp4';

    expect(await textOf(videos.downloadContent(stale))).toBe(film);
  });

  test('a 404 of a content route is not retried for half a minute if the task has a URL', async () => {
    vi.useFakeTimers();
    try {
      const { videos, client } = served(404);
      expect(client.maxRetries).toBe(0);
      const task = await videos.retrieve('task_1');

      expect(await textOf(videos.downloadContent(task, { maxRetries: 2 }))).toBe(film);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([401, 402])(
    'a %d of a content route, which is about the account, is an error',
    async (status) => {
      const { videos, requests } = served(status);
      const task = await videos.retrieve('task_1');

      expect(await failureOf(videos.downloadContent(task))).toMatchObject({ status });
      expect(requests).toHaveLength(2);
    },
  );

  test('a content route that fails is an error with resultURL: false, or for another asset', async () => {
    const { videos, requests } = served(403);
    const task = await videos.retrieve('task_1');

    for (const options of [{ resultURL: false }, { variant: 'thumbnail' }]) {
      expect(await failureOf(videos.downloadContent(task, options))).toMatchObject({
        status: 403,
        name: 'PermissionDeniedError',
      });
    }
    expect(requests).toHaveLength(3);
  });

  test.each([403, 404, 405, 501])(
    'a content route that fails says after a %d that the completed task has no other URL',
    async (status) => {
      const url = `${gateway}/v1/videos/task_1/content`;
      for (const task of [{}, { url }]) {
        const { videos, requests } = served(status, { task });

        const error = await failureOf(videos.downloadContent('task_1'));

        expect(ContentUnavailableError.isInstance(error)).toBe(true);
        expect(error).toMatchObject({ status, url: undefined });
        expect(String(error)).toMatch(/domain not in whitelist.*task_1 is completed.*paid for/s);
        expect(requests).toHaveLength(2);
      }
    },
  );

  test.each<[string, object]>([
    ['is not completed', { status: 'in_progress' }],
    ['failed', { status: 'failed' }],
    ['cannot be read', { error: { message: 'No such task' }, status: undefined }],
  ])('a content route that fails has its own error if the task %s', async (_, task) => {
    const { videos } = served(403, { task });

    expect(await failureOf(videos.downloadContent('task_1'))).toMatchObject({
      name: 'PermissionDeniedError',
    });
  });

  test.each([500, 503])(
    'a %d of a content route, which may pass, is its own error for a task without a URL',
    async (status) => {
      const { videos } = served(status, { task: {} });

      expect(await failureOf(videos.downloadContent('task_1'))).toMatchObject({
        name: 'InternalServerError',
      });
    },
  );

  test('a content route that fails says after a 410 that the content has expired, whatever the task has', async () => {
    const { videos } = served(410, { task: {} });

    const error = await failureOf(videos.downloadContent('task_1'));

    expect(error).toMatchObject({ name: 'ContentExpiredError', url: undefined });
    expect(String(error)).toMatch(/task_1 is completed.*paid for.*cannot be restored/s);
  });

  test('a content route that fails ends with an abort', async () => {
    const controller = new AbortController();
    const { videos } = served(403, {
      file: () => {
        controller.abort();
        return new Response(film);
      },
    });
    const task = await videos.retrieve('task_1');
    const { signal } = controller;

    expect(await failureOf(videos.downloadContent(task, { signal }))).toMatchObject({
      name: 'APIUserAbortError',
    });
  });
});

describe('a URL in the task that fails too', () => {
  test('a URL in the task that fails too is named by the error', async () => {
    const { videos } = served(403, { file: () => new Response('gone', { status: 404 }) });

    const error = await failureOf(videos.downloadContent('task_1'));

    expect(error).toMatchObject({ status: 403, url: cdn, code: undefined });
    expect(ContentUnavailableError.isInstance(error)).toBe(true);
    expect(String(error)).toContain('domain not in whitelist');
    expect(String(error)).toContain('https://cdn.example/v.mp4');
    expect(String(error)).not.toContain('s3cr3t');
    expect(JSON.stringify(error)).not.toContain('s3cr3t');
  });

  test('a URL in the task that fails too is named by ContentExpiredError', async () => {
    const { videos } = served(410, { file: () => new Response('gone', { status: 404 }) });

    const error = await failureOf(videos.downloadContent('task_1'));

    expect(ContentExpiredError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ status: 410, url: cdn });
  });

  test('a URL in the task that fails too tells when it expired', async () => {
    const url = 'https://cdn.example/v.mp4?Expires=1767225600&Signature=abc';
    const { videos } = served(403, {
      task: { url },
      file: () => new Response('', { status: 403 }),
    });

    expect(String(await failureOf(videos.downloadContent('task_1')))).toContain(
      'expired at 2026-01-01T00:00:00.000Z',
    );
  });

  test.each([
    'http://cdn.example/v.mp4',
    'https://127.0.0.1/v.mp4',
    'https://10.0.0.8/v.mp4',
    'https://[::1]/v.mp4',
    'https://minio/v.mp4',
    'https://metadata.internal/v.mp4',
    'https://user:password@cdn.example/v.mp4',
  ])(
    'a URL in the task that fails too is not fetched, but named, if it is not public: %s',
    async (url) => {
      const { videos, requests } = served(403, { task: { url } });

      const error = await failureOf(videos.downloadContent('task_1'));

      expect(error).toMatchObject({ url });
      expect(requests.every((request) => request.url.startsWith(gateway))).toBe(true);
    },
  );
});

test('a URL on the gateway may be fetched, whatever its host', () => {
  expect(isFetchable('http://127.0.0.1:3000/files/v.mp4', 'http://127.0.0.1:3000')).toBe(true);
  expect(isFetchable('http://127.0.0.1:9000/v.mp4', 'http://127.0.0.1:3000')).toBe(false);
  expect(isFetchable('https://172.32.0.1/v.mp4', gateway)).toBe(true);
  expect(isFetchable('file:///etc/passwd', gateway)).toBe(false);
});

test.each([
  ['https://a.example/v?X-Amz-Date=20260101T000000Z&X-Amz-Expires=60', 60],
  ['https://a.example/v?X-Tos-Date=20260101T000000Z&X-Tos-Expires=86400', 86_400],
  ['https://a.example/v?x-oss-date=20260101T000000Z&x-oss-expires=1', 1],
  ['https://a.example/v?se=2026-01-01T00:01:00Z&sig=x', 60],
  ['https://a.example/v?q-sign-time=1767225500;1767225660', 60],
  ['https://a.example/v?Expires=1767225660&OSSAccessKeyId=x', 60],
  ['https://a.example/v?x-expires=1767225660', 60],
  ['https://a.example/v?e=1767225660&token=x', 60],
])('%s expires', (url, seconds) => {
  expect(readExpiry(url)).toBe(Date.UTC(2026, 0, 1) + seconds * 1_000);
});

test.each(['https://a.example/v', 'https://a.example/v?e=12&Expires=soon', 'no URL'])(
  '%s does not tell when it expires',
  (url) => expect(readExpiry(url)).toBe(undefined),
);

test.each([403, 404, 405, 410, 500, 501, 502] as const)(
  'the emulator has the file of a task whose content route responds %d',
  async (contentStatus) => {
    const { emulator, videos } = emulatedVideos({ maxRetries: 0 }, { quirks: { contentStatus } });
    const task = await videos.create(order);
    emulator.videos.complete(task.id);

    const response = await videos.downloadContent(await videos.retrieve(task.id));

    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(emulator.requests.at(-1)?.hasKey).toBe(false);
  },
);
