// An option of a request that does not reach the submission of a composed method may cost a second video.
import { describe, expect, test, vi } from 'vitest';
import { GatewayError, type Videos } from '../../../src/index.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { answeredVideos, inTurn, order } from '../../helpers/videos.ts';
import { untyped } from '../../helpers/untyped.ts';

type Options = Parameters<Videos['createAndWait']>[1] & object;

/** The methods that submit and wait, each for one video. */
const methods: Readonly<Record<string, (videos: Videos, options: Options) => Promise<unknown>>> = {
  createAndWait: (videos, options) => videos.createAndWait(order, options),
  remixAndWait: (videos, options) => videos.remixAndWait('video_1', order, options),
  createAndWaitAll: async (videos, options) => {
    for await (const { video, error } of videos.createAndWaitAll([order], untyped(options))) {
      if (error !== undefined) throw error;
      return video;
    }
    throw new Error('There was no result.');
  },
};
const each = Object.entries(methods).map(([name, call]) => ({ name, call }));

const done = { id: 'video_2', object: 'video', status: 'completed', progress: 100 };
const honored = { idempotency: { header: 'Idempotency-Key' } };
const unsettled = () => new Promise<never>(() => {});
const busy = () =>
  new Response('{"error":{"message":"busy"}}', { status: 429, headers: { 'retry-after': '1' } });

fakeWaitingTime();

describe.each(each)('$name', ({ name, call }) => {
  test.runIf(name !== 'createAndWaitAll')('sends the idempotency key of the caller', async () => {
    const { videos, requests } = answeredVideos(inTurn(done), honored);

    const { error } = await settle(call(videos, { idempotencyKey: 'job-1' }));

    expect(error).toBeUndefined();
    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['job-1', null]);
  });

  test('sends an idempotency key if only the call asks for one', async () => {
    const { videos, requests } = answeredVideos(inTurn(done));

    await settle(call(videos, { ...honored, callId: 'job-2' }));

    expect(requests[0]?.headers.get('idempotency-key')).toMatch(/^job-2/);
  });

  test('repeats a submission with an unknown outcome only if the caller allows it', async () => {
    const lost = new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    const strict = answeredVideos(inTurn(lost, done), { retryUnknownOutcome: true });
    const loose = answeredVideos(inTurn(lost, done));

    const kept = await settle(call(strict.videos, { retryUnknownOutcome: false }));
    const repeated = await settle(call(loose.videos, { retryUnknownOutcome: true }));

    expect(kept.error).toHaveProperty('outcome', 'unknown');
    expect(strict.requests).toHaveLength(1);
    expect(repeated.value).toHaveProperty('status', 'completed');
    expect(loose.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
  });

  test('ends a submission that hangs at totalTimeout', async () => {
    const { videos, requests } = answeredVideos(unsettled);

    const { error } = await settle(call(videos, { totalTimeout: 300, callId: 'job-3' }));

    expect(error).toMatchObject({ outcome: 'unknown', message: expect.stringContaining('300 ms') });
    expect(Reflect.get(Object(error), 'callId')).toMatch(/^job-3/);
    expect(requests).toHaveLength(1);
  });

  test('ends a submission that hangs at the timeout of the whole', async () => {
    const begun = performance.now();
    const { videos, requests } = answeredVideos(unsettled);
    let ended = 0;
    const run = call(videos, { timeout: 400, callId: 'job-4' }).finally(() => {
      ended = performance.now();
    });

    const { error } = await settle(run);

    expect(error).toMatchObject({ outcome: 'unknown', message: expect.stringContaining('400 ms') });
    expect(Reflect.get(Object(error), 'callId')).toMatch(/^job-4/);
    expect(Math.round(ended - begun)).toBe(400);
    expect(requests).toHaveLength(1);
  });

  test('ends the retries of a submission at the timeout of the whole', async () => {
    const { videos, requests } = answeredVideos(busy, { maxRetries: 100 });

    const { error } = await settle(call(videos, { timeout: 3_500 }));

    expect(GatewayError.isInstance(error) && error.outcome).toBe('rejected');
    expect(requests.length).toBeLessThan(6);
  });

  test('records an unknown submission that the timeout ended in the ledger', async () => {
    const { videos } = answeredVideos(unsettled);
    const ledger = memoryLedger();

    await settle(call(videos, { timeout: 400, callId: 'job-5', ledger }));
    // The submission goes on in the background.
    await vi.advanceTimersByTimeAsync(30_000);

    const id = name === 'createAndWaitAll' ? 'job-5-0' : 'job-5';
    await expect(ledger.entry(id)).resolves.toMatchObject({ status: 'unknown' });
  });

  test('ends an onSubmitted that hangs, with the handle', async () => {
    const { videos, requests } = answeredVideos(inTurn(done));

    const { error } = await settle(call(videos, { timeout: 5_000, onSubmitted: unsettled }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError', ref: { id: 'video_2' } });
    expect(requests).toHaveLength(1);
  });

  test('counts the submission as part of the timeout', async () => {
    const running = { ...done, status: 'in_progress' };
    const { videos } = answeredVideos(async ({ method }) => {
      if (method === 'POST') await new Promise((resolve) => setTimeout(resolve, 20_000));
      return Response.json(running);
    });
    const begun = performance.now();

    const { error } = await settle(call(videos, { timeout: 60_000 }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError', ref: { id: 'video_2' } });
    expect(Math.round(performance.now() - begun)).toBe(60_000);
  });

  test('limits each poll by totalTimeout', async () => {
    let polls = 0;
    const { videos } = answeredVideos(({ method }) => {
      if (method === 'POST') return Response.json({ ...done, status: 'queued' });
      polls += 1;
      return polls === 1 ? unsettled() : Response.json(done);
    });
    const begun = performance.now();

    await settle(call(videos, { totalTimeout: 2_000, maxRetries: 0 }));

    expect(polls).toBe(2);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
