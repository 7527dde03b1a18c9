import { APIUserAbortError, VideoWaitAbortedError } from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh } from '../harness/emulator.ts';

const chat = {
  model: 'm-large',
  messages: [{ role: 'user' as const, content: 'Tell me a [long] story' }],
};
const image = { model: 'm-image', prompt: 'A red circle' };

function abortAfter(milliseconds: number): AbortController {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('Enough')), milliseconds);
  return controller;
}

/** Checks for calls that the caller aborts. */
export const abortChecks: readonly Check[] = [
  {
    name: 'a signal that was aborted before keeps the call from being sent',
    async run(world) {
      const { client, remote } = await fresh(world);
      const signal = AbortSignal.abort();
      const error = await rejects(client.images.generate(image, { signal }), APIUserAbortError);
      equal(error.outcome, 'not_sent', 'outcome');
      equal((await remote.requests()).length, 0, 'requests');
    },
  },
  {
    name: 'an abort while the answer is awaited ends the call at once, unknown',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'hang', charged: true });
      const { signal } = abortAfter(200);
      const startedAt = Date.now();
      const error = await rejects(client.images.generate(image, { signal }), APIUserAbortError);
      assert(Date.now() - startedAt < 2_000, 'It took too long');
      equal(error.outcome, 'unknown', 'outcome');
      equal(error.cause instanceof Error && error.cause.message, 'Enough', 'cause');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'an abort while a stream is read ends the loop and closes the connection',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.quirks({ eventDelay: 50 });
      const { signal } = abortAfter(300);
      const read = async (): Promise<void> => {
        const options = { signal };
        const stream = await client.chat.completions.create({ ...chat, stream: true }, options);
        for await (const chunk of stream) assert(chunk.choices.length >= 0, 'Not a chunk');
      };
      await rejects(read, APIUserAbortError);
      for (let tries = 0; tries < 40; tries += 1) {
        const [request] = await remote.requests();
        if (request?.disconnected === true) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error('The connection was not closed');
    },
  },
  {
    name: 'an abort between two attempts ends the call at once',
    async run(world) {
      const { client, remote } = await fresh(world);
      // Without a hint the pause is at least a second; pages of other origins cannot read the hint.
      await remote.fail({ type: 'bare', status: 429 }, { times: 3 });
      const { signal } = abortAfter(200);
      const startedAt = Date.now();
      await rejects(client.images.generate(image, { signal }), APIUserAbortError);
      assert(Date.now() - startedAt < 2_000, 'It took too long');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'an abort while a video is awaited stops only the waiting',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.clock({ hold: true });
      const { signal } = abortAfter(300);
      const startedAt = Date.now();
      const error = await rejects(
        client.videos.createAndWait({ model: 'm-video', prompt: 'A boat' }, { signal }),
        VideoWaitAbortedError,
      );
      assert(Date.now() - startedAt < 2_000, 'It took too long');
      await remote.clock({ advance: 60_000 });
      const task = await client.videos.retrieve(error.ref);
      equal(task.status, 'completed', 'status');
      equal(await remote.charges(), 1, 'charges');
    },
  },
  {
    name: '100 calls remove their listeners from a shared signal',
    async run(world) {
      const { client } = await fresh(world);
      const { signal } = new AbortController();
      let listeners = 0;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      const once = new Set<unknown>();
      signal.addEventListener = (...parameters: Parameters<typeof add>) => {
        listeners += 1;
        once.add(parameters[1]);
        add(...parameters);
      };
      signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
        if (once.delete(parameters[1])) listeners -= 1;
        remove(...parameters);
      };
      for (let call = 0; call < 100; call += 1) await client.models.list({ signal });
      assert(listeners <= 0, `${listeners} listeners are left`);
    },
  },
];
