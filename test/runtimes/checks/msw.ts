import { setupWorker } from 'msw/browser';
import { Gateway, RateLimitError, StreamTruncatedError } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
import { gatewayHandlers } from 'model-gateway/testing/msw';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { isMp4, pngBytes } from './media.ts';

const baseURL = 'https://gateway.test';
const emulator = createEmulator({ videoDuration: 0 });
const worker = setupWorker(...gatewayHandlers({ baseURL, emulator }));

const messages = [{ role: 'user' as const, content: 'Say hello' }];

function client(): Gateway {
  emulator.reset();
  const apiKey = (): string => emulator.apiKey;
  return new Gateway({ baseURL, apiKey, maxRetries: 0, logLevel: 'off' });
}

/** Mock Service Worker in a page, with the handlers of this package. */
export const mswChecks: readonly Check[] = [
  {
    name: 'msw in a page: starts',
    async run() {
      await worker.start({ quiet: true });
    },
  },
  {
    name: 'msw in a page: chat, whole and streamed',
    async run() {
      const gateway = client();
      const answer = await gateway.chat.completions.create({ model: 'm-large', messages });
      const stream = await gateway.chat.completions.create({
        model: 'm-large',
        messages,
        stream: true,
      });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      equal(text, answer.choices[0]?.message.content, 'both texts');
      equal(emulator.requests.length, 2, 'requests');
    },
  },
  {
    name: 'msw in a page: a form with a file, charged once',
    async run() {
      const image = new File([pngBytes()], 'cat.png', { type: 'image/png' });
      await client().images.edit({ model: 'm-image', prompt: 'A hat', image });
      equal(emulator.charges.length, 1, 'charges');
      const body = emulator.requests[0]?.body;
      equal(body?.kind === 'multipart' && body.files[0]?.filename, 'cat.png', 'file name');
    },
  },
  {
    name: 'msw in a page: a video and its content',
    async run() {
      const gateway = client();
      const task = await gateway.videos.create({ model: 'm-video', prompt: 'A boat' });
      const done = await gateway.videos.retrieve(task.id);
      equal(done.status, 'completed', 'status');
      const content = await gateway.videos.downloadContent(task.id);
      assert(isMp4(new Uint8Array(await content.arrayBuffer())), 'The content is not an MP4');
    },
  },
  {
    name: 'msw in a page: faults',
    async run() {
      const gateway = client();
      emulator.fail({ fault: { type: 'rate-limit', retryAfter: 1 } });
      await rejects(gateway.models.list(), RateLimitError);
      emulator.fail({ fault: { type: 'no-finish', done: true } });
      const read = async (): Promise<void> => {
        const params = { model: 'm-large', messages, stream: true } as const;
        const stream = await gateway.chat.completions.create(params);
        for await (const chunk of stream) assert(chunk.choices.length >= 0, 'Not a chunk');
      };
      await rejects(read, StreamTruncatedError);
      await worker.stop();
    },
  },
];
