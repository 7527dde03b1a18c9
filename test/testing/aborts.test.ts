import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createEmulator } from '../../src/testing/index.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

/** Collects what only a promise that never settles would still hold. */
async function collect(): Promise<void> {
  if (typeof collectGarbage !== 'function') throw new TypeError('Missing gc');
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  Reflect.apply(collectGarbage, undefined, []);
}

test('the server detects a disconnect, also after garbage collection', async () => {
  await using emulator = createEmulator();
  const server = await emulator.listen();
  emulator.fail({ fault: { type: 'hang' } });
  const controller = new AbortController();
  const call = fetch(`${server.url}/v1/models`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
    signal: controller.signal,
  });
  await expect.poll(() => emulator.requests).toHaveLength(1);
  await collect();

  controller.abort();

  await expect(call).rejects.toThrow('aborted');
  await expect.poll(() => emulator.requests[0]?.disconnected).toBe(true);
});

test('an abort ends a call of the fetch function, also after garbage collection', async () => {
  const emulator = createEmulator();
  emulator.fail({ fault: { type: 'hang' } });
  const controller = new AbortController();
  const call = emulator.fetch('/v1/models', {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
    signal: controller.signal,
  });
  await collect();

  controller.abort(new Error('Enough'));

  await expect(call).rejects.toThrow('Enough');
});

test('an abort ends a body of the fetch function, also after garbage collection', async () => {
  const emulator = createEmulator();
  emulator.fail({ fault: { type: 'stall', bytes: 5 } });
  const controller = new AbortController();
  const response = await emulator.fetch('/v1/models', {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
    signal: controller.signal,
  });
  const reader = response.body?.getReader();
  await reader?.read();
  const next = reader?.read();
  await collect();

  controller.abort(new Error('Enough'));

  await expect(next).rejects.toThrow('Enough');
});
