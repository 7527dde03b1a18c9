import type { JSONValue } from '@ai-sdk/provider';
import {
  APICallError,
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
  experimental_startVideo as startVideo,
} from 'ai';
import { describe, expect, test, vi } from 'vitest';
import {
  createModelGateway,
  type ModelGatewaySettings,
} from '../../../src/adapters/ai-sdk/index.ts';
import { InvalidInputError, memoryLedger, type VideoTaskRef } from '../../../src/index.ts';
import {
  createEmulator,
  markers,
  type Emulator,
  type EmulatorOptions,
  type Fault,
} from '../../../src/testing/index.ts';
import { emulated } from '../../helpers/clients.ts';
import { countRequests, order } from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { faults } from './support.ts';

fakeWaitingTime();

const { model, prompt } = order;

type Hooks = Pick<ModelGatewaySettings, 'onSubmitted' | 'ledger'>;

/** A provider of an emulator, as every process makes its own. */
function createProvider({ apiKey, baseURL, fetch }: Emulator, hooks: Hooks = {}) {
  return createModelGateway({ apiKey, baseURL, fetch, logLevel: 'off', ...hooks });
}

function setUp(hooks: Hooks = {}, setup: EmulatorOptions = { videoDuration: 30_000 }) {
  const emulator = createEmulator(setup);
  const provider = createProvider(emulator, hooks);
  return { emulator, provider, video: provider.videoModel(model) };
}

/** A value after it was stored and read by another process. */
function written<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

function isFilm({ uint8Array }: { uint8Array: Uint8Array }): boolean {
  return new TextDecoder().decode(uint8Array.subarray(4, 8)) === 'ftyp';
}

