import {
  APICallError,
  embed,
  embedMany,
  experimental_generateVideo as generateVideo,
  generateImage,
  generateSpeech,
  generateText,
  isStepCount,
  RetryError,
  streamText,
  tool,
  transcribe,
} from 'ai';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Gateway } from '../../../src/index.ts';
import {
  createModelGateway,
  type ModelGatewayProvider,
} from '../../../src/adapters/ai-sdk/index.ts';
import { createEmulator, type Fault } from '../../../src/testing/index.ts';
import { collect } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { emulatedProvider, faults } from './support.ts';

fakeWaitingTime();

const prompt = 'Hello';
const messages = [{ role: 'user' as const, content: prompt }];

/** The same call by the AI SDK and by the client alone. */
interface Way {
  readonly sdk: (provider: ModelGatewayProvider) => Promise<unknown>;
  readonly client: (client: Gateway) => PromiseLike<unknown>;
}

const ways: Readonly<Record<string, Way>> = {
  generateText: {
    sdk: (provider) => generateText({ model: provider('m-large'), prompt }),
    client: (client) => client.chat.completions.create({ model: 'm-large', messages }),
  },
  streamText: {
    async sdk(provider) {
      let failure: unknown;
      const onError = ({ error }: { error: unknown }): void => void (failure = error);
      const result = streamText({ model: provider('m-large'), prompt, onError });
      await collect(result.fullStream);
      if (failure !== undefined) throw failure;
    },
    async client(client) {
      const stream_options = { include_usage: true };
      const params = { model: 'm-large', messages, stream: true, stream_options } as const;
      await collect(await client.chat.completions.create(params));
    },
  },
  embed: {
    sdk: (provider) => embed({ model: provider.embeddingModel('m-embedding'), value: prompt }),
    client: (client) => client.embeddings.create({ model: 'm-embedding', input: [prompt] }),
  },
};

const cases = Object.entries(ways).flatMap(([name, way]) =>
  faults.map((fault) => ({ name, way, fault })),
);

/** Every metered call of the AI SDK. */
const metered: Readonly<Record<string, Way['sdk']>> = {
  ...Object.fromEntries(Object.entries(ways).map(([name, { sdk }]) => [name, sdk])),
  generateSpeech: (provider) =>
    generateSpeech({ model: provider.speechModel('m-speech'), text: prompt }),
  transcribe: (provider) =>
    transcribe({
      model: provider.transcriptionModel('m-translation', { translate: true }),
      audio: new Uint8Array(64),
    }),
};

const failures: readonly (readonly [string, Fault])[] = [
  ['500', { type: 'error', status: 500 }],
  ['429', { type: 'error', status: 429 }],
  ['lost connection', { type: 'reset', when: 'before-charge' }],
];

describe.each(Object.entries(metered))('%s', (_, call) => {
  test.each(failures)('survives one %s, with one charge', async (_name, fault) => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault, times: 1 });

    await resolved(call(provider));

    expect(emulator.requests).toHaveLength(2);
    expect(emulator.charges).toHaveLength(1);
  });
});

test('a tool loop survives one 500 in its second step', async () => {
  const { provider, emulator } = emulatedProvider();
  let count = 0;
  const weather = tool({
    inputSchema: z.object({}),
    execute: () => {
      count += 1;
      emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });
      return 'Sunny';
    },
  });
  const stopWhen = isStepCount(3);

  const { text } = await resolved(
    generateText({ model: provider('m-large'), prompt, tools: { weather }, stopWhen }),
  );

  expect(text).not.toBe('');
  expect(count).toBe(1);
  expect(emulator.charges).toHaveLength(2);
});

test('a batch of embeddings survives one 500', async () => {
  const { provider, emulator } = emulatedProvider();
  const model = provider.embeddingModel('m-embedding', { maxEmbeddingsPerCall: 1 });
  emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });

  const { embeddings } = await resolved(embedMany({ model, values: ['a', 'b', 'c'] }));

  expect(embeddings).toHaveLength(3);
  expect(emulator.charges).toHaveLength(3);
});

test.each<[string, Way['sdk']]>([
  [
    'an image',
    (provider) => generateImage({ model: provider.imageModel('m-image'), prompt: 'A cat' }),
  ],
  [
    'a video',
    (provider) => generateVideo({ model: provider.videoModel('m-video'), prompt: 'A cat' }),
  ],
])('%s is not requested again after a 500 or a lost connection', async (_, call) => {
  for (const [, fault] of failures.filter(([name]) => name !== '429')) {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault, times: 1 });

    await rejected(call(provider));

    expect(emulator.requests).toHaveLength(1);
  }
});

