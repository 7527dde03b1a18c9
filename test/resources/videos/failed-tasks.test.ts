import { describe, expect, test, vi } from 'vitest';
import { VideoWaitTimeoutError } from '../../../src/resources/videos/errors.ts';
import type { GatewayOptions } from '../../../src/options/options.ts';
import { parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import type {
  VideoWaitOptions,
  VideoWaitState,
} from '../../../src/resources/videos/wait-options.ts';
import { untyped } from '../../helpers/untyped.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  minute,
  order,
  timesOf,
} from '../../helpers/videos.ts';
import { markers } from '../../../src/testing/index.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

const id = 'task_6XnhjL4LMhmCap1PtApgEwBP133RWtaq';

/** The bodies of a real gateway, after one stumble of the vendor. */
const wordless = {
  error: { code: null, message: 'The server had an error', param: null, type: 'server_error' },
  id,
};
const veoFailed = {
  id,
  object: 'video',
  model: 'veo-3.0-generate-001',
  status: 'failed',
  progress: 100,
  created_at: 1_795_306_995,
  completed_at: 1_795_307_007,
};
const running = { ...veoFailed, status: 'in_progress', progress: 50 };
const completed = { ...veoFailed, status: 'completed' };
const unknown = { ...veoFailed, status: 'unknown', progress: 0 };

/** The gateway's own record of a task, on the vendor's route. */
function record(status: string, reason = '') {
  const data = {
    id: 33,
    task_id: id,
    status,
    fail_reason: reason,
    result_url: reason,
    progress: '100%',
    data: { id: 'task_0YbcR6vhpOa7kt0VKhct1xO4fQ2nPg7R', progress: 0, status: 'unknown' },
  };
  return { code: 'success', message: '', data };
}

/** A failure with a reason, as the gateway tells it. */
function failed(message: string, code: string | null = '') {
  return { ...veoFailed, error: { message, code } };
}

type Made = object | Error;

/** A gateway whose status route and vendor's route answer each for itself; says when it was asked. */
function twoRoutes(status: (position: number) => Made, vendor: (position: number) => Made) {
  const begun = Date.now();
  const asked = { status: new Array<number>(), vendor: new Array<number>() };
  const { videos, requests } = answeredVideos((request) => {
    const { pathname } = new URL(request.url);
    const isVendor = pathname === `/kling/v1/videos/text2video/${id}`;
    if (!isVendor) expect(pathname).toBe(`/v1/videos/${id}`);
    const times = isVendor ? asked.vendor : asked.status;
    times.push(Date.now() - begun);
    const made = (isVendor ? vendor : status)(times.length - 1);
    return made instanceof Response || made instanceof Error ? made : Response.json(made);
  });
  return { videos, requests, asked };
}

/** Waits step by step, every step in a process of its own with nothing but JSON in between. */
async function stepThrough(answers: readonly (object | Error)[], options: VideoWaitOptions = {}) {
  const { videos, requests } = answeredVideos(inTurn(...answers));
  let stored: string | undefined;
  for (;;) {
    const before = stored === undefined ? undefined : JSON.parse(stored);
    const { state, next } = await videos.step(id, untyped<VideoWaitState>(before), options);
    if (!('delayMs' in next)) return { next, state, requests };
    stored = JSON.stringify(state);
    await vi.advanceTimersByTimeAsync(next.delayMs);
  }
}

