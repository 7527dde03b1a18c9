import { assert, double, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  videoJob,
  videoQueueOptions,
  type VideoJobRequest,
  type VideoQueueSettings,
} from '../../../src/adapters/bullmq/index.ts';
import { InvalidInputError } from '../../../src/index.ts';
import { untyped } from '../../helpers/untyped.ts';

const params = { model: 'm-video', prompt: 'A paper boat' };
const hour = 3_600_000;

describe('videoQueueOptions()', () => {
  test('tolerates lost workers, and failures for about 15 minutes', () => {
    const { queue, worker } = videoQueueOptions();

    const { attempts, backoff } = queue.defaultJobOptions;
    const pauses = Array.from({ length: attempts - 1 }, (_, index) => backoff.delay * 2 ** index);
    expect(pauses.reduce((sum, pause) => sum + pause, 0) / 60_000).toBeCloseTo(17, 0);
    expect(worker).toEqual({
      concurrency: 50,
      lockDuration: 30_000,
      stalledInterval: 30_000,
      maxStalledCount: 1_000,
    });
  });

  test.each([
    { keepFinished: undefined, completed: 7 * 86_400, failed: 30 * 86_400 },
    { keepFinished: hour, completed: 1_800, failed: 1_800 },
    { keepFinished: 20 * 24 * hour, completed: 7 * 86_400, failed: 10 * 86_400 },
  ])(
    'removes jobs before the entries of a ledger with keepFinished $keepFinished',
    ({ keepFinished, completed, failed }) => {
      const { removeOnComplete, removeOnFail } = videoQueueOptions({ keepFinished }).queue
        .defaultJobOptions;

      expect(removeOnComplete.age).toBe(completed);
      expect(removeOnFail.age).toBe(failed);
    },
  );

  test('never starts more jobs than allowed, nor much less', () => {
    assert(
      property(double({ min: 0.0001, max: 100_000, noNaN: true }), (maxPerSecond) => {
        const { max, duration } = videoQueueOptions({ maxPerSecond }).worker.limiter ?? {
          max: 0,
          duration: 1,
        };
        const rate = (max * 1_000) / duration;
        expect(rate).toBeLessThanOrEqual(maxPerSecond * (1 + 1e-9));
        expect(rate).toBeGreaterThan(maxPerSecond * 0.998);
        expect(Number.isInteger(max) && Number.isInteger(duration)).toBe(true);
      }),
    );
  });

  test.each([
    [{ concurrency: 0 }, 'concurrency: must be a whole number from 1 to 10000.'],
    [{ concurrency: 1.5 }, 'concurrency'],
    [{ lockDuration: 10 }, 'lockDuration: must be milliseconds from 1000'],
    [{ lockDuration: 4_000_000 }, 'lockDuration: may be at most 3600000'],
    [{ maxPerSecond: 0 }, 'maxPerSecond: must be a number from 0.0001 to 100000.'],
    [{ maxPerSecond: '5' }, 'maxPerSecond'],
    [{ keepFinished: 1_000 }, 'keepFinished: must be at least 3600000 milliseconds (one hour)'],
    [null, 'settings: must be an object.'],
  ])('rejects %j', (settings, message) => {
    const make = () => videoQueueOptions(untyped<VideoQueueSettings>(settings));

    expect(make).toThrow(InvalidInputError);
    expect(make).toThrow(message);
  });
});

describe('videoJob()', () => {
  test('creates a job for a video and a remix', () => {
    const remix = { prompt: 'At night' };

    expect(videoJob({ id: 'boat', params })).toEqual({
      name: 'video',
      data: { params },
      opts: { jobId: 'boat' },
    });
    expect(videoJob({ id: 'night', params: remix, remixOf: 'task_1' }).data).toEqual({
      params: remix,
      remixOf: 'task_1',
    });
  });

  test.each([
    [{ id: '', params }, 'id: is empty; pass your own id for the video'],
    [{ id: 17, params }, 'id: is empty'],
    [
      { id: 'order:17', params },
      'id: contains ":", with which BullMQ separates its keys; use another character, as in "order-17".',
    ],
    [
      { id: '17', params },
      'id: is a number, and BullMQ reserves numbers for its own ids; put a word before it: "video-17".',
    ],
    [{ id: 'a\u0000', params }, 'id: contains a control character'],
    [{ id: 'a\ud800', params }, 'id: contains a control character or a lone surrogate.'],
    [{ id: 'boat' }, 'params: must be an object'],
    [{ id: 'boat', params: { prompt: 'A boat' } }, 'params.model: is required'],
    [{ id: 'boat', params: { model: 'm', prompt: ' ' } }, 'params.prompt: is required'],
    [
      { id: 'boat', params: { ...params, images: [new Blob(['x'])] } },
      'params.images[0]: is not JSON',
    ],
    [{ id: 'boat', params: { ...params, image: new Uint8Array(1) } }, 'params.image: is not JSON'],
    [
      { id: 'boat', params: { ...params, metadata: { f: () => 1 } } },
      'params.metadata.f: cannot be stored',
    ],
  ])('rejects %j', (request, message) => {
    const make = () => videoJob(untyped<VideoJobRequest>(request));

    expect(make).toThrow(InvalidInputError);
    expect(make).toThrow(message);
  });
});
