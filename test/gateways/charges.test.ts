// Each kind of gateway fails in the middle of a paid call: nobody pays twice. Chat is repeated by default,
// and is sent once with `retryUnknownOutcome: false`.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { GatewayError, type Gateway } from '../../src/index.ts';
import type { Fault } from '../../src/testing/index.ts';
import type { Operation } from '../../src/endpoints.ts';
import { collect, emulated } from '../helpers/clients.ts';
import { settle } from '../helpers/fake-time.ts';
import { mediaHeads } from '../helpers/media.ts';
import { modes } from '../helpers/modes.ts';

afterEach(() => vi.useRealTimers());

const messages = [{ role: 'user' as const, content: 'Hello' }];
const picture = { model: 'm-image', prompt: 'A fox', size: '64x64' };

const chatCall = 'chat.completions.create';

const calls: readonly {
  name: string;
  operation: Operation;
  run: (client: Gateway) => Promise<unknown>;
}[] = [
  {
    name: 'images.generate',
    operation: 'images.generate',
    run: async ({ images }) => images.generate(picture),
  },
  {
    name: 'images.edit',
    operation: 'images.edit',
    run: async ({ images }) => {
      const image = new File([mediaHeads.png], 'fox.png', { type: 'image/png' });
      return images.edit({ ...picture, image });
    },
  },
  {
    name: 'videos.create',
    operation: 'videos.create',
    run: async ({ videos }) => videos.create({ model: 'm-video', prompt: 'A fox' }),
  },
  {
    name: 'chat',
    operation: chatCall,
    run: async ({ chat }) => chat.completions.create({ model: 'm-large', messages }),
  },
  {
    name: 'streamed chat',
    operation: chatCall,
    run: async ({ chat }) =>
      collect(await chat.completions.create({ model: 'm-large', messages, stream: true })),
  },
];

/** Faults after the work was done and charged. */
const lost: readonly (readonly [string, Fault])[] = [
  ['a reset after the charge', { type: 'reset', when: 'after-charge' }],
  ['no answer', { type: 'hang', charged: true }],
  ['500', { type: 'error', status: 500, message: 'Something went wrong', charged: true }],
  ['502 with a page', { type: 'html', status: 502, charged: true }],
  ['503 with nothing', { type: 'bare', status: 503, charged: true }],
  ['408', { type: 'error', status: 408, message: 'Request timeout', charged: true }],
  ['499', { type: 'error', status: 499, message: 'Cancelled', charged: true }],
  ['200 with a page', { type: 'html', status: 200, charged: true }],
  ['200 with an error', { type: 'error', status: 200, message: 'Failed', charged: true }],
  ['200 that is cut', { type: 'cut', bytes: 20 }],
  ['200 that stalls', { type: 'stall', bytes: 20 }],
];

describe.each(modes)('%s', (gateway) => {
  /** Makes a call whose first request meets a fault; the next ones would be served, and charged. */
  async function meet(
    fault: Fault,
    operation: Operation,
    run: (client: Gateway) => Promise<unknown>,
  ) {
    const once = operation === chatCall ? { retryUnknownOutcome: false } : {};
    const { client, emulator } = emulated(
      { gateway, timeout: 60_000, idleTimeout: 60_000, ...once },
      { gateway },
    );
    const active = emulator.fail({ fault, operation });
    // Only what never ends needs time; pictures are made in threads, which know no faked time.
    const isEndless = fault.type === 'hang' || fault.type === 'stall';
    if (isEndless) vi.useFakeTimers();
    const call = run(client);
    if (isEndless) {
      call.catch(() => {});
      await vi.waitFor(() => expect(emulator.charges).toHaveLength(1), 20_000);
    }
    const settled = await (isEndless
      ? settle(call)
      : call.then(
          () => ({}),
          (error: unknown) => ({ error }),
        ));
    expect(active.hits).toBe(1);
    const requests = emulator.requests.filter(({ method }) => method === 'POST').length;
    return { settled, requests, charges: emulator.charges.length };
  }

  describe.each(calls)('$name', ({ operation, run }) => {
    test.each(lost)('a call is sent and charged once: %s', async (__, fault) => {
      const { settled, requests, charges } = await meet(fault, operation, run);

      expect({ requests, charges }).toEqual({ requests: 1, charges: 1 });
      const error = 'error' in settled ? settled.error : undefined;
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ outcome: 'unknown' });
    });

    test('a call is sent again after a 429, which is free, and charged once', async () => {
      const headers = { 'retry-after': '0' };
      const fault = { type: 'bare', status: 429, headers } as const;
      const { settled, requests, charges } = await meet(fault, operation, run);

      expect(settled).not.toHaveProperty('error');
      expect({ requests, charges }).toEqual({ requests: 2, charges: 1 });
    });
  });
});
