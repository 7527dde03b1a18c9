import { expect, test } from 'vitest';
import * as library from '../../src/index.ts';
import stored from '../fixtures/tasks/stored.json' with { type: 'json' };
import { submissions, submit } from '../fixtures/tasks/submissions.ts';
import { fakeWaitingTime, resolved } from '../helpers/fake-time.ts';

/*
 * Ledger entries and handles that an earlier build wrote, for images and for videos: see
 * `test/fixtures/tasks/write.ts`.
 */

fakeWaitingTime();

interface Entry {
  readonly callId: string;
  readonly inputHash: string;
  readonly end?: library.SubmitEnd;
  readonly ref?: library.TaskRef;
  readonly requestId?: string;
  readonly isErrorComplete?: boolean;
}

interface Result {
  readonly refs: readonly object[];
  readonly posts: number;
  readonly end: string;
}

const writtenResults: Readonly<Record<string, Result>> = stored.results;
const entries = Object.values(stored.files).map((text): Entry => JSON.parse(text));

/** A ledger with the stored entries. In memory, because timers are not real. */
async function storedLedger(hasEnds: boolean): Promise<library.SubmitLedger> {
  const ledger = library.memoryLedger();
  const enter = async ({ callId, inputHash, ref, end, requestId, isErrorComplete }: Entry) => {
    const { claimId } = { claimId: undefined, ...(await ledger.claim(callId, inputHash)) };
    if (ref !== undefined) await ledger.accept(callId, ref, claimId);
    if (end === undefined || (ref !== undefined && !hasEnds)) return;
    await ledger.finish(callId, end, { claimId, requestId, isErrorComplete });
  };
  await Promise.all(entries.map(enter));
  return ledger;
}

/** Leaves out the time, and digests of URLs, which handles of the first version lack. */
const comparable = (refs: readonly object[]): readonly object[] =>
  refs.map((ref) => ({ ...ref, createdAt: 0, sent: undefined }));

async function resubmit(ledger: library.SubmitLedger) {
  return resolved(submit(library, ledger));
}

test('stored calls have the digests of the same submissions', async () => {
  const inner = library.memoryLedger();
  const digests: Record<string, string> = {};
  const ledger: library.SubmitLedger = {
    ...inner,
    claim(callId, inputHash, replaces) {
      digests[callId] = inputHash;
      return inner.claim(callId, inputHash, replaces);
    },
  };
  const results = await resubmit(ledger);

  expect(digests).toEqual(
    Object.fromEntries(entries.map(({ callId, inputHash }) => [callId, inputHash])),
  );
  expect(Object.keys(results)).toEqual(Object.keys(submissions));
  for (const [callId, { refs, posts, end }] of Object.entries(writtenResults)) {
    expect(results[callId]).toMatchObject({ posts, end });
    expect(comparable(results[callId]?.refs ?? [])).toEqual(comparable(refs));
  }
});

test.each([
  ['that ended', true],
  ['whose wait was interrupted', false],
] as const)('stored calls %s are not submitted again', async (_, hasEnds) => {
  const ledger = await storedLedger(hasEnds);
  const results = await resubmit(ledger);

  for (const { callId, ref } of entries) {
    const before = writtenResults[callId];
    expect(results[callId]?.posts, callId).toBe(callId === 'rejected image' ? 1 : 0);
    if (ref === undefined || before === undefined || before.refs.length === 0) continue;
    expect(results[callId], callId).toMatchObject({ refs: before.refs, end: before.end });
  }
  expect(results).toMatchObject({
    'images without a task': { end: 'ImageWaitError' },
    'lost image': { end: 'ImageSubmitUnknownError' },
    'lost video': { end: 'VideoSubmitUnknownError' },
  });
});

test('stored handles are read unchanged and can be waited for', async () => {
  const refs = Object.values(writtenResults).flatMap((result) => result.refs);
  expect(refs.length).toBeGreaterThan(8);
  for (const ref of refs) {
    const parsed = library.parseTaskRef(ref);
    expect(parsed).toEqual(ref);
    const client = new library.Gateway({
      apiKey: 'sk-test',
      baseURL: parsed.baseURL,
      fetch: () =>
        Promise.resolve(
          Response.json({
            status: 'completed',
            id: parsed.id,
            data: [{ url: 'https://cdn.test' }],
          }),
        ),
    });
    const ended = parsed.kind === 'image' ? client.images.wait(parsed) : client.videos.wait(parsed);
    await resolved<unknown>(ended);
  }
});
