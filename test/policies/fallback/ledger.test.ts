import { describe, expect, test, vi } from 'vitest';
import { type Gateway, type GatewayOptions, memoryLedger } from '../../../src/index.ts';
import type { ImageRequestOptions } from '../../../src/resources/images/wait-options.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';

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

  test('finds the task of the accepting model in a later run without fallback', async () => {
    const { client, emulator } = emulated(options, { quirks: { imageTasks: 'list' } });
    failFirst(emulator, rejected);
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(first).toHaveProperty('value.data.0.url');
    expect(second).toEqual(first);
    expect(requestedModels(emulator)).toEqual({
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
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('a ledger does not submit again if the next model may be charged', async () => {
    const { client, emulator } = emulated(options);
    failFirst(emulator, rejected);
    const lost = emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId });

    expect(lost.hits).toBe(1);
    expect(first).toMatchObject({ error: { outcome: 'unknown' } });
    expect(second).toMatchObject({ error: { name: 'ImageSubmitUnknownError' } });
    expect(requestedModels(emulator)).toEqual({
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
      /^ImageSubmitUnknownError: .* It is paid for, .*The usage log has/,
    );
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test.for([true, false])(
    'names the fallback that answered, and not the one after it (task: %s)',
    async (isTask) => {
      const { client, emulator } = emulated(options, {
        quirks: isTask ? { imageTasks: 'list' } : {},
      });
      failFirst(emulator, rejected);
      const ledger = memoryLedger();

      await run(client, { ledger, callId, fallback: ['model-b', 'model-c'] });

      await expect(ledger.entry(callId)).resolves.toMatchObject({ ref: { model: 'model-b' } });
      expect(requestedModels(emulator)).toEqual({
        requests: ['model-a', 'model-b'],
        charges: ['model-b'],
      });
    },
  );

  test('names the model of the call if the next model was never requested', async () => {
    const perCall = { 'model-a': 0.01, 'model-b': 0.04 };
    const { client, emulator } = emulated({ ...options, budget: { limit: 0.03, perCall } });
    const fault = emulator.fail({ fault: rejected });
    const ledger = memoryLedger();

    const first = await run(client, { ledger, callId, fallback });
    const second = await run(client, { ledger, callId, fallback });

    expect(fault.hits).toBe(1);
    expect(first).toMatchObject({ error: { name: 'RateLimitError', outcome: 'rejected' } });
    expect(second).toHaveProperty('value.data.0');
    await expect(ledger.entry(callId)).resolves.toMatchObject({ ref: { model: 'model-a' } });
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-a'],
      charges: ['model-a'],
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
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b', 'model-a'],
      charges: ['model-a'],
    });
  });
});

describe('a ledger of videos.create with fallbacks', () => {
  const cut = { type: 'cut', bytes: 5 } as const;

  /** A video that a fallback took, whose response was lost, and a later run that asks the usage log. */
  const settleLater = async (model: string, own: GatewayOptions) => {
    const { client, emulator } = emulated(options, { quirks: { usageLogTaskIds: true } });
    const ledger = memoryLedger();
    if (own.fallback !== undefined) failFirst(emulator, rejected);
    const lost = emulator.fail({
      fault: cut,
      when: ({ body }) => JSON.stringify(body).includes('model-b'),
    });
    const first = await settle(
      failureOf(client.videos.create({ ...params, model }, { ledger, callId, ...own })),
    );
    expect(first).toMatchObject({ value: { outcome: 'unknown' } });
    expect(lost.hits).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    const { fetch, baseURL } = emulator;
    const later = emulated({ ...options, fetch, baseURL }).client;
    const second = await settle(
      later.videos
        .create({ ...params, model }, { ledger, callId, onUnknown: 'settle' })
        .then(({ ref }) => ref),
    );
    return { emulator, second, entry: await ledger.entry(callId) };
  };

  test('a ledger of videos.create with fallbacks names the accepting model after the usage log proved the charge', async () => {
    const { emulator, second, entry } = await settleLater('model-a', { fallback });

    expect(entry).toMatchObject({ ref: { model: 'model-b', callId } });
    expect(second).toMatchObject({ value: { model: 'model-b', callId } });
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('a ledger of videos.create with fallbacks names the fallback that answered, and not the one after it', async () => {
    const { client, emulator } = emulated(options);
    failFirst(emulator, rejected);
    const ledger = memoryLedger();

    const created = await settle(
      client.videos.create(params, { ledger, callId, fallback: ['model-b', 'model-c'] }),
    );

    expect(created).toHaveProperty('value.ref.model', 'model-b');
    await expect(ledger.entry(callId)).resolves.toMatchObject({ ref: { model: 'model-b' } });
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
  });

  test('a ledger of videos.create with fallbacks names the model that answered if its response is rejected and another model remains', async () => {
    const { client, requests } = scripted([json({ id: 'v-1', status: 5 })], {
      ...options,
      validation: 'strict',
    });
    const ledger = memoryLedger();

    const failed = await settle(
      failureOf(client.videos.create(params, { ledger, callId, fallback })),
    );

    expect(failed).toMatchObject({
      value: { name: 'VideoSubmitResponseError', ref: { id: 'v-1', model: 'model-a' } },
    });
    await expect(ledger.entry(callId)).resolves.toMatchObject({ ref: { model: 'model-a' } });
    expect(requests).toHaveLength(1);
  });

  test("a ledger of videos.create with fallbacks names the accepting model, also if the call's model is its prefix", async () => {
    const { entry } = await settleLater('model-a', { fallback: ['model-a-model-b'] });

    expect(entry).toMatchObject({ ref: { model: 'model-a-model-b' } });
  });

  test('a ledger of videos.create with fallbacks keeps the model of the call if the usage log has it under a longer name', async () => {
    const { entry } = await settleLater('vendor/model-b', {});

    expect(entry).toMatchObject({ ref: { model: 'vendor/model-b' } });
  });
});
