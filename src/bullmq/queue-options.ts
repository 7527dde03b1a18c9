import { check, checkMilliseconds } from './job.ts';

/** What the defaults of a queue depend on. */
export interface VideoQueueSettings {
  /**
   * How many jobs a worker has at the same time. A job that waits for its video takes no place: one that
   * is polled takes it for the length of a request. 1 to 10000.
   * @defaultValue 50
   */
  concurrency?: number | undefined;
  /**
   * How many submissions, polls and downloads may begin in a second, over all workers of the queue;
   * below 1 for a pause between two. All workers of a queue have to be given the same. 0.0001 to 100000.
   * @defaultValue no limit
   */
  maxPerSecond?: number | undefined;
  /**
   * How long a worker may be silent before its job is given to another, in milliseconds. Give
   * `videoProcessor` the same. 1000 to 3600000.
   * @defaultValue 30000
   */
  lockDuration?: number | undefined;
  /**
   * How long the ledger remembers a call, in milliseconds. Jobs are then forgotten earlier, as a failed
   * job that is tried again after its ledger has forgotten it is submitted again. 3600000 (one hour) and
   * more.
   * @defaultValue for ever
   */
  ledgerLife?: number | undefined;
}

/** Options of BullMQ for a queue of videos. */
export interface VideoQueueOptions {
  /** For `new Queue()`. Jobs of a flow take `defaultJobOptions` by the option `queuesOptions`. */
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
 * The options of BullMQ that suit videos. Spread them into those of your queue and of your workers.
 *
 * - A job is tried ten times within about a quarter of an hour, with growing pauses. A poll is no
 *   attempt: only what fails is.
 * - A job may lose its worker a thousand times. BullMQ counts that over the whole life of a job, and
 *   fails it at the second time by default, though its video is paid for.
 * - Completed jobs are kept for 7 days, failed ones for 30: with a ledger that forgets, half as long as
 *   it remembers at most.
 *
 * Leave `maxStartedAttempts` unset: each poll starts the job.
 *
 * @throws `InvalidInputError` naming the setting that cannot work
 *
 * @example
 * const { queue, worker } = videoQueueOptions({ maxPerSecond: 20 });
 * const videos = new Queue('videos', { connection, ...queue });
 * new Worker('videos', videoProcessor(client, { ledger }), { connection, ...worker });
 */
export function videoQueueOptions(settings: VideoQueueSettings = {}): VideoQueueOptions {
  check(typeof settings === 'object' && settings !== null, 'settings', 'must be an object.');
  const { concurrency = 50, lockDuration = 30_000, maxPerSecond, ledgerLife } = settings;
  const isCount = Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 10_000;
  check(isCount, 'concurrency', 'must be a whole number from 1 to 10000.');
  checkMilliseconds('lockDuration', lockDuration, 1_000);
  check(lockDuration <= 3_600_000, 'lockDuration', 'may be at most 3600000, an hour.');
  const isLong =
    ledgerLife === undefined || (typeof ledgerLife === 'number' && ledgerLife >= 3_600_000);
  const problem =
    'must be at least 3600000 milliseconds (one hour): a call that the ledger has forgotten is submitted again.';
  check(isLong, 'ledgerLife', problem);
  const longest = ledgerLife === undefined ? Infinity : Math.floor(ledgerLife / 2_000);
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
      ...(maxPerSecond === undefined ? {} : { limiter: limiterOf(maxPerSecond) }),
    },
  };
}

/** A rate as BullMQ wants it: whole jobs in milliseconds. */
function limiterOf(perSecond: number): { max: number; duration: number } {
  const isRate = typeof perSecond === 'number' && perSecond >= 0.0001 && perSecond <= 100_000;
  check(isRate, 'maxPerSecond', 'must be a number from 0.0001 to 100000.');
  if (perSecond < 1) return { max: 1, duration: Math.ceil(1_000 / perSecond) };
  const max = Math.floor(perSecond);
  return { max, duration: Math.ceil((max * 1_000) / perSecond) };
}
