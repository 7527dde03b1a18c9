import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import type { VideoStatus } from '../../src/resources/videos/types.ts';
import type { VideoWaitOptions, VideoWaitState } from '../../src/resources/videos/wait-options.ts';
import { checkOptions, withDefaults } from '../../src/options/resolve.ts';
import {
  begin,
  checkState,
  decide,
  hasChanged,
  type Moment,
  type Observation,
} from '../../src/tasks/decide.ts';

const resolveWait = (options: VideoWaitOptions) =>
  withDefaults('videos.wait', checkOptions(options, 'videos.wait').values);

const settings = resolveWait({});
const fresh: VideoWaitState = { v: 1, since: 0, polls: 0, errors: 0, missing: 0 };
const early: Moment = { started: 1_000, elapsed: 1_100, age: 1_100 };
const late: Moment = { started: 60_000, elapsed: 60_100, age: 60_100 };

function sees(status: VideoStatus, rest: { progress?: number; rawStatus?: string } = {}) {
  return { type: 'task', status, rawStatus: status, progress: undefined, ...rest } as const;
}

/** Takes several observations into account, at one moment and, by default, in the middle of chance. */
function run(
  seen: readonly Observation[],
  moment = early,
  options: VideoWaitOptions = {},
  random = 0.5,
) {
  let state = fresh;
  const chosen = resolveWait(options);
  return seen.map((observation) => {
    const before = state;
    const result = decide(before, observation, moment, chosen, random);
    state = result.state;
    return { ...result, changed: hasChanged(before, state) };
  });
}

/** The pauses that steps ask for, or how they end. */
function listPauses(...parameters: Parameters<typeof run>) {
  return run(...parameters).map(({ next }) => (typeof next === 'object' ? next.delayMs : next));
}

/** The result of a step: another poll, or an end. */
function runNext(...parameters: Parameters<typeof run>) {
  return run(...parameters).map(({ next }) => (typeof next === 'object' ? 'poll' : next));
}

describe('pauses', () => {
  test('pauses grow from 5 to 10 seconds', () => {
    const seen = Array.from({ length: 6 }, () => sees('queued'));

    expect(listPauses(seen)).toEqual([5_000, 6_250, 7_813, 9_766, 10_000, 10_000]);
  });

  test('pauses have 20 % jitter, and stay between 5 and 10 seconds', () => {
    const seen = Array.from({ length: 5 }, () => sees('queued'));

    expect(listPauses(seen, early, {}, 0)).toEqual([5_000, 5_000, 6_250, 7_813, 8_000]);
    expect(listPauses(seen, early, {}, 1)).toEqual([6_000, 7_500, 9_375, 10_000, 10_000]);
  });

  test('double after errors, up to 30 seconds', () => {
    const seen = Array.from({ length: 9 }, () => ({ type: 'transient' }) as const);

    expect(listPauses(seen).slice(0, 4)).toEqual([5_000, 10_000, 20_000, 30_000]);
    expect(listPauses(seen).at(-1)).toBe(30_000);
  });

  test.each([
    [7_000, 7_000],
    [1_000, 5_000],
    [undefined, 5_000],
    [86_400_000, 300_000],
  ])(
    'pauses are as long as the server requires, but at most five minutes: %s',
    (retryAfter, pause) => {
      expect(listPauses([{ ...sees('queued'), retryAfter }])).toEqual([pause]);
    },
  );
});

describe('the beginning of a wait', () => {
  test.each([
    { name: 'just submitted', age: 0, delay: 5_000 },
    { name: 'submitted two seconds ago', age: 2_000, delay: 3_000 },
    { name: 'submitted long ago', age: 5_000, delay: undefined },
    { name: 'submitted at an unknown time', age: undefined, delay: undefined },
    { name: 'submitted in the future, by a wrong clock', age: -60_000, delay: 5_000 },
  ])('a task that was $name', ({ age, delay }) => {
    expect(begin(0, age, settings, 0.5).pause?.delayMs).toBe(delay);
  });

  test('the first pause ends with the time limit', () => {
    const { pause } = begin(0, 0, resolveWait({ timeout: 1_000 }), 0.5);

    expect(pause?.delayMs).toBe(1_000);
  });
});

