// An option that a method accepts, but does not pass on to the requests that it makes, would vanish.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ChatWithRuns,
  createGateway,
  Embeddings,
  Generate,
  Images,
  Videos,
} from '../../src/core.ts';
import { memoryLedger, tool } from '../../src/index.ts';
import type { Policy } from '../../src/calls/transport.ts';
import type { Method } from '../../src/options/methods.ts';
import { isName, optionsOf } from '../../src/options/option-names.ts';
import policies from '../../src/policies/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { collect } from '../helpers/clients.ts';
import { resolved } from '../helpers/fake-time.ts';
import { untyped } from '../helpers/untyped.ts';
import { samplesOf } from './samples.ts';

/** Returns a valid value of each of these options, other than its default. */
const makeSamples = (names: readonly string[]): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(names.filter(isName).map((name) => [name, samplesOf(name).valid[0]])),
  ...(names.includes('ledger') && { ledger: memoryLedger() }),
});

type Part =
  | 'chat.completions.create'
  | 'generate.content'
  | 'embeddings.create'
  | 'images.generate'
  | 'videos.create'
  | 'videos.remix'
  | 'videos.retrieve';

/** The options of each request, by its operation. */
type Requests = Map<string, Readonly<Record<string, unknown>>[]>;

function recording() {
  const requests: Requests = new Map();
  const recorder: Policy = {
    name: 'withRecorder',
    options: [],
    asks: () => true,
    wrap: (next) => (request) => {
      const { operation } = request.spec;
      requests.set(operation, [...(requests.get(operation) ?? []), { ...request.call.options }]);
      return next(request);
    },
  };
  const emulator = createEmulator({ videoDuration: 0 });
  const { apiKey, baseURL, fetch } = emulator;
  const resources = {
    chat: ChatWithRuns,
    embeddings: Embeddings,
    generate: Generate,
    images: Images,
    videos: Videos,
  };
  const options = { apiKey, baseURL, fetch, logLevel: 'off' } as const;
  const client = createGateway(options, resources, [...policies, recorder]);
  return { client, emulator, requests };
}

type Client = ReturnType<typeof recording>['client'];

const order = { model: 'm-video', prompt: 'A boat' };
const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
const look = tool({ name: 'look', execute: () => 'a' });

interface Composed {
  readonly method: Method;
  readonly parts: readonly Part[];
  readonly call: (client: Client, options: never) => PromiseLike<unknown>;
  /** Options that the requests get with another value, and the reason. */
  readonly changed?: Readonly<Record<string, unknown>>;
  /** The same for the requests after the first. */
  readonly changedLater?: Readonly<Record<string, unknown>>;
}

/** Aborts reach the requests by a signal of the method, which ends its other requests too. */
const ownSignal = { signal: expect.any(AbortSignal) };

const rest: unknown = expect.any(Number);
const ofVideos = {
  // With a ledger, a stopped submission goes on.
  ...ownSignal,
  // That of the whole; `totalTimeout` of the requests is what remains of it.
  timeout: undefined,
  totalTimeout: rest,
  // Written into the body before the ledger is asked.
  extraBody: undefined,
};
/** Observers would take the polls for the submission. */
const ofPolls = { ...ownSignal, timeout: 30_000, totalTimeout: rest, callId: undefined };
const ofMany = { callId: 'job-1-0' };
/** The model stays the same, and another body needs another key. */
const ofTurns = { fallback: null, idempotencyKey: 'key-1-turn-2' };

