import { APICallError, embed, generateText, RetryError, streamText } from 'ai';
import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/index.ts';
import type { ModelGatewayProvider } from '../../src/ai-sdk/index.ts';
import type { Fault } from '../../src/testing/index.ts';
import { collect } from '../helpers/clients.ts';
import { failing, giving } from '../helpers/videos.ts';
import { fakeWaitingTime } from '../helpers/waiting-time.ts';
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
  faults.map((fault): [string, string, Way, Fault] => [name, JSON.stringify(fault), way, fault]),
);

describe('the AI SDK repeats nothing that the client does not', () => {
  test.each(cases)('%s, %s', async (_, __, way, fault) => {
    const alone = emulatedProvider();
    const asked = emulatedProvider();
    alone.emulator.fail({ fault, times: 10 });
    asked.emulator.fail({ fault, times: 10 });

    const ended = await giving(settled(way.client(alone.client)));
    const outcome = await giving(settled(way.sdk(asked.provider)));

    expect(asked.emulator.requests).toHaveLength(alone.emulator.requests.length);
    expect(asked.emulator.charges).toHaveLength(alone.emulator.charges.length);
    expect(outcome.status).toBe(ended.status);
    if (outcome.error === undefined) return;
    expect(RetryError.isInstance(outcome.error)).toBe(false);
    expect(APICallError.isInstance(outcome.error)).toBe(true);
    expect(outcome.error).toMatchObject({ isRetryable: false });
  });

  test.each(Object.entries(ways))('%s, once with maxRetries: 0 of the client', async (_, way) => {
    const { provider, emulator } = emulatedProvider({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'error', status: 503, charged: true }, times: 10 });

    await failing(way.sdk(provider));

    expect(emulator.requests).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('nor with maxRetries: 0 of a call', async () => {
    const { provider, emulator } = emulatedProvider();
    const model = provider('m-large');
    const providerOptions = { modelGateway: { maxRetries: 0 } };
    emulator.fail({ fault: { type: 'error', status: 503, charged: true }, times: 10 });

    await failing(generateText({ model, prompt, providerOptions }));

    expect(emulator.charges).toHaveLength(1);
  });
});

interface Settled {
  readonly status: 'well' | 'failed';
  readonly error?: unknown;
}

async function settled(promise: PromiseLike<unknown>): Promise<Settled> {
  try {
    await promise;
    return { status: 'well' };
  } catch (error) {
    return { status: 'failed', error };
  }
}