describe('a failure is confirmed by one more poll', () => {
  test('a task that goes from failed to in_progress to completed is completed', async () => {
    const answers = [veoFailed, running, running, completed];
    const { videos, requests } = answeredVideos(inTurn(...answers));
    const events: string[] = [];

    const watch = async () => {
      for await (const event of videos.watch(id)) {
        events.push(event.type === 'update' ? event.status : event.type);
      }
    };
    await resolved(watch());

    expect(events).toEqual(['submitted', 'failed', 'in_progress', 'completed', 'completed']);
    expect(requests).toHaveLength(4);
    const { next } = await stepThrough(answers);
    expect(next).toMatchObject({ video: { id, status: 'completed' } });
  });

  test.each<{ title: string; body: ReturnType<typeof failed>; isModerated?: boolean }>([
    {
      title: 'Sora',
      body: failed('Your request was blocked by our moderation system.', 'moderation_blocked'),
    },
    { title: 'Kling', body: failed('Failure to pass the risk control system') },
    {
      title: 'Ali',
      body: failed('Output data may contain inappropriate content.', 'DataInspectionFailed'),
    },
    { title: 'Vidu', body: failed('AuditSubmitIllegal', 'AuditSubmitIllegal') },
    { title: 'Hailuo', body: failed('the generated video involves sensitive content', '1027') },
    { title: 'Jimeng', body: failed('Post Text Risk Not Pass', '50512') },
    { title: 'a size', body: failed('sora-2 size is invalid', 'invalid_size'), isModerated: false },
    {
      title: 'a field',
      body: failed('field prompt is required', 'invalid_request'),
      isModerated: false,
    },
    {
      title: "Google's code",
      body: failed('Request failed.', 'INVALID_ARGUMENT'),
      isModerated: false,
    },
    { title: "Ali's code", body: failed('No.', 'InvalidParameter'), isModerated: false },
    { title: 'Doubao', body: failed('The input text may contain sensitive information.') },
    {
      title: 'safety',
      body: failed('Your request was rejected as a result of our safety system.'),
    },
  ])(
    'a failure that names moderation or invalid input is immediate: $title',
    async ({ body, isModerated = true }) => {
      const { videos, requests } = answeredVideos(inTurn(body));

      const error = await rejected(videos.wait(id), 1);

      expect(error).toMatchObject({
        name: 'VideoFailedError',
        reason: body.error.message,
        moderated: isModerated,
      });
      expect(requests).toHaveLength(1);
    },
  );

  test.each([
    ['Incorrect API key provided', 'invalid_api_key'],
    ['Rate limit reached', '50429'],
    ['The server had an error', null],
    ['invalid response', 'invalid_response'],
    ['upstream returned error', ''],
    ['status 429: Quota exceeded: RESOURCE_EXHAUSTED {"violations":[]}', ''],
    ['quota violation', null],
    ['bad request to upstream: 502', null],
    ['invalid request: connection reset', null],
    ['bad requests per minute exceeded', null],
    ['moderation service timed out', null],
    ['safety service unavailable', null],
    ['invalid request', 'rate_limit_exceeded'],
  ])(
    "a failure that may be a failed poll of the gateway's vendor is not immediate: %s",
    async (message, code) => {
      const { videos } = answeredVideos(inTurn(failed(message, code), running, completed));

      expect((await resolved(videos.wait(id))).status).toBe('completed');
      const { next } = await stepThrough([failed(message, code)]);
      expect(next).toMatchObject({ error: { name: 'VideoFailedError', moderated: false } });
    },
  );
});

describe('a task with an error and without a status', () => {
  test.each<[string, (position: number) => object]>([
    ['the same', () => wordless],
    [
      'request ids that differ',
      (n) => ({ error: { message: `Failed. (request id: 2026${n}) (request id: x-${n})` }, id }),
    ],
    ["a vendor's request ids", (n) => ({ error: `Failed. Request id: 0217${n}`, id })],
    ['a progress that differs', (n) => ({ ...wordless, progress: n })],
  ])(
    'a task with an error and without a status is polled three times with any pauses: %s',
    async (_, body) => {
      const { videos, requests } = answeredVideos((__, position) => Response.json(body(position)));

      await rejected(videos.wait(id, { interval: minute }));

      expect(requests).toHaveLength(3);
    },
  );

  test.each<[string, (position: number) => object]>([
    ['whose error changes', (position) => ({ error: { message: `Attempt ${position}` }, id })],
    ['that says a word in between', (position) => (position % 3 === 2 ? running : wordless)],
    ['whose error is empty', () => ({ id, error: {} })],
    ['whose word is unknown', () => ({ ...wordless, status: 'unknown' })],
    ['that runs', () => ({ ...wordless, status: 'in_progress' })],
  ])('%s: the wait continues', async (_, body) => {
    const { videos } = answeredVideos((__, position) =>
      Response.json(position < 12 ? body(position) : completed),
    );

    expect((await resolved(videos.wait(id))).status).toBe('completed');
  });

  test('failed polls in between neither count nor restart it', async () => {
    const bad = new Response('<html>', { status: 502 });
    const { videos, requests } = answeredVideos(inTurn(wordless, wordless, bad, bad, wordless));

    const error = await rejected(videos.wait(id, { maxRetries: 0, interval: 10_000 }));

    expect(error).toMatchObject({ name: 'VideoFailedError' });
    expect(requests).toHaveLength(5);
  });

  test('a task with an error and without a status is returned unchanged by a single read', async () => {
    const { videos } = answeredVideos(inTurn(wordless));

    const task = await videos.retrieve(id);

    expect(task).toMatchObject({ id, status: 'queued', error: null, raw: wordless });
  });
});

