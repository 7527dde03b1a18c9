import { describe, expect, test } from 'vitest';
import { type Gateway, type GatewayOptions, memoryLedger } from '../../src/index.ts';
import type { ImageRequestOptions } from '../../src/images/wait-options.ts';
import { emulated } from '../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../helpers/fake-time.ts';
import { mediaHeads } from '../helpers/media.ts';
import { failFirst, modelsAsked } from '../helpers/models-asked.ts';

const params = { model: 'model-a', prompt: 'a boat' };
const fallback = ['model-b'];
const callId = 'boat-1';
const rejected = { type: 'error', status: 429 } as const;
const options: GatewayOptions = { maxRetries: 0 };

fakeWaitingTime();

type Make = (client: Gateway, options: ImageRequestOptions) => PromiseLike<object>;

const calls: readonly { operation: string; make: Make }[] = [
  { operation: 'images.generate', make: ({ images }, own) => images.generate(params, own) },
  {
    operation: 'images.edit',
    make: ({ images }, own) => images.edit({ ...params, image: mediaHeads.png }, own),
  },
];

describe.each(calls)('a ledger of $operation with fallbacks', ({ make }) => {
  const run = (client: Gateway, own: ImageRequestOptions) =>
    settle(Promise.resolve(make(client, own)));

  test('finds the task of the model that took it, in a later run without fallback', async () => {
    const { client, emulator } = emulated(options, { quirks: { imageTasks: 'list' } });
    failFirst(emulator, rejected);
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(first).toHaveProperty('value.data.0.url');
    expect(second).toEqual(first);
    expect(modelsAsked(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
    await expect(ledger.entry(callId)).resolves.toMatchObject({
      status: 'finished',
      ref: { model: 'model-b', callId },
    });
  });

  test('finds images without a task, and sends nothing', async () => {
    const { client, emulator } = emulated(options);
    failFirst(emulator, rejected);
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(first).toHaveProperty('value.data.0');
    expect(second).toMatchObject({
      error: { name: 'ImageWaitError', ref: { model: 'model-b', hasImages: true } },
    });
    expect(modelsAsked(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('knows that the next model may be charged, and does not submit again', async () => {
    const { client, emulator } = emulated(options);
    failFirst(emulator, rejected);
    const lost = emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(lost.hits).toBe(1);
    expect(first).toMatchObject({ error: { outcome: 'unknown' } });
    expect(second).toMatchObject({ error: { name: 'ImageSubmitUnknownError' } });
    expect(modelsAsked(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('settles the charge of the next model by its own request', async () => {
    const { client, emulator } = emulated(options);
    failFirst(emulator, rejected);
    emulator.fail({
      fault: { type: 'html', status: 200, charged: true },
      when: ({ method }) => method === 'POST',
    });
    const ledger = memoryLedger();

    await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId, onUnknown: 'settle' });

    expect(String(Object(second).error)).toMatch(
      /^ImageSubmitUnknownError: .* It is paid for, .*An entry of the usage log that names it/,
    );
    expect(modelsAsked(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('submits again if all models rejected it', async () => {
    const { client, emulator } = emulated(options);
    const fault = emulator.fail({ fault: rejected, times: 2 });
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(fault.hits).toBe(2);
    expect(first).toMatchObject({ error: { outcome: 'rejected' } });
    expect(second).toHaveProperty('value.data.0');
    expect(modelsAsked(emulator)).toEqual({
      requests: ['model-a', 'model-b', 'model-a'],
      charges: ['model-a'],
    });
  });
});
