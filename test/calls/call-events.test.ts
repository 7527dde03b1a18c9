import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Chat } from '../../src/resources/chat/chat.ts';
import type { Listener, RequestEvents } from '../../src/calls/events.ts';
import { resolveSettings } from '../../src/calls/settings.ts';
import { type Subscriber, Transport } from '../../src/calls/transport.ts';
import { collect, eventStream, failureOf, json } from '../helpers/clients.ts';

const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] };
const choice = { index: 0, finish_reason: 'stop' };
const completion = json({ choices: [{ ...choice, message: { content: 'Hi' } }] });
const chunks = eventStream({ choices: [{ ...choice, delta: { content: 'Hi' } }] }, '[DONE]');
const limited = () => new Response('', { status: 429, headers: { 'retry-after-ms': '1000' } });
const broken = () => Response.json({ error: { message: 'broken' } }, { status: 400 });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const names: readonly (keyof RequestEvents)[] = [
  'sent',
  'answered',
  'failed',
  'retrying',
  'gaveUp',
  'reading',
  'chunk',
  'streamEnded',
  'ended',
];

/** Returns a chat whose requests get these answers, and its events in order. */
function chatWith(answers: readonly (() => Response)[], own: readonly Subscriber[] = []) {
  const events: string[] = [];
  const subscribe: Subscriber = () => {
    const handlers = names.map((name) => [name, () => void events.push(name)]);
    const listener: Listener = Object.fromEntries(handlers);
    return listener;
  };
  const fetch = vi.fn(async () => answers[fetch.mock.calls.length - 1]?.() ?? Response.error());
  const settings = resolveSettings({ apiKey: 'sk-test', baseURL: 'https://gateway.test', fetch });
  const transport = new Transport(settings, {
    subscribers: [subscribe, ...own],
    policies: [],
    missing: new Map(),
  });
  const { completions } = new Chat(() => transport);
  return { completions, events, fetch };
}

test('a retried call emits the events of each attempt, and ends once', async () => {
  const { completions, events } = chatWith([limited, completion]);

  const answer = completions.create(ask);
  await vi.advanceTimersByTimeAsync(1_500);
  await answer;

  const first = ['sent', 'failed', 'retrying'];
  expect(events).toEqual([...first, 'sent', 'answered', 'reading', 'reading', 'ended']);
});

test.each([
  ['a whole response', completion],
  ['a stream in place of it', chunks],
])('a call that is awaited after asResponse() ends once: %s', async (_, respond) => {
  const { completions, events } = chatWith([respond]);
  const answer = completions.create(ask);

  await answer.asResponse();
  await answer;

  expect(events.filter((name) => name === 'ended')).toHaveLength(1);
});

test('a failed call emits its error, and ends', async () => {
  const { completions, events } = chatWith([broken]);

  await failureOf(completions.create(ask));

  expect(events).toEqual(['sent', 'failed', 'gaveUp', 'ended']);
});

test('a stream emits its first chunk and its end', async () => {
  const { completions, events } = chatWith([chunks]);

  await collect(await completions.create({ ...ask, stream: true }));

  expect(events.filter((name) => name !== 'reading')).toEqual([
    'sent',
    'answered',
    'chunk',
    'streamEnded',
    'ended',
  ]);
});

test('a call that beforeRequest rejects is not sent, and ends', async () => {
  const refusal = new Error('refused');
  const beforeRequest = () => Promise.reject(refusal);
  const { completions, events, fetch } = chatWith([completion], [() => ({ beforeRequest })]);

  expect(await failureOf(completions.create(ask))).toBe(refusal);

  expect(fetch).not.toHaveBeenCalled();
  expect(events).toEqual(['ended']);
});

test('beforeRequest is awaited before the first attempt, and not before a retry', async () => {
  let allow: (() => void) | undefined;
  const allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  const beforeRequest = vi.fn(() => allowed);
  const { completions, fetch } = chatWith([limited, completion], [() => ({ beforeRequest })]);

  const answer = completions.create(ask);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(fetch).not.toHaveBeenCalled();
  allow?.();
  await vi.advanceTimersByTimeAsync(5_000);
  await answer;

  expect(fetch).toHaveBeenCalledTimes(2);
  expect(beforeRequest).toHaveBeenCalledTimes(1);
});

test('a call is sent even if its subscriber returns nothing', async () => {
  const { completions, fetch } = chatWith([completion], [() => undefined]);

  await completions.create(ask);

  expect(fetch).toHaveBeenCalledTimes(1);
});

test('contexts of later subscribers enclose those of earlier ones, and the call is sent once', async () => {
  const order: string[] = [];
  const inContext = (name: string): Subscriber => {
    const listener: Listener = {
      run(work) {
        order.push(name);
        return work();
      },
    };
    return () => listener;
  };
  const subscribers = [inContext('inner'), inContext('outer')];
  const { completions, fetch } = chatWith([completion], subscribers);

  await completions.create(ask);

  expect(order).toEqual(['outer', 'inner']);
  expect(fetch).toHaveBeenCalledTimes(1);
});