describe('a video', () => {
  test('a video is submitted once, passed to onSubmitted before the first poll, and returned as bytes', async () => {
    const seen: string[] = [];
    const { emulator, video } = setUp({
      onSubmitted: ({ id }) => void seen.push(`${id} after ${emulator.requests.length}`),
    });

    const result = await resolved(
      generateVideo({ model: video, prompt, duration: 4, resolution: '1280x720' }),
    );

    expect(isFilm(result.video)).toBe(true);
    expect(result.video.mediaType).toBe('video/mp4');
    expect(result.warnings).toEqual([]);
    expect(seen).toEqual([`${emulator.videos.list[0]?.id} after 1`]);
    expect(emulator.charges).toHaveLength(1);
    expect(countRequests(emulator).posts).toBe(1);
    const [sent] = emulator.requests;
    expect(JSON.stringify(sent?.body)).toMatch(/"seconds":"4"/);
    expect(sent?.headers).not.toHaveProperty('idempotency-key');
  });

  test('a video is read from the URL in the task if the content route fails', async () => {
    const { video } = setUp({}, { quirks: { contentStatus: 403 } });

    expect(isFilm((await resolved(generateVideo({ model: video, prompt }))).video)).toBe(true);
  });

  test('a video that no URL returns is an error with its URL', async () => {
    const quirks = { contentStatus: 501, fileOrigin: 'other' } as const;
    const { video } = setUp({}, { quirks });

    const error = await rejected(generateVideo({ model: video, prompt }));

    expect(String(error)).toContain('files.emulator.test');
    expect(error).toMatchObject({ data: { url: expect.stringMatching(/\.mp4$/) } });
  });

  test('a video is polled by any process, with the operation of onSubmitted', async () => {
    const onSubmitted = vi.fn<(ref: VideoTaskRef) => void>();
    const { emulator, video } = setUp({ onSubmitted });

    const started = await resolved(startVideo({ model: video, prompt }));
    const operation = written(started.operation);
    const ask = () => getVideoStatus(createProvider(emulator).videoModel(model), { operation });
    const first = await resolved(ask());
    await vi.advanceTimersByTimeAsync(60_000);
    const last = await resolved(ask());

    expect(onSubmitted.mock.lastCall?.[0]).toEqual(operation);
    expect(first).toMatchObject({ status: 'pending' });
    expect(last).toMatchObject({ status: 'completed', videos: [{ type: 'binary' }] });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video of the default provider is found by its name', async () => {
    const { emulator, provider } = setUp();
    vi.stubGlobal('AI_SDK_DEFAULT_PROVIDER', provider);

    const { video, responses } = await resolved(generateVideo({ model, prompt }));

    expect(isFilm(video)).toBe(true);
    expect(emulator.charges).toHaveLength(1);
    expect(responses[0]?.headers).toMatchObject({ 'content-type': 'video/mp4' });
  });

  test("a video is created from an image, in the model's field", async () => {
    const { emulator, provider } = setUp();
    const image = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
    const withImage = { text: prompt, image };
    const kling = provider.videoModel('kling-v1');

    const first = await resolved(
      startVideo({ model: provider.videoModel(model), prompt: withImage }),
    );
    await resolved(startVideo({ model: kling, prompt: withImage }));

    const [form, text] = emulator.requests.map(({ body }) => JSON.stringify(body));
    expect(form).toMatch(/"field":"input_reference"/);
    expect(text).toMatch(/"image":"data:image\/png;base64,iVBORw/);
    expect(first.warnings).toMatchObject([{ type: 'compatibility', feature: 'image' }]);
  });

  test('options without a field of the gateway become warnings', async () => {
    const { video } = setUp();

    const { warnings } = await resolved(
      startVideo({ model: video, prompt, seed: 1, fps: 24, aspectRatio: '16:9', webhookUrl: 'x' }),
    );

    const features = ['aspectRatio', 'fps', 'seed', 'webhookUrl'];
    expect(warnings).toMatchObject(features.map((feature) => ({ type: 'unsupported', feature })));
  });

  test("provider options are sent under the API's names", async () => {
    const { emulator, video } = setUp();
    const metadata = { negative_prompt: 'rain' };
    const providerOptions = { modelGateway: { bodyFormat: 'json', metadata } };

    await resolved(startVideo({ model: video, prompt, providerOptions }));

    const value = { model, prompt, metadata };
    expect(emulator.requests[0]?.body).toEqual({ kind: 'json', value });
  });

  test.each([{ bodyFormat: 'xml' }, { onUnknown: 'again' }])(
    'invalid values are rejected: %j',
    async (modelGateway) => {
      const { emulator, video } = setUp();

      const error = await rejected(
        startVideo({ model: video, prompt, providerOptions: { modelGateway } }),
      );

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(emulator.requests).toEqual([]);
    },
  );
});

describe('no video is charged twice', () => {
  test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))(
    'no video is charged twice after %s',
    async (_, fault) => {
      const alone = emulated();
      const asked = setUp({}, {});
      for (const { emulator } of [alone, asked]) {
        emulator.fail({ operation: 'videos.create', fault, times: 10 });
      }

      await resolved(alone.client.videos.create(order).then(...nothing));
      const call = { model: asked.video, prompt, maxRetries: 5 };
      const error = await resolved(generateVideo(call).then(...nothing));

      expect(countRequests(asked.emulator).posts).toBe(countRequests(alone.emulator).posts);
      expect(asked.emulator.charges).toHaveLength(alone.emulator.charges.length);
      expect(asked.emulator.charges.length).toBeLessThanOrEqual(1);
      if (error === undefined) return;
      expect(error).toMatchObject({
        isRetryable: false,
        callId: expect.stringMatching(/^aisdk_vid/),
      });
    },
  );

  test('no video is charged twice when the caller aborts during the submission', async () => {
    const { emulator, video } = setUp();
    emulator.fail({ operation: 'videos.create', fault: { type: 'hang', charged: true } });

    const error = await rejected(
      generateVideo({ model: video, prompt, abortSignal: abortAfter(5_000) }),
    );

    expect(error).toMatchObject({ name: 'AbortError', outcome: 'unknown' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('the idempotency key is sent only if the option is set', async () => {
    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const idempotency = { header: 'x-key' };
    const video = createModelGateway({ apiKey, baseURL, fetch, idempotency }).videoModel(model);

    await resolved(startVideo({ model: video, prompt }));

    expect(emulator.requests[0]?.headers['x-key']).toMatch(/^aisdk_vid_/);
  });
});

describe('a video is not lost', () => {
  const passing: readonly Fault[] = [
    { type: 'reset', when: 'before-body' },
    { type: 'reset', when: 'after-charge' },
    { type: 'html', status: 200 },
    { type: 'html', status: 502 },
    { type: 'cut', bytes: 20 },
    { type: 'cut', bytes: 20, how: 'end' },
    { type: 'bare', status: 429 },
    { type: 'bare', status: 404 },
    { type: 'error', status: 500 },
    { type: 'error', status: 408 },
    { type: 'error-in-200' },
  ];

  test.each(passing.map((fault) => [JSON.stringify(fault), fault] as const))(
    'a video is not lost by failed polls: %s',
    async (_, fault) => {
      const { emulator, video } = setUp();
      emulator.fail({ operation: 'videos.retrieve', fault, times: 4 });

      const result = await resolved(generateVideo({ model: video, prompt }));

      expect(isFilm(result.video)).toBe(true);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a video is not lost by a gateway that is temporarily unreachable', async () => {
    const emulator = createEmulator({ videoDuration: 1_000 });
    const { apiKey, baseURL } = emulator;
    let calls = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      calls += 1;
      if (calls === 1 || calls > 20) return emulator.fetch(input, init);
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    };
    const video = createModelGateway({ apiKey, baseURL, fetch, logLevel: 'off' }).videoModel(model);

    const result = await resolved(generateVideo({ model: video, prompt }));

    expect(isFilm(result.video)).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    { type: 'reset', when: 'before-body' },
    { type: 'cut', bytes: 500 },
    { type: 'bare', status: 503 },
    { type: 'bare', status: 404 },
  ] satisfies Fault[])('a video is not lost by failed downloads: %j', async (fault) => {
    const { emulator, video } = setUp();
    emulator.fail({ operation: 'videos.downloadContent', fault, times: 4 });

    const result = await resolved(generateVideo({ model: video, prompt }));

    expect(isFilm(result.video)).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video is not lost if another process polls its operation while downloads fail', async () => {
    const { emulator, video } = setUp({}, { quirks: { contentStatus: 500, videoUrl: 'missing' } });
    const started = await resolved(startVideo({ model: video, prompt }));
    const { operation } = started;
    await vi.advanceTimersByTimeAsync(60_000);
    const poll = () => getVideoStatus(createProvider(emulator).videoModel(model), { operation });

    const early = await resolved(poll());
    await vi.advanceTimersByTimeAsync(600_000);
    const late = await rejected(poll());

    expect(early).toMatchObject({ status: 'pending' });
    expect(late).toMatchObject({ ref: operation, data: { status: 'completed' } });
  });

  test.each([403, 404, 405, 410, 500, 501, 502] as const)(
    'a video without a URL is not lost if its content route answers %d for ever',
    async (contentStatus) => {
      const quirks = { contentStatus, videoUrl: 'missing' } as const;
      const { emulator, video } = setUp({}, { quirks });

      const error = await rejected(generateVideo({ model: video, prompt }));

      const { id } = emulator.videos.list[0] ?? { id: '' };
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({
        message: expect.stringContaining(id),
        statusCode: contentStatus,
        ref: { kind: 'video', id },
        data: { id, model, status: 'completed' },
      });
      expect(String(error)).not.toContain('timed out');
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a video is not lost by the time limit of the AI SDK', async () => {
    const refs: VideoTaskRef[] = [];
    const { emulator, video } = setUp({ onSubmitted: (ref) => void refs.push(ref) });
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'hang' }, after: 1 });

    const error = await rejected(
      generateVideo({ model: video, prompt, poll: { timeoutMs: 12_000 } }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    const [operation] = written<JSONValue[]>(refs.map((ref) => ({ ...ref })));
    const after = await resolved(getVideoStatus(video, { operation: operation ?? null }));

    expect(Object(error).message).toMatch(/timed out after 12000ms/);
    expect(error).toHaveProperty('ref', refs[0]);
    expect(after).toMatchObject({ status: 'completed' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video is not lost by an abort during a poll', async () => {
    const refs: VideoTaskRef[] = [];
    const { emulator, video } = setUp({ onSubmitted: (ref) => void refs.push(ref) });
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'hang' }, after: 1 });

    const error = await rejected(
      generateVideo({ model: video, prompt, abortSignal: abortAfter(12_000) }),
    );

    expect(error).toMatchObject({ name: 'AbortError', ref: refs[0] });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video is not lost if onSubmitted throws', async () => {
    const { emulator, video } = setUp({
      onSubmitted: () => {
        throw new Error('The database is down.');
      },
    });

    const error = await rejected(generateVideo({ model: video, prompt }));

    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ isRetryable: false, ref: { kind: 'video' } });
    expect(Object(error).message).toMatch(/The database is down\./);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video is not lost by permanent errors, which have its handle', async () => {
    const { emulator, video } = setUp();
    const started = await resolved(startVideo({ model: video, prompt }));
    emulator.fail({
      operation: 'videos.retrieve',
      fault: { type: 'error', status: 401 },
      times: 9,
    });

    const error = await rejected(getVideoStatus(video, { operation: started.operation }));

    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: undefined, ref: started.operation });
  });
});

