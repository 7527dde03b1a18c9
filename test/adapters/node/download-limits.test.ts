import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Gateway, VideoFailedError, parseVideoTaskRef } from '../../../src/index.ts';
import { downloadVideo, saveTo } from '../../../src/adapters/node/index.ts';
import type { GatewayOptions, RequestOptions } from '../../../src/options/options.ts';
import type { VideoTaskLike, VideoTaskRef } from '../../../src/resources/videos/types.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { order, timesOf } from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

const tooMany = () => new Response(null, { status: 429 });
const slow = async () => {
  await new Promise((resolve) => {
    setTimeout(resolve, 5_000);
  });
  return film();
};
const film = () => new Response('film', { headers: { 'content-length': '4' } });

/** A client whose downloads are answered by a function, and when they were asked for. */
function limited(
  answer: (position: number, now: number) => Response | Promise<Response>,
  options: GatewayOptions = {},
) {
  const requests: { readonly at: number; readonly path: string }[] = [];
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    fetch: async (input, init) => {
      const { url } = new Request(input, init);
      requests.push({ at: Date.now(), path: new URL(url).pathname });
      return answer(requests.length - 1, Date.now());
    },
    ...options,
  });
  return { client, requests };
}

/** A gateway that refuses every download. */
const always = () => limited(tooMany);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `task_${index}`);

async function read(
  client: Gateway,
  task: VideoTaskLike,
  options?: RequestOptions,
): Promise<string> {
  return (await client.videos.downloadContent(task, options)).text();
}

describe('after an empty 429', () => {
  test('downloads wait for a minute, start 6 s apart until one succeeds, then without limit', async () => {
    const begun = Date.now();
    // Refused are the first three, and the first two after them.
    const { client, requests } = limited((position) => (position < 5 ? tooMany() : film()));

    const texts = await resolved(Promise.all(ids(3).map((id) => read(client, id))));

    expect(texts).toEqual(['film', 'film', 'film']);
    expect(timesOf(requests, begun)).toEqual([0, 0, 0, 60_000, 66_000, 72_000, 72_000, 72_000]);
    await Promise.all(ids(3).map((id) => read(client, id)));
    expect(timesOf(requests, begun).slice(8)).toEqual([72_000, 72_000, 72_000]);
  });

  test('a later download waits for the rest of the minute', async () => {
    const begun = Date.now();
    const { client, requests } = limited((position) => (position === 0 ? tooMany() : film()));
    const first = read(client, 'task_1');
    const later = new Promise((resolve) => {
      setTimeout(resolve, 40_000);
    }).then(() => read(client, 'task_2'));

    await resolved(Promise.all([first, later]));

    expect(timesOf(requests, begun)).toEqual([0, 60_000, 60_000]);
  });

  test('an earlier download that succeeds late does not release the others', async () => {
    const begun = Date.now();
    const { client, requests } = limited((position) => {
      if (position === 0) return slow();
      return position === 1 ? tooMany() : film();
    });

    await resolved(Promise.all(ids(2).map((id) => read(client, id))));

    expect(timesOf(requests, begun)).toEqual([0, 0, 60_000]);
  });

  test('a withOptions() copy waits in the same queue', async () => {
    const begun = Date.now();
    const { client, requests } = limited((position) => (position === 0 ? tooMany() : film()));
    const first = read(client, 'task_1');
    await vi.advanceTimersByTimeAsync(0);

    const second = read(client.withOptions({ timeout: 5_000 }), 'task_2');
    await resolved(Promise.all([first, second]));

    expect(timesOf(requests, begun)).toEqual([0, 60_000, 60_000]);
    const other = client.withOptions({ baseURL: 'https://other.test' });
    expect(await read(other, 'task_3')).toBe('film');
  });

  test('polls and lists are not delayed', async () => {
    const { client, requests } = limited((position) =>
      position === 0 ? tooMany() : Response.json({ id: 'task_1', status: 'queued', data: [] }),
    );
    const controller = new AbortController();
    const { signal } = controller;
    const download = failureOf(client.videos.downloadContent('task_1', { signal }));
    await vi.advanceTimersByTimeAsync(0);

    await client.videos.retrieve('task_1');
    await client.models.list();

    expect(requests).toHaveLength(3);
    controller.abort();
    expect(await download).toMatchObject({ name: 'APIUserAbortError' });
  });
});

