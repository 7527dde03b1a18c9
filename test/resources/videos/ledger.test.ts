import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { UnexpectedResponseError } from '../../../src/errors/api-errors.ts';
import { LedgerError } from '../../../src/tasks/errors.ts';
import { VideoSubmitResponseError } from '../../../src/resources/videos/errors.ts';
import { VideoSubmitUnknownError } from '../../../src/errors/operation-errors.ts';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type { VideoSubmitOptions } from '../../../src/resources/videos/wait-options.ts';
import type { SubmitLedger } from '../../../src/tasks/ledger.ts';
import type { VideoCreateParams, VideoTaskRef } from '../../../src/resources/videos/types.ts';
import { root } from '../../helpers/run-program.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { untyped } from '../../helpers/untyped.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  order,
} from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';
import { rejected, resolved } from '../../helpers/fake-time.ts';

const slow = { type: 'slow', milliseconds: 200 } as const;
const reset = { type: 'reset', when: 'after-charge' } as const;

/** A ledger that records its calls. */
function watchedLedger(overrides: Partial<SubmitLedger> = {}) {
  const ledger = { ...memoryLedger(), ...overrides };
  const told: string[] = [];
  const watched: SubmitLedger = {
    async claim(...parameters) {
      const claim = await ledger.claim(...parameters);
      told.push(`claim: ${claim.status}`);
      return claim;
    },
    async accept(...parameters) {
      told.push('accept');
      await ledger.accept(...parameters);
    },
    async finish(...parameters) {
      told.push(parameters[1]);
      await ledger.finish(...parameters);
    },
    entry: (callId) => ledger.entry(callId),
  };
  return { ledger: watched, told };
}

/** A copy of a folder that the client wrote when it sent JSON. */
async function oldLedger() {
  const folder = await temporaryFolder();
  await cp(join(root, 'test', 'fixtures', 'ledger'), folder, { recursive: true });
  return fileLedger(folder);
}

