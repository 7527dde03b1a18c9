import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  type Gateway,
  GatewayError,
  InternalServerError,
  PermissionDeniedError,
  RateLimitError,
  type RequestOptions,
  UnprocessableEntityError,
  UnsupportedByGatewayError,
} from '../../src/index.ts';
import type { FaultRule } from '../../src/testing/index.ts';
import { collect, emulated, failureOf } from '../helpers/clients.ts';
import { mediaHeads } from '../helpers/media.ts';
import { masterKey, startProxy, type Proxy } from './proxy.ts';

const bin = inject('litellmBin');
const png = new File([mediaHeads.png], 'fox.png', { type: 'image/png' });
const messages = [{ role: 'user' as const, content: 'Hello' }];
const perToken = { input_cost_per_token: 0.001, output_cost_per_token: 0.002 };
const chat = { model: 'm-large', params: perToken };
const image = { model: 'm-image', params: { output_cost_per_image: 0.04 } };
const mode = (kind: string) => ({ info: { mode: kind } });

/** A vendor that has done the work and lost its connection, as often as it is asked. */
const lost: FaultRule = { times: 100, fault: { type: 'reset', when: 'after-charge' } };

// Deployments that failed are left out for some seconds, so each test has models of its own.
const models = {
  chat,
  image: { ...image, ...mode('image_generation') },
  embedding: { model: 'm-embedding', params: { input_cost_per_token: 0.001 } },
  speech: { model: 'm-speech', ...mode('audio_speech') },
  transcription: {
    model: 'm-translation',
    params: { input_cost_per_second: 0.01 },
    ...mode('audio_transcription'),
  },
  video: {
    model: 'm-video',
    params: { output_cost_per_second: 0.1 },
    ...mode('video_generation'),
  },
  // LiteLLM shares prices between deployments of one model.
  unpriced: { model: 'm-reasoning' },
  // Models of LiteLLM's own price list.
  'gpt-4o-mini': { model: 'gpt-4o-mini' },
  'gpt-image-1': { model: 'gpt-image-1' },
  'sora-2': { model: 'sora-2' },
  'tts-1': { model: 'tts-1' },
  slow: { model: 'm-large', params: { timeout: 0.5, num_retries: 0 } },
  failing: { model: 'm-large', params: { num_retries: 0 } },
  cut: { model: 'm-large', params: { num_retries: 0 } },
  lost: chat,
  lostImage: { ...image, ...mode('image_generation') },
  lostEmbedding: { model: 'm-embedding' },
  lostSpeech: { model: 'm-speech', ...mode('audio_speech') },
  lostVideo: { model: 'm-video', ...mode('video_generation') },
  lostEdit: image,
  withFallback: chat,
};

let proxy: Proxy;
let client: Gateway;

const chatWith = (model: string) => (options?: RequestOptions) =>
  client.chat.completions.create({ model, messages }, options);

/** Makes a call of each operation, and lists those whose responses report a cost. */
async function findReported(caller: Gateway, named: (kind: string) => string) {
  const prompt = 'A fox';
  const file = new File([mediaHeads.mp3], 'speech.mp3', { type: 'audio/mpeg' });
  const text = named('chat');
  const model = named('image');
  await caller.chat.completions.create({ model: text, messages });
  await caller.responses.create({ model: text, input: 'Hello' });
  await caller.generate.content({ model: text, contents: 'Hello' });
  await caller.embeddings.create({ model: 'embedding', input: 'Hello' });
  await caller.embeddings.createForEngine({ model: 'embedding', input: 'Hello' });
  await caller.images.generate({ model, prompt });
  await caller.images.edit({ model, prompt, image: png });
  const speech = { model: named('speech'), input: 'Good morning', voice: 'alloy' };
  await (await caller.audio.speech.create(speech)).arrayBuffer();
  await caller.audio.transcriptions.create({ model: 'transcription', file });
  await caller.videos.create({ model: named('video'), prompt, seconds: '4' });
  const { lines } = await caller.account.spent();
  expect(lines).toHaveLength(10);
  return lines.filter(({ reported }) => reported === 1).map(({ operation }) => operation);
}

