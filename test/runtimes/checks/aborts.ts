import { APIUserAbortError, VideoWaitAbortedError } from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh } from '../harness/emulator.ts';

const chat = {
  model: 'm-large',
  messages: [{ role: 'user' as const, content: 'Tell me a [long] story' }],
};
const image = { model: 'm-image', prompt: 'A red circle' };

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** An abort by the caller, and the time since then. */
function createAbort() {
  const controller = new AbortController();
  let abortedAt = 0;
  return {
    signal: controller.signal,
    abort: async (): Promise<void> => {
      await wait(100);
      abortedAt = Date.now();
      controller.abort(new Error('Enough'));
    },
    assertPrompt: (): void => {
      assert(Date.now() - abortedAt < 5_000, 'It took too long');
    },
  };
}

/** Waits until the gateway has a request. Each check has a time limit. */
async function untilSent(remote: Awaited<ReturnType<typeof fresh>>['remote']): Promise<void> {
  while ((await remote.requests()).length === 0) await wait(20);
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
      const { signal, abort, assertPrompt } = createAbort();
      const call = rejects(client.images.generate(image, { signal }), APIUserAbortError);
      await untilSent(remote);
      await abort();
      const error = await call;
      assertPrompt();
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
      const { signal, abort } = createAbort();
      let aborting: Promise<void> | undefined;
      const read = async (): Promise<void> => {
        const options = { signal };
        const stream = await client.chat.completions.create({ ...chat, stream: true }, options);
        for await (const chunk of stream) {
          assert(chunk.choices.length >= 0, 'Not a chunk');
          aborting ??= abort();
        }
      };
      await rejects(read, APIUserAbortError);
      await aborting;
      for (let tries = 0; tries < 40; tries += 1) {
        const [request] = await remote.requests();
        if (request?.disconnected === true) return;
        await wait(50);
      }
      throw new Error('The connection was not closed');
    },
  },
  {
    name: 'an abort between two attempts ends the call at once',
    async run(world) {
      const { client, remote } = await fresh(world);
      // A pause that a busy machine does not sleep through. Pages of other origins cannot read a header.
      const message = 'Rate limit reached. Please try again in 30s.';
      await remote.fail({ type: 'error', status: 429, message }, { times: 3 });
      const { signal, abort, assertPrompt } = createAbort();
      const call = rejects(client.images.generate(image, { signal }), APIUserAbortError);
      await untilSent(remote);
      await abort();
      await call;
      assertPrompt();
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'an abort while a video is awaited stops only the waiting',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.clock({ hold: true });
      const { signal, abort, assertPrompt } = createAbort();
      let aborting: Promise<void> | undefined;
      const onSubmitted = (): void => void (aborting = abort());
      const params = { model: 'm-video', prompt: 'A boat' };
      const error = await rejects(
        client.videos.createAndWait(params, { signal, onSubmitted }),
        VideoWaitAbortedError,
      );
      await aborting;
      assertPrompt();
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
