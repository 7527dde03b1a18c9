import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Gateway } from '../../../src/index.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minute = 60_000;
const rate = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined });
const tokens = fc.option(fc.integer({ min: 50, max: 400 }), { nil: undefined });
const limit = fc.record({ requestsPerMinute: rate, tokensPerMinute: tokens, concurrency: rate });

const step = fc.record({
  model: fc.constantFrom('a', 'b'),
  /** Milliseconds since the previous call. */
  pause: fc.constantFrom(0, 0, 1, 500, 20_000, 59_999, 60_000, 90_000),
  /** Milliseconds until the response. */
  duration: fc.constantFrom(0, 10, 5_000, 70_000),
  /** The statuses of the attempts, of which the last one is final. */
  statuses: fc.array(fc.constantFrom(200, 429, 500), { minLength: 1, maxLength: 3 }),
  retryAfter: fc.constantFrom('1', '30'),
  length: fc.integer({ min: 0, max: 2_000 }),
  reported: fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
  /** Milliseconds until the call is aborted. */
  aborted: fc.option(fc.constantFrom(0, 300, 61_000), { nil: undefined, freq: 5 }),
});

interface Sent {
  readonly index: number;
  readonly model: string;
  readonly at: number;
  end: number;
}

/** Counts the requests that are open when each of them starts. */
const openAtStarts = (sent: readonly Sent[]): number[] =>
  sent.map(({ at }, index) => sent.slice(0, index + 1).filter(({ end }) => end > at).length);

test('no 60 seconds have more starts than allowed, for any requests and results', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      limit,
      limit,
      async (steps, client, model) => {
        const sent: Sent[] = [];
        const attempts = new Map<number, number>();
        const gateway = new Gateway({
          apiKey: 'sk-test',
          baseURL: 'https://gateway.test',
          logLevel: 'off',
          limits: { ...client, models: { a: model } },
          fetch: async (input, init) => {
            const body: { model: string; metadata: { index: string } } = await new Request(
              input,
              init,
            ).json();
            const index = Number(body.metadata.index);
            const { duration, statuses, retryAfter, reported } = steps[index] ?? { duration: 0 };
            const attempt = attempts.get(index) ?? 0;
            attempts.set(index, attempt + 1);
            const at = performance.now();
            const request: Sent = { index, model: body.model, at, end: Infinity };
            sent.push(request);
            try {
              await new Promise<void>((resolve, reject) => {
                const timer = setTimeout(resolve, duration);
                init?.signal?.addEventListener('abort', () => {
                  clearTimeout(timer);
                  reject(new Error('Aborted'));
                });
              });
            } finally {
              request.end = performance.now();
            }
            const status = statuses?.[attempt] ?? statuses?.at(-1) ?? 200;
            const choices = [{ index: 0, finish_reason: 'stop', message: { content: 'Hi' } }];
            const usage = reported === undefined ? undefined : { total_tokens: reported };
            const headers = { 'retry-after': retryAfter ?? '1' };
            return status === 200
              ? Response.json({ choices, usage })
              : Response.json({ error: { message: 'No' } }, { status, headers });
          },
        });
        const calls: Promise<unknown>[] = [];
        for (const [index, { model: name, pause, length, aborted }] of steps.entries()) {
          await vi.advanceTimersByTimeAsync(pause);
          const controller = new AbortController();
          if (aborted !== undefined) setTimeout(() => controller.abort(), aborted);
          const call = gateway.chat.completions.create(
            {
              model: name,
              messages: [{ role: 'user', content: 'abc '.repeat(length / 4) }],
              metadata: { index: String(index) },
            },
            { signal: controller.signal, timeout: 3_600_000 },
          );
          calls.push(
            call.then(
              () => undefined,
              () => undefined,
            ),
          );
        }
        const all = Promise.all(calls);
        await vi.advanceTimersByTimeAsync(steps.length * 20 * minute);
        await all;

        expect(vi.getTimerCount()).toBe(0);
        const sets = [
          { limits: client, requests: sent },
          { limits: model, requests: sent.filter((request) => request.model === 'a') },
        ];
        for (const { limits, requests } of sets) {
          const { requestsPerMinute = Infinity, concurrency = Infinity } = limits;
          for (const [index, { at }] of requests.entries()) {
            const next = requests[index + requestsPerMinute];
            if (next !== undefined) expect(next.at - at).toBeGreaterThanOrEqual(minute);
          }
          expect(Math.max(0, ...openAtStarts(requests))).toBeLessThanOrEqual(concurrency);
        }
        for (const name of ['a', 'b']) {
          const ofModel = sent.filter((request) => request.model === name);
          const inOrder = [...new Set(ofModel.map(({ index }) => index))];
          expect(inOrder).toEqual(inOrder.toSorted((one, other) => one - other));
        }
      },
    ),
    { numRuns: 150 },
  );
});
