// A call that is aborted during its submission × doors: its ledger still gets the task.
import { experimental_startVideo as startVideo } from 'ai';
import { expect, test, vi } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { createGateway, Videos } from '../../src/core.ts';
import { type Gateway, memoryLedger, type SubmitLedger } from '../../src/index.ts';
import { emulated } from '../helpers/clients.ts';
import { fakeWaitingTime, resolved, settle } from '../helpers/fake-time.ts';

fakeWaitingTime();

interface Options {
  readonly ledger: SubmitLedger;
  readonly callId: string;
  readonly signal: AbortSignal;
}

/** @param original - The id of a video to remix. */
type Door = (client: Gateway, options: Options, original: string) => Promise<unknown>;

const model = 'm-video';
const prompt = 'A paper boat';
const picture = new File([new Uint8Array(64)], 'a.png', { type: 'image/png' });

/** The error of the only item. */
async function only(items: AsyncIterable<{ readonly error?: unknown }>): Promise<void> {
  for await (const { error } of items) if (error !== undefined) throw error;
}

const doors: Readonly<Record<string, Door>> = {
  'videos.create()': ({ videos }, options) => videos.create({ model, prompt }, options),
  'videos.createAndWait()': ({ videos }, options) =>
    videos.createAndWait({ model, prompt }, options),
  'videos.createAndWaitAll()': ({ videos }, options) =>
    only(videos.createAndWaitAll([{ model, prompt }], options)),
  'videos.remix()': ({ videos }, options, original) => videos.remix(original, { prompt }, options),
  'videos.remixAndWait()': ({ videos }, options, original) =>
    videos.remixAndWait(original, { prompt }, options),
  'images.generate()': ({ images }, options) =>
    images.generate({ model: 'm-image', prompt }, options),
  'images.generateMany()': ({ images }, options) =>
    only(images.generateMany([{ model: 'm-image', prompt }], options)),
  'images.edit()': ({ images }, options) =>
    images.edit({ model: 'm-image', prompt, image: picture }, options),
  'createGateway()': (client, options) => {
    const { fetch, credential } = client.transport().client;
    const part = createGateway(
      { apiKey: credential.reveal(), baseURL: client.baseURL, fetch },
      { videos: Videos },
    );
    client.settled = () => part.settled();
    return part.videos.create({ model, prompt }, options);
  },
  'the AI SDK': (client, { ledger, callId, signal }) =>
    startVideo({
      model: createModelGateway({ client, ledger }).videoModel(model),
      prompt,
      abortSignal: signal,
      providerOptions: { modelGateway: { callId } },
    }),
};

test.each(Object.entries(doors))('%s', async (_, call) => {
  vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
  const { client, emulator } = emulated({}, { videoDuration: 0, quirks: { imageTasks: 'list' } });
  const { id } = await client.videos.create({ model, prompt });
  const before = emulator.charges.length;
  emulator.fail({ fault: { type: 'slow', milliseconds: 10_000 } });
  const ledger = memoryLedger();
  const statuses = async () => (await ledger.open()).map(({ status }) => status);
  const controller = new AbortController();
  const options = { ledger, callId: 'job' };

  const running = settle(call(client, { ...options, signal: controller.signal }, id), 60);
  await vi.advanceTimersByTimeAsync(1_000);
  controller.abort();
  const { error } = await running;

  expect(String(error)).toMatch(/abort/i);
  expect(await statuses()).toEqual(['submitting']);
  await resolved(client.settled());
  expect(await statuses()).toEqual(['accepted']);
  await resolved(call(client, { ...options, signal: new AbortController().signal }, id));
  expect(emulator.charges).toHaveLength(before + 1);
});