describe('a task whose status stays unknown', () => {
  test("a task whose status stays unknown has failed if the vendor's route reports it, after 2 minutes", async () => {
    const failure = record('FAILURE', 'upstream returned unrecognized message');
    const { videos, asked, requests } = twoRoutes(
      () => unknown,
      () => failure,
    );

    const error = await rejected(videos.wait(id));

    expect(error).toMatchObject({
      name: 'VideoFailedError',
      reason: 'upstream returned unrecognized message',
      raw: failure,
      ref: { id, route: { type: 'openai' } },
    });
    expect(asked.vendor).toHaveLength(1);
    expect(asked.vendor[0]).toBeGreaterThanOrEqual(120_000);
    expect(asked.vendor[0]).toBeLessThan(131_000);
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test.each<[string, () => Made]>([
    [
      'an HTML page',
      () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
    ],
    ['404', () => new Response('', { status: 404 })],
    [
      'no such task',
      () => Response.json({ code: 'task_not_exist', message: '', data: null }, { status: 400 }),
    ],
    ['401', () => new Response('', { status: 401 })],
    ['a rate limit', () => new Response('', { status: 429, headers: { 'retry-after': '600' } })],
    ['500', () => new Response('', { status: 500 })],
    ['a lost connection', () => new TypeError('fetch failed')],
    ['another shape', () => ({ status: 'error', message: 'No such route.' })],
    ['nothing', () => ({ code: 'success', data: null })],
    ['a failed request', () => ({ id: 'req_1', status: 'error' })],
    ["another task's record", () => ({ data: { ...record('FAILURE').data, task_id: 'task_2' } })],
    ['a task that runs', () => record('IN_PROGRESS')],
    ['a task that is done', () => record('SUCCESS', 'https://cdn.example/v.mp4')],
  ])('%s proves nothing: it is polled once a minute, and the wait continues', async (_, vendor) => {
    const { videos, asked, requests } = twoRoutes(
      (position) => (position < 60 ? unknown : completed),
      vendor,
    );
    const polls: number[] = [];
    const onUpdate = (update: { polls: number }) => void polls.push(update.polls);

    expect((await resolved(videos.wait(id, { onUpdate }))).status).toBe('completed');

    expect(asked.status).toHaveLength(61);
    const pauses = asked.status.slice(1).map((time, index) => time - (asked.status[index] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(10_000);
    expect(asked.vendor.length).toBeGreaterThanOrEqual(7);
    for (const [index, time] of asked.vendor.entries()) {
      expect(time).toBeGreaterThanOrEqual(120_000 + index * minute);
    }
    expect(polls).toEqual([1, requests.length]);
  });

  test.each<[string, object]>([
    ['id', { id, status: 'failed' }],
    ['task_id beside the id of a record', { id: 33, task_id: id, status: 'failed' }],
    ['data.taskId', { code: 0, data: { taskId: id, status: 'failed' } }],
  ])('a failure there belongs to the task of its %s', async (_, body) => {
    const { videos } = twoRoutes(
      () => unknown,
      () => body,
    );

    expect(await rejected(videos.wait(id))).toMatchObject({ name: 'VideoFailedError', raw: body });
  });

  test('a vendor that hangs delays the wait by 10 seconds, and an abort ends it', async () => {
    const hang = new Promise<Response>(() => {});
    const { videos, requests } = answeredVideos((request) =>
      request.url.includes('/kling/') ? hang : Response.json(unknown),
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 125_000);

    const late = await rejected(videos.wait(id, { timeout: 4 * minute }));
    const vendor = requests.filter(({ url }) => url.includes('/kling/'));
    expect(late).toMatchObject({ name: 'VideoWaitTimeoutError', polls: requests.length });
    expect(VideoWaitTimeoutError.isInstance(late) && late.elapsed).toBeLessThanOrEqual(250_000);
    expect(vendor).toHaveLength(2);
    const aborted = await rejected(videos.wait(id, { signal: controller.signal }));
    expect(aborted).toMatchObject({ name: 'VideoWaitAbortedError' });
  });

  test('step() polls like wait(), across processes', async () => {
    const { videos, asked } = twoRoutes(
      () => unknown,
      (position) => (position === 0 ? record('IN_PROGRESS') : record('FAILURE', 'No.')),
    );
    let stored = 'null';
    for (let step = 0; step < 60; step += 1) {
      const { state, next } = await videos.step(id, JSON.parse(stored));
      if ('error' in next) {
        expect(next.error).toMatchObject({ name: 'VideoFailedError', reason: 'No.' });
        expect(asked.vendor).toHaveLength(2);
        expect(timesOf([{ at: asked.vendor[1] ?? 0 }], asked.vendor[0] ?? 0)[0]).toBeGreaterThan(
          59_999,
        );
        expect(state.polls).toBe(asked.status.length + 2);
        return;
      }
      stored = JSON.stringify(state);
      await vi.advanceTimersByTimeAsync('delayMs' in next ? next.delayMs : 0);
    }
    throw new Error('The wait did not end.');
  });

  test.each<GatewayOptions['gateway']>([
    'litellm',
    { name: 'house', unsupported: { 'videos.retrieveFromVendor': 'No.' } },
  ])(
    'a task whose status stays unknown is not read from a record that the gateway does not serve: %j',
    async (gateway) => {
      const { videos, requests } = answeredVideos(inTurn(unknown), { gateway });

      const error = await rejected(videos.wait(id, { timeout: 5 * minute }));

      expect(error).toMatchObject({ name: 'VideoWaitTimeoutError', polls: requests.length });
      expect(new Set(requests.map(({ url }) => new URL(url).pathname))).toEqual(
        new Set([`/v1/videos/${id}`]),
      );
    },
  );

  test('a task with a vendor in its handle is polled only there, once per poll', async () => {
    const { videos, requests } = answeredVideos(inTurn(record('UNKNOWN')));
    const ref = parseVideoTaskRef({
      v: 1,
      kind: 'video',
      id,
      route: { type: 'vendor', vendorPrefix: 'vidu' },
      baseURL: 'https://gateway.test',
      createdAt: Date.now(),
    });

    const error = await rejected(videos.wait(ref, { timeout: 5 * minute }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError', polls: requests.length });
    const paths = requests.map(({ url }) => new URL(url).pathname);
    expect(new Set(paths)).toEqual(new Set([`/vidu/v1/videos/text2video/${id}`]));
  });
});

describe('a gateway with one failed poll of its vendor', () => {
  test.each([
    { videoPollError: 'no-status', reason: 'Rate limit reached', earliest: 35_000, latest: 60_000 },
    {
      videoPollError: 'unknown',
      reason: 'upstream returned unrecognized message',
      earliest: 120_000,
      latest: 160_000,
    },
    { videoPollError: 'failed', reason: 'Rate limit reached', earliest: 10_000, latest: 30_000 },
  ] as const)(
    '$videoPollError: the task has failed, and is refunded',
    async ({ videoPollError, reason, earliest, latest }) => {
      const quirks = { videoPollError };
      const { emulator, videos } = emulatedVideos({}, { videoDuration: 5_000, quirks });
      const begun = Date.now();

      const prompt = `A boat ${markers.pollError}`;
      const error = await rejected(videos.createAndWait({ ...order, prompt }));

      expect(error).toMatchObject({ name: 'VideoFailedError', reason });
      expect(Date.now() - begun).toBeGreaterThanOrEqual(earliest);
      expect(Date.now() - begun).toBeLessThan(latest);
      expect(countRequests(emulator).posts).toBe(1);
      expect(emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
    },
  );

  test.each(['failed-first', 'none'] as const)('%s: the task is completed', async (word) => {
    const quirks = { videoPollError: word };
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000, quirks });

    const prompt = `A boat ${markers.pollError}`;
    const video = await resolved(videos.createAndWait({ ...order, prompt }));

    expect(video.status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
    expect(emulator.charges).toHaveLength(1);
    expect(emulator.charges[0]).not.toHaveProperty('refundedAt');
  });
});

test('stored states of older versions still work', async () => {
  const { videos } = answeredVideos(inTurn(veoFailed, wordless));
  const since = Date.now() - 10 * minute;
  const stored = `{"v":1,"since":${since},"polls":7,"errors":0,"missing":0,"status":"queued","rawStatus":"unknown","progress":0,"interval":10000}`;

  const failure = await videos.step(id, JSON.parse(stored));
  const complaint = await videos.step(id, JSON.parse(stored));

  expect(failure.next).toEqual({ delayMs: 5_000, earliestMs: 5_000 });
  expect(failure.state).toMatchObject({ polls: 8, status: 'failed', rawStatus: 'failed' });
  expect(complaint.next).toEqual({ delayMs: 10_000, earliestMs: 5_000 });
  expect(complaint.state).toMatchObject({ polls: 8, status: 'queued' });
});
