import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, test } from 'vitest';
import { collect, emulated, failureOf } from '../../helpers/clients.ts';

const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] };

const channel = tracingChannel<object>('model-gateway:call');
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Writes down what the channel says, and when. */
function listen() {
  const seen: [event: string, message: object][] = [];
  const note = (event: string) => (message: object) => void seen.push([event, { ...message }]);
  const handlers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  };
  channel.subscribe(handlers);
  ends.push(() => channel.unsubscribe(handlers));
  return seen;
}

describe("Node's tracing channel model-gateway:call", () => {
  test('publishes a call, its attempts and its end', async () => {
    const seen = listen();
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 0 } });

    const answer = await client.chat.completions.create(ask, { callId: 'job-1' });
    await expect.poll(() => seen).toHaveLength(4);

    expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
    expect(seen[0]?.[1]).toMatchObject({
      operation: 'chat.completions.create',
      callId: 'job-1',
      model: 'gpt-4o-mini',
      stream: false,
    });
    expect(seen[3]?.[1]).toMatchObject({
      result: answer,
      end: { outcome: 'completed', usage: answer.usage },
      attempts: [
        { request: { attempt: 1 }, response: { status: 429 } },
        { request: { attempt: 2 }, response: { status: 200 } },
      ],
    });
  });

  test('publishes the end of a stream', async () => {
    const seen = listen();
    const { client } = emulated();

    const stream = await client.chat.completions.create({ ...ask, stream: true });
    expect(seen.map(([event]) => event)).toEqual(['start', 'end']);
    await collect(stream);
    await expect.poll(() => seen).toHaveLength(4);

    expect(seen[3]?.[1]).toMatchObject({ end: { outcome: 'completed' }, result: stream.partial });
  });

  test('publishes an error', async () => {
    const seen = listen();
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 400 } });

    const error = await failureOf(client.chat.completions.create(ask));
    await expect.poll(() => seen).toHaveLength(5);

    expect(seen.map(([event]) => event)).toContain('error');
    expect(seen.at(-1)?.[1]).toMatchObject({ error, end: { outcome: 'rejected' } });
  });

  test('runs the request within the store of a tracer', async () => {
    const storage = new AsyncLocalStorage<object>();
    channel.start.bindStore(storage, (message) => message);
    ends.push(() => void channel.start.unbindStore(storage));
    let within: object | undefined;
    const { client, emulator } = emulated();
    const watched = client.withOptions({
      fetch: (...given) => {
        within = storage.getStore();
        return emulator.fetch(...given);
      },
    });

    await watched.chat.completions.create(ask);

    expect(within).toMatchObject({ operation: 'chat.completions.create' });
  });
});