describe('the wait of a download', () => {
  test('the wait of a download ends immediately after an abort', async () => {
    const { client, requests } = always();
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('stop')), 20_000);

    const begun = Date.now();
    const error = await rejected(read(client, 'task_1', { signal: controller.signal }));

    expect(error).toMatchObject({ name: 'APIUserAbortError', cause: { message: 'stop' } });
    expect(Date.now() - begun).toBeLessThanOrEqual(21_000);
    expect(requests).toHaveLength(1);
  });

  test('the wait of a download does not start if totalTimeout leaves no time', async () => {
    const { client, requests } = always();
    const begun = Date.now();

    const error = await rejected(read(client, 'task_1', { totalTimeout: 50_000 }));

    expect(error).toMatchObject({ name: 'RateLimitError', status: 429 });
    expect(Date.now()).toBe(begun);
    expect(requests).toHaveLength(1);
  });

  test('the wait of a download ends with totalTimeout if others are first', async () => {
    const { client, requests } = always();
    const options = { totalTimeout: 65_000 };
    const begun = Date.now();

    const [first, second] = await Promise.all(
      ids(2).map((id) => rejected(read(client, id, options))),
    );

    // The first is refused again, and the next turn of either would come too late.
    expect(first).toMatchObject({ name: 'RateLimitError' });
    expect(second).toMatchObject({
      name: 'APIConnectionTimeoutError',
      outcome: 'rejected',
      message: expect.stringContaining('a free download slot'),
    });
    expect(timesOf(requests, begun)).toEqual([0, 0, 60_000]);
  });

  test('the wait of a download is skipped with maxRetries: 0, after a 429 and before a first request', async () => {
    const { client, requests } = limited((position) => (position === 0 ? tooMany() : film()));
    const patient = read(client, 'task_1');
    await vi.advanceTimersByTimeAsync(0);
    const begun = Date.now();

    expect(await read(client, 'task_2', { maxRetries: 0 })).toBe('film');
    expect(Date.now()).toBe(begun);
    await resolved(patient);

    const strict = always();
    expect(await rejected(read(strict.client, 'task_1', { maxRetries: 0 }))).toMatchObject({
      status: 429,
    });
    expect(strict.requests).toHaveLength(1);
    expect(requests).toHaveLength(3);
  });

  test('the wait of a download ends if no download succeeds', async () => {
    const { client, requests } = always();
    const begun = Date.now();

    const error = await rejected(read(client, 'task_1'));

    expect(error).toMatchObject({ name: 'RateLimitError', status: 429 });
    expect(timesOf(requests, begun)).toEqual([0, 60_000, 66_000]);
  });

  test('the wait of a download does not apply to a 429 with Retry-After or from the gateway itself', async () => {
    for (const answer of [
      () => new Response(null, { status: 429, headers: { 'retry-after': '3' } }),
      () => Response.json({ error: { message: 'slow down' } }, { status: 429 }),
    ]) {
      const begun = Date.now();
      const { client } = limited((position) => (position === 0 ? answer() : film()));

      expect(await resolved(read(client, 'task_1'))).toBe('film');
      expect(Date.now() - begun).toBeLessThanOrEqual(4_000);
    }
  });
});

