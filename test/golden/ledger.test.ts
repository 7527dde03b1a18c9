import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  memoryLedger,
  parseVideoTaskRef,
  type Gateway,
  type SubmitLedger,
  type VideoSubmitOptions,
} from '../../src/index.ts';
import { fileLedger } from '../../src/adapters/node/index.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import stored from './stored/0.1.0.json' with { type: 'json' };
import { clientFor, expectGolden, inSequence, inWords, toJSON, withAdvice } from './support.ts';

// Stored entries contain the time. Timers are real, because files need them.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

const png = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47])], 'a.png');
const order = { model: 'm-video', prompt: 'A paper boat' };

type Submission = (client: Gateway, options: VideoSubmitOptions) => PromiseLike<unknown>;

/** Submissions by call id, with all fields that distinguish them. */
const submissions: Readonly<Record<string, Submission>> = {
  plain: ({ videos }, options) => videos.create(order, options),
  json: ({ videos }, options) => videos.create(order, { ...options, bodyFormat: 'json' }),
  settings: ({ videos }, options) =>
    videos.create(
      { ...order, seconds: 8, size: '1280x720', metadata: { seed: 1, style: { b: 2, a: [1] } } },
      options,
    ),
  reference: ({ videos }, options) =>
    videos.create({ ...order, input_reference: 'https://cdn.test/a.png' }, options),
  object: ({ videos }, options) =>
    videos.create({ ...order, input_reference: { image_url: 'https://cdn.test/a.png' } }, options),
  image: ({ videos }, options) =>
    videos.create({ ...order, image: 'data:image/png;base64,AAAA' }, options),
  images: ({ videos }, options) =>
    videos.create(
      { ...order, images: ['https://cdn.test/a.png', 'https://cdn.test/b.png'] },
      options,
    ),
  file: ({ videos }, options) => videos.create({ ...order, input_reference: png }, options),
  files: ({ videos }, options) => videos.create({ ...order, images: [png, png] }, options),
  extra: ({ videos }, options) =>
    videos.create(order, { ...options, extraBody: { fps: 24, prompt: 'A ship' } }),
  remix: ({ videos }, options) => videos.remix('task_0', { prompt: 'At night' }, options),
  'Grüße 世界': ({ videos }, options) => videos.create(order, options),
  'half a pair \uD800': ({ videos }, options) => videos.create(order, options),
};

const plainly = submissions['plain'] ?? (() => Promise.reject(new Error('There is none.')));
const refusal = () => Response.json({ error: { message: 'No', code: 'x' } }, { status: 400 });
const page = () => new Response('<html></html>', { status: 502 });

/** Every outcome of a submission, stored in a ledger. */
async function fill(ledger: SubmitLedger): Promise<void> {
  await inSequence(Object.entries(submissions), async ([callId, submit]) => {
    const { client } = clientFor(() =>
      Response.json({ id: `task of ${callId}`.replace(/[^ \w]/g, ''), status: 'queued' }),
    );
    await submit(client, { ledger, callId });
  });
  const claim = await ledger.claim('plain', '');
  const inputHash = claim.status === 'claimed' ? '' : claim.inputHash;
  const ends: Readonly<Record<string, () => Promise<unknown>>> = {
    refused: async () => plainly(clientFor(refusal).client, { ledger, callId: 'refused' }),
    unknown: async () => plainly(clientFor(page).client, { ledger, callId: 'unknown' }),
    killed: () => ledger.claim('killed', inputHash),
    'taken over': async () => {
      const options = { ledger, callId: 'taken over' };
      await Promise.resolve(plainly(clientFor(page).client, options)).catch(() => undefined);
      const { client } = clientFor(() => Response.json({ id: 'task_2', status: 'queued' }));
      await plainly(client, { ...options, onUnknown: 'resubmit' });
    },
    completed: async () => {
      await ledger.claim('completed', inputHash);
      await ledger.accept('completed', ref);
      await ledger.finish('completed', 'completed');
    },
    failed: async () => {
      await ledger.claim('failed', inputHash);
      await ledger.accept('failed', ref);
      await ledger.finish('failed', 'failed');
    },
  };
  await inSequence(Object.values(ends), (end) => end().catch(() => undefined));
}

const ref = parseVideoTaskRef({
  v: 1,
  kind: 'video',
  id: 'task_1',
  route: { type: 'openai' },
  baseURL: 'https://gateway.test',
  createdAt: 1_790_000_123_000,
});

const mask = (text: string): string =>
  text
    .replaceAll(/"owner":\{"host":"\w+","pid":\d+,"start":"\w*"\}/g, '"owner":(this process)')
    .replaceAll(/"claimId":"\w+"/g, '"claimId":(one)')
    .replaceAll(/"id":"[\da-f]{12}"/g, '"id":(random)');

test('stored entries have the recorded form', async () => {
  const folder = await temporaryFolder();
  await fill(fileLedger(folder));

  const found = await readdir(folder, { recursive: true });
  const names = found.filter((name) => name.endsWith('.json')).toSorted();
  const files = await inSequence(names, async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    return `${name}\n  ${mask(text)}\n`;
  });
  await expectGolden(
    'ledger.txt',
    'The files of a ledger that this version writes.',
    files.join(''),
  );
});

/** Claims every call again, and describes the results. */
async function describeLedger(ledger: SubmitLedger): Promise<string> {
  const others = ['refused', 'unknown', 'killed', 'taken over', 'completed', 'failed', 'new'];
  const calls: [string, Submission][] = others.map((callId) => [callId, plainly]);
  const claims = await inSequence([...Object.keys(submissions), ...others], async (callId) => {
    if (callId === 'refused' || callId === 'new') return '';
    return `${callId}: ${mask(toJSON(await ledger.claim(callId, 'f'.repeat(64))))}\n`;
  });
  const again = await inSequence(
    [...Object.entries(submissions), ...calls],
    async ([callId, submit]) => {
      const asked: string[] = [];
      const { client, sent } = clientFor(({ url }) => {
        asked.push(new URL(url).pathname);
        return Response.json({ id: 'task_9', status: 'in_progress' });
      });
      const given = await Promise.resolve(submit(client, { ledger, callId })).then(
        (task) => `${Object(task).id}, ${Object(task).status}`,
        (error: unknown) => `${inWords(error)} ${Object(error).field ?? ''}`.trim(),
      );
      return `${callId}: ${given}, ${['not sent', ...asked][sent.count] ?? asked.join(' ')}\n`;
    },
  );
  return `What its entries say\n${claims.join('')}\nWhat becomes of the same submissions\n${again.join('')}`;
}

/** The files of ledgers by version. New versions add theirs. */
const versions = [['0.1.0', stored.ledger]] as const;

test.each(versions)(
  'entries that version %s stored have the recorded readings',
  async (version, files) => {
    const folder = await temporaryFolder();
    await inSequence(Object.entries(files), ([name, text]) => writeFile(join(folder, name), text));

    const text = await describeLedger(fileLedger(folder));
    const about = `What this version reads in a ledger that version ${version} has written.`;
    await expectGolden(
      `ledger-${version}.txt`,
      about,
      withAdvice(text.replaceAll('\uD800', '\\uD800')),
    );
  },
);

test('a ledger in memory says the same as one of files', async () => {
  const [inMemory, ofFiles] = [memoryLedger(), fileLedger(await temporaryFolder())];
  await inSequence([inMemory, ofFiles], fill);

  expect(await describeLedger(inMemory)).toBe(await describeLedger(ofFiles));
});
