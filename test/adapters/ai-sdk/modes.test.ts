// Each model kind at each kind of gateway that serves it: one request, one charge, and the reported cost.
import {
  APICallError,
  embed,
  experimental_generateVideo as generateVideo,
  experimental_startVideo as startVideo,
  generateImage,
  generateSpeech,
  generateText,
  streamText,
  transcribe,
} from 'ai';
import { describe, expect, test } from 'vitest';
import type { ModelGatewayProvider } from '../../../src/adapters/ai-sdk/index.ts';
import {
  InvalidInputError,
  UnsupportedByGatewayError,
  type Operation,
} from '../../../src/index.ts';
import type { EmulatedGateway, EmulatorOptions, Fault } from '../../../src/testing/index.ts';
import { collect } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { modes } from '../../helpers/modes.ts';
import { emulatedProvider } from './support.ts';

fakeWaitingTime();

const nothing = [() => {}, (error: unknown) => error] as const;

const prompt = 'A lighthouse';
const image = mediaHeads.png;
const audio = mediaHeads.wav;

interface Kind {
  readonly operation: Operation;
  /** Makes a call, and returns the metadata of this provider. */
  readonly call: (provider: ModelGatewayProvider) => Promise<unknown>;
  /** Gateways that report the cost of other calls, but not of this one. */
  readonly unreported?: readonly EmulatedGateway[];
}

const kinds: Readonly<Record<string, Kind>> = {
  chat: {
    operation: 'chat.completions.create',
    async call(provider) {
      const { text, providerMetadata } = await generateText({ model: provider('m-large'), prompt });
      expect(text).not.toBe('');
      return providerMetadata?.['modelGateway'];
    },
  },
  'streamed chat': {
    operation: 'chat.completions.create',
    async call(provider) {
      let failure: unknown;
      const result = streamText({
        model: provider('m-large'),
        prompt,
        onError: ({ error }) => void (failure = error),
      });
      const parts = await collect(result.fullStream);
      if (failure !== undefined) throw failure;
      expect(parts.map(({ type }) => type)).toContain('text-delta');
      return (await result.providerMetadata)?.['modelGateway'];
    },
  },
  embedding: {
    operation: 'embeddings.create',
    async call(provider) {
      const model = provider.embeddingModel('m-embedding');
      const { embedding, providerMetadata } = await embed({ model, value: prompt });
      expect(embedding.length).toBeGreaterThan(0);
      return providerMetadata?.['modelGateway'];
    },
  },
  image: {
    operation: 'images.generate',
    async call(provider) {
      const model = provider.imageModel('m-image');
      const result = await generateImage({ model, prompt, size: '64x64' });
      expect(result.image.mediaType).toBe('image/png');
      return result.calls[0]?.providerMetadata?.['modelGateway'];
    },
  },
  'edited image': {
    operation: 'images.edit',
    async call(provider) {
      const model = provider.imageModel('m-image');
      const edit = { text: prompt, images: [image] };
      const result = await generateImage({ model, prompt: edit, size: '64x64' });
      expect(result.image.mediaType).toBe('image/png');
      return result.calls[0]?.providerMetadata?.['modelGateway'];
    },
    unreported: ['litellm'],
  },
  speech: {
    operation: 'audio.speech.create',
    async call(provider) {
      const model = provider.speechModel('m-speech');
      const result = await generateSpeech({ model, text: prompt, voice: 'alloy' });
      expect(result.audio.mediaType).toBe('audio/mpeg');
      return result.providerMetadata['modelGateway'];
    },
    unreported: ['openrouter', 'litellm'],
  },
  transcription: {
    operation: 'audio.transcriptions.create',
    async call(provider) {
      const model = provider.transcriptionModel('whisper-1');
      const result = await transcribe({ model, audio });
      expect(result.text).not.toBe('');
      return result.providerMetadata['modelGateway'];
    },
  },
  video: {
    operation: 'videos.create',
    async call(provider) {
      const model = provider.videoModel('m-video');
      const result = await generateVideo({ model, prompt, duration: 4 });
      expect(result.video.mediaType).toBe('video/mp4');
      const videos = result.providerMetadata['modelGateway']?.['videos'];
      return Array.isArray(videos) ? videos[0] : undefined;
    },
    unreported: ['litellm'],
  },
};

const reports = (gateway: EmulatedGateway, unreported: Kind['unreported'] = []): boolean =>
  (gateway === 'openrouter' || gateway === 'litellm') && !unreported.includes(gateway);

function at(gateway: EmulatedGateway, setup: EmulatorOptions = {}) {
  return emulatedProvider({ gateway, retryUnknownOutcome: false }, { gateway, ...setup });
}