const methods: readonly Composed[] = [
  {
    method: 'chat.completions.parse',
    parts: ['chat.completions.create'],
    call: ({ chat }, options) => chat.completions.parse(ask, options),
  },
  {
    method: 'chat.completions.stream',
    parts: ['chat.completions.create'],
    call: ({ chat }, options) => chat.completions.stream(ask, options).done(),
    changed: ownSignal,
  },
  {
    method: 'chat.completions.runTools',
    parts: ['chat.completions.create'],
    call: ({ chat }, options) =>
      chat.completions.runTools({ ...ask, tools: [look] }, options).done(),
    changed: ownSignal,
    changedLater: ofTurns,
  },
  {
    method: 'generate.runTools',
    parts: ['generate.content'],
    call: ({ generate }, options) =>
      generate.runTools({ model: 'm-flash', contents: 'Hi', functions: [look] }, options),
    changed: ownSignal,
    changedLater: ofTurns,
  },
  {
    method: 'embeddings.createMany',
    parts: ['embeddings.create'],
    call: ({ embeddings }, options) =>
      embeddings.createMany({ model: 'm-embedding', input: ['a', 'b'] }, options),
    changed: ofMany,
  },
  {
    method: 'images.generateMany',
    parts: ['images.generate'],
    call: ({ images }, options) =>
      collect(images.generateMany([{ model: 'm-image', prompt: 'A boat' }], options)),
    changed: { ...ofMany, ...ownSignal, onSubmitted: expect.any(Function), totalTimeout: rest },
  },
  {
    method: 'videos.createAndWait',
    parts: ['videos.create', 'videos.retrieve'],
    call: ({ videos }, options) => videos.createAndWait(order, options),
    changed: ofVideos,
  },
  {
    method: 'videos.remixAndWait',
    parts: ['videos.remix', 'videos.retrieve'],
    call: ({ videos }, options) =>
      videos.create(order).then((task) => videos.remixAndWait(task, { prompt: 'b' }, options)),
    changed: ofVideos,
  },
  {
    method: 'videos.createAndWaitAll',
    parts: ['videos.create', 'videos.retrieve'],
    call: ({ videos }, options) => collect(videos.createAndWaitAll([order], options)),
    changed: { ...ofVideos, ...ofMany },
  },
  {
    method: 'videos.wait',
    parts: ['videos.retrieve'],
    call: ({ videos }, options) => videos.create(order).then((task) => videos.wait(task, options)),
  },
  {
    method: 'videos.waitAll',
    parts: ['videos.retrieve'],
    call: ({ videos }, options) =>
      videos.create(order).then((task) => collect(videos.waitAll([task], options))),
  },
  {
    method: 'videos.watch',
    parts: ['videos.retrieve'],
    call: ({ videos }, options) =>
      videos.create(order).then((task) => collect(videos.watch(task, options))),
  },
  {
    method: 'videos.step',
    parts: ['videos.retrieve'],
    call: ({ videos }, options) =>
      videos.create(order).then((task) => videos.step(task, undefined, options)),
  },
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(methods)('$method()', ({ method, parts, call, changed, changedLater }) => {
  test.each(parts)('passes on to %s every option that both have', async (part) => {
    const { client, emulator, requests } = recording();
    const own = [...optionsOf(method).keys()].filter((name) => optionsOf(part).has(name));
    const named = makeSamples(own);

    await resolved(call(client, untyped<never>(named)));

    const sent = requests.get(part) ?? [];
    expect(sent.length).toBeGreaterThan(0);
    const isPoll = part === 'videos.retrieve';
    const ofPart = isPoll ? ofPolls : changed;
    for (const [index, request] of sent.entries()) {
      const later = index === 0 ? {} : changedLater;
      const expected: Readonly<Record<string, unknown>> = {
        ...named,
        ...ofPart,
        ...later,
      };
      for (const name of own) expect([name, request[name]]).toEqual([name, expected[name]]);
    }
    const bodies = emulator.requests.filter(({ operation }) => operation === part);
    expect(bodies.every(({ body }) => isPoll || JSON.stringify(body).includes('"note"'))).toBe(
      true,
    );
  });
});

describe.each(methods.filter(({ changedLater }) => changedLater !== undefined))(
  '$method()',
  ({ call }) => {
    test.each([
      [{ callId: 'job-1' }, ['job-1', 'job-1-turn-2']],
      [{ callId: 'jöb 1' }, ['jöb 1', 'j_b_1-turn-2']],
      [{ idempotencyKey: 'k'.repeat(255) }, ['k'.repeat(255), `${'k'.repeat(240)}-turn-2`]],
    ])('sends an idempotency key of its own with each request: %j', async (options, keys) => {
      const { client, emulator } = recording();
      const idempotency = { header: 'idempotency-key' };

      await resolved(call(client, untyped<never>({ ...options, idempotency })));

      expect(emulator.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(keys);
    });
  },
);
