import { ChatCompletionStream, Gateway, responseFormat, Stream, tool } from 'model-gateway';
import { failUnobserved, limits } from '../../helpers/fail-unobserved.ts';
import { assert, equal } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { listenForUnhandled } from '../harness/unhandled.ts';
import type { World } from '../harness/world.ts';

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

interface Closable {
  close(): void;
}

/**
 * Waits until the gateway has no answer open any more, on a busy machine too.
 *
 * @param left - Streams that are no longer read. A slow answer may add one at any time.
 */
async function untilClosed({ control, family }: World, left: Closable[]): Promise<void> {
  // Firefox keeps a few of two thousand aborted requests open until the page is closed.
  const most = family === 'firefox' ? 8 : 0;
  let open: unknown;
  for (let tries = 0; tries < 400; tries += 1) {
    for (const stream of left.splice(0)) stream.close();
    open = await (await fetch(`${control}/open`)).json();
    if (Number(open) <= most) return;
    await pause(50);
  }
  throw new Error(`${String(open)} responses are still open`);
}

/** @returns how many calls have failed, when all are over */
async function failEverything(world: World): Promise<number> {
  const client = new Gateway({
    baseURL: world.faulty.url,
    apiKey: () => Promise.resolve(world.apiKey),
    ...limits,
  });
  const left: Closable[] = [];
  const onLeft = (stream: Closable): void => void left.push(stream);
  const kit = { client, ChatCompletionStream, responseFormat, Stream, tool, onLeft };
  const count = await failUnobserved(kit, world.faulty.models);
  // Every limit of most has passed by then.
  await pause(500);
  await untilClosed(world, left);
  await pause(100);
  return count;
}

/** Failures without a listener. */
export const unhandledRejectionChecks: readonly Check[] = [
  {
    name: 'failures without a listener cause no unhandled rejection',
    async run(world) {
      const unhandled = listenForUnhandled();
      try {
        void Promise.reject(new Error('a real one'));
        for (let tries = 0; tries < 40 && unhandled.reasons.length === 0; tries += 1) {
          await pause(25);
        }
        const known = unhandled.reasons.length;
        assert(known > 0, 'The runtime does not report rejections');
        const count = await failEverything(world);
        equal(unhandled.reasons.slice(known).map(String), [], 'unhandled rejections');
        return `${count} failures`;
      } finally {
        unhandled.stop();
      }
    },
  },
];