describe.each(modes)('%s', (gateway) => {
  describe.each(Object.entries(kinds))('%s', (_, { operation, call, unreported }) => {
    test('a call is sent and charged once, with the cost that the response reports', async () => {
      const { provider, emulator } = at(gateway);

      const metadata = await resolved(call(provider));

      const posts = emulator.requests.filter(({ method }) => method === 'POST');
      expect(posts.map((request) => request.operation)).toEqual([operation]);
      expect(emulator.charges).toHaveLength(1);
      const cost = (emulator.charges[0]?.amount ?? 0) / 500_000;
      const reported: unknown = Object(metadata).cost;
      expect(reported).toEqual(reports(gateway, unreported) ? expect.closeTo(cost, 9) : undefined);
    });

    test.each<Fault>([
      { type: 'reset', when: 'after-charge' },
      { type: 'error', status: 500, charged: true },
      { type: 'html', status: 200, charged: true },
    ])('a call is charged once after %j, and the error names the URL', async (fault) => {
      const { provider, emulator } = at(gateway);
      emulator.fail({ operation, fault, times: 10 });

      const error = await rejected(call(provider));

      const [sent, ...others] = emulator.requests.filter(({ method }) => method === 'POST');
      expect(others).toEqual([]);
      expect(emulator.charges).toHaveLength(1);
      expect(APICallError.isInstance(error)).toBe(true);
      const url = new URL(sent?.path ?? '', emulator.baseURL).href;
      expect(error).toMatchObject({ outcome: 'unknown', isRetryable: false, url });
    });

    test('a call is retried after a 429, which is free', async () => {
      const { provider, emulator } = at(gateway);
      const headers = { 'retry-after': '0' };
      emulator.fail({ operation, fault: { type: 'bare', status: 429, headers } });

      await resolved(call(provider));

      expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
      expect(emulator.charges).toHaveLength(1);
    });
  });

  test('several images are charged once, with their total cost', async () => {
    const { provider, emulator } = at(gateway);
    const model = provider.imageModel('m-image', { maxImagesPerCall: 1 });

    const { images, calls } = await generateImage({ model, prompt, n: 2, size: '64x64' });

    expect(images).toHaveLength(2);
    expect(emulator.charges).toHaveLength(2);
    const cost = emulator.charges.reduce((sum, { amount }) => sum + amount, 0) / 500_000;
    const reported: unknown = Object(calls[0]?.providerMetadata?.['modelGateway']).cost;
    expect(reported).toEqual(reports(gateway) ? expect.closeTo(cost, 9) : undefined);
  });
});

test.each(modes)('%s: a mask is sent, or rejected before anything is charged', async (gateway) => {
  const { provider, emulator } = at(gateway);
  const edit = { text: prompt, images: [image], mask: image };
  const call = generateImage({ model: provider.imageModel('m-image'), prompt: edit });
  const error = await resolved(call.then(...nothing));

  const isServed = gateway !== 'openrouter';
  expect(emulator.charges).toHaveLength(isServed ? 1 : 0);
  expect(InvalidInputError.isInstance(error)).toBe(!isServed);
});

test.each(modes)('%s: speech is translated, or the error names what is served', async (gateway) => {
  const { provider, emulator } = at(gateway);
  const model = provider.transcriptionModel('m-translation', { translate: true });
  const error = await resolved(transcribe({ model, audio }).then(...nothing));

  const isServed = gateway === 'new-api' || gateway === 'openai';
  expect(emulator.charges).toHaveLength(isServed ? 1 : 0);
  if (isServed) return;
  expect(APICallError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ outcome: 'not_sent' });
  expect(UnsupportedByGatewayError.isInstance(Object(error).cause)).toBe(true);
});

describe('at OpenRouter', () => {
  test('images in a response are files of the result', async () => {
    const { provider, emulator } = at('openrouter');
    const providerOptions = { modelGateway: { modalities: ['image', 'text'] } };
    const call = { model: provider('m-large'), prompt, providerOptions };

    const { files, text } = await generateText(call);
    const streamed = streamText(call);
    await collect(streamed.fullStream);

    expect(text).not.toBe('');
    for (const found of [files, await streamed.files]) {
      expect(found.map(({ mediaType }) => mediaType)).toEqual(['image/png']);
      expect([...(found[0]?.uint8Array.subarray(0, 4) ?? [])]).toEqual([...image.subarray(0, 4)]);
    }
    expect(emulator.charges).toHaveLength(2);
  });

  test('options of videos have fields of their own', async () => {
    const { provider, emulator } = at('openrouter');
    const url = 'https://files.example.com/last.png';

    const { warnings } = await resolved(
      startVideo({
        model: provider.videoModel('kling/v2'),
        prompt,
        aspectRatio: '9:16',
        duration: 8,
        seed: 7,
        fps: 24,
        generateAudio: false,
        frameImages: [
          { image, frameType: 'first_frame' },
          { image: url, frameType: 'last_frame' },
        ],
      }),
    );

    expect(warnings).toEqual([{ type: 'unsupported', feature: 'fps' }]);
    const inline = expect.stringMatching(/^data:image\/png;base64,/);
    expect(emulator.requests[0]?.body).toEqual({
      kind: 'json',
      value: {
        model: 'kling/v2',
        prompt,
        aspect_ratio: '9:16',
        duration: 8,
        seed: 7,
        generate_audio: false,
        frame_images: [
          { type: 'image_url', image_url: { url: inline }, frame_type: 'first_frame' },
          { type: 'image_url', image_url: { url }, frame_type: 'last_frame' },
        ],
      },
    });
    expect(emulator.charges).toHaveLength(1);
  });

  test('an image is the first frame, and references guide the model', async () => {
    const { provider, emulator } = at('openrouter');
    const inputReferences = ['https://files.example.com/style.png'];
    const model = provider.videoModel('openai/sora-2');

    const { warnings } = await resolved(
      startVideo({ model, prompt: { text: prompt, image }, inputReferences }),
    );

    expect(warnings).toEqual([]);
    expect(emulator.requests[0]?.body).toMatchObject({
      value: {
        frame_images: [{ frame_type: 'first_frame' }],
        input_references: [{ type: 'image_url', image_url: { url: inputReferences[0] } }],
      },
    });
  });
});
