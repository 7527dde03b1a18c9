import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readErrorText } from '../../src/answers/error-body.ts';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { decide, failures as rules, getOutcome } from '../../src/http/retry.ts';
import type { ChargeClass, Gateway } from '../../src/index.ts';
import { failures, kinds, kindFor, provenBy } from '../failures.ts';
import { collect, scripted } from '../helpers/clients.ts';
import { settle } from '../helpers/fake-time.ts';

const model = 'm';
const messages = [{ role: 'user', content: 'hi' }] as const;

/** Calls of each charge class. */
const calls: readonly {
  readonly operation: string;
  readonly charge: ChargeClass;
  readonly call: (client: Gateway) => PromiseLike<unknown>;
}[] = [
  { operation: 'models.list', charge: 'free', call: ({ models }) => models.list() },
  {
    operation: 'chat.completions.create',
    charge: 'metered',
    call: ({ chat }) => chat.completions.create({ model, messages: [...messages] }),
  },
  {
    operation: 'responses.create',
    charge: 'metered',
    call: ({ responses }) => responses.create({ model, input: 'hi' }),
  },
  {
    operation: 'responses.create, streamed',
    charge: 'metered',
    call: async ({ responses }) =>
      collect(await responses.create({ model, input: 'hi', stream: true })),
  },
  {
    operation: 'images.generate',
    charge: 'charged',
    call: ({ images }) => images.generate({ model, prompt: 'a boat' }),
  },
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the table has every kind of failure', () => {
  const missing = Object.keys(rules).filter((kind) => !failures.some((row) => row.kind === kind));

  expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(rules).toSorted());
  // Nothing is sent after the first, a proxy is at fault for the second, and the caller causes the third.
  expect(missing).toEqual(['invalid_input', 'proxy_refused', 'aborted']);
});

test.each(kinds)('$kind: $outcome, sent $free, $metered or $charged times', (row) => {
  const { kind, ...expected } = row;
  const phase = row.outcome === 'not_sent' ? 'connect' : 'headers';
  const call = { maxRetries: 2, canRefresh: false, replayable: true };
  const count = (charge: ChargeClass, retryUnknownOutcome?: boolean): number =>
    [0, 1, 2].findIndex((retries) => {
      const state = { ...call, charge, retryUnknownOutcome, retries };
      return decide({ kind, phase }, state) !== 'retry';
    }) + 1;

  expect({
    outcome: getOutcome({ kind, phase }),
    free: count('free'),
    metered: count('metered'),
    charged: count('charged'),
    allowed: count('charged', true),
  }).toEqual(expected);
});

test.each(failures)('$name is classified as "$kind"', async (row) => {
  const answer = row.wire();

  if (answer instanceof Error) expect(classifyThrown(answer).kind).toBe(row.kind);
  // Other statuses depend on the operation.
  if (!(answer instanceof Response) || answer.status < 400) return;
  const body = readErrorText(await answer.text());
  for (const charge of ['free', 'metered', 'charged'] as const) {
    const kind = classifyStatus(answer.status, body, answer.headers, charge);
    expect(kind).toBe(kindFor(row, charge));
  }
});

const columns = failures.flatMap((row) =>
  calls.flatMap(({ charge, ...call }) => {
    const kind = kindFor(row, charge);
    if (kind === undefined) return [];
    const { outcome, [charge]: count } = provenBy(kind);
    return [{ ...row, ...call, outcome, count }];
  }),
);

test.each(columns)(
  '$name: $operation is sent $count times ($outcome)',
  async ({ wire, call, count, outcome, error, text }) => {
    const { client, requests } = scripted([wire]);

    const { error: failure } = await settle<unknown>(call(client));

    expect(requests).toHaveLength(count);
    expect(failure).toMatchObject({ name: error, outcome });
    expect(failure).toHaveProperty('evidence.attempts.length', count);
    expect(String(failure)).toContain(text);
    expect(vi.getTimerCount()).toBe(0);
  },
);
