import {
  APICallError,
  embed,
  generateSpeech,
  generateText,
  RetryError,
  streamText,
  transcribe,
} from 'ai';
import { describe, expect, test } from 'vitest';
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

describe('a metered call whose response is lost', () => {
  const lost: Fault = { type: 'reset', when: 'after-charge' };

  test.each(Object.entries(metered))('%s is charged once', async (_, call) => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: lost, times: 10 });
    expect(await rejected(call(provider))).toMatchObject({ outcome: 'unknown' });
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([undefined, false])(
    'is charged once with a client made from retryUnknownOutcome: %j',
    async (retryUnknownOutcome) => {
      const emulator = createEmulator();
      const { apiKey, baseURL, fetch } = emulator;
      const provider = createModelGateway({ apiKey, baseURL, fetch, retryUnknownOutcome });
      emulator.fail({ fault: lost, times: 10 });
      await rejected(generateText({ model: provider('m-large'), prompt }));
      expect(emulator.requests).toHaveLength(1);
    },
  );

  test('is retried if the client or the call allows it', async () => {
    const retryUnknownOutcome = true;
    const byClient = emulatedProvider({ retryUnknownOutcome });
    byClient.emulator.fail({ fault: lost, times: 10 });
    await rejected(generateText({ model: byClient.provider('m-large'), prompt }));
    expect(byClient.emulator.requests).toHaveLength(3);

    const byCall = emulatedProvider();
    byCall.emulator.fail({ fault: lost, times: 10 });
    const providerOptions = { modelGateway: { retryUnknownOutcome } };
    const model = byCall.provider('m-large');
    await rejected(generateText({ model, prompt, providerOptions }));
    expect(byCall.emulator.requests).toHaveLength(3);

    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const settings = createModelGateway({ apiKey, baseURL, fetch, retryUnknownOutcome });
    emulator.fail({ fault: lost, times: 10 });
    await rejected(generateText({ model: settings('m-large'), prompt }));
    expect(emulator.requests).toHaveLength(3);
  });

  test('is charged once when the call overrides the client', async () => {
    const { provider, emulator } = emulatedProvider({ retryUnknownOutcome: true });
    emulator.fail({ fault: lost, times: 10 });
    const providerOptions = { modelGateway: { retryUnknownOutcome: false } };
    await rejected(generateText({ model: provider('m-large'), prompt, providerOptions }));
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('the AI SDK adds no retries', () => {
  test.each(cases)('$name, $fault', async ({ name, way, fault }) => {
    const alone = emulatedProvider({ retryUnknownOutcome: false });
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