describe.skipIf(bin === '')('the LiteLLM proxy', () => {
  beforeAll(async () => {
    const tables = await readFile(new URL('tables.py', import.meta.url), 'utf8');
    proxy = await startProxy(bin, {
      models,
      sections: {
        litellm_settings: { callbacks: ['tables.recorder'] },
        router_settings: { fallbacks: [{ withFallback: ['lost'] }], disable_cooldowns: true },
      },
      files: { 'tables.py': tables },
    });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());
  beforeEach(() => {
    proxy.emulator.reset();
    client = proxy.connect();
  });

  describe('responses', () => {
    test('chat, with the cost from its header', async () => {
      const answer = await client.chat.completions.create({ model: 'chat', messages });

      expect(answer.choices[0]?.message.content).toContain('Hello');
      const { lines } = await client.account.spent();
      expect(lines).toMatchObject([{ operation: 'chat.completions.create', reported: 1 }]);
      expect(lines[0]?.estimate.amount?.value).toBeCloseTo(4 * 0.001 + 16 * 0.002);
    });

    test('streams of chat, with the cost in their last chunk', async () => {
      const params = { model: 'chat', messages, stream_options: { include_usage: true } };
      const stream = await client.chat.completions.create({ ...params, stream: true });
      const chunks = await collect(stream);

      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      expect(text).toContain('Hello');
      const usages = chunks.flatMap(({ usage }) => usage ?? []);
      expect(usages).toHaveLength(1);
      expect(chunks.at(-1)?.usage?.cost).toBeCloseTo(4 * 0.001 + 16 * 0.002);
      const { estimate } = await client.account.spent();
      expect(estimate.value).toBeCloseTo(4 * 0.001 + 16 * 0.002);
    });

    test("don't expose the headers with id and cost to pages", async () => {
      const response = await fetch(`${proxy.url}/v1/models`, {
        headers: { authorization: `Bearer ${masterKey}`, origin: 'https://page.example' },
      });

      const exposed = response.headers.get('access-control-expose-headers');
      expect(exposed).toContain('x-litellm-');
      expect(exposed).not.toMatch(/x-litellm-(call-id|response-cost)/);
    });

    test('embeddings', async () => {
      const { data } = await client.embeddings.create({ model: 'embedding', input: 'Hello' });

      expect(data[0]?.embedding.length).toBeGreaterThan(0);
      expect((await client.account.spent()).lines[0]?.reported).toBe(1);
    });

    test('images', async () => {
      const { data } = await client.images.generate({ model: 'image', prompt: 'A fox' });

      expect(data[0]?.url).toMatch(/^http/);
      expect((await client.account.spent()).estimate.value).toBeCloseTo(0.04);
    });

    test('edits of images', async () => {
      const { data } = await client.images.edit({ model: 'image', prompt: 'A fox', image: png });

      expect(data[0]?.url).toMatch(/^http/);
    });

    test('speech and its transcription', async () => {
      const speech = await client.audio.speech.create({
        model: 'speech',
        input: 'Good morning',
        voice: 'alloy',
      });
      const file = new File([await speech.arrayBuffer()], 'speech.mp3', { type: 'audio/mpeg' });
      const { text } = await client.audio.transcriptions.create({ model: 'transcription', file });

      expect(text).toBe('Good morning');
      const { lines } = await client.account.spent();
      expect(lines.map(({ operation, reported }) => [operation, reported])).toEqual([
        ['audio.speech.create', 0],
        ['audio.transcriptions.create', 1],
      ]);
    });

    test('videos, from the submission to the file', async () => {
      const task = await client.videos.create({ model: 'video', prompt: 'A fox', seconds: '4' });
      proxy.emulator.clock.advance(60_000);
      const video = await client.videos.retrieve(task.id);
      const file = await client.videos.downloadContent(task.id);

      expect(video.status).toBe('completed');
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(0);
      expect(proxy.emulator.charges).toHaveLength(1);
      const remix = await client.videos.remix(task.id, { prompt: 'At night' });
      expect(remix.status).toBe('queued');
    });

    test('the list of models', async () => {
      const ids = (await client.models.list()).data.map(({ id }) => id);

      expect(ids).toEqual(Object.keys(models));
    });

    test('the proxy answers requests in Gemini’s format', async () => {
      const { text } = await client.generate.content({ model: 'chat', contents: 'Hello' });

      expect(text).toContain('Hello');
    });

    test('the proxy answers requests with the model in the path', async () => {
      const { data } = await client.embeddings.createForEngine({ model: 'embedding', input: 'x' });

      expect(data[0]?.embedding.length).toBeGreaterThan(0);
    });

    const listed: Readonly<Record<string, string>> = {
      chat: 'gpt-4o-mini',
      image: 'gpt-image-1',
      speech: 'tts-1',
      video: 'sora-2',
    };

    test.each([
      ['of its price list', (kind: string) => listed[kind] ?? kind],
      ['with prices of their own', (kind: string) => kind],
    ])('responses of models %s report their cost as in the emulator', async (_, named) => {
      const gateway = 'litellm';
      const { client: other } = emulated({ gateway }, { gateway });

      expect(await findReported(client, named)).toEqual(await findReported(other, named));
    });

    test('the proxy answers a request for one model', async () => {
      expect(await client.models.retrieve('chat')).toMatchObject({ id: 'chat' });
    });

    test('responses carry the call id of the client', async () => {
      const { request_id: requestId } = await client.chat.completions
        .create({ model: 'chat', messages }, { callId: 'call_mine' })
        .withResponse();

      expect(requestId).toBe('call_mine-1');
    });
  });

  describe('errors', () => {
    const refusals: readonly {
      name: string;
      apiKey: string;
      params: object;
      type: typeof APIError;
      facts: object;
    }[] = [
      {
        name: 'a model that it does not have',
        apiKey: masterKey,
        params: { model: 'nope' },
        type: BadRequestError,
        facts: {},
      },
      {
        name: 'a key that it does not know',
        apiKey: 'sk-unknown',
        params: {},
        type: AuthenticationError,
        facts: {},
      },
      {
        name: 'a key that has expired',
        apiKey: 'sk-expired',
        params: {},
        type: AuthenticationError,
        facts: { type: 'expired_key' },
      },
      {
        name: 'a key whose budget is spent',
        apiKey: 'sk-over-budget',
        params: {},
        type: UnprocessableEntityError,
        facts: { type: 'budget_exceeded' },
      },
      {
        name: 'a key for other models',
        apiKey: 'sk-other-models',
        params: {},
        type: PermissionDeniedError,
        facts: {},
      },
    ];

    test.each(refusals)(
      '$name is rejected before any work',
      async ({ apiKey, params, type, facts }) => {
        const call = proxy.connect({ apiKey, maxRetries: 2 }).chat.completions.create({
          model: 'chat',
          messages,
          ...params,
        });
        const error = await failureOf(call);

        expect(error).toBeInstanceOf(type);
        expect(error).toMatchObject({ outcome: 'rejected', ...facts });
        expect(proxy.emulator.requests).toHaveLength(0);
        if (type === AuthenticationError) expect(String(error)).toContain('Check apiKey');
      },
    );

    test('a key above its rate limit is rejected before any work', async () => {
      const limited = proxy.connect({ apiKey: 'sk-rate-limited' });
      const call = () => limited.chat.completions.create({ model: 'chat', messages });
      await call();
      const error = await failureOf(call());

      expect(error).toBeInstanceOf(RateLimitError);
      expect(error).toMatchObject({ outcome: 'rejected' });
      expect(proxy.emulator.charges).toHaveLength(1);
    });

    const relayed: readonly { status: number; type: typeof APIError; outcome: string }[] = [
      { status: 400, type: BadRequestError, outcome: 'rejected' },
      { status: 401, type: AuthenticationError, outcome: 'rejected' },
      { status: 429, type: RateLimitError, outcome: 'rejected' },
      { status: 500, type: InternalServerError, outcome: 'unknown' },
      { status: 503, type: InternalServerError, outcome: 'unknown' },
    ];

    test.each(relayed)('$status of the vendor', async ({ status, type, outcome }) => {
      const fault = { type: 'error', status, message: 'Boom', errorType: 'vendor' } as const;
      proxy.emulator.fail({ fault });
      const error = await failureOf(
        client.chat.completions.create({ model: 'failing', messages }, { callId: 'call_x' }),
      );

      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, outcome, requestID: 'call_x-1' });
      expect(String(error)).toContain('Boom');
      // Its own keys were refused, not that of the client.
      if (status === 401) expect(String(error)).toContain("rejected the gateway's own key");
    });

    test('a prompt that is too long', async () => {
      const message =
        "This model's maximum context length is 10 tokens. However, your messages resulted in 20 tokens.";
      const code = 'context_length_exceeded';
      proxy.emulator.fail({ fault: { type: 'error', status: 400, message, code } });
      const error = await failureOf(client.chat.completions.create({ model: 'failing', messages }));

      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ outcome: 'rejected' });
      expect(String(error)).toContain('ContextWindowExceededError');
    });

    test('a vendor that times out may have charged', async () => {
      proxy.emulator.fail({ fault: { type: 'slow', milliseconds: 3_000 } });
      const error = await failureOf(client.chat.completions.create({ model: 'slow', messages }));

      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({ status: 408, outcome: 'unknown' });
    });

    test('a stream that the vendor cuts is not complete', async () => {
      proxy.emulator.fail({ fault: { type: 'cut-events', after: 3 } });
      const stream = await client.chat.completions.create({ model: 'cut', messages, stream: true });
      const error = await failureOf(collect(stream));

      expect(error).toMatchObject({ outcome: 'unknown' });
    });
  });

  describe("requests for one call if the vendor's connection is lost", () => {
    const once = { headers: { 'x-litellm-num-retries': '0' } };
    const onlyOnce = { ...once, extraBody: { disable_fallbacks: true } };
    const calls = {
      chat: chatWith('lost'),
      'chat with a fallback': chatWith('withFallback'),
      embeddings: (options?: RequestOptions) =>
        client.embeddings.create({ model: 'lostEmbedding', input: 'x' }, options),
      images: (options?: RequestOptions) =>
        client.images.generate({ model: 'lostImage', prompt: 'x' }, options),
      speech: (options?: RequestOptions) =>
        client.audio.speech.create({ model: 'lostSpeech', input: 'x', voice: 'alloy' }, options),
      responses: (options?: RequestOptions) =>
        client.responses.create({ model: 'lost', input: 'x' }, options),
      edits: (options?: RequestOptions) =>
        client.images.edit({ model: 'lostEdit', prompt: 'x', image: png }, options),
      videos: (options?: RequestOptions) =>
        client.videos.create({ model: 'lostVideo', prompt: 'x' }, options),
    };
    // The guide has these figures.
    const figures: readonly {
      readonly name: keyof typeof calls;
      readonly usual: number;
      readonly withoutRetries: number;
      readonly withoutFallbacks: number;
    }[] = [
      { name: 'chat', usual: 3, withoutRetries: 1, withoutFallbacks: 1 },
      { name: 'chat with a fallback', usual: 6, withoutRetries: 2, withoutFallbacks: 1 },
      { name: 'embeddings', usual: 9, withoutRetries: 3, withoutFallbacks: 3 },
      { name: 'images', usual: 9, withoutRetries: 3, withoutFallbacks: 3 },
      { name: 'speech', usual: 3, withoutRetries: 1, withoutFallbacks: 1 },
      { name: 'responses', usual: 3, withoutRetries: 1, withoutFallbacks: 1 },
      { name: 'edits', usual: 3, withoutRetries: 1, withoutFallbacks: 1 },
      { name: 'videos', usual: 3, withoutRetries: 1, withoutFallbacks: 1 },
    ];

    test.each(figures)(
      '$name: $usual charges, without retries $withoutRetries, without fallbacks $withoutFallbacks',
      async ({ name, usual, withoutRetries, withoutFallbacks }) => {
        const found: number[] = [];
        for (const options of [undefined, once, onlyOnce]) {
          proxy.emulator.reset();
          proxy.emulator.fail(lost);
          const error = await failureOf(calls[name](options));
          expect(error).toMatchObject({ outcome: 'unknown' });
          found.push(proxy.emulator.charges.length);
        }

        expect(found).toEqual([usual, withoutRetries, withoutFallbacks]);
      },
    );
  });

  describe('the account', () => {
    test('the account settles a call by its response id, with a key that may read the log', async () => {
      const { request_id: requestId } = await proxy
        .connect({ apiKey: 'sk-reader' })
        .chat.completions.create({ model: 'chat', messages })
        .withResponse();
      const reader = proxy.connect({ apiKey: 'sk-reader' });

      await expect
        .poll(() => reader.account.settle(requestId ?? ''))
        .toMatchObject({ verdict: 'charged', requestId });
      const { data } = await reader.account.charges({ requestId: requestId ?? '' });
      expect(data).toMatchObject([
        { type: 'consume', model: 'chat', tokens: { input: 4, output: 16 } },
      ]);
      expect(data[0]?.amount.value).toBeCloseTo(0.036);
    });

    test('the account settles a call that got no response', async () => {
      const impatient = proxy.connect({ timeout: 300 });
      proxy.emulator.fail({ fault: { type: 'slow', milliseconds: 1_000 } });
      const error = await failureOf(impatient.images.generate({ model: 'image', prompt: 'x' }));

      expect(error).toMatchObject({
        outcome: 'unknown',
        evidence: { attempts: [{ phase: 'sent' }] },
      });
      if (!GatewayError.isInstance(error)) throw error;
      await expect.poll(async () => (await client.account.settle(error)).verdict).toBe('charged');
    });

    test('the account returns the spend and budget of a key', async () => {
      const { used, limit, available } = await proxy
        .connect({ apiKey: 'sk-reader' })
        .account.balance();

      expect(limit).toEqual({ value: 10, unit: 'USD' });
      expect(used.value + (available?.value ?? 0)).toBeCloseTo(10);
      expect(await proxy.connect({ apiKey: 'sk-unlimited' }).account.balance()).toMatchObject({
        limit: undefined,
        available: undefined,
        expiresAt: Date.UTC(2100, 0, 1),
      });
    });

    test('the account rejects keys that may not read it', async () => {
      const other = proxy.connect({ apiKey: 'sk-unlimited' });
      const ofKey = await failureOf(other.account.settle('call_x-1'));
      // The master key is in no table.
      const ofMaster = await failureOf(client.account.balance());

      for (const error of [ofKey, ofMaster]) {
        expect(error).toBeInstanceOf(UnsupportedByGatewayError);
      }
    });

    test('the account has the prices of its models', async () => {
      const { models: prices } = await client.account.prices();

      expect(prices.find(({ model }) => model === 'chat')).toMatchObject({
        billedPer: 'token',
        input: { value: 1_000 },
        output: { value: 2_000 },
      });
      expect(prices.find(({ model }) => model === 'image')).toMatchObject({
        billedPer: 'call',
        perCall: { value: 0.04, unit: 'USD' },
      });
      expect(prices.find(({ model }) => model === 'video')).toMatchObject({ billedPer: 'second' });
      expect(prices.find(({ model }) => model === 'unpriced')).toMatchObject({
        billedPer: 'unknown',
      });
    });
  });
});