/** Lets faked time pass until a promise settles that also waits for the disk, which takes real time. */
async function onDisk(work: Promise<unknown>, folder: string): Promise<void> {
  const state = { isOver: false };
  const end = (): void => {
    state.isOver = true;
  };
  work.then(end, end);
  while (!state.isOver) {
    for (let step = 0; step < 15; step += 1) await readdir(folder);
    // Without a timer it is the disk that is waited for.
    if (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(1_000);
  }
}

/** Forty tasks of an emulator, which limits downloads as gateways do. */
async function fortyTasks() {
  const { client, emulator } = emulated({}, { videoDuration: 20_000 });
  const refs = await Promise.all(
    ids(40).map(async () => (await client.videos.create({ ...order, size: '320x180' })).ref),
  );
  return { client, emulator, refs };
}

describe('a gateway that allows ten downloads a minute', () => {
  test.each(['one after the other', 'all at once'])(
    'a gateway that allows ten downloads a minute loses no result of a waitAll() of 40: %s',
    async (name) => {
      const { client, emulator, refs } = await fortyTasks();
      const folder = await temporaryFolder();
      const save = async (index: number, ref: (typeof refs)[number]): Promise<void> => {
        const to = join(folder, `${index}.mp4`);
        if (index % 2 === 0) await downloadVideo(client, ref, { to });
        else await saveTo(await client.videos.downloadContent(ref), to);
      };
      const saveAll = async (): Promise<void> => {
        const saves: Promise<void>[] = [];
        for await (const { index, video } of client.videos.waitAll(refs)) {
          if (video === undefined) throw new Error('A wait has failed.');
          const saved = save(index, video.ref);
          if (name === 'all at once') saves.push(saved);
          else await saved;
        }
        await Promise.all(saves);
      };
      const saved = saveAll();
      await onDisk(saved, folder);
      await saved;

      const names = await readdir(folder);
      expect(names).toHaveLength(40);
      const sizes = await Promise.all(
        names.map(async (file) => (await stat(join(folder, file))).size),
      );
      expect(sizes.every((size) => size > 1_000)).toBe(true);
      const answers = emulator.requests
        .filter(({ path }) => path.endsWith('/content'))
        .map(({ status }) => status);
      expect(answers.filter((status) => status === 200)).toHaveLength(40);
      // Hardly a request is in vain, however many there are.
      expect(answers.length).toBeLessThanOrEqual(40 + 30 + 3);
      expect(answers.filter((status) => status === 429).length).toBeGreaterThan(2);
    },
  );
});

describe('missing content of a completed task', () => {
  const completed = { id: 'task_1', status: 'completed' };
  const refusals: [string, () => Response][] = [
    ['404', () => Response.json({ error: { message: 'Task not found' } }, { status: 404 })],
    [
      '502',
      () =>
        Response.json(
          { error: { message: 'Upstream service returned status 404', type: 'server_error' } },
          { status: 502 },
        ),
    ],
  ];

  /** A completed task, on a gateway whose answers to downloads are made by a function. */
  async function completedTask(answer: (position: number) => Response) {
    const { client, requests } = limited((position) =>
      position === 0 ? Response.json(completed) : answer(position - 1),
    );
    const task = await client.videos.retrieve('task_1');
    return { client, task, requests };
  }

  test.each(refusals)('missing content of a completed task is retried: %s', async (_, refuse) => {
    const { client, task, requests } = await completedTask((position) =>
      position < 3 ? refuse() : film(),
    );
    const begun = Date.now();

    expect(await resolved(read(client, task.ref))).toBe('film');
    expect(timesOf(requests.slice(1), begun)).toEqual([0, 2_000, 6_000, 14_000]);
  });

  test.each<[string, (client: Gateway, ref: VideoTaskRef) => Promise<unknown>]>([
    ['wait()', (client, ref) => client.videos.wait(ref)],
    ['waitAll()', (client, ref) => client.videos.waitAll([ref])[Symbol.asyncIterator]().next()],
    ['retrieve()', (client, ref) => Promise.resolve(client.videos.retrieve(ref))],
  ])('missing content of a completed task is retried with a handle from %s', async (_, find) => {
    const { client, requests } = limited((position) => {
      if (position === 0) return Response.json(completed);
      return position < 3 ? new Response('', { status: 404 }) : film();
    });
    const ref = parseVideoTaskRef({
      v: 1,
      kind: 'video',
      id: 'task_1',
      route: { type: 'openai' },
      baseURL: 'https://gateway.test',
      createdAt: 1,
    });

    await resolved(find(client, ref));

    expect(await resolved(read(client, ref))).toBe('film');
    expect(requests).toHaveLength(4);
  });

  test.each(refusals)(
    'missing content of a completed task is an error after 30 s: %s',
    async (status, refuse) => {
      const { client, task, requests } = await completedTask(refuse);
      const begun = Date.now();

      expect(await rejected(read(client, task))).toMatchObject({ status: Number(status) });
      expect(timesOf(requests.slice(1), begun)).toEqual([0, 2_000, 6_000, 14_000, 30_000]);
    },
  );

  test.each(refusals)(
    'missing content of a completed task is not retried with maxRetries: 0: %s',
    async (status, refuse) => {
      const { client, task, requests } = await completedTask(refuse);

      expect(await rejected(read(client, task, { maxRetries: 0 }))).toMatchObject({
        status: Number(status),
      });
      expect(requests).toHaveLength(2);
    },
  );

  test.each(['queued', 'unknown', undefined])(
    'missing content is an error if the task is %s',
    async (status) => {
      const { client, requests } = limited((position) =>
        position === 0 ? Response.json({ id: 'task_1', status }) : (refusals[0]?.[1]() ?? film()),
      );
      const task = await client.videos.retrieve('task_1');

      expect(await rejected(read(client, task))).toMatchObject({ status: 404 });
      expect(await rejected(read(client, 'task_1'))).toMatchObject({ status: 404 });
      // After each failure, the task is read for the URL of its result.
      expect(requests).toHaveLength(5);
    },
  );

  test('missing content of a completed task is retried once by downloadVideo()', async () => {
    const { client, task, requests } = await completedTask(
      () => new Response(null, { status: 502 }),
    );
    const folder = await temporaryFolder();

    const error = failureOf(downloadVideo(client, task.ref, { to: join(folder, 'out.mp4') }));
    await onDisk(error, folder);

    expect(await error).toMatchObject({ status: 502 });
    expect(requests.filter(({ path }) => path.endsWith('/content'))).toHaveLength(5);
    expect(await readdir(folder)).toEqual([]);
  });
});

const refusal = (word: string) =>
  Response.json(
    {
      error: {
        message: `Task is not completed yet, current status: ${word}`,
        type: 'invalid_request_error',
      },
    },
    { status: 400 },
  );

describe('the content of a task that failed', () => {
  test('the content of a failed task is rejected with the error of the task', async () => {
    const { client, requests } = limited(() => refusal('FAILURE'));

    const error = await rejected(read(client, 'task_1'));

    expect(VideoFailedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      message: expect.stringContaining('Video task task_1 failed'),
      ref: { id: 'task_1', baseURL: 'https://gateway.test' },
      raw: { message: 'Task is not completed yet, current status: FAILURE' },
      cause: { name: 'ContentNotReadyError', status: 400 },
      evidence: { status: 400 },
    });
    expect(requests).toHaveLength(1);
    expect(
      await failureOf(downloadVideo(client, 'task_1', { to: join(tmpdir(), 'none.mp4') })),
    ).toMatchObject({ name: 'VideoFailedError' });
    expect(requests).toHaveLength(2);
  });

  test.each(['NOT_START', 'IN_PROGRESS', 'UNKNOWN'])(
    'the content of a task that is %s is rejected as not ready',
    async (word) => {
      const { client } = limited(() => refusal(word));

      expect(await rejected(read(client, 'task_1'))).toMatchObject({
        name: 'ContentNotReadyError',
      });
    },
  );
});
