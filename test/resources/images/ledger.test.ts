import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { memoryLedger, type SubmitLedger } from '../../../src/tasks/ledger.ts';
import { parseTaskRef } from '../../../src/tasks/ref.ts';
import { emulated } from '../../helpers/clients.ts';
import { fakeWaitingTime, resolved, settle } from '../../helpers/fake-time.ts';

const order = { model: 'm-image', prompt: 'A paper boat', size: '16x16' };
const callId = 'poster-7';

fakeWaitingTime();

const posts = ({ requests }: { readonly requests: readonly { readonly method: string }[] }) =>
  requests.filter(({ method }) => method === 'POST').length;

describe('images with a ledger', () => {
  test('continues an interrupted wait', async () => {
    const { client, emulator } = emulated({}, { quirks: { imageTasks: 'data' } });
    const options = { ledger: memoryLedger(), callId };

    const first = await settle(
      client.images.edit(
        { ...order, image: 'https://a.test/a.png' },
        { ...options, taskTimeout: 1 },
      ),
    );
    const second = await settle(
      client.images.edit({ ...order, image: 'https://a.test/a.png' }, options),
    );

    expect(first).toHaveProperty('error.name', 'ImageWaitTimeoutError');
    expect(second).toHaveProperty('value.data.0.url');
    expect(posts(emulator)).toBe(1);
  });

  test('images without a task are not charged twice, and the error reports the earlier response', async () => {
    const { client, emulator } = emulated();
    const ledger = memoryLedger();

    const first = await settle(client.images.generate(order, { ledger, callId }));
    const second = await settle(client.images.generate(order, { ledger, callId }));

    expect(first).toHaveProperty('value.data.0.url');
    expect(second).toHaveProperty('error.name', 'ImageWaitError');
    expect(second).toHaveProperty('error.ref.hasImages', true);
    expect(posts(emulator)).toBe(1);
    await expect(ledger.entry(callId)).resolves.toMatchObject({ status: 'finished' });
  });

  test.each(['none', 'list'] as const)(
    'images are returned even if the ledger fails to record them (task: %s)',
    async (imageTasks) => {
      const { client, emulator } = emulated({}, { quirks: { imageTasks } });
      const ledger: SubmitLedger = {
        ...memoryLedger(),
        accept: () => Promise.reject(new Error('disk full')),
      };

      const images = await resolved(client.images.generate(order, { ledger, callId }));

      expect(images.data[0]?.url).toBeDefined();
      expect(images._ledger_error).toMatchObject({ name: 'LedgerError', outcome: 'unknown' });
      expect(posts(emulator)).toBe(1);
    },
  );

  test.each(['none', 'list'] as const)(
    'images are returned even if the ledger hangs in accept() (task: %s)',
    async (imageTasks) => {
      const { client } = emulated({}, { quirks: { imageTasks } });
      const ledger: SubmitLedger = { ...memoryLedger(), accept: () => new Promise(() => {}) };
      const options = { ledger, callId, totalTimeout: 60_000 };
      const limit = imageTasks === 'none' ? undefined : 'ImageWaitTimeoutError';

      const end = await settle(client.images.generate(order, options), 90);

      // A task that was accepted is not polled any more after the limit, but the error has its handle.
      expect(end.error).toEqual(limit && expect.objectContaining({ name: limit }));
      if (end.value !== undefined) expect(end.value._ledger_error?.outcome).toBe('unknown');
    },
  );

  test('images are returned if an abort ends a pending accept()', async () => {
    const { client, emulator } = emulated();
    const ledger: SubmitLedger = { ...memoryLedger(), accept: () => new Promise(() => {}) };
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1_000);
    const { signal } = controller;

    const images = await resolved(client.images.generate(order, { ledger, callId, signal }));

    expect(images.data[0]?.url).toBeDefined();
    expect(posts(emulator)).toBe(1);
  });

  test('the call id of a video is rejected', async () => {
    const { client, emulator } = emulated();
    const options = { ledger: memoryLedger(), callId };
    await settle(client.videos.create({ model: 'm-video', prompt: 'A kite' }, options));

    const end = await settle(client.images.generate(order, options));

    expect(end).toHaveProperty('error.field', 'callId');
    expect(posts(emulator)).toBe(1);
  });

  test('generateMany() stores each call under its own id', async () => {
    const { client, emulator } = emulated({}, { quirks: { imageTasks: 'list' } });
    const ledger = memoryLedger();
    const make = async (): Promise<number> => {
      let count = 0;
      const params = [order, { ...order, prompt: 'A kite' }];
      for await (const { images } of client.images.generateMany(params, { ledger, callId })) {
        count += images?.data.length ?? 0;
      }
      return count;
    };

    await expect(settle(make())).resolves.toEqual({ value: 2 });
    await expect(settle(make())).resolves.toEqual({ value: 2 });
    expect(posts(emulator)).toBe(2);
  });

  test('onUnknown: "settle" does not submit charged images again', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    emulator.fail({
      operation: 'images.generate',
      fault: { type: 'reset', when: 'after-charge' },
    });
    const options = { ledger: memoryLedger(), callId, onUnknown: 'settle' } as const;
    await settle(client.images.generate(order, options));

    const end = await settle(client.images.generate(order, options));

    expect(end).toHaveProperty('error.name', 'ImageSubmitUnknownError');
    expect(posts(emulator)).toBe(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a handle is stored in files', async () => {
    vi.useRealTimers();
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-images-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const ref = {
      v: 1,
      kind: 'image',
      id: 't-1',
      baseURL: 'https://gateway.test',
      createdAt: 1,
      path: '/v1/tasks/{id}',
      ids: ['t-1', 't-2'],
    } as const;
    const ledger = fileLedger(folder);
    const claim = await ledger.claim(callId, 'hash');
    const claimId = claim.status === 'claimed' ? claim.claimId : undefined;

    await ledger.accept(callId, parseTaskRef(ref), claimId);

    await expect(fileLedger(folder).entry(callId)).resolves.toHaveProperty('ref', ref);
    vi.useFakeTimers();
  });
});
