import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { APIError, GatewayError, type Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { memoryLedger, type SubmitLedger } from '../../src/tasks/ledger.ts';
import type { TaskRef } from '../../src/tasks/ref.ts';
import type { LedgerOptions } from '../../src/tasks/submit.ts';
import type { NextPoll, PolledTask, TaskUpdate, TaskWaitState } from '../../src/tasks/types.ts';
import type { TaskWaitOptions } from '../../src/tasks/wait-options.ts';
import { failureOf, scripted } from './clients.ts';
import { fakeWaitingTime, rejected, resolved } from './fake-time.ts';
import { cutResponse, fetchFailure, never, silentResponse } from './failures.ts';
import { untyped } from './untyped.ts';

/** Options that every method has which submits and waits. */
interface SubmitOptions extends LedgerOptions {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  totalTimeout?: number;
  onSubmitted?: ((ref: TaskRef) => unknown) | undefined;
}

/** The options of a wait for any kind of task. */
type WaitOptions = TaskWaitOptions<PolledTask>;

/** One step of a wait. */
interface Step {
  readonly state: TaskWaitState;
  readonly next: NextPoll | object;
  readonly pollError?: unknown;
}

/** A kind of task as its users see it. Its id is `task_1`, on https://gateway.test. */
export interface TaskSubject {
  /** The methods under test. */
  readonly name: string;
  /** The beginning of the names of its errors. */
  readonly prefix: string;
  /** The field of a step that holds the result. */
  readonly resultField: string;
  /** The pause before the first poll, and the time limit of a wait, in milliseconds. */
  readonly first: number;
  readonly limit: number;
  /** The response to a submission, and to a poll of a completed task. */
  readonly submitted: object;
  readonly completed: object;
  /** The handle of the task, submitted now. */
  readonly createRef: () => TaskRef;
  /** The prompt of a submission, which must not appear in errors. */
  readonly prompt: string;
  /** Submits a task and waits for it. The prompt may be another. */
  submit(client: Gateway, options: SubmitOptions, prompt?: string): PromiseLike<object>;
  /** The same with a time limit for the wait. */
  submitWithin(client: Gateway, limit: number, options: SubmitOptions): PromiseLike<object>;
  wait(client: Gateway, task: TaskRef | string, options?: WaitOptions): Promise<object>;
  step(
    client: Gateway,
    task: TaskRef | string,
    state?: TaskWaitState,
    options?: WaitOptions,
  ): Promise<Step>;
}

const minute = 60_000;
const day = 24 * 60 * minute;
const id = 'task_1';

/** The response to a poll: JSON, a response, or the error of a connection. */
type PollAnswer = object | Response | Error;

/** Returns the response to a poll. */
type AnswerPoll = (poll: {
  /** The number of polls before this one. */
  readonly index: number;
  /** Milliseconds since the gateway was created. */
  readonly elapsed: number;
  readonly request: Request;
}) => PollAnswer | Promise<PollAnswer>;

/** One response after the other; the last one repeats. */
const inTurn =
  (...answers: readonly PollAnswer[]): AnswerPoll =>
  ({ index }) => {
    const answer = answers[Math.min(index, answers.length - 1)] ?? {};
    return answer instanceof Response ? answer.clone() : answer;
  };

const running = { id, status: 'processing', progress: 40 };
const failed = { id, status: 'failed' };
const failedWith = (message: string, code?: string) => ({ ...failed, error: { message, code } });
const page = (status: number) => new Response('<!doctype html><p>Bad gateway', { status });
const refusal = (status: number, code: string, message = 'No.') =>
  Response.json({ error: { code, message } }, { status });

/** Hangs until the request is aborted. */
const untilAborted = ({ signal }: Request): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** A date so many seconds from when it is read. */
const inSeconds = (seconds: number) => (): string =>
  new Date(Date.now() + seconds * 1_000).toUTCString();

const fullDisk = () => Promise.reject(new Error('disk full'));

const throwing = (error: Error) => (): never => {
  throw error;
};

/** Tests that a kind of task is submitted once, and waited for like any other. */
export function testTasks(subject: TaskSubject): void {
  const { prefix, first, limit, submitted, completed, resultField } = subject;

  /** A gateway, and the times of its polls in milliseconds since now. */
  function gateway(answerPoll: AnswerPoll, options: GatewayOptions = {}) {
    const begun = performance.now();
    const times: number[] = [];
    let posts = 0;
    const answer = async (request: Request): Promise<Response | Error> => {
      if (request.method === 'POST') {
        posts += 1;
        return Response.json(submitted);
      }
      const elapsed = Math.round(performance.now() - begun);
      times.push(elapsed);
      const made = await answerPoll({ index: times.length - 1, elapsed, request });
      return made instanceof Response || made instanceof Error ? made : Response.json(made);
    };
    const { client, requests } = scripted([answer], options);
    const count = () => ({ posts, polls: times.length });
    return { client, requests, times, count };
  }

  const wait = (client: Gateway, options?: WaitOptions, task: TaskRef | string = id) =>
    subject.wait(client, task, options);

  const accepted = () => Response.json(submitted);

  const named = (name: string) => `${prefix}${name}`;
  const ref = expect.objectContaining({ v: 1, id });

  describe(subject.name, () => {
    fakeWaitingTime();

    describe('a submission with a wait', () => {
      test('a submission with a wait submits once, polls after the first pause, and returns the result', async () => {
        const { client, times, count } = gateway(inTurn(running, running, completed));

        const result = await resolved(subject.submit(client, {}));

        expect(result).toBeTypeOf('object');
        expect(count()).toEqual({ posts: 1, polls: 3 });
        expect(times).toEqual([first, 2.25 * first, 2.25 * first + Math.round(1.25 ** 2 * first)]);
      });

      test('a submission passes the handle to onSubmitted, and awaits it before the first poll', async () => {
        const { client, count } = gateway(inTurn(completed));
        const saved: unknown[] = [];
        const onSubmitted = async (handle: TaskRef): Promise<void> => {
          await sleep(minute);
          saved.push(count(), handle);
        };

        await resolved(subject.submit(client, { callId: 'job-1', onSubmitted }));

        expect(saved).toEqual([
          { posts: 1, polls: 0 },
          expect.objectContaining({
            v: 1,
            id,
            callId: 'job-1',
            baseURL: 'https://gateway.test',
            model: expect.stringMatching(/^m-/),
          }),
        ]);
      });

      test('an abort in onSubmitted ends it before the first poll', async () => {
        const { client, count } = gateway(inTurn(completed));
        const controller = new AbortController();
        const { signal } = controller;
        const onSubmitted = () => controller.abort();

        const error = await rejected(subject.submit(client, { signal, onSubmitted }));

        expect(error).toMatchObject({ name: named('WaitAbortedError'), ref });
        expect(count()).toEqual({ posts: 1, polls: 0 });
      });

      test.each<[string, (problem: Error) => () => unknown]>([
        ['throws', throwing],
        ['rejects', (problem) => () => Promise.reject(problem)],
      ])('if onSubmitted %s, the error has the handle, to wait later', async (_, failing) => {
        const { client, count } = gateway(inTurn(completed));
        const problem = new Error('the database is away');

        const error = await rejected(subject.submit(client, { onSubmitted: failing(problem) }));

        const expected = { name: named('WaitError'), cause: problem, polls: 0, ref };
        expect(error).toMatchObject({ ...expected, outcome: 'unknown' });
        expect(String(error)).toContain('onSubmitted');
        expect(count()).toEqual({ posts: 1, polls: 0 });
        await resolved(wait(client, {}, untyped<TaskRef>(Reflect.get(Object(error), 'ref'))));
        expect(count()).toEqual({ posts: 1, polls: 1 });
      });

      test('an unknown outcome is neither retried nor awaited', async () => {
        const lost = new Error('socket hang up');
        const { client, requests } = scripted([lost], { maxRetries: 3 });
        const onSubmitted = vi.fn();

        const error = await rejected(subject.submit(client, { onSubmitted }));

        expect(error).toMatchObject({ outcome: 'unknown' });
        expect(onSubmitted).not.toHaveBeenCalled();
        expect(requests).toHaveLength(1);
      });

      test('a submission with a wait sends headers and query with every request', async () => {
        const { client, requests } = gateway(inTurn(running, completed));
        const options = { headers: { 'x-tenant': '7' }, query: { region: 'eu' } };

        await resolved(subject.submit(client, options));

        expect(requests.map(({ url }) => new URL(url).search)).toEqual(Array(3).fill('?region=eu'));
        expect(requests.map(({ headers }) => headers.get('x-tenant'))).toEqual(Array(3).fill('7'));
      });

      test('a submission with a wait ends at its time limit with the handle, and never submits again', async () => {
        const { client, count } = gateway(inTurn(running));

        const error = await rejected(subject.submitWithin(client, 30_000, {}));

        expect(error).toMatchObject({ name: named('WaitTimeoutError'), ref });
        expect(error).toHaveProperty('lastStatus', 'processing');
        expect(count().posts).toBe(1);
      });
    });

    describe.each(['without', 'with'] as const)('an abort %s a ledger', (ledger) => {
      const aborted = { name: named('WaitAbortedError'), ref };

      test.each<{
        readonly phase: string;
        readonly hangs?: 'POST' | 'GET';
        readonly onSubmitted?: () => Promise<void>;
        /** Milliseconds until the abort. */
        readonly after?: number;
        /** Milliseconds that the call may go on for. */
        readonly grace?: number;
        readonly error: object;
        readonly posts: number;
      }>([
        { phase: 'before the call', after: -1, error: { outcome: 'not_sent' }, posts: 0 },
        {
          phase: 'in the submission',
          hangs: 'POST',
          error: { name: 'APIUserAbortError', outcome: 'unknown' },
          posts: 1,
        },
        { phase: 'in onSubmitted', onSubmitted: never, grace: 5_000, error: aborted, posts: 1 },
        {
          phase: 'in the first pause',
          after: 1_000,
          error: { ...aborted, polls: 0 },
          posts: 1,
        },
        {
          phase: 'in the first poll',
          hangs: 'GET',
          after: 6_000,
          error: { ...aborted, polls: 0 },
          posts: 1,
        },
        {
          phase: 'in a later pause',
          after: 15_000,
          error: { ...aborted, lastStatus: 'processing' },
          posts: 1,
        },
      ])(
        '$phase ends it with the handle, if there is one, and one submission',
        async ({ hangs, onSubmitted, after = 100, grace = 0, error: expected, posts }) => {
          // Digests run on another thread; fake time does not wait for it.
          vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
          const { client, requests } = scripted([
            ({ method }) => {
              if (method === hangs) return never();
              return Response.json(method === 'POST' ? submitted : running);
            },
          ]);
          const controller = new AbortController();
          const reason = new Error('shutting down');
          if (after < 0) controller.abort(reason);
          const own = memoryLedger();
          const entered = ledger === 'with' ? { ledger: own, callId: 'job' } : {};
          const { signal } = controller;

          const error = failureOf(subject.submit(client, { onSubmitted, ...entered, signal }));
          await vi.advanceTimersByTimeAsync(Math.max(0, after));
          controller.abort(reason);
          await vi.advanceTimersByTimeAsync(grace);

          expect(await error).toMatchObject({ ...expected, cause: reason });
          if (ledger === 'with' && hangs === 'POST') await vi.advanceTimersByTimeAsync(30_000);
          // The time limits of a request that ignores its signal are left.
          vi.clearAllTimers();
          expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(posts);
          if (ledger === 'without') return;
          // The next call with the same call id never pays again for what was, or may be, paid.
          const { status } = await own.claim('job', '');
          const wanted = posts === 0 ? 'claimed' : hangs === 'POST' ? 'unknown' : 'accepted';
          expect(status).toBe(wanted);
        },
      );
    });

    describe.each<{ readonly end: string; readonly limits: object; readonly error: object }>([
      { end: 'an abort', limits: {}, error: { name: 'APIUserAbortError' } },
      { end: 'totalTimeout', limits: { totalTimeout: 1_000 }, error: {} },
      { end: 'timeout of a request', limits: {}, error: {} },
    ])('a submission with a ledger that goes on after $end', ({ end, limits, error: expected }) => {
      /** Submits a task whose response comes after a time, and ends the call after a second. */
      async function leave(
        answer: () => Response | Error | Promise<never>,
        after: number,
        ledger = memoryLedger(),
        options: GatewayOptions = {},
      ) {
        vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
        const { client, requests } = scripted(
          [
            async ({ signal }) => {
              const response = sleep(after).then(answer);
              const aborted = new Promise<never>((_, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason));
              });
              return Promise.race([response, aborted]);
            },
            ({ method }) => Response.json(method === 'POST' ? submitted : completed),
          ],
          { ...options, ...(end.startsWith('timeout') && { timeout: 1_000 }) },
        );
        const controller = new AbortController();
        const own = { callId: 'job', ledger };
        const error = failureOf(
          subject.submit(client, { ...own, ...limits, signal: controller.signal }),
        );
        await vi.advanceTimersByTimeAsync(1_000);
        if (end === 'an abort') controller.abort(new Error('shutting down'));
        await vi.advanceTimersByTimeAsync(0);
        const posts = () => requests.filter(({ method }) => method === 'POST').length;
        const again = () => subject.submit(client, own);
        return { client, ledger, error: await error, posts, again };
      }

      test('ends the call at once, and the next one waits for its task', async () => {
        const { client, error, posts, again } = await leave(accepted, 20_000);

        expect(error).toMatchObject({ ...expected, outcome: 'unknown', callId: 'job' });
        expect(error).toHaveProperty('advice', expect.stringContaining('client.settled()'));
        await expect(client.settled({ timeout: 0 })).resolves.toBe(false);
        await expect(resolved(again())).resolves.toBeTypeOf('object');
        await expect(client.settled({ timeout: 0 })).resolves.toBe(true);
        expect(posts()).toBe(1);
      });

      test('the next call waits no longer than it may', async () => {
        const { client, ledger, error } = await leave(accepted, 20_000);
        const controller = new AbortController();
        const own = { callId: 'job', ledger };

        const late = rejected(subject.submit(client, { ...own, totalTimeout: 2_000 }), 10);
        expect(await late).toMatchObject({ isInProgress: true });
        const stopped = failureOf(subject.submit(client, { ...own, signal: controller.signal }));
        await vi.advanceTimersByTimeAsync(100);
        controller.abort();

        expect(await stopped).toMatchObject({ name: 'APIUserAbortError', outcome: 'not_sent' });
        expect(error).toMatchObject({ outcome: 'unknown' });
        await resolved(client.settled());
        await expect(ledger.entry('job')).resolves.toMatchObject({ status: 'accepted' });
      });

      test.each([
        ['input', refusal(400, 'invalid_request')],
        ['too many requests', Response.json({}, { status: 429, headers: { 'retry-after': '1' } })],
      ])('a refusal for %s is not repeated, and the call can be submitted again', async (_, no) => {
        const { client, ledger, posts, again } = await leave(() => no, 20_000);

        await resolved(client.settled());

        await expect(ledger.entry('job')).resolves.toBeUndefined();
        expect(posts()).toBe(1);
        await resolved(again());
        expect(posts()).toBe(2);
      });

      test.each([
        ['is lost', () => fetchFailure('ECONNRESET'), 20_000],
        ['is late', accepted, 31_500],
      ])('a stopped submission is unknown if its response %s', async (_, answer, after) => {
        const { client, ledger, posts, again } = await leave(answer, after);
        await expect(ledger.entry('job')).resolves.toMatchObject({ status: 'submitting' });

        await expect(resolved(client.settled())).resolves.toBe(true);

        await expect(ledger.entry('job')).resolves.toMatchObject({ status: 'unknown' });
        expect(await rejected(again())).toMatchObject({ isInProgress: false });
        expect(posts()).toBe(1);
        await vi.advanceTimersByTimeAsync(5_000);
      });

      test('logs that the ledger did not record the task', async () => {
        const warn = vi.fn();
        const options = { logger: { ...console, warn }, logLevel: 'warn' } as const;
        const ledger = { ...memoryLedger(), accept: fullDisk };
        const { client } = await leave(accepted, 20_000, ledger, options);

        await resolved(client.settled());

        expect(warn.mock.calls).toEqual([
          [expect.stringContaining('did not record task task_1'), { callId: 'job' }],
        ]);
      });
    });

    describe('a wait for an existing task', () => {
      test('a wait for an existing task polls immediately, and only reads', async () => {
        const { client, times, count } = gateway(inTurn(completed));

        await resolved(wait(client), 1);

        expect(times).toEqual([0]);
        expect(count().posts).toBe(0);
      });

      test('a wait for an existing task continues in another process, from a stored handle', async () => {
        const { client, count } = gateway(inTurn(running));
        const error = await rejected(subject.submitWithin(client, 1_000, {}));
        const stored = JSON.stringify(Reflect.get(Object(error), 'ref'));
        const baseURL = 'https://gateway.test/v1/';
        const { client: other, times } = gateway(inTurn(completed), { baseURL });

        const result = await resolved(wait(other, {}, JSON.parse(stored)));

        expect(result).toBeTypeOf('object');
        expect(times).toHaveLength(1);
        expect(count().posts).toBe(1);
      });

      test('a wait for an existing task refuses a handle of another gateway, and takes one that names this one', async () => {
        const { client, count } = gateway(inTurn(completed));
        const moved = { ...subject.createRef(), baseURL: 'https://before.test' };

        const refused = await rejected(wait(client, {}, moved));
        const step = await rejected(subject.step(client, moved));

        expect(refused).toMatchObject({ name: 'InvalidInputError', field: 'ref.baseURL' });
        expect(String(refused)).toMatch('change baseURL in the handle');
        expect(step).toHaveProperty('field', 'ref.baseURL');
        expect(count().polls).toBe(0);
        await resolved(wait(client, {}, { ...moved, baseURL: 'https://gateway.test' }));
        expect(count().polls).toBe(1);
      });

      test('a wait for an existing task polls at the interval', async () => {
        const { client, times } = gateway(inTurn(running, running, completed));

        await resolved(wait(client, { interval: 700 }));

        expect(times).toEqual([0, 700, 1_400]);
      });

      test('a wait for an existing task reports only changes', async () => {
        const { client } = gateway(
          inTurn(
            { ...running, status: 'pending', progress: 0 },
            running,
            running,
            { ...running, progress: 60 },
            completed,
          ),
        );
        const updates: TaskUpdate<PolledTask>[] = [];

        await resolved(wait(client, { onUpdate: (update) => void updates.push(update) }));

        expect(
          updates.map(({ status, rawStatus, progress, polls }) => [
            status,
            rawStatus,
            progress,
            polls,
          ]),
        ).toEqual([
          ['queued', 'pending', 0, 1],
          ['in_progress', 'processing', 40, 2],
          ['in_progress', 'processing', 60, 4],
          ['completed', 'completed', undefined, 5],
        ]);
        expect(updates[1]).toMatchObject({ elapsed: first, task: { status: 'in_progress' } });
      });

      test('an onUpdate that throws or rejects ends the wait with the handle', async () => {
        const problem = new Error('broken');

        for (const onUpdate of [() => Promise.reject(problem), throwing(problem)]) {
          const { client } = gateway(inTurn(completed));
          const error = await rejected(wait(client, { onUpdate }));
          expect(error).toMatchObject({ name: named('WaitError'), cause: problem, ref });
        }
      });

      test('polls never overlap', async () => {
        let pending = 0;
        let most = 0;
        const { client, count } = gateway(async ({ index }) => {
          pending += 1;
          most = Math.max(most, pending);
          await sleep(20_000);
          pending -= 1;
          return index < 5 ? running : completed;
        });

        await resolved(wait(client, { interval: 250 }));

        expect(most).toBe(1);
        expect(count().polls).toBe(6);
      });

      test.each([['85%'], [85], [0.85]])('progress %j is reported as 85', async (progress) => {
        const { client } = gateway(inTurn({ ...running, progress }, completed));
        const updates: unknown[] = [];

        await resolved(wait(client, { onUpdate: (update) => void updates.push(update.progress) }));

        expect(updates).toEqual([85, undefined]);
      });
    });

    describe('an unknown status', () => {
      test.each(['unknown', 'UNKNOWN', '', ' ', 'baking', 'null', '待机中'])(
        'a wait continues at status %j, and the timeout names it',
        async (word) => {
          const { client, count } = gateway(inTurn({ id, status: word }));
          const onUpdate = vi.fn();

          const error = await rejected(wait(client, { onUpdate, timeout: minute }));

          const lastStatus = word.trim() === '' ? 'queued' : word;
          expect(error).toMatchObject({ name: named('WaitTimeoutError'), lastStatus });
          expect(String(error)).toContain(`last status "${lastStatus}"`);
          expect(onUpdate).toHaveBeenCalledTimes(1);
          expect(count().posts).toBe(0);
        },
      );

      test.each([[['baking', 'ok?']], [[0, 1, 2, 3, 2]]])(
        'a wait continues at %j until there is a result',
        async (states) => {
          const { client, count } = gateway(({ index }) => {
            const status = states[index];
            return index < states.length - 1 ? { id, status } : { ...completed, status };
          });

          await resolved(wait(client));

          expect(count().polls).toBe(states.length);
        },
      );

      test('a number with a reason is a failure once another poll confirms it', async () => {
        const { client, count } = gateway(
          inTurn({ id, status: 1 }, { id, status: 3, failedReason: 'No' }),
        );

        const error = await rejected(wait(client));

        expect(error).toMatchObject({ name: named('FailedError'), reason: 'No' });
        expect(count().polls).toBe(3);
      });
    });

    describe('a failed task', () => {
      test('a failed task rejects with its reason, code and response, at once if that names a review', async () => {
        const body = failedWith('Rejected by the safety review.', 'review');
        const { client, count } = gateway(inTurn(body));

        const error = await rejected(wait(client, {}, subject.createRef()));

        expect(error).toMatchObject({
          name: named('FailedError'),
          reason: 'Rejected by the safety review.',
          code: 'review',
          moderated: true,
          outcome: 'unknown',
          ref,
          raw: body,
        });
        expect(String(error)).toMatch(/failed: Rejected by the safety review\. This looks like/);
        expect(count()).toEqual({ posts: 0, polls: 1 });
      });

      test.each<[string, object, string]>([
        ['an object', failedWith('No GPU was free.'), 'No GPU was free.'],
        [
          'a numeric code',
          { ...failed, error: { code: 7, message: 'No GPU was free.' } },
          'No GPU was free.',
        ],
        ['text', { ...failed, error: 'No GPU was free.' }, 'No GPU was free.'],
        ['fail_reason', { ...failed, fail_reason: 'No GPU was free.' }, 'No GPU was free.'],
        ['null', { ...failed, error: null }, 'The gateway returned no reason.'],
        ['nothing', failed, 'The gateway returned no reason.'],
      ])('a failed task has a reason if the gateway sends %s', async (_, body, reason) => {
        const { client } = gateway(inTurn(body));

        const error = await rejected(wait(client));

        expect(error).toMatchObject({ name: named('FailedError'), reason, moderated: false });
      });

      test('a failed task is final if the next poll repeats it, after the usual pause', async () => {
        const { client, times } = gateway(inTurn(failed));
        const onUpdate = vi.fn();

        const error = await rejected(wait(client, { onUpdate }));

        expect(error).toMatchObject({ name: named('FailedError'), raw: failed });
        expect(times).toEqual([0, first]);
        expect(onUpdate).toHaveBeenCalledTimes(1);
      });

      test('a failed task is completed if it recovers', async () => {
        const { client, count } = gateway(inTurn(failed, running, running, completed));
        const statuses: string[] = [];

        await resolved(wait(client, { onUpdate: ({ status }) => void statuses.push(status) }));

        expect(statuses).toEqual(['failed', 'in_progress', 'completed']);
        expect(count().polls).toBe(4);
      });

      test.each<[string, () => PollAnswer]>([
        ['fails in a way that passes', () => page(502)],
        ['does not find the task any more', () => new Response('', { status: 404 })],
        ['is refused', () => new Response('', { status: 403 })],
      ])('a failed task counts if every later poll %s, with the first reason', async (_, later) => {
        const body = failedWith('upstream returned error', '7');
        const { client } = gateway(inTurn(body, later()));

        const error = await rejected(wait(client, { maxRetries: 0, maxConsecutiveErrors: 2 }));

        expect(error).toMatchObject({
          name: named('FailedError'),
          reason: 'upstream returned error',
          code: '7',
          raw: undefined,
        });
      });

      test('a failed task counts if the time limit precedes the confirmation', async () => {
        const { client, count } = gateway(inTurn(running, failed));

        const error = await rejected(wait(client, { timeout: first }));

        expect(error).toMatchObject({ name: named('FailedError') });
        expect(count().polls).toBe(2);
      });

      test('a failed task has not failed if it recovers at the time limit', async () => {
        const { client } = gateway(inTurn(running, failed, running));

        const error = await rejected(wait(client, { timeout: 1.6 * first }));

        expect(error).toMatchObject({ name: named('WaitTimeoutError'), lastStatus: 'processing' });
      });

      test('a failed task with an error and no status has failed after 3 equal polls over 30 seconds', async () => {
        const complaint = { id, error: { message: 'The server had an error' } };
        const { client, times } = gateway(inTurn(complaint));
        const seen: string[] = [];

        const error = await rejected(
          wait(client, { onUpdate: ({ status }) => void seen.push(status) }),
        );

        expect(error).toMatchObject({
          name: named('FailedError'),
          reason: 'The server had an error',
          raw: complaint,
        });
        expect(times.at(-2)).toBeLessThan(30_000);
        expect(times.at(-1)).toBeGreaterThanOrEqual(30_000);
        expect(seen).toEqual(['queued', 'failed']);
      });
    });

    describe('the time limit', () => {
      test('the error explains how to continue waiting, and never advises a new submission', async () => {
        const { client, times, count } = gateway(({ elapsed }) =>
          elapsed > limit ? completed : running,
        );

        const error = await rejected(wait(client, {}, subject.createRef()));

        expect(error).toMatchObject({
          name: named('WaitTimeoutError'),
          lastStatus: 'processing',
          ref,
          outcome: 'unknown',
          elapsed: limit,
        });
        const text = String(error);
        expect(text).toContain(`did not end within ${limit} ms`);
        expect(text).toContain('was not cancelled: it may still finish and be charged');
        expect(text).toMatch(/s\.wait\((?:"task_1"|error\.ref)\)/);
        expect(text).not.toMatch(/creat|submit|resend|send it again/i);
        expect(times.at(-1)).toBe(limit);

        await resolved(wait(client));
        expect(count().posts).toBe(0);
      });

      test('null means no limit', async () => {
        const { client, times } = gateway(({ elapsed }) =>
          elapsed < 2 * limit ? running : completed,
        );

        await resolved(wait(client, { timeout: null }));

        expect(times.at(-1)).toBeGreaterThanOrEqual(2 * limit);
      });

      test('a poll that hangs at the limit is aborted, and followed by a last one', async () => {
        const { client, times } = gateway(({ request }) => untilAborted(request));

        const error = await rejected(wait(client, { timeout: 20_000, maxRetries: 0 }));

        const expected = { name: named('WaitTimeoutError'), elapsed: 30_000, polls: 2 };
        expect(error).toMatchObject(expected);
        expect(times).toEqual([0, 20_000]);
      });

      test('a machine suspended past the limit polls once more', async () => {
        const { client, count } = gateway(({ elapsed }) =>
          elapsed < 5 * minute ? running : completed,
        );
        const waiting = wait(client, { timeout: 30_000, interval: 5_000 });
        await vi.advanceTimersByTimeAsync(7_000);

        // Timers stand still while a machine sleeps; the clocks go on.
        const now = Date.now();
        const clock = performance.now();
        vi.spyOn(performance, 'now').mockImplementation(() => clock + 10 * minute);
        vi.setSystemTime(now + 10 * minute);
        await vi.advanceTimersByTimeAsync(10_000);

        await waiting;
        expect(count().polls).toBe(3);
      });

      test.each([
        ['forward', day],
        ['back', -day],
      ])('a system clock that is set %s during a wait has no effect', async (_, jump) => {
        const { client, count } = gateway(({ index }) => (index < 6 ? running : completed));
        const waiting = resolved(wait(client, { timeout: 10 * minute }));
        await vi.advanceTimersByTimeAsync(12_000);
        vi.setSystemTime(Date.now() + jump);

        await waiting;
        expect(count().polls).toBe(7);
      });

      test.each([
        ['the future', day],
        ['the past', -day],
      ])('the time limit applies to a handle with a time in %s', async (_, offset) => {
        const { client } = gateway(inTurn(running));
        const handle = subject.createRef();
        const createdAt = Math.max(0, handle.createdAt + offset);

        const error = await rejected(wait(client, { timeout: minute }, { ...handle, createdAt }));

        expect(error).toMatchObject({ name: named('WaitTimeoutError'), elapsed: minute });
      });
    });

    describe('failed polls', () => {
      test.each<[string, () => PollAnswer]>([
        ['500', () => refusal(500, 'broken')],
        ['503', () => refusal(503, 'system_cpu_overloaded')],
        ['HTML 502', () => page(502)],
        ['HTML 200', () => page(200)],
        ['a bare 429', () => new Response(null, { status: 429 })],
        ['408', () => new Response(null, { status: 408 })],
        ['424', () => new Response(null, { status: 424 })],
        ['425', () => new Response(null, { status: 425 })],
        ['460', () => new Response(null, { status: 460 })],
        ['499', () => refusal(499, 'cancelled')],
        ['HTML 524', () => page(524)],
        ['refused connections', () => fetchFailure('ECONNREFUSED', 'connect')],
        ['reset connections', () => fetchFailure('ECONNRESET', 'read')],
        ['cut responses', () => cutResponse('{"id": "ta')],
        ['a list', () => []],
        ['an error with status 200', () => Response.json({ code: 'fail_to_fetch_task' })],
      ])('failed polls continue the wait several times: %s', async (_, fault) => {
        const { client, count } = gateway(({ elapsed }) =>
          elapsed < minute ? fault() : completed,
        );

        const result = await resolved(subject.submit(client, {}));

        expect(result).toBeTypeOf('object');
        expect(count().posts).toBe(1);
        expect(count().polls).toBeGreaterThan(3);
      });

      test.each<[string, WaitOptions, number, AnswerPoll]>([
        ['polls', {}, 30_000, ({ request }) => untilAborted(request)],
        ['polls', { pollTimeout: 8_000 }, 8_000, ({ request }) => untilAborted(request)],
        ['responses', { pollTimeout: 8_000 }, 8_000, () => silentResponse('{"id": "ta')],
      ])('stalled %s end after pollTimeout: %j', async (_, options, timeout, stall) => {
        const { client, times } = gateway((poll) => (poll.index === 0 ? stall(poll) : completed));

        await resolved(wait(client, { ...options, maxRetries: 0 }));

        expect(times).toEqual([0, timeout + first]);
      });

      test('failed polls end the wait if there are too many in a row, with the last one as the cause', async () => {
        const { client, count } = gateway(() => page(502));

        const error = await rejected(wait(client, { maxRetries: 0 }));

        expect(error).toMatchObject({
          name: named('WaitError'),
          polls: 11,
          ref,
          outcome: 'unknown',
          cause: { status: 502 },
        });
        expect(count()).toEqual({ posts: 0, polls: 11 });
      });

      test.each([
        [401, 'invalid_api_key'],
        [402, 'payment_required'],
        [403, 'access_denied'],
        [405, 'wrong_method'],
        [422, 'invalid'],
        [501, 'not_implemented'],
        [505, 'old_version'],
      ])('%i ends the wait immediately, with the handle', async (status, code) => {
        const { client, times } = gateway(() => refusal(status, code));

        const error = await rejected(wait(client));

        expect(error).toMatchObject({ name: named('WaitError'), ref, polls: 1, cause: { status } });
        expect(String(error)).toContain('No.');
        expect(new Set(times)).toEqual(new Set([0]));
      });

      test('a 401 is retried once with a new key', async () => {
        const keys = ['sk-old', 'sk-new'];
        const apiKey = () => keys.shift() ?? 'sk-new';
        const { client } = gateway(
          ({ request }) =>
            request.headers.get('authorization') === 'Bearer sk-new'
              ? completed
              : refusal(401, 'invalid_api_key'),
          { apiKey },
        );

        await resolved(wait(client));

        expect(keys).toEqual([]);
      });

      test('a key function that fails is called again for the next poll', async () => {
        let calls = 0;
        const apiKey = () => {
          calls += 1;
          if (calls < 4) throw new Error('the token service is away');
          return 'sk-test';
        };
        const { client, count } = gateway(inTurn(completed), { apiKey });

        await resolved(wait(client));

        expect(count().polls).toBe(1);
      });

      describe.each([200, 429, 503])('Retry-After of a response with status %i', (status) => {
        test.each<{ name: string; makeHeader: () => string; pause: number }>([
          { name: 'seconds', makeHeader: () => '42', pause: 42_000 },
          { name: 'a date', makeHeader: inSeconds(60), pause: 60_000 },
          { name: 'a date that has passed', makeHeader: inSeconds(-60), pause: first },
          { name: 'far too many seconds', makeHeader: () => '86400000', pause: 300_000 },
          {
            name: 'a date in a hundred years',
            makeHeader: () => 'Fri, 31 Dec 2126 23:59:59 GMT',
            pause: 300_000,
          },
          { name: 'zero', makeHeader: () => '0', pause: first },
          { name: 'a negative number', makeHeader: () => '-30', pause: first },
          { name: 'no number at all', makeHeader: () => 'soon', pause: first },
        ])('the pause follows Retry-After as $name', async ({ makeHeader, pause }) => {
          vi.setSystemTime(new Date('2026-11-21T12:00:00.000Z'));
          const { client, times } = gateway(({ index }) => {
            if (index > 0) return completed;
            const headers = { 'retry-after': makeHeader() };
            return Response.json({ ...running, progress: undefined }, { status, headers });
          });

          await resolved(wait(client, { maxRetries: 0 }));

          expect(times).toEqual([0, pause]);
        });
      });
    });

    describe('a task that does not exist yet', () => {
      test.each<[string, () => Response]>([
        ['404', () => new Response('', { status: 404 })],
        ['task_not_exist', () => refusal(400, 'task_not_exist')],
        ['Task not found', () => refusal(400, '', 'Task not found')],
        ['task does not exist', () => refusal(400, '', 'task does not exist')],
      ])(
        'a wait continues until a task that does not exist yet is found: %s',
        async (_, missing) => {
          const { client, count } = gateway(({ elapsed }) =>
            elapsed < 20_000 ? missing() : completed,
          );

          await resolved(subject.submit(client, {}));

          expect(count().posts).toBe(1);
        },
      );

      test('a 400 with another message ends the wait', async () => {
        const { client } = gateway(() => refusal(400, '', 'Bad request'));

        expect(await rejected(wait(client))).toMatchObject({ cause: { status: 400 }, polls: 1 });
      });

      test('a wait ends after the grace period of a task that does not exist yet', async () => {
        const { client } = gateway(() => refusal(400, 'task_not_exist'));

        const error = await rejected(wait(client, {}, subject.createRef()));

        expect(error).toMatchObject({ name: named('WaitError'), ref, lastStatus: undefined });
        const { elapsed } = Object(error);
        expect(elapsed).toBeGreaterThanOrEqual(30_000);
        expect(elapsed).toBeLessThan(41_000);
        expect(String(error)).toContain('is not known to the gateway');
        expect(String(error)).not.toMatch(/create it again|submit/i);
      });

      test('an old handle has no grace period', async () => {
        const { client, times } = gateway(() => refusal(400, 'task_not_exist'));
        const handle = { ...subject.createRef(), createdAt: Date.now() - minute };

        await rejected(wait(client, {}, handle), 1);

        expect(new Set(times)).toEqual(new Set([0]));
      });

      test('a handle from the future has the same grace period', async () => {
        const { client } = gateway(() => refusal(400, 'task_not_exist'));
        const handle = subject.createRef();
        const createdAt = handle.createdAt + 365 * day;

        const error = await rejected(wait(client, {}, { ...handle, createdAt }));

        expect(error).toHaveProperty('name', named('WaitError'));
        expect(Reflect.get(Object(error), 'elapsed')).toBeGreaterThanOrEqual(30_000);
      });

      test('a known task may be missing twice in a row, not three times', async () => {
        const states = [running, running, null, null, running, null, null, null];
        const at = (elapsed: number) => states[Math.floor(elapsed / 20_000)] ?? null;
        const { client } = gateway(({ elapsed }) => at(elapsed) ?? refusal(400, 'task_not_exist'));

        const error = await rejected(wait(client, { interval: 20_000 }));

        expect(error).toMatchObject({ lastStatus: 'processing', polls: 8 });
      });
    });

    describe('an abort of a wait', () => {
      test('an abort ends a wait immediately during a pause', async () => {
        const { client, count } = gateway(inTurn(running));
        const controller = new AbortController();
        const reason = new Error('the user left');
        const { signal } = controller;
        const waiting = failureOf(wait(client, { signal }, subject.createRef()));
        await vi.advanceTimersByTimeAsync(1.4 * first);

        controller.abort(reason);
        // The clock stands still, so this can only be at once.
        const error = await waiting;

        const expected = { cause: reason, polls: 1, lastStatus: 'processing', ref };
        expect(error).toMatchObject({ name: named('WaitAbortedError'), ...expected });
        expect(String(error)).toMatch(/s\.wait\((?:"task_1"|error\.ref)\)/);
        expect(count()).toEqual({ posts: 0, polls: 1 });
      });

      test('an abort ends a wait immediately during a poll, even if fetch ignores the signal', async () => {
        const { client, count } = gateway(never);
        const controller = new AbortController();
        const waiting = failureOf(wait(client, { signal: controller.signal }));
        await vi.advanceTimersByTimeAsync(1_000);

        controller.abort();

        expect(await waiting).toHaveProperty('name', named('WaitAbortedError'));
        expect(count().polls).toBe(1);
        // The time limits of a request that ignores its signal are left.
        vi.clearAllTimers();
      });

      test('an abort ends a wait immediately in onUpdate', async () => {
        const { client } = gateway(inTurn(running));
        const controller = new AbortController();
        const waiting = failureOf(wait(client, { signal: controller.signal, onUpdate: never }));
        await vi.advanceTimersByTimeAsync(1_000);

        controller.abort();

        expect(await waiting).toHaveProperty('name', named('WaitAbortedError'));
      });

      test('an abort before a wait starts sends nothing', async () => {
        const { client, count } = gateway(inTurn(completed));

        const error = await rejected(wait(client, { signal: AbortSignal.abort() }), 1);

        expect(error).toHaveProperty('name', named('WaitAbortedError'));
        expect(count().polls).toBe(0);
      });

      test('a wait adds one listener for any number of polls, and removes it', async () => {
        const { client, count } = gateway(({ index }) => (index < 200 ? running : completed));
        const { signal } = new AbortController();
        const added = vi.spyOn(signal, 'addEventListener');
        const removed = vi.spyOn(signal, 'removeEventListener');

        await resolved(wait(client, { signal, interval: 250 }));

        expect(count().polls).toBe(201);
        expect(added).toHaveBeenCalledTimes(1);
        expect(removed).toHaveBeenCalledTimes(1);
      });
    });

    describe('errors of waits', () => {
      test('never contain the key or the prompt', async () => {
        const { client: slow } = gateway(inTurn(running));
        const { client: refusing } = gateway(() => refusal(403, 'access_denied'));
        const { client: failing } = gateway(inTurn(failed));
        const { signal } = new AbortController();
        const errors = [
          await rejected(subject.submitWithin(slow, 10_000, { signal })),
          await rejected(subject.submit(refusing, {})),
          await rejected(subject.submit(failing, {})),
          await rejected(wait(slow, { signal: AbortSignal.abort() })),
        ];

        for (const error of errors) {
          const text = inspect(error, { depth: 10, showHidden: true });
          expect(GatewayError.isInstance(error)).toBe(true);
          expect(APIError.isInstance(error)).toBe(false);
          expect(text).not.toContain('sk-test');
          expect(text).not.toContain(subject.prompt);
        }
      });
    });

    describe('one step', () => {
      const state = { v: 1, since: 1_000, polls: 3, errors: 0, missing: 0, interval: 5_000 };

      test('one step makes exactly one poll, and reports it', async () => {
        const { client, count } = gateway(inTurn(running));

        const step = await subject.step(client, id);

        expect(step).toMatchObject({
          state: { v: 1, since: Date.now(), polls: 1, errors: 0, missing: 0, progress: 40 },
          next: { delayMs: first, earliestMs: first },
        });
        expect(step.state.rawStatus).toBe('processing');
        expect(step.pollError).toBeUndefined();
        expect(count()).toEqual({ posts: 0, polls: 1 });
      });

      test('one step continues across processes until the task is completed', async () => {
        let job = JSON.stringify({ ref: subject.createRef() });
        const pauses: number[] = [];
        for (;;) {
          const { client } = gateway(inTurn(pauses.length < 3 ? running : completed));
          const stored = JSON.parse(job);
          const { state: now, next } = await subject.step(client, stored.ref, stored.state);
          if (!('delayMs' in next)) {
            expect(next).toHaveProperty(resultField);
            expect(now).toMatchObject({ v: 1, polls: 4, status: 'completed' });
            break;
          }
          job = JSON.stringify({ ...stored, state: now });
          pauses.push(next.delayMs);
          await vi.advanceTimersByTimeAsync(next.delayMs);
        }
        expect(pauses).toEqual([first, 1.25 * first, Math.round(1.25 ** 2 * first)]);
      });

      test('one step returns the error of a failed task', async () => {
        const { client } = gateway(inTurn(failedWith('No GPU was free.')));

        const { state: before } = await subject.step(client, id);
        const { next } = await subject.step(client, id, before);

        const expected = { name: named('FailedError'), reason: 'No GPU was free.', ref };
        expect(next).toMatchObject({ error: expected });
      });

      test('a failed poll is reported and counted, and the pause grows', async () => {
        const { client } = gateway(() => page(502));
        let stored: TaskWaitState | undefined;
        const seen: unknown[] = [];
        for (let polls = 0; polls < 4; polls += 1) {
          const options = { maxRetries: 0, maxConsecutiveErrors: 3 };
          const step = await subject.step(client, id, stored, options);
          expect(step.pollError).toMatchObject({ status: 502 });
          seen.push('delayMs' in step.next ? step.next.delayMs : step.next);
          stored = step.state;
        }

        const error = expect.objectContaining({ name: named('WaitError') });
        expect(seen).toEqual([first, 2 * first, 4 * first, { error }]);
      });

      test('the time limit counts from the first step, and a step long after it polls once more', async () => {
        const { client } = gateway(({ index }) => (index < 2 ? running : completed));
        const { state: before } = await subject.step(client, id, undefined, { timeout: 5_000 });
        await vi.advanceTimersByTimeAsync(5_000);
        const late = await subject.step(client, id, before, { timeout: 5_000 });
        await vi.advanceTimersByTimeAsync(day);
        const later = await subject.step(client, id, before, { timeout: 5_000 });

        const expected = { name: named('WaitTimeoutError'), elapsed: 5_000, polls: 2 };
        expect(late.next).toMatchObject({ error: expected });
        expect(later.next).toHaveProperty(resultField);
      });

      test('an abort rejects, and the step can be repeated', async () => {
        const { client, count } = gateway(inTurn(completed));
        const cause = new Error('shutting down');
        const signal = AbortSignal.abort(cause);

        const error = await rejected(subject.step(client, id, undefined, { signal }));

        expect(error).toMatchObject({ name: named('WaitAbortedError'), cause, ref });
        expect(count().polls).toBe(0);
        expect((await subject.step(client, id)).next).toHaveProperty(resultField);
      });

      test('one step reports changes to onUpdate, which rejects the step if it throws', async () => {
        const { client } = gateway(inTurn(running));
        const onUpdate = vi.fn();

        const { state: before } = await subject.step(client, id, undefined, { onUpdate });
        await subject.step(client, id, before, { onUpdate });
        const cause = new Error('broken');
        const error = await rejected(
          subject.step(client, id, undefined, { onUpdate: () => Promise.reject(cause) }),
        );

        expect(onUpdate).toHaveBeenCalledTimes(1);
        expect(onUpdate).toHaveBeenCalledWith(expect.objectContaining({ polls: 1, progress: 40 }));
        expect(error).toMatchObject({ name: named('WaitError'), cause, ref, polls: 1 });
      });

      test('null of a database means undefined, also instead of a state', async () => {
        const { client } = gateway(inTurn({ ...running, status: 'queued' }));
        const empty = { status: null, rawStatus: null, progress: null, interval: null };
        const later = {
          failure: null,
          unchangedSince: null,
          unchangedPolls: null,
          vendorPolledAt: null,
        };
        const stored = untyped<TaskWaitState>({ ...state, since: Date.now(), ...empty, ...later });

        const { next } = await subject.step(client, id, stored);
        const without = await subject.step(client, id, untyped<undefined>(null));

        expect(next).toEqual({ delayMs: first, earliestMs: first });
        expect(without.state.polls).toBe(1);
      });

      test('a clock that was set back does not extend the time limit', async () => {
        const { client } = gateway(inTurn(running));
        const future = { ...state, v: 1, since: Date.now() + 400 * day } as const;

        const { state: before, next } = await subject.step(client, id, future, { timeout: minute });
        expect(before.since).toBe(Date.now());
        expect(next).toHaveProperty('delayMs');
        await vi.advanceTimersByTimeAsync(minute);
        const last = await subject.step(client, id, before, { timeout: minute });

        const expected = { name: named('WaitTimeoutError'), elapsed: minute };
        expect(last.next).toMatchObject({ error: expected });
      });

      test.each<[string, unknown]>([
        ['state', 7],
        ['state', []],
        ['state', JSON.stringify(state)],
        ['state.v', {}],
        ['state.v', { ...state, v: 0 }],
        ['state.v', { ...state, v: 2 }],
        ['state.since', { v: 1, polls: 1 }],
        ['state.since', { ...state, since: -1 }],
        ['state.since', { ...state, since: '2026-01-01' }],
        ['state.polls', { ...state, polls: 1.5 }],
        ['state.polls', { ...state, polls: -1 }],
        ['state.errors', { ...state, errors: null }],
        ['state.errors', { ...state, errors: -1_000 }],
        ['state.missing', { ...state, missing: '0' }],
        ['state.status', { ...state, status: 'baking' }],
        ['state.rawStatus', { ...state, rawStatus: 7 }],
        ['state.progress', { ...state, progress: '85%' }],
        ['state.interval', { ...state, interval: '5000' }],
        ['state.interval', { ...state, interval: -5_000 }],
        ['state.failure', { ...state, failure: 'No.' }],
        ['state.failure', { ...state, failure: { code: '7' } }],
        ['state.failure', { ...state, failure: { message: 'No.', code: 7 } }],
        ['state.unchangedSince', { ...state, unchangedSince: '0' }],
        ['state.unchangedPolls', { ...state, unchangedPolls: -1 }],
        ['state.vendorPolledAt', { ...state, vendorPolledAt: true }],
      ])('one step names %s in %j', async (field, stored) => {
        const { client, count } = gateway(inTurn(completed));

        const error = await rejected(subject.step(client, id, untyped<TaskWaitState>(stored)));

        expect(error).toMatchObject({ name: 'InvalidInputError', field });
        expect(count().polls).toBe(0);
      });
    });

    describe('a ledger', () => {
      const callId = 'job';

      test('a task is submitted once, by any number of calls', async () => {
        const { client, count } = gateway(inTurn(completed));
        const ledger = memoryLedger();
        const onSubmitted = vi.fn();
        const options = { ledger, callId, onSubmitted };

        const one = await resolved(subject.submit(client, options));
        const other = await resolved(subject.submit(client, options));

        expect(other).toEqual(one);
        expect(onSubmitted).toHaveBeenCalledTimes(2);
        expect(onSubmitted.mock.calls[1]).toEqual(onSubmitted.mock.calls[0]);
        expect(count().posts).toBe(1);
        await expect(ledger.entry(callId)).resolves.toMatchObject({
          status: 'finished',
          ref: { id, callId },
        });
      });

      test('an interrupted wait continues, and records no outcome of the submission', async () => {
        const { client, count } = gateway(({ elapsed }) =>
          elapsed < minute ? running : completed,
        );
        const ledger = memoryLedger();
        const finish = vi.spyOn(ledger, 'finish');

        const error = await rejected(subject.submitWithin(client, 1_000, { ledger, callId }));
        expect(finish).not.toHaveBeenCalled();
        await resolved(subject.submit(client, { ledger, callId }));

        expect(error).toHaveProperty('name', named('WaitTimeoutError'));
        expect(finish.mock.calls.map(([, end]) => end)).toEqual(['completed']);
        expect(count().posts).toBe(1);
      });

      test('a failed task finishes its entry, and fails again without a submission', async () => {
        const { client, count } = gateway(inTurn(failedWith('No GPU was free.')));
        const ledger = memoryLedger();

        const errors = [
          await rejected(subject.submit(client, { ledger, callId })),
          await rejected(subject.submit(client, { ledger, callId })),
        ];

        const expected = { name: named('FailedError'), callId, reason: 'No GPU was free.' };
        expect(errors).toMatchObject([expected, expected]);
        await expect(ledger.entry(callId)).resolves.toMatchObject({ status: 'finished' });
        expect(count().posts).toBe(1);
      });

      test('a wait survives an outage of the ledger after the task is known', async () => {
        const { client, count } = gateway(({ elapsed }) =>
          elapsed < minute ? page(502) : completed,
        );
        const options = { ledger: memoryLedger(), callId };
        await rejected(subject.submitWithin(client, 1_000, options));

        await resolved(subject.submit(client, options));

        expect(count().posts).toBe(1);
      });

      test('a rejected submission may be repeated', async () => {
        const { client, requests } = scripted(
          [
            refusal(402, 'payment_required'),
            Response.json(submitted),
            () => Response.json(completed),
          ],
          { maxRetries: 0 },
        );
        const options = { ledger: memoryLedger(), callId };

        const error = await rejected(subject.submit(client, options));
        await resolved(subject.submit(client, options));

        expect(error).toMatchObject({ status: 402 });
        expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
      });

      test('a submission with an unknown outcome is not repeated', async () => {
        const { client, requests } = scripted([new Error('socket hang up')]);
        const options = { ledger: memoryLedger(), callId };

        await rejected(subject.submit(client, options));
        const error = await rejected(subject.submit(client, options));

        const expected = { name: named('SubmitUnknownError'), outcome: 'unknown', callId };
        expect(error).toMatchObject({ ...expected, isInProgress: false });
        expect(requests).toHaveLength(1);
      });

      test('the call id of another submission is rejected', async () => {
        const { client, count } = gateway(inTurn(completed));
        const options = { ledger: memoryLedger(), callId };
        await resolved(subject.submit(client, options));

        const error = await rejected(subject.submit(client, options, 'A kite'));

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
        expect(count().posts).toBe(1);
      });

      test('a ledger needs a call id', async () => {
        const { client, count } = gateway(inTurn(completed));

        const error = await rejected(subject.submit(client, { ledger: memoryLedger() }));

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
        expect(count().posts).toBe(0);
      });

      test('the result is returned even if the ledger fails to record the task', async () => {
        const { client, count } = gateway(inTurn(completed));
        const cause = new Error('disk full');
        const ledger: SubmitLedger = { ...memoryLedger(), accept: () => Promise.reject(cause) };

        const result = await resolved(subject.submit(client, { ledger, callId }));

        const expected = { name: 'LedgerError', outcome: 'unknown', callId, cause };
        expect(Reflect.get(result, '_ledger_error')).toMatchObject(expected);
        expect(Object.keys(result)).not.toContain('_ledger_error');
        expect(count().posts).toBe(1);
      });

      test('totalTimeout limits claim(), and nothing is sent', async () => {
        const { client, count } = gateway(inTurn(completed));
        const ledger: SubmitLedger = { ...memoryLedger(), claim: never };
        const options = { ledger, callId, totalTimeout: 2_000 };

        const error = await rejected(subject.submit(client, options), 10);

        expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent', callId });
        expect(count().posts).toBe(0);
      });

      test('a handle of another gateway is never polled', async () => {
        const { client, count } = gateway(inTurn(completed));
        const handle = { ...subject.createRef(), callId, baseURL: 'https://before.test' };
        const claim: SubmitLedger['claim'] = async (_, inputHash) => ({
          status: 'accepted',
          inputHash,
          ref: handle,
        });
        const onSubmitted = vi.fn();
        const options = { ledger: { ...memoryLedger(), claim }, callId, onSubmitted };

        const error = await rejected(subject.submit(client, options));

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'ref.baseURL' });
        expect(onSubmitted).not.toHaveBeenCalled();
        expect(count()).toEqual({ posts: 0, polls: 0 });
      });
    });
  });
}
