import { expect, test } from 'vitest';
import { collect, emulated, failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { requestedModels } from '../../helpers/requested-models.ts';

const params = { model: 'model-a', messages: [{ role: 'user' as const, content: 'hi' }] };
const fallback = ['model-b', 'model-c', 'model-d'];

fakeWaitingTime();

test('timeout applies to each model, totalTimeout to all of them', async () => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  emulator.fail({ fault: { type: 'hang' }, times: Infinity });
  const started = performance.now();

  const end = await settle(
    client.chat.completions
      .create(params, { fallback, timeout: 4_000, totalTimeout: 10_000 })
      .catch((error: unknown) => ({ error, after: performance.now() - started })),
  );

  expect(end).toMatchObject({
    value: { after: 10_000, error: { name: 'APIConnectionTimeoutError', outcome: 'unknown' } },
  });
  expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b', 'model-c']);
});

test('totalTimeout of a stream counts from the first model', async () => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  emulator.fail({ fault: { type: 'stall-events', after: 0 }, times: Infinity });
  const started = performance.now();

  const end = await settle(
    client.chat.completions
      .create(
        { ...params, stream: true },
        { fallback, firstByteTimeout: 4_000, totalTimeout: 10_000 },
      )
      .catch((error: unknown) => ({ error, after: performance.now() - started })),
  );

  expect(end).toMatchObject({ value: { after: 10_000, error: { outcome: 'unknown' } } });
  expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b', 'model-c']);
});

test.each([
  [['timeout'], ['model-a', 'model-b']],
  [['overload'], ['model-a']],
] as const)('a stream without a first event is a time-out: %j', async (fallbackOn, models) => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  emulator.fail({ fault: { type: 'stall-events', after: 0 } });
  const options = { fallback, fallbackOn, firstByteTimeout: 4_000 };

  await settle<unknown>(
    client.chat.completions.create({ ...params, stream: true }, options).then(collect),
  );

  expect(requestedModels(emulator).requests).toEqual(models);
});

test('pauses between retries count towards the totalTimeout of the next model', async () => {
  const { client, emulator } = emulated({ maxRetries: 1 });
  emulator.fail({ fault: { type: 'rate-limit', retryAfter: 6 }, times: 2 });
  emulator.fail({ fault: { type: 'hang' }, times: Infinity });
  const started = performance.now();

  const end = await settle(
    client.chat.completions
      .create(params, { fallback, totalTimeout: 10_000 })
      .catch((error: unknown) => ({ error, after: performance.now() - started })),
  );

  expect(end).toMatchObject({ value: { after: 10_000, error: { outcome: 'unknown' } } });
  expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-a', 'model-b']);
});

test('an abort ends the call, and no other model is requested', async () => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  emulator.fail({ fault: { type: 'hang' }, times: Infinity });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 5_000);

  const end = await settle(
    failureOf(
      client.chat.completions.create(params, {
        fallback,
        timeout: 4_000,
        signal: controller.signal,
      }),
    ),
  );

  expect(end).toMatchObject({ value: { name: 'APIUserAbortError', outcome: 'unknown' } });
  expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b']);
});
