import { check, checkMilliseconds } from './job.ts';

/** Settings of `videoQueueOptions()`. */
export interface VideoQueueSettings {
  /**
   * Maximum number of concurrent jobs per worker. A job that waits for its video does not count; a poll
   * counts for the duration of its request. 1 to 10000.
   * @defaultValue 50
   */
  concurrency?: number | undefined;
  /**
   * Maximum rate of submissions, polls and downloads per second, across all workers of the queue; below 1
   * for a pause between two. All workers of a queue need the same value. 0.0001 to 100000.
   * @defaultValue no limit
   */
  maxPerSecond?: number | undefined;
  /**
   * Time that a worker may be unresponsive before its job goes to another one, in milliseconds. Pass the
   * same value to `videoProcessor`. 1000 to 3600000.
   * @defaultValue 30000
   */
  lockDuration?: number | undefined;
  /**
   * Time that the ledger remembers a call, in milliseconds. Jobs are removed earlier, because a failed job
   * that is retried after its ledger entry has expired is submitted again. 3600000 (one hour) or more.
   * @defaultValue forever
   */
  keepFinished?: number | undefined;
}

/** BullMQ options for a queue of videos. */
export interface VideoQueueOptions {
  /** For `new Queue()`. For flows, pass `defaultJobOptions` with the option `queuesOptions`. */
  queue: {
    defaultJobOptions: {
      attempts: number;
      backoff: { type: 'exponential'; delay: number; jitter: number };
      removeOnComplete: { age: number };
      removeOnFail: { age: number };
      stackTraceLimit: number;
    };
  };
  /** For `new Worker()`. */
  worker: {
    concurrency: number;
    lockDuration: number;
    stalledInterval: number;
    maxStalledCount: number;
    limiter?: { max: number; duration: number };
  };
}

const day = 86_400;

/**
 * Returns BullMQ options for videos. Spread them into the options of your queue and workers.
 *
 * - A job has ten attempts within about a quarter of an hour, with exponential backoff. Only failures
 *   count as attempts, not polls.
 * - A job may stall a thousand times. BullMQ counts stalls over the whole life of a job, and by default
 *   fails it at the second one, although its video is paid for.
 * - Completed jobs are kept for 7 days, failed ones for 30; with `keepFinished`, for at most half of it.
 *
 * Leave `maxStartedAttempts` unset: each poll starts the job.
 *
 * @throws `InvalidInputError` naming the invalid setting
 *
 * @example
 * const { queue, worker } = videoQueueOptions({ maxPerSecond: 20 });
 * const videos = new Queue('videos', { connection, ...queue });
 * new Worker('videos', videoProcessor(client, { ledger }), { connection, ...worker });
 */
export function videoQueueOptions(settings: VideoQueueSettings = {}): VideoQueueOptions {
  check(typeof settings === 'object' && settings !== null, 'settings', 'must be an object.');
  const { concurrency = 50, lockDuration = 30_000, maxPerSecond, keepFinished } = settings;
  const isCount = Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 10_000;
  check(isCount, 'concurrency', 'must be a whole number from 1 to 10000.');
  checkMilliseconds('lockDuration', lockDuration, 1_000);
  check(lockDuration <= 3_600_000, 'lockDuration', 'may be at most 3600000, an hour.');
  const isLong =
    keepFinished === undefined || (typeof keepFinished === 'number' && keepFinished >= 3_600_000);
  const problem =
    'must be at least 3600000 milliseconds (one hour): a call whose ledger entry has expired is submitted again.';
  check(isLong, 'keepFinished', problem);
  const longest = keepFinished === undefined ? Infinity : Math.floor(keepFinished / 2_000);
  return {
    queue: {
      defaultJobOptions: {
        attempts: 10,
        backoff: { type: 'exponential', delay: 2_000, jitter: 0.5 },
        removeOnComplete: { age: Math.min(7 * day, longest) },
        removeOnFail: { age: Math.min(30 * day, longest) },
        stackTraceLimit: 5,
      },
    },
    worker: {
      concurrency,
      lockDuration,
      stalledInterval: lockDuration,
      maxStalledCount: 1_000,
      ...(maxPerSecond === undefined ? {} : { limiter: toLimiter(maxPerSecond) }),
    },
  };
}

/** Converts a rate to BullMQ's format: an integer number of jobs per milliseconds. */
function toLimiter(perSecond: number): { max: number; duration: number } {
  const isRate = typeof perSecond === 'number' && perSecond >= 0.0001 && perSecond <= 100_000;
  check(isRate, 'maxPerSecond', 'must be a number from 0.0001 to 100000.');
  if (perSecond < 1) return { max: 1, duration: Math.ceil(1_000 / perSecond) };
  const max = Math.floor(perSecond);
  return { max, duration: Math.ceil((max * 1_000) / perSecond) };
}
