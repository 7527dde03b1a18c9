import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  GatewayError,
  memoryLedger,
  type SubmitLedger,
  VideoSubmitUnknownError,
  type VideoSubmitOptions,
} from '../../../src/index.ts';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import type { Fault } from '../../../src/testing/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { logEntry, withMoreEntries } from '../../helpers/usage-log.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const params = { model: 'm-video', prompt: 'A boat', seconds: 4 };
const callId = 'job-1';

/** An error that the gateway writes down as not charged. */
const failed: Fault = { type: 'error', status: 500 };
/** An answer that is lost: it is charged, and the request id is known. */
const cut: Fault = { type: 'cut', bytes: 5 };
/** The same, without a request id in the answer. */
const lost: Fault = { type: 'reset', when: 'after-charge' };
const nothing: Fault = { type: 'reset', when: 'before-charge' };

const ledgers: Readonly<Record<string, () => SubmitLedger | Promise<SubmitLedger>>> = {
  memory: memoryLedger,
  files: async () => fileLedger(await temporaryFolder()),
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const countSubmissions = ({ requests }: { requests: readonly { method: string }[] }): number =>
  requests.filter(({ method }) => method === 'POST').length;

describe.each(Object.entries(ledgers))('onUnknown: "settle" with a ledger in %s', (_, make) => {
  /** A submission that went wrong, and what the next attempt is made with. */
  async function wentWrong(
    fault: Fault,
    quirks = {},
    isNewProcess = true,
    addEntries?: (requestId: string | undefined) => readonly object[],
  ) {
    const setup = { quirks: { usageLogErrors: true, ...quirks } };
    const { client, emulator } = emulated({ maxRetries: 0 }, setup);
    const options: VideoSubmitOptions = { ledger: await make(), callId, onUnknown: 'settle' };
    emulator.fail({ fault });
    const error = await failureOf(client.videos.create(params, options));
    expect(error).toMatchObject({ outcome: 'unknown' });
    vi.advanceTimersByTime(10_000);
    const { baseURL } = emulator;
    const more = addEntries?.(emulator.requests[0]?.id) ?? [];
    const fetch = withMoreEntries(emulator, () => more);
    const next = isNewProcess ? emulated({ fetch, baseURL }).client : client.withOptions({ fetch });
    return { client: next, emulator, options };
  }

  test('submits again if the log proves no charge, and waits for the video', async () => {
    const { client, emulator, options } = await wentWrong(failed);
    emulator.videos.duration = 0;
    const video = await client.videos.createAndWait(params, { ...options, interval: 250 });
    expect(video.status).toBe('completed');
    expect(emulator.charges).toHaveLength(1);
    expect(countSubmissions(emulator)).toBe(2);
    expect(await options.ledger?.entry(callId)).toMatchObject({ refs: [{ id: video.id }] });
  });

  test('continues a charged task that the usage log names', async () => {
    const { client, emulator, options } = await wentWrong(cut, { usageLogTaskIds: true });
    emulator.videos.duration = 0;
    vi.advanceTimersByTime(10_000);
    const video = await client.videos.createAndWait(params, { ...options, interval: 250 });
    expect(video).toMatchObject({ id: emulator.charges[0]?.taskId, status: 'completed' });
    expect(emulator.charges).toHaveLength(1);
    expect(countSubmissions(emulator)).toBe(1);
    expect(await options.ledger?.entry(callId)).toMatchObject({ status: 'finished' });
  });

  test('submits again after a refund', async () => {
    const { client, emulator, options } = await wentWrong(cut, { usageLogTaskIds: true });
    emulator.videos.fail(emulator.charges[0]?.taskId ?? '');
    vi.advanceTimersByTime(10_000);
    const task = await client.videos.create(params, options);
    expect(emulator.charges.map(({ refundedAt }) => refundedAt === undefined)).toEqual([
      false,
      true,
    ]);
    expect(emulator.charges[1]?.taskId).toBe(task.id);
  });

  test.each([
    { when: 'it was charged, and the books do not name the task', fault: cut, quirks: {} },
    { when: 'the charge is lost without a request id', fault: lost, quirks: {} },
    {
      when: 'the request is lost before it was charged, without a trace',
      fault: nothing,
      quirks: {},
    },
    { when: 'the gateway writes no charges down', fault: cut, quirks: { usageLogCharges: false } },
    { when: 'the gateway writes no errors down', fault: failed, quirks: { usageLogErrors: false } },
    { when: 'the books lag behind', fault: failed, quirks: { usageLogDelay: 60_000 } },
    { when: 'the log no longer shows the entry', fault: failed, quirks: { usageLogEntries: 0 } },
    { when: 'the books may not be read now', fault: failed, quirks: { usageLogLimit: -1 } },
    { when: 'the gateway has no books', fault: failed, quirks: { accountRoutes: [] } },
  ] as const)('submits nothing and throws when $when', async ({ fault, quirks }) => {
    for (const isNewProcess of [true, false]) {
      const { client, emulator, options } = await wentWrong(fault, quirks, isNewProcess);
      const charged = emulator.charges.length;
      for (let attempt = 0; attempt < 3; attempt += 1) {
        vi.advanceTimersByTime(10_000);
        const error = await failureOf(
          client.videos.createAndWait(params, { ...options, interval: 250 }),
        );
        expect(error).toBeInstanceOf(VideoSubmitUnknownError);
        expect(error).toMatchObject({ isInProgress: false, outcome: 'unknown' });
      }
      expect(countSubmissions(emulator)).toBe(1);
      expect(emulator.charges).toHaveLength(charged);
      expect(await options.ledger?.entry(callId)).toMatchObject({ status: 'unknown' });
    }
  });

  test.each([
    {
      when: 'a failure of one channel, and the success was cut',
      fault: cut,
      fields: { type: 5, quota: 0 },
    },
    { when: 'a type that only forks have', fault: failed, fields: { type: 7, quota: 100 } },
    { when: 'a type as text', fault: failed, fields: { type: '2', quota: 100 } },
    { when: 'no type', fault: failed, fields: { quota: 100 } },
    { when: 'a failure with an amount', fault: failed, fields: { type: 5, quota: 100 } },
    {
      when: 'a charge of 0, which may follow when the video is done',
      fault: failed,
      fields: { type: 2, quota: 0 },
    },
  ] as const)('submits nothing and throws when the log has $when', async ({ fault, fields }) => {
    for (const isNewProcess of [true, false]) {
      const quirks = fault === cut ? { usageLogDelay: 3_600_000 } : {};
      const { client, emulator, options } = await wentWrong(
        fault,
        quirks,
        isNewProcess,
        (request_id) => [logEntry({ model_name: 'm-video', ...fields, request_id })],
      );
      vi.advanceTimersByTime(60_000);
      const error = await failureOf(client.videos.create(params, options));
      expect(error).toBeInstanceOf(VideoSubmitUnknownError);
      expect(countSubmissions(emulator)).toBe(1);
      expect(await options.ledger?.entry(callId)).toMatchObject({ status: 'unknown' });
    }
  });

  test('submits once when ten workers settle at the same time', async () => {
    const { client, emulator, options } = await wentWrong(failed);
    const ends = await Promise.all(
      Array.from({ length: 10 }, () =>
        client.videos.create(params, options).then(
          ({ id }) => id,
          (error: unknown) => (GatewayError.isInstance(error) ? error.outcome : error),
        ),
      ),
    );
    expect(emulator.charges).toHaveLength(1);
    expect(countSubmissions(emulator)).toBe(2);
    expect(ends.every((end) => end === 'unknown' || end === emulator.charges[0]?.taskId)).toBe(
      true,
    );
  });

  test('keeps a claim whose earlier attempt is in doubt', async () => {
    const { client, emulator, options } = await wentWrong(lost);
    emulator.fail({ fault: failed });
    const again = { ...options, onUnknown: 'resubmit' } as const;
    expect(await failureOf(client.videos.create(params, again))).toMatchObject({
      outcome: 'unknown',
    });
    vi.advanceTimersByTime(10_000);
    // The second claim was not charged, but the first may have been.
    expect(await failureOf(client.videos.create(params, options))).toBeInstanceOf(
      VideoSubmitUnknownError,
    );
    expect(countSubmissions(emulator)).toBe(2);
    expect(emulator.charges).toHaveLength(1);
  });
});

test('the log about one of several requests of a call proves nothing about the others', async () => {
  const { client, emulator } = emulated({ maxRetries: 1 }, { quirks: { usageLogErrors: true } });
  const options = { ledger: memoryLedger(), callId, onUnknown: 'settle' } as const;
  const busy: Fault = { type: 'error', status: 429, headers: { 'retry-after-ms': '1' } };
  emulator.fail({ fault: busy, times: 1 });
  emulator.fail({ fault: lost, times: 1 });

  const first = await failureOf(client.videos.create(params, options));
  vi.advanceTimersByTime(10_000);
  const { fetch, baseURL } = emulator;
  const again = await failureOf(emulated({ fetch, baseURL }).client.videos.create(params, options));

  expect(first).toMatchObject({ evidence: { attempts: [{ status: 429 }, { phase: 'sent' }] } });
  expect(again).toBeInstanceOf(VideoSubmitUnknownError);
  expect(countSubmissions(emulator)).toBe(2);
  expect(emulator.charges).toHaveLength(1);
});

test('a ledger without request ids settles by the ids in memory', async () => {
  const inner = memoryLedger();
  const ledger: SubmitLedger = {
    claim: (...asked) => inner.claim(...asked),
    accept: (...told) => inner.accept(...told),
    finish: (id, end, details) => inner.finish(id, end, { claimId: details?.claimId }),
    entry: (id) => inner.entry(id),
  };
  const { client, emulator } = emulated({ maxRetries: 0 }, { quirks: { usageLogErrors: true } });
  const options = { ledger, callId, onUnknown: 'settle' } as const;
  emulator.fail({ fault: failed });
  await failureOf(client.videos.create(params, options));
  vi.advanceTimersByTime(10_000);
  const task = await client.videos.create(params, options);
  expect(emulator.charges).toMatchObject([{ taskId: task.id }]);
});

test('a ledger of an older version does not release a submission', async () => {
  const inner = memoryLedger();
  const ledger: SubmitLedger = {
    claim: (...asked) => inner.claim(...asked),
    accept: (...told) => inner.accept(...told),
    finish(id, end, { claimId, requestId } = {}) {
      return inner.finish(id, end, { claimId, requestId });
    },
    entry: (id) => inner.entry(id),
  };
  const { client, emulator } = emulated({ maxRetries: 0 }, { quirks: { usageLogErrors: true } });
  const options = { ledger, callId, onUnknown: 'settle' } as const;
  emulator.fail({ fault: failed });
  await failureOf(client.videos.create(params, options));
  vi.advanceTimersByTime(10_000);
  const { fetch, baseURL } = emulator;
  const next = emulated({ fetch, baseURL }).client;
  expect(await failureOf(next.videos.create(params, options))).toBeInstanceOf(
    VideoSubmitUnknownError,
  );
  expect(countSubmissions(emulator)).toBe(1);
});