describe('videos.create() with a ledger', () => {
  test('uses its own copy of the input while the ledger is pending', async () => {
    const { videos, requests } = answeredVideos(inTurn({ id: 'task_1', status: 'queued' }));
    await videos.retrieve('task_1');
    const { ledger, told } = watchedLedger();
    const params: VideoCreateParams = { ...order };
    const options = { ledger, callId: 'first', headers: { 'x-user': 'first' } };

    const call = videos.create(params, options);
    params.prompt = 'second';
    options.callId = 'second';
    options.headers['x-user'] = 'second';
    const { ref } = await call;

    const [, sent] = requests;
    expect(sent?.headers.get('x-user')).toBe('first');
    expect(await sent?.text()).not.toContain('second');
    expect(ref.callId).toBe('first');
    expect(told).toEqual(['claim: claimed', 'accept']);
    expect(await ledger.entry('second')).toBeUndefined();
  });

  test('claims, submits and accepts; a second call with the same id reads the task', async () => {
    const { emulator, videos } = emulatedVideos();
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'job-1' };

    const first = await videos.create(order, options);
    const second = await videos.create(order, options);

    expect(first.ref).toMatchObject({ callId: 'job-1', model: order.model });
    expect(second.id).toBe(first.id);
    expect(second.ref).toEqual(first.ref);
    expect(told).toEqual(['claim: claimed', 'accept', 'claim: accepted']);
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 1 });
  });

  test('returns the raw response too, once it is stored', async () => {
    const { videos } = emulatedVideos();
    const ledger = memoryLedger();

    const { data, request_id: id } = await videos
      .create(order, { ledger, callId: 'a' })
      .withResponse();
    const response = await videos.create(order, { ledger, callId: 'b' }).asResponse();

    expect(data._request_id).toBe(id);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'queued' });
    expect(await ledger.claim('b', '')).toMatchObject({ status: 'accepted' });
  });

  test('requires a call id', async () => {
    const { emulator, videos } = emulatedVideos();

    const error = await failureOf(videos.create(order, { ledger: memoryLedger() }));

    expect(error).toMatchObject({ field: 'callId' });
    expect(emulator.requests).toHaveLength(0);
  });

  test.each(['', ' ', 7])('rejects the call id %j', async (callId) => {
    const { emulator, videos } = emulatedVideos();

    const options = { callId: untyped<string>(callId) };

    expect(await failureOf(videos.create(order, options))).toMatchObject({ field: 'callId' });
    expect(emulator.requests).toHaveLength(0);
  });

  test('a call id is also used without a ledger', async () => {
    const { emulator, videos } = emulatedVideos();

    const task = await videos.create(order, { callId: 'job-1' });
    emulator.fail({ operation: 'videos.create', fault: reset });
    const error = await failureOf(videos.create(order, { callId: 'job-2' }));

    expect(task.ref.callId).toBe('job-1');
    expect(error).toMatchObject({ callId: 'job-2' });
  });

  test('invalid input is rejected before the claim', async () => {
    const { videos } = emulatedVideos();
    const { ledger, told } = watchedLedger();

    const bad = { ...order, prompt: '' };
    const error = await failureOf(videos.create(bad, { ledger, callId: 'a' }));

    expect(error).toMatchObject({ field: 'prompt' });
    expect(told).toEqual([]);
  });

  test('a call id of another submission is rejected, whatever its outcome', async () => {
    const { emulator, videos } = emulatedVideos();
    const options = { ledger: memoryLedger(), callId: 'a', onUnknown: 'resubmit' } as const;
    await videos.create({ ...order, metadata: { seed: 1, style: 'x' } }, options);

    const same = { metadata: { style: 'x', seed: 1 }, ...order };
    expect((await videos.create(same, options)).status).toBe('queued');
    const others = [
      { ...order },
      { ...same, prompt: 'A ship' },
      { ...same, metadata: { seed: 2, style: 'x' } },
    ];
    for (const other of others) {
      expect(await failureOf(videos.create(other, options))).toMatchObject({ field: 'callId' });
    }
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('compares the field of a file, but not its content', async () => {
    const { emulator, videos } = emulatedVideos();
    const options = { ledger: memoryLedger(), callId: 'a' };
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);

    const first = await videos.create({ ...order, input_reference: png }, options);
    const again = await videos.create({ ...order, input_reference: new Blob([png]) }, options);
    const without = await failureOf(videos.create(order, options));

    expect(again.id).toBe(first.id);
    expect(without).toMatchObject({ field: 'callId' });
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a rejected submission may be repeated', async () => {
    const { emulator, videos } = emulatedVideos({ maxRetries: 0 });
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };
    emulator.fail({ operation: 'videos.create', fault: { type: 'rate-limit', retryAfter: 1 } });

    const error = await failureOf(videos.create(order, options));
    const task = await videos.create(order, options);

    expect(error).toMatchObject({ status: 429, outcome: 'rejected' });
    expect(task.status).toBe('queued');
    expect(told).toEqual(['claim: claimed', 'not_submitted', 'claim: claimed', 'accept']);
  });

  test.each([
    { name: '429 fail_to_fetch_task', status: 429, code: 'fail_to_fetch_task' },
    { name: '500 build_request_failed', status: 500, code: 'build_request_failed' },
    { name: '500 convert_request_failed', status: 500, code: 'convert_request_failed' },
    { name: 'a task error with status 200', status: 200, code: 'ali_api_error' },
  ])('$name releases the claim', async ({ status, code }) => {
    const refusal = Response.json({ code, message: 'no', data: null }, { status });
    const { requests, videos } = answeredVideos(inTurn(refusal, { id: 'made', status: 'queued' }), {
      maxRetries: 0,
    });
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };

    const error = await failureOf(videos.create(order, options));
    const task = await videos.create(order, options);

    expect(error).toMatchObject({ status, code, outcome: 'rejected' });
    expect(task.id).toBe('made');
    expect(told).toEqual(['claim: claimed', 'not_submitted', 'claim: claimed', 'accept']);
    expect(requests).toHaveLength(2);
  });

  test.each([499, 460, 424, 444])('%i does not release the claim', async (status) => {
    const refusal = Response.json({ error: { message: 'cancelled' } }, { status });
    const { requests, videos } = answeredVideos(inTurn(refusal));
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };

    const first = await failureOf(videos.create(order, options));
    const second = await failureOf(videos.create(order, options));

    expect(VideoSubmitUnknownError.isInstance(first)).toBe(true);
    expect(VideoSubmitUnknownError.isInstance(second)).toBe(true);
    expect(told).toEqual(['claim: claimed', 'unknown', 'claim: unknown']);
    expect(requests).toHaveLength(1);
  });

  test.each([
    { name: 'as its data', status: 200, body: { code: 'fail', message: 'x', data: 'task_abc' } },
    {
      name: 'in words',
      status: 200,
      body: { code: 'fail', message: 'task_8f3a was created, but…', data: null },
    },
    {
      name: 'in other words',
      status: 200,
      body: { code: 'fail', message: 'task_id: t1 failed', data: null },
    },
    {
      name: 'with a 429',
      status: 429,
      body: { code: 'fail_to_fetch_task', message: 'x', data: 'task_abc' },
    },
    {
      name: 'in words with a 429',
      status: 429,
      body: { code: 'fail_to_fetch_task', message: 'task_8f3a is pending' },
    },
  ])('a task in an error $name does not release the claim', async ({ status, body }) => {
    const { requests, videos } = answeredVideos(inTurn(Response.json(body, { status })));
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };

    const first = await failureOf(videos.create(order, options));
    const second = await failureOf(videos.create(order, options));

    expect(first).toMatchObject({ outcome: 'unknown' });
    expect(second).toMatchObject({ outcome: 'unknown' });
    expect(told).toEqual(['claim: claimed', 'unknown', 'claim: unknown']);
    expect(requests).toHaveLength(1);
  });

  test('success: false with a task id is a task: a restarted job waits for it', async () => {
    const { requests, videos } = answeredVideos(
      inTurn(
        { success: false, message: 'busy', data: { task_id: 'made' } },
        { id: 'made', status: 'completed' },
      ),
    );
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };

    const first = await videos.create(order, options);
    const second = await videos.create(order, options);

    expect(first.ref).toMatchObject({ id: 'made', callId: 'a' });
    expect(second).toMatchObject({ id: 'made', status: 'completed' });
    expect(told).toEqual(['claim: claimed', 'accept', 'claim: accepted']);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('a submission that was not sent may be repeated', async () => {
    const { videos } = emulatedVideos();
    const { ledger, told } = watchedLedger();
    const options = { ledger, callId: 'a' };

    await failureOf(videos.create(order, { ...options, signal: AbortSignal.abort() }));
    await videos.create(order, options);

    expect(told).toEqual(['claim: claimed', 'not_submitted', 'claim: claimed', 'accept']);
  });

  test('an orphaned claim is never resubmitted automatically', async () => {
    const { emulator, videos } = emulatedVideos();
    const { ledger, told } = watchedLedger();
    emulator.fail({ operation: 'videos.create', fault: reset });
    await failureOf(videos.create(order, { ledger, callId: 'a' }));

    const error = await failureOf(videos.create(order, { ledger, callId: 'a' }));

    expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ callId: 'a', outcome: 'unknown', isInProgress: false });
    expect(String(error)).toMatch(/was submitted before.*may pay twice.*onUnknown: "resubmit"/);
    expect(told).toEqual(['claim: claimed', 'unknown', 'claim: unknown']);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('onUnknown: "resubmit" submits an orphaned claim once more', async () => {
    const { emulator, videos } = emulatedVideos();
    const options = { ledger: memoryLedger(), callId: 'a', onUnknown: 'resubmit' } as const;
    emulator.fail({ operation: 'videos.create', fault: reset });
    await failureOf(videos.create(order, options));
    emulator.fail({ operation: 'videos.create', fault: slow });

    const outcomes = await Promise.allSettled([1, 2, 3].map(() => videos.create(order, options)));

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(countRequests(emulator).posts).toBe(2);
  });

  test('a pending submission is not repeated, even with "resubmit"', async () => {
    const { emulator, videos } = emulatedVideos();
    const options = { ledger: memoryLedger(), callId: 'a', onUnknown: 'resubmit' } as const;

    emulator.fail({ operation: 'videos.create', fault: slow });

    const [first, second] = await Promise.allSettled([
      videos.create(order, options),
      videos.create(order, options),
    ]);

    expect([first.status, second.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    const error: unknown =
      first.status === 'rejected' ? first.reason : Reflect.get(second, 'reason');
    expect(error).toMatchObject({ name: 'VideoSubmitUnknownError', isInProgress: true });
    expect(String(error)).toContain('is being submitted now. Try again later');
    expect(String(error)).not.toContain('resubmit');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a ledger that cannot claim prevents the submission', async () => {
    const { emulator, videos } = emulatedVideos();
    const cause = new Error('the database is away');
    const { ledger } = watchedLedger({ claim: () => Promise.reject(cause) });

    const error = await failureOf(videos.create(order, { ledger, callId: 'a' }));

    expect(LedgerError.isInstance(error)).toBe(true);
    expect(InvalidInputError.isInstance(error)).toBe(false);
    expect(error).toMatchObject({ callId: 'a', outcome: 'not_sent', cause });
    expect(String(error)).toContain('safe to send the request again');
    expect(emulator.requests).toHaveLength(0);
  });

  test('passes on a ledger’s own error', async () => {
    const { emulator, videos } = emulatedVideos();
    const own = new LedgerError('The table is missing.', { outcome: 'not_sent', callId: 'a' });
    const { ledger } = watchedLedger({ claim: () => Promise.reject(own) });

    expect(await failureOf(videos.create(order, { ledger, callId: 'a' }))).toBe(own);
    expect(emulator.requests).toHaveLength(0);
  });

  test('a ledger that cannot accept leaves the handle on the task, and the claim in place', async () => {
    const { emulator, videos } = emulatedVideos();
    const cause = new Error('the database is away');
    const { ledger } = watchedLedger({ accept: () => Promise.reject(cause) });

    const task = await videos.create(order, { ledger, callId: 'a' });

    expect(task.ref.id).toBe(emulator.videos.list[0]?.id);
    expect(task._ledger_error).toMatchObject({ cause });
    expect(await failureOf(videos.create(order, { ledger, callId: 'a' }))).toMatchObject({
      name: 'VideoSubmitUnknownError',
    });
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a ledger that cannot finish does not change the error', async () => {
    const { emulator, videos } = emulatedVideos();
    const { ledger } = watchedLedger({
      finish: () => {
        throw new Error('the database is away');
      },
    });
    emulator.fail({ operation: 'videos.create', fault: reset });

    expect(await failureOf(videos.create(order, { ledger, callId: 'a' }))).toMatchObject({
      name: 'VideoSubmitUnknownError',
      evidence: { code: expect.any(String) },
    });
  });

  test('validates a handle of the ledger', async () => {
    const { emulator, videos } = emulatedVideos();
    const ref = untyped<VideoTaskRef>({ v: 1, kind: 'video', id: '..' });
    const claim = async () => ({ status: 'accepted', inputHash: '', ref }) as const;
    const { ledger } = watchedLedger({ claim });

    const error = await failureOf(videos.create(order, { ledger, callId: 'a' }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'ref.createdAt' });
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('equal submissions', () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
  const image = 'https://images.example/a.png';

  test('equal submissions have the same parameters, in any format', async () => {
    const { requests, videos } = answeredVideos(inTurn({ id: 'task_1' }));
    const ledger = memoryLedger();
    const params = { ...order, seconds: 8, metadata: { seed: 1 }, images: [image] };

    await videos.create(params, { ledger, callId: 'a', bodyFormat: 'json' });
    await videos.create({ ...params, seconds: '8' }, { ledger, callId: 'a' });
    const other = await failureOf(
      videos.create({ ...params, seconds: 9 }, { ledger, callId: 'a' }),
    );

    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(other).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
  });

  test('equal submissions are not compared if they are not JSON, which is not claimed', async () => {
    const { requests, videos } = answeredVideos(inTurn({ id: 'task_1' }));
    const ledger = memoryLedger();
    const params = { ...order, input_reference: png };

    const error = await failureOf(
      videos.create(params, { ledger, callId: 'a', bodyFormat: 'json' }),
    );

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'input_reference' });
    expect(await ledger.claim('a', '')).toMatchObject({ status: 'claimed' });
    expect(requests).toHaveLength(0);
  });

  /** The calls that wrote the folder, with the client that sent JSON unless there was a file. */
  const written: readonly {
    callId: string;
    params: VideoCreateParams;
    more?: VideoSubmitOptions;
  }[] = [
    { callId: 'plain', params: order },
    {
      callId: 'settings',
      params: {
        ...order,
        metadata: { negative_prompt: 'rain', seed: 1 },
        size: '1280x720',
        seconds: 8,
      },
    },
    {
      callId: 'reference',
      params: { ...order, input_reference: { image_url: image } },
      more: { extraBody: { mode: 'pro' } },
    },
    { callId: 'images', params: { ...order, images: [image] } },
    {
      callId: 'file',
      params: { ...order, input_reference: png, seconds: 8, metadata: { seed: 1 } },
    },
  ];

  test.each(written)(
    'equal submissions are recognized by an older ledger: $callId',
    async ({ callId, params, more }) => {
      const { requests, videos } = answeredVideos(inTurn({ status: 'queued' }));
      const options = { ledger: await oldLedger(), callId, ...more };

      const task = await videos.create(params, options);
      const changed = await failureOf(videos.create({ ...params, prompt: 'A ship' }, options));

      expect(task.ref).toMatchObject({ id: expect.stringMatching(/^task_[1-5]$/), callId });
      expect(changed).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
      expect(requests.map(({ method }) => method)).toEqual(['GET']);
    },
  );

  test('equal remixes are recognized by an older ledger', async () => {
    const { requests, videos } = answeredVideos(inTurn({ status: 'queued' }));
    const options = { ledger: await oldLedger(), callId: 'remix' };

    const task = await videos.remix('task_0', { prompt: 'At night' }, options);
    const changed = await failureOf(videos.remix('task_1', { prompt: 'At night' }, options));

    expect(task.ref).toMatchObject({ id: 'task_6', remixOf: 'task_0' });
    expect(changed).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test.each(['unknown', 'killed'])(
    'equal submissions are recognized by an older ledger if one is %s',
    async (callId) => {
      const { requests, videos } = answeredVideos(inTurn({ id: 'task_7' }));
      const options = { ledger: await oldLedger(), callId };

      const error = await failureOf(videos.create(order, options));
      const changed = await failureOf(videos.create({ ...order, seconds: 4 }, options));

      expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
      expect(changed).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
      expect(requests).toHaveLength(0);
    },
  );
});

describe('videos.remix() with a ledger', () => {
  test('submits once', async () => {
    const { emulator, videos } = emulatedVideos();
    const original = await videos.create(order);
    const options = { ledger: memoryLedger(), callId: 'remix' };

    const first = await videos.remix(original, { prompt: 'At night' }, options);
    const second = await videos.remix(original, { prompt: 'At night' }, options);
    const other = await failureOf(videos.remix(original, { prompt: 'At dawn' }, options));

    expect(second.id).toBe(first.id);
    expect(second.ref).toMatchObject({ remixOf: original.id });
    expect(other).toMatchObject({ field: 'callId' });
    expect(countRequests(emulator).posts).toBe(2);
  });
});

describe('videos.createAndWait() with a ledger', () => {
  beforeEach(() => {
    // Digests run on another thread; fake time does not wait for it.
    vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
  });

  test('continues the existing task', async () => {
    vi.useFakeTimers();
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    const { ledger, told } = watchedLedger();
    const saved: VideoTaskRef[] = [];
    const onSubmitted = (ref: VideoTaskRef) => void saved.push(ref);
    const options = { ledger, callId: 'a', onSubmitted };

    await rejected(videos.createAndWait(order, { ...options, timeout: 6_000 }));
    const video = await resolved(videos.createAndWait(order, options));
    const again = await resolved(videos.createAndWait(order, options));
    vi.useRealTimers();

    expect(video.status).toBe('completed');
    expect(again.id).toBe(video.id);
    expect(saved).toEqual([video.ref, video.ref, video.ref]);
    expect(countRequests(emulator).posts).toBe(1);
    expect(told).toEqual([
      'claim: claimed',
      'accept',
      'claim: accepted',
      'completed',
      'claim: finished',
      'completed',
    ]);
  });
});

describe('a response that strict validation rejects', () => {
  const odd = { id: 'task_1', status: 7 };

  test('a response that strict validation rejects leaves the handle on the error', async () => {
    const { requests, videos } = answeredVideos(inTurn(odd), { validation: 'strict' });

    const error = await failureOf(videos.create(order, { callId: 'a' }));

    expect(VideoSubmitResponseError.isInstance(error)).toBe(true);
    expect(UnexpectedResponseError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      ref: { id: 'task_1', callId: 'a', model: order.model, baseURL: 'https://gateway.test' },
      issues: [{ path: 'status' }],
      data: odd,
      outcome: 'unknown',
    });
    expect(String(error)).toContain('videos.wait("task_1")');
    expect(requests).toHaveLength(1);
  });

  test('a response that strict validation rejects is passed to onSubmitted and to the ledger', async () => {
    const { requests, videos } = answeredVideos(
      inTurn(odd, { id: 'task_1', status: 'completed' }),
      { validation: 'strict' },
    );
    const { ledger, told } = watchedLedger();
    const onSubmitted = vi.fn();
    const options = { ledger, callId: 'a', onSubmitted, interval: 250 };

    const error = await failureOf(videos.createAndWait(order, options));
    const video = await videos.createAndWait(order, options);

    expect(error).toMatchObject({ name: 'VideoSubmitResponseError' });
    expect(onSubmitted).toHaveBeenCalledTimes(2);
    expect(onSubmitted).toHaveBeenNthCalledWith(1, expect.objectContaining({ id: 'task_1' }));
    expect(video.id).toBe('task_1');
    expect(told).toEqual(['claim: claimed', 'accept', 'claim: accepted', 'completed']);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('a response without an id that strict validation rejects keeps the original error', async () => {
    const { videos } = answeredVideos(inTurn({ status: 7 }), { validation: 'strict' });

    const error = await failureOf(videos.create(order));

    expect(VideoSubmitResponseError.isInstance(error)).toBe(false);
    expect(error).toMatchObject({ outcome: 'unknown' });
  });
});