describe('a metered call whose response is lost', () => {
  const lost: Fault = { type: 'reset', when: 'after-charge' };

  test.each(Object.entries(metered))(
    '%s is charged once with retryUnknownOutcome: false',
    async (_, call) => {
      const { provider, emulator } = emulatedProvider({ retryUnknownOutcome: false });
      emulator.fail({ fault: lost, times: 10 });
      expect(await rejected(call(provider))).toMatchObject({ outcome: 'unknown' });
      expect(emulator.requests).toHaveLength(1);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a metered call whose response is lost is charged once if the settings or the call say so', async () => {
    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const strict = createModelGateway({ apiKey, baseURL, fetch, retryUnknownOutcome: false });
    emulator.fail({ fault: lost, times: 10 });
    await rejected(generateText({ model: strict('m-large'), prompt }));
    expect(emulator.charges).toHaveLength(1);

    for (const options of [{}, { retryUnknownOutcome: true }]) {
      const byCall = emulatedProvider(options);
      byCall.emulator.fail({ fault: lost, times: 10 });
      const providerOptions = { modelGateway: { retryUnknownOutcome: false } };
      const model = byCall.provider('m-large');
      await rejected(generateText({ model, prompt, providerOptions }));
      expect(byCall.emulator.charges).toHaveLength(1);
    }
  });
});

test.each<[string, Way['sdk']]>([
  [
    'an image',
    (provider) => generateImage({ model: provider.imageModel('m-image'), prompt: 'A cat' }),
  ],
  [
    'a video',
    (provider) => generateVideo({ model: provider.videoModel('m-video'), prompt: 'A cat' }),
  ],
])('%s is paid for twice with retryUnknownOutcome: true', async (_, call) => {
  const { provider, emulator } = emulatedProvider({ retryUnknownOutcome: true });
  emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 1 });

  await resolved(Promise.allSettled([call(provider)]));

  expect(emulator.charges).toHaveLength(2);
});

test('maxRetries of the AI SDK has no effect, and each of its streamRetries is charged', async () => {
  const { provider, emulator } = emulatedProvider();
  const model = provider('m-large');
  emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });
  await resolved(generateText({ model, prompt, maxRetries: 0 }));
  expect(emulator.requests).toHaveLength(2);

  emulator.fail({ fault: { type: 'cut-events', after: 3 }, times: 1 });
  const result = streamText({ model, prompt, streamRetries: 1, onError: () => {} });
  await resolved(result.consumeStream());
  expect(emulator.charges).toHaveLength(3);
});

describe('the AI SDK adds no retries', () => {
  test.each(cases)('$name, $fault', async ({ name, way, fault }) => {
    const alone = emulatedProvider();
    const asked = emulatedProvider();
    alone.emulator.fail({ fault, times: 10 });
    asked.emulator.fail({ fault, times: 10 });

    const [ended] = await resolved(Promise.allSettled([way.client(alone.client)]));
    const [outcome] = await resolved(Promise.allSettled([way.sdk(asked.provider)]));

    expect(asked.emulator.requests).toHaveLength(alone.emulator.requests.length);
    expect(asked.emulator.charges).toHaveLength(alone.emulator.charges.length);
    // The client returns an answer without choices, as openai does. The AI SDK has no result for it.
    const isEmpty = name === 'generateText' && fault.type === 'empty';
    expect(outcome.status).toBe(isEmpty ? 'rejected' : ended.status);
    if (outcome.status === 'fulfilled') return;
    expect(RetryError.isInstance(outcome.reason)).toBe(false);
    expect(APICallError.isInstance(outcome.reason)).toBe(true);
    expect(outcome.reason).toMatchObject({ isRetryable: false });
  });

  test.each(Object.entries(ways))(
    '%s: one request with maxRetries: 0 of the client',
    async (_, way) => {
      const { provider, emulator } = emulatedProvider({ maxRetries: 0 });
      emulator.fail({ fault: { type: 'error', status: 503, charged: true }, times: 10 });

      await rejected(way.sdk(provider));

      expect(emulator.requests).toHaveLength(1);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('one request with maxRetries: 0 of a call', async () => {
    const { provider, emulator } = emulatedProvider();
    const model = provider('m-large');
    const providerOptions = { modelGateway: { maxRetries: 0 } };
    emulator.fail({ fault: { type: 'error', status: 503, charged: true }, times: 10 });

    await rejected(generateText({ model, prompt, providerOptions }));

    expect(emulator.charges).toHaveLength(1);
  });
});
