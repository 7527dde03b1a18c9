import { APIError, Gateway, InvalidInputError } from 'model-gateway';
import { assert, caughtFrom, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor, fresh, type Remote } from '../harness/emulator.ts';
import { engines } from '../harness/world.ts';
import { pngBytes } from './media.ts';

const messages = [{ role: 'user' as const, content: 'Say hello' }];
const video = { model: 'm-video', prompt: 'A boat' };

/** Violations of the page's content security policy since it was opened. */
function violations(): string[] {
  const found: unknown = Reflect.get(globalThis, 'violations');
  return Array.isArray(found) ? found.map(String) : ['They are not recorded'];
}

/** Has the page stopped by the program that opened it. No line runs meanwhile. */
async function standStill(milliseconds: number): Promise<void> {
  const stop: unknown = Reflect.get(globalThis, 'standStill');
  if (typeof stop !== 'function') throw new TypeError('The page cannot be stopped');
  await Reflect.apply(stop, undefined, [milliseconds]);
}

/** Runs timers at most once a second, as browsers do in tabs that are hidden. */
function slowTimers(): () => void {
  const { setTimeout: original } = globalThis;
  const slow = (handler: () => void, milliseconds = 0): ReturnType<typeof original> =>
    original(handler, Math.max(1_000, milliseconds));
  Reflect.set(globalThis, 'setTimeout', slow);
  return () => Reflect.set(globalThis, 'setTimeout', original);
}

async function countPolls(remote: Remote): Promise<number> {
  const requests = await remote.requests();
  return requests.filter(({ operation }) => operation === 'videos.retrieve').length;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Checks for pages only. */
export const browserChecks: readonly Check[] = [
  {
    name: 'preflights ask for authorization and content-type, and for nothing else',
    only: engines,
    async run(world) {
      const { client, remote } = await fresh(world);
      await client.models.list();
      await client.chat.completions.create({ model: 'm-large', messages });
      const stream = await client.chat.completions.create({
        model: 'm-large',
        messages,
        stream: true,
      });
      for await (const chunk of stream) assert(chunk.choices.length >= 0, 'Not a chunk');
      await client.images.generate({ model: 'm-image', prompt: 'A red circle' });
      const image = new Blob([pngBytes()]);
      await client.images.edit({ model: 'm-image', prompt: 'A hat', image });
      const speech = await client.audio.speech.create({ model: 'm-speech', input: 'Hello' });
      await speech.arrayBuffer();
      const task = await client.videos.create(video);
      await client.videos.retrieve(task.id);
      const asked = (await remote.preflights()).map(
        ({ method, headers }) => `${method} ${headers.join(',')}`,
      );
      equal(
        asked,
        [
          'GET authorization',
          'POST authorization,content-type',
          'POST authorization,content-type',
          'POST authorization,content-type',
          // The type of a form needs no leave, and neither does `accept`.
          'POST authorization',
          'POST authorization,content-type',
          'POST authorization',
          'GET authorization',
        ],
        'preflights',
      );
    },
  },
  {
    name: 'a plain key is refused in a page unless it is allowed',
    only: engines,
    async run(world) {
      const options = { baseURL: world.emulator, apiKey: world.apiKey };
      const error = await rejects(() => new Gateway(options), InvalidInputError);
      equal(error.field, 'apiKey', 'field');
      assert(!error.message.includes(world.apiKey), 'The key is in the message');
      await new Gateway({ ...options, dangerouslyAllowBrowser: true }).models.list();
      await clientFor(world).models.list();
    },
  },
  {
    name: 'a plain key needs no leave outside of pages',
    only: ['node', 'bun', 'deno', 'workerd'],
    async run(world) {
      await new Gateway({ baseURL: world.emulator, apiKey: world.apiKey }).models.list();
    },
  },
  {
    name: 'the answer of another origin shows no request id, but its error does',
    only: engines,
    async run(world) {
      const { client } = await fresh(world);
      const { response } = await client.models.list().withResponse();
      equal(response.headers.get('x-oneapi-request-id'), null, 'the header');
      const stranger = client.withOptions({ apiKey: () => 'sk-stranger' });
      const error = await rejects(stranger.models.list(), APIError);
      assert(error.requestID !== undefined, `The error has no request id: ${error.message}`);
      assert(error.message.includes(error.requestID), 'Its request id is not that of the message');
    },
  },
  {
    name: 'a tab with slow timers, which then stands still, goes on with a video, without a burst',
    only: engines,
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.clock({ hold: true });
      const restoreTimers = slowTimers();
      try {
        const waiting = client.videos.createAndWait(video, { interval: 250, pollTimeout: 3_000 });
        waiting.catch(() => {});
        await pause(2_500);
        const before = await countPolls(remote);
        await standStill(4_000);
        const after = await countPolls(remote);
        await remote.clock({ advance: 60_000 });
        const task = await waiting;
        equal(task.status, 'completed', 'status');
        assert(before >= 1 && before <= 3, `There were ${before} polls with slow timers`);
        assert(after - before <= 2, `There were ${after - before} polls after it stood still`);
        return `${before} polls, then ${after - before}`;
      } finally {
        restoreTimers();
      }
    },
  },
  {
    name: 'nothing of this breaks a strict content security policy',
    only: engines,
    async run() {
      equal(violations(), [], 'violations');
      // Messages from the parent bypass the page's policy, and so does everything after them.
      await pause(10);
      const error = await caughtFrom(() => Reflect.construct(Function, ['return 1']));
      assert(error instanceof EvalError, 'The page may make code, so nothing was proved');
    },
  },
];
