import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Gateway } from '../../src/index.ts';
import { isBehaviour, startFaultyServer } from '../helpers/faulty-server.ts';
import { chunk, encode, usageChunk } from '../helpers/sse.ts';
import { endStreams } from '../helpers/stream-ends.ts';

const begun = encode(chunk({ role: 'assistant', content: 'Hel' }));

/** Rest of a body, by the name of the behaviour; `undefined` breaks it, `null` leaves it open. */
const rests: Readonly<Record<string, string | null | undefined>> = {
  whole: encode(chunk({}, 'stop'), usageChunk, '[DONE]'),
  ended: '',
  'error-event': encode({ error: { message: 'no' } }),
  garbled: 'data: {"ch\n\n',
  cut: undefined,
  silent: null,
};

/** A `fetch` that counts the bodies which are neither read to their end nor closed. */
function countBodies() {
  const open = new Set<AbortSignal>();
  const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { model } = Object(await request.json());
    const { signal } = request;
    const rest = rests[isBehaviour(String(model)) ? String(model) : 'whole'];
    open.add(signal);
    const bytes = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal.addEventListener('abort', () => {
          if (open.delete(signal)) controller.error(signal.reason);
        });
        controller.enqueue(bytes.encode(begun));
      },
      async pull(controller) {
        if (rest === null) {
          await new Promise(() => undefined);
        } else {
          open.delete(signal);
          if (rest === undefined) controller.error(new TypeError('terminated'));
          else if (rest !== '') controller.enqueue(bytes.encode(rest));
          if (rest !== undefined) controller.close();
        }
      },
      cancel: () => void open.delete(signal),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetch, open };
}

const warnings: string[] = [];
const note = (warning: Error): void => void warnings.push(warning.message);
beforeEach(() => process.on('warning', note));
afterEach(() => void process.off('warning', note));

// Ten thousand, on real sockets, take half a minute: test/extended/streams.ts.
test('six hundred streams leak no listener, timer or body', async () => {
  vi.useFakeTimers();
  const { fetch, open } = countBodies();
  const client = new Gateway({
    baseURL: 'https://gateway.test',
    apiKey: 'sk-test',
    logLevel: 'off',
    fetch,
  });

  const ending = endStreams(client, 630, 150);
  // Silent or unread streams end at their time limit.
  const state = { isOver: false };
  void ending.finally(() => Object.assign(state, { isOver: true }));
  while (!state.isOver) await vi.advanceTimersByTimeAsync(400_000);
  await vi.advanceTimersByTimeAsync(400_000);
  const { listeners, forgotten } = await ending;

  expect([listeners(), forgotten]).toEqual([0, 0]);
  expect(vi.getTimerCount()).toBe(0);
  expect(open.size).toBe(0);
  expect(warnings).toEqual([]);
  vi.useRealTimers();
});

test('streams on real sockets leave no connection behind', async () => {
  await using server = await startFaultyServer();
  const client = new Gateway({
    baseURL: server.url,
    apiKey: 'sk-test',
    logLevel: 'off',
    maxRetries: 0,
    idleTimeout: 100,
  });

  const { listeners, forgotten } = await endStreams(client, 300, 60);

  await expect.poll(() => server.open()).toBe(0);
  expect(server.requests()).toBe(300);
  expect([listeners(), forgotten]).toEqual([0, 0]);
  expect(warnings).toEqual([]);
});