describe('several videos', () => {
  test('several videos are submitted one by one, and returned together', async () => {
    const onSubmitted = vi.fn<(ref: VideoTaskRef) => void>();
    const { emulator, video } = setUp({ onSubmitted });

    const { videos } = await resolved(generateVideo({ model: video, prompt, n: 3 }));

    expect(videos.map(isFilm)).toEqual([true, true, true]);
    expect(onSubmitted).toHaveBeenCalledTimes(3);
    expect(emulator.charges).toHaveLength(3);
  });

  test('several videos are returned if one of them could not be submitted', async () => {
    const { emulator, video } = setUp();
    const fault = { type: 'reset', when: 'before-charge' } as const;
    emulator.fail({ operation: 'videos.create', fault, after: 1 });

    const { videos, warnings } = await resolved(generateVideo({ model: video, prompt, n: 3 }));

    expect(videos).toHaveLength(1);
    const message = expect.stringMatching(/^Of 3 videos only 1 were submitted/);
    expect(warnings).toMatchObject([{ type: 'other', message }]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('several videos are returned if one of them failed', async () => {
    const { emulator, video } = setUp();

    const started = await resolved(startVideo({ model: video, prompt, n: 2 }));
    emulator.videos.fail(emulator.videos.list[0]?.id ?? '');
    await vi.advanceTimersByTimeAsync(60_000);
    const result = await resolved(getVideoStatus(video, { operation: written(started.operation) }));

    expect(result).toMatchObject({ status: 'completed', videos: [{ type: 'binary' }] });
    expect(Object(result).warnings).toHaveLength(1);
  });
});

describe('a video that failed', () => {
  test('a failed video ends generateVideo with its reason', async () => {
    const { emulator, video } = setUp();

    const error = await rejected(
      generateVideo({ model: video, prompt: `${prompt} ${markers.fail}` }),
    );

    expect(Object(error).message).toMatch(/task_\w+ failed/);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test.each(['no-status', 'failed'] as const)(
    'a failed video is detected after a failed poll of its vendor: %s',
    async (videoPollError) => {
      const { emulator, video } = setUp({}, { quirks: { videoPollError } });
      const stumbling = `${prompt} ${markers.pollError}`;

      const error = await rejected(generateVideo({ model: video, prompt: stumbling }));

      expect(Object(error).message).toMatch(/task_\w+ failed/);
      expect(countRequests(emulator).posts).toBe(1);
    },
  );

  test('a failed video is reported by the first poll of another process', async () => {
    const { emulator, video } = setUp();
    const failed = { model: video, prompt: `${prompt} ${markers.fail}` };
    const { operation } = await resolved(startVideo(failed));
    await vi.advanceTimersByTimeAsync(60_000);

    const other = createProvider(emulator).videoModel(model);
    const result = await resolved(getVideoStatus(other, { operation: written(operation) }));

    expect(result).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/failed/),
      providerMetadata: { modelGateway: { failures: [{ ref: operation }] } },
    });
  });
});

describe('with a ledger', () => {
  const job = { modelGateway: { callId: 'job-17' } };

  test('a restarted program waits for the paid video', async () => {
    const ledger = memoryLedger();
    const finish = vi.spyOn(ledger, 'finish');
    const { emulator, video } = setUp({ ledger });
    const call = { prompt, providerOptions: job };

    const controller = abortAfter(3_000);
    await rejected(generateVideo({ ...call, model: video, abortSignal: controller }));
    const again = createProvider(emulator, { ledger }).videoModel(model);
    const result = await resolved(generateVideo({ ...call, model: again }));

    expect(isFilm(result.video)).toBe(true);
    expect(result.warnings).toEqual([]);
    expect(emulator.charges).toHaveLength(1);
    expect(finish).toHaveBeenLastCalledWith('job-17', 'completed');
  });

  test('the caller’s idempotency key is also the call id', async () => {
    const { emulator, video } = setUp({ ledger: memoryLedger() });
    const call = { model: video, prompt, headers: { 'Idempotency-Key': 'job-18' } };

    const first = await resolved(startVideo(call));
    const second = await resolved(startVideo(call));

    expect(second.operation).toEqual(first.operation);
    expect(first.operation).toMatchObject({ callId: 'job-18' });
    expect(emulator.charges).toHaveLength(1);
    expect(emulator.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  test('several videos have their own ids', async () => {
    const { emulator, video } = setUp({ ledger: memoryLedger() });
    const call = { model: video, prompt, n: 2, providerOptions: job };

    const first = await resolved(startVideo(call));
    const second = await resolved(startVideo(call));

    expect(second.operation).toEqual(first.operation);
    expect(first.operation).toMatchObject([{ callId: 'job-17' }, { callId: 'job-17-2' }]);
    expect(emulator.charges).toHaveLength(2);
  });

  test('a submission with an unknown outcome is repeated only on request', async () => {
    const { emulator, video } = setUp({ ledger: memoryLedger() });
    const fault = { type: 'reset', when: 'after-charge' } as const;
    emulator.fail({ operation: 'videos.create', fault });
    const call = { model: video, prompt, providerOptions: job };

    await rejected(startVideo(call));
    const error = await rejected(startVideo(call));
    expect(error).toMatchObject({ outcome: 'unknown', callId: 'job-17' });
    expect(emulator.charges).toHaveLength(1);

    const resubmit = { modelGateway: { ...job.modelGateway, onUnknown: 'resubmit' } };
    await resolved(startVideo({ ...call, providerOptions: resubmit }));
    expect(emulator.charges).toHaveLength(2);
  });

  test('logs a warning for a call without a durable id', async () => {
    const { video } = setUp({ ledger: memoryLedger() });

    const { warnings } = await resolved(startVideo({ model: video, prompt }));

    expect(warnings).toMatchObject([{ message: expect.stringContaining('modelGateway.callId') }]);
  });
});

describe('an operation', () => {
  test('an operation of another gateway is rejected', async () => {
    const { video } = setUp();
    const { operation } = await resolved(startVideo({ model: video, prompt }));
    const elsewhere = setUp({}, { baseURL: 'http://other.test' });

    const error = await rejected(getVideoStatus(elsewhere.video, { operation }));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(elsewhere.emulator.requests).toEqual([]);
  });

  test.each([[null], ['task_1'], [17], [{}], [[]]])(
    'an invalid operation is rejected: %j',
    async (operation) => {
      const { emulator, video } = setUp();

      const error = await rejected(getVideoStatus(video, { operation }));

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(emulator.requests).toEqual([]);
    },
  );
});

/** A signal that is aborted in faked time. */
function abortAfter(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
}

const nothing = [() => undefined, (error: unknown) => error] as const;