describe('a decision', () => {
  test('a completed task ends the wait, and a failure once it is confirmed or final', () => {
    expect(runNext([sees('completed')])).toEqual(['completed']);
    expect(runNext([sees('failed'), sees('failed')])).toEqual(['poll', 'failed']);
    expect(runNext([{ ...sees('failed'), isFinal: true }])).toEqual(['failed']);
    const error = { type: 'transient' } as const;
    expect(runNext([sees('failed'), error, sees('failed')])[2]).toBe('failed');
    expect(runNext([sees('failed'), sees('queued'), sees('failed')])[2]).toBe('poll');
  });

  test('a change of status resets the pause', () => {
    const seen = [sees('queued'), sees('queued'), sees('queued'), sees('in_progress')];

    expect(listPauses(seen)).toEqual([5_000, 6_250, 7_813, 5_000]);
  });

  test('a decision reports changes', () => {
    const seen = [
      sees('queued'),
      sees('queued'),
      sees('queued', { progress: 10 }),
      sees('queued', { progress: 10, rawStatus: 'baking' }),
      sees('in_progress'),
      { type: 'transient' } as const,
      sees('in_progress'),
    ];

    expect(run(seen).map(({ changed }) => changed)).toEqual([
      true,
      false,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  test('errors are tolerated up to a limit, and a successful poll resets it', () => {
    const error = { type: 'transient' } as const;
    const options = { maxConsecutiveErrors: 2 };

    expect(runNext([error, error, error], early, options)).toEqual([
      'poll',
      'poll',
      'too_many_errors',
    ]);
    const interrupted = runNext([error, error, sees('queued'), error, error], early, options);
    expect(new Set(interrupted)).toEqual(new Set(['poll']));
  });

  test('a new task may be missing for 30 seconds', () => {
    const missing = { type: 'missing' } as const;

    expect(runNext([missing, missing, missing, missing]).at(-1)).toBe('poll');
    expect(runNext([missing], late)).toEqual(['missing']);
    expect(runNext([missing], { ...early, age: 86_400_000 })).toEqual(['missing']);
    expect(runNext([missing], { ...early, age: undefined })).toEqual(['poll']);
    expect(runNext([missing], { ...late, age: 0 })).toEqual(['missing']);
  });

  test('a known task may be missing twice in a row', () => {
    const missing = { type: 'missing' } as const;

    const twice = [sees('queued'), missing, missing];
    expect(runNext([...twice, ...twice], late)).toEqual(Array.from({ length: 6 }, () => 'poll'));
    expect(runNext([...twice, missing], late).at(-1)).toBe('missing');
  });

  test('Retry-After lengthens the pause, also for a tab that becomes visible', () => {
    const [{ next } = { next: undefined }] = run([{ ...sees('queued'), retryAfter: 7_000 }]);

    expect(next).toEqual({ delayMs: 7_000, earliestMs: 7_000 });
  });

  test('the timeout follows a poll that started at the limit', () => {
    const options = { timeout: 60_000 };
    const before = { started: 58_000, elapsed: 58_000, age: undefined };
    const slept = { started: 58_000, elapsed: 3_600_000, age: undefined };
    const at = { started: 60_000, elapsed: 60_200, age: undefined };

    expect(run([sees('queued')], before, options)[0]?.next).toMatchObject({ delayMs: 2_000 });
    expect(run([sees('queued')], slept, options)[0]?.next).toMatchObject({ delayMs: 0 });
    expect(runNext([sees('queued')], at, options)).toEqual(['timeout']);
    expect(runNext([sees('completed')], at, options)).toEqual(['completed']);
  });

  const observation: fc.Arbitrary<Observation> = fc.oneof(
    fc.record({
      type: fc.constant('task' as const),
      status: fc.constantFrom<VideoStatus>('queued', 'in_progress'),
      rawStatus: fc.option(fc.string(), { nil: undefined }),
      progress: fc.option(fc.nat(100), { nil: undefined }),
      retryAfter: fc.option(fc.nat(600_000), { nil: undefined }),
    }),
    fc.record({
      type: fc.constantFrom('missing' as const, 'transient' as const),
      retryAfter: fc.option(fc.nat(600_000), { nil: undefined }),
    }),
  );

  test('property: a wait always ends in time, with pauses in range, and its state is plain JSON', () => {
    fc.assert(
      fc.property(
        fc.array(observation, { minLength: 1, maxLength: 400 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }),
        fc.integer({ min: 1, max: 600_000 }),
        (seen, chances, timeout) => {
          const chosen = resolveWait({ timeout, maxConsecutiveErrors: 1_000 });
          let state = fresh;
          let now = begin(0, 0, chosen, chances[0] ?? 0.5).pause?.delayMs ?? 0;
          for (let poll = 0; ; poll += 1) {
            const next = seen[poll % seen.length] ?? sees('queued');
            const moment = { started: now, elapsed: now + 50, age: now };
            const chance = chances[poll % chances.length] ?? 0.5;
            const result = decide(state, next, moment, chosen, chance);
            expect(result.state.polls).toBe(state.polls + 1);
            expect(JSON.parse(JSON.stringify(result.state))).toEqual(result.state);
            state = result.state;
            if (typeof result.next === 'string') {
              expect(result.next).toMatch(/^(missing|too_many_errors|timeout)$/);
              return;
            }
            const { delayMs: delay, earliestMs: earliest } = result.next;
            expect(delay).toBeGreaterThanOrEqual(Math.min(5_000, Math.max(0, timeout - now - 50)));
            expect(delay).toBeLessThanOrEqual(300_000);
            expect(earliest).toBeLessThanOrEqual(delay);
            now = moment.elapsed + delay;
            expect(now).toBeLessThanOrEqual(timeout + 100);
          }
        },
      ),
    );
  });
});

/** Takes observations into account until one ends the wait, and says which were of a task. */
function play(seen: readonly Observation[], pauses: readonly number[], timeout: number | null) {
  const chosen = resolveWait({ timeout, maxConsecutiveErrors: 5 });
  let state = fresh;
  let now = 0;
  const tasks: (Extract<Observation, { type: 'task' }> & { at: number })[] = [];
  for (const [index, each] of seen.entries()) {
    now += pauses[index % pauses.length] ?? 0;
    if (each.type === 'task') tasks.push({ ...each, at: now });
    const moment = { started: now, elapsed: now, age: undefined };
    const step = decide(state, each, moment, chosen, 0.5);
    // Storing a state in a database changes no decision.
    ({ state } = step);
    state = checkState(JSON.parse(JSON.stringify(state)), now);
    if (typeof step.next === 'string') return { ended: step.next, tasks, last: each, now };
  }
  return { ended: undefined, tasks, last: seen.at(-1), now };
}

describe('property: a failure', () => {
  const failure = fc.constantFrom(
    { message: 'one' },
    { message: 'two' },
    { message: 'two', code: '2' },
  );
  const anything: fc.Arbitrary<Observation> = fc.oneof(
    fc.record({
      type: fc.constant('task' as const),
      status: fc.constantFrom<VideoStatus>('queued', 'in_progress', 'failed'),
      rawStatus: fc.constantFrom('a', 'unknown', undefined),
      progress: fc.constantFrom(0, undefined),
      failure: fc.option(failure, { nil: undefined }),
      isFinal: fc.constantFrom(false, false, false, true),
      hasPolledVendor: fc.constantFrom(true as const, undefined),
    }),
    fc.record({ type: fc.constantFrom('missing' as const, 'transient' as const) }),
    // Random answers are hardly ever the same three times.
    failure.map((complaint) => ({
      ...sees('queued'),
      rawStatus: undefined,
      failure: complaint,
    })),
  );

  const plays = [
    fc.array(anything, { minLength: 1, maxLength: 40 }),
    fc.array(fc.integer({ min: 5_000, max: 20_000 }), { minLength: 1 }),
    fc.option(fc.integer({ min: 1, max: 300_000 })),
  ] as const;

  test('a failure ends a wait only if it is confirmed, final, or at the time limit', () => {
    fc.assert(
      fc.property(...plays, (seen, pauses, timeout) => {
        const { ended, tasks, last, now } = play(seen, pauses, timeout);
        if (ended !== 'failed') return;
        const [final, before] = tasks.toReversed();
        if (final === undefined) throw new Error('No poll told of it.');
        if (final.status === 'failed') {
          const isOver = last?.type !== 'task' || (timeout !== null && now >= timeout - 10);
          expect(final.isFinal || before?.status === 'failed' || isOver).toBe(true);
          return;
        }
        const complains = ({ status, rawStatus, progress, failure: error }: typeof final) =>
          JSON.stringify([status, rawStatus, rawStatus && progress, error]);
        const other = tasks.findLastIndex((each) => complains(each) !== complains(final));
        const same = tasks.slice(other + 1);
        expect(final.failure).toBeDefined();
        expect(same.length).toBeGreaterThanOrEqual(3);
        expect(now - (same[0]?.at ?? now)).toBeGreaterThanOrEqual(30_000);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a failure that is the last status is reported as a failure', () => {
    fc.assert(
      fc.property(...plays, (seen, pauses, timeout) => {
        const { ended, tasks } = play(seen, pauses, timeout);
        if (ended === undefined || tasks.at(-1)?.status !== 'failed') return;
        expect(ended).toBe('failed');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the options of a wait', () => {
  test('the options of a wait have documented defaults', () => {
    expect(settings).toMatchObject({
      interval: { first: 5_000, min: 5_000, max: 10_000, factor: 1.25, jitter: 0.2 },
      timeout: 1_800_000,
      pollTimeout: 30_000,
      maxConsecutiveErrors: 10,
    });
  });

  test.each<[VideoWaitOptions['interval'], object]>([
    [1_000, { first: 1_000, min: 1_000, max: 1_000 }],
    [
      { min: 250, first: 250 },
      { first: 250, min: 250, max: 10_000 },
    ],
    [{ min: 20_000 }, { first: 20_000, min: 20_000, max: 20_000 }],
    [
      { min: 1_000, max: 2_000 },
      { first: 2_000, min: 1_000, max: 2_000 },
    ],
  ])('interval %j becomes %j', (interval, expected) => {
    expect(resolveWait({ interval }).interval).toMatchObject(expected);
  });

  test('null means no limit', () => {
    expect(resolveWait({ timeout: null }).timeout).toBeNull();
    expect(resolveWait({ timeout: undefined }).timeout).toBe(1_800_000);
  });

  test.each<[string, VideoWaitOptions]>([
    ['interval', { interval: 249 }],
    ['interval', { interval: Number.NaN }],
    ['interval.min', { interval: { min: 249 } }],
    ['interval.max', { interval: { max: 1_000 } }],
    ['interval.first', { interval: { first: 20_000 } }],
    ['interval.factor', { interval: { factor: 0.5 } }],
    ['interval.jitter', { interval: { jitter: 2 } }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: 2 ** 31 }],
    ['pollTimeout', { pollTimeout: 0 }],
    ['maxConsecutiveErrors', { maxConsecutiveErrors: Number.NaN }],
  ])('%s is rejected in %j', (field, options) => {
    expect(() => resolveWait(options)).toThrow(InvalidInputError);
    expect(() => resolveWait(options)).toThrow(new RegExp(`^${field.replace('.', '\\.')}: `));
  });

  test.each<[string, object]>([
    ['interval', { interval: '5s' }],
    ['onUpdate', { onUpdate: true }],
    ['onSubmitted', { onSubmitted: 'save' }],
  ])('%s of a wrong type is rejected', (field, options) => {
    expect(() => resolveWait(options)).toThrow(new RegExp(`^${field}: `));
  });
});
