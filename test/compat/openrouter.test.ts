// The client of OpenRouter, which checks answers with zod, on the emulator as OpenRouter.
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import type { ChatRequest, ChatResult, ChatStreamChunk } from '@openrouter/sdk/models';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../dist/index.js';
import { createEmulator, type EmulatorOptions, type Fault } from '../../dist/testing/index.js';

function setUp(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ gateway: 'openrouter', ...options });
  const { apiKey, baseURL, fetch } = emulator;
  const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input, init) });
  const serverURL = `${baseURL}/api/v1`;
  const sdk = new OpenRouter({
    apiKey,
    serverURL,
    httpClient,
    retryConfig: { strategy: 'none' },
  });
  const chat = async (chatRequest: ChatRequest): Promise<ChatResult> => {
    const answer = await sdk.chat.send({ chatRequest: { ...chatRequest, stream: false } });
    if ('choices' in answer) return answer;
    throw new Error('The answer is a stream.');
  };
  const collectChunks = async (chatRequest: ChatRequest): Promise<ChatStreamChunk[]> => {
    const answer = await sdk.chat.send({ chatRequest: { ...chatRequest, stream: true } });
    if ('choices' in answer) throw new Error('Expected a stream.');
    return collect(answer);
  };
  return { emulator, sdk, chat, collectChunks };
}

const messages = [{ role: 'user' as const, content: 'What is the weather in Lisbon?' }];
const picture = 'data:image/png;base64,iVBORw0KGgo=';
const image = { type: 'image_url' as const, imageUrl: { url: picture } };

async function collect<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const countBytes = async (stream: ReadableStream): Promise<number> =>
  (await new Response(stream).arrayBuffer()).byteLength;

async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail.');
}

describe("OpenRouter's client", () => {
  test('accepts a chat response with cost, reasoning and images', async () => {
    const { chat, emulator } = setUp();

    const answer = await chat({
      models: ['missing-model', 'm-reasoning'],
      provider: { order: ['acme'] },
      modalities: ['text', 'image'],
      messages,
    });

    const [charge] = emulator.charges;
    expect(answer).toMatchObject({ id: charge?.requestId, model: 'm-reasoning' });
    expect(answer.id).toMatch(/^gen-\d+-/);
    expect(answer.usage?.cost).toBeCloseTo((charge?.amount ?? 0) / 500_000);
    const message = answer.choices[0]?.message;
    expect(message?.reasoningDetails).toMatchObject([{ type: 'reasoning.text' }]);
    expect(message?.images?.[0]?.imageUrl.url).toMatch(/^data:image\/png;base64,/);
  });

  test('accepts tool calls, whole and streamed', async () => {
    const { chat, collectChunks } = setUp();
    const tools = [
      { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } },
    ];
    const chatRequest = { model: 'm-large', messages, tools };

    const whole = await chat(chatRequest);
    const chunks = await collectChunks(chatRequest);

    expect(whole.choices[0]).toMatchObject({ finishReason: 'tool_calls' });
    expect(chunks.flatMap(({ choices }) => choices[0]?.finishReason ?? [])).toEqual(['tool_calls']);
  });

  test('accepts a chat stream with comments, reasoning and usage', async () => {
    const { collectChunks, emulator } = setUp();

    const chunks = await collectChunks({ model: 'm-reasoning', messages });

    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toContain('What is the weather in Lisbon?');
    expect(chunks.some(({ choices }) => choices[0]?.delta.reasoningDetails)).toBe(true);
    expect(chunks.at(-1)?.usage?.cost).toBeCloseTo((emulator.charges[0]?.amount ?? 0) / 500_000);
    const answer = await emulator.fetch(`${emulator.baseURL}/api/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${emulator.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'm-large', messages, stream: true }),
    });
    expect(await answer.text()).toMatch(/^: OPENROUTER PROCESSING\n\n/);
  });

  test('accepts an error inside a stream', async () => {
    const { collectChunks, emulator } = setUp();
    emulator.fail({ fault: { type: 'stream-error', after: 3, shape: 'error-data', code: 502 } });

    const chunks = await collectChunks({ model: 'm-large', messages });

    expect(chunks.find(({ error }) => error)).toMatchObject({
      error: { code: 502 },
      choices: [{ finishReason: 'error' }],
    });
  });

  test('accepts embeddings', async () => {
    const { sdk } = setUp();

    const answer = await sdk.embeddings.generate({
      requestBody: { model: 'm-embedding', input: ['one', 'two'], encodingFormat: 'base64' },
    });

    expect(answer).toMatchObject({ data: [{ index: 0 }, { index: 1 }] });
    expect(answer).toHaveProperty('usage.cost');
  });

  test('accepts images, new and edited', async () => {
    const { sdk, emulator } = setUp();
    const request = { model: 'm-image', prompt: 'A red circle', stream: false as const };

    const made = await sdk.images.generate({
      imageGenerationRequest: { ...request, n: 2, resolution: '512', aspectRatio: '16:9' },
    });
    const edited = await sdk.images.generate({
      imageGenerationRequest: { ...request, inputReferences: [image], size: '64x64' },
    });

    expect(made).toMatchObject({ data: [{ mediaType: 'image/png' }, {}], usage: { cost: 0.004 } });
    expect(edited).toMatchObject({ data: [{ b64Json: expect.stringMatching(/^iVBOR/) }] });
    expect(emulator.charges.map(({ operation }) => operation)).toEqual([
      'images.generate',
      'images.edit',
    ]);
  });

  test('accepts a stream of images', async () => {
    const { sdk } = setUp({ quirks: { imageStream: 'partial' } });

    const answer = await sdk.images.generate({
      imageGenerationRequest: { model: 'm-image', prompt: 'A red circle', stream: true },
    });
    const events = 'data' in answer ? [] : await collect(answer);

    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
  });

  test('accepts a video from its submission to its content', async () => {
    const { sdk, emulator } = setUp();
    emulator.clock.hold();

    const job = await sdk.videoGeneration.generate({
      videoGenerationRequest: {
        model: 'm-video',
        prompt: 'A fox',
        duration: 4,
        resolution: '720p',
        aspectRatio: '9:16',
        frameImages: [{ ...image, frameType: 'last_frame' }],
        inputReferences: [image],
      },
    });
    emulator.clock.advance(1_500);
    const running = await sdk.videoGeneration.getGeneration({ jobId: job.id });
    emulator.clock.advance(3_000);
    const done = await sdk.videoGeneration.getGeneration({ jobId: job.id });
    const content = await sdk.videoGeneration.getVideoContent({ jobId: job.id });
    const next = await sdk.videoGeneration.generate({
      videoGenerationRequest: { model: 'm-video', prompt: 'By night', previousJobId: job.id },
    });

    expect(job).toMatchObject({ status: 'pending', pollingUrl: `/api/v1/videos/${job.id}` });
    expect(running.status).toBe('in_progress');
    expect(done).toMatchObject({ status: 'completed', usage: { cost: 0.008, isByok: false } });
    expect(done.unsignedUrls?.[0]).toMatch(/\/content\?index=0$/);
    expect(await countBytes(content)).toBeGreaterThan(1_000);
    expect(emulator.videos.list[0]).toMatchObject({ size: '720x1280', seconds: '4' });
    expect(emulator.charges.at(-1)).toMatchObject({ operation: 'videos.remix', taskId: next.id });
  });

  test('accepts videos that failed and that expired', async () => {
    const { sdk, emulator } = setUp({ videoDuration: 0 });
    const videoGenerationRequest = { model: 'm-video', prompt: 'A fox' };
    const failed = await sdk.videoGeneration.generate({ videoGenerationRequest });
    const expired = await sdk.videoGeneration.generate({ videoGenerationRequest });
    emulator.videos.fail(failed.id, 'Too blurry');
    emulator.videos.expire(expired.id);

    expect(await sdk.videoGeneration.getGeneration({ jobId: failed.id })).toMatchObject({
      status: 'failed',
      error: 'Too blurry',
    });
    expect(await sdk.videoGeneration.getGeneration({ jobId: expired.id })).toMatchObject({
      status: 'expired',
    });
    expect(
      await failureOf(sdk.videoGeneration.getVideoContent({ jobId: expired.id })),
    ).toMatchObject({ name: 'GoneResponseError', error: { code: 410 } });
  });

  test('accepts speech and its transcription, as JSON and as a form', async () => {
    const { sdk, emulator } = setUp();
    const speechRequest = { model: 'm-speech', input: 'Hello there.', voice: 'alloy' };

    const pcm = await sdk.tts.createSpeech({ speechRequest });
    const mp3 = await sdk.tts.createSpeech({
      speechRequest: { ...speechRequest, responseFormat: 'mp3' },
    });
    const bytes = new Uint8Array(await new Response(mp3).arrayBuffer());
    const json = await sdk.stt.createTranscription({
      sttRequest: {
        model: 'm-speech',
        inputAudio: { data: Buffer.from(bytes).toString('base64'), format: 'mp3' },
      },
    });
    const form = await sdk.stt.createTranscriptionMultipart({
      requestBody: {
        model: 'm-speech',
        file: { fileName: 'speech.mp3', content: bytes },
        responseFormat: 'verbose_json',
        timestampGranularities: ['word'],
      },
    });

    expect(await countBytes(pcm)).toBeGreaterThan(1_000);
    expect(json).toMatchObject({ text: 'Hello there.' });
    expect(json.usage?.cost).toBeGreaterThan(0);
    expect(form).toMatchObject({ text: 'Hello there.', words: [{ word: 'Hello' }, {}] });
    expect(emulator.requests.map(({ operation }) => operation)).toContain(
      'audio.transcriptions.create',
    );
  });

  test('accepts models with their metadata', async () => {
    const { sdk } = setUp({ models: [{ id: 'acme/one' }, { id: 'acme/reel', type: 'video' }] });

    const [page] = await collect(await sdk.models.list({ outputModalities: 'all' }));
    const [texts] = await collect(await sdk.models.list());
    const one = await sdk.models.get({ author: 'acme', slug: 'one' });
    const videos = await sdk.videoGeneration.listVideosModels();

    expect(page?.result.data.map(({ id }) => id)).toEqual(['acme/one', 'acme/reel']);
    expect(texts?.result.data.map(({ id }) => id)).toEqual(['acme/one']);
    expect(one.data).toMatchObject({ contextLength: 128_000, pricing: { prompt: '0.000002' } });
    expect(videos.data.map(({ id }) => id)).toEqual(['acme/reel']);
  });

  test('accepts the account: credits, the key and a generation', async () => {
    const { sdk, chat } = setUp({ credit: 5_000_000 });
    const { id, usage } = await chat({ model: 'm-large', messages });

    const credits = await sdk.credits.getCredits();
    const key = await sdk.apiKeys.getCurrentKeyMetadata();
    const generation = await sdk.generations.getGeneration({ id });

    expect(credits.data).toEqual({ totalCredits: 10, totalUsage: usage?.cost });
    expect(key.data).toMatchObject({ limit: 10, usage: usage?.cost });
    expect(generation.data).toMatchObject({ id, totalCost: usage?.cost, model: 'm-large' });
    expect(await failureOf(sdk.generations.getGeneration({ id: 'gen-1' }))).toMatchObject({
      name: 'NotFoundResponseError',
    });
  });

  test.each<{ readonly fault: Fault; readonly error: string; readonly code: number }>([
    { fault: { type: 'error', status: 402 }, error: 'PaymentRequiredResponseError', code: 402 },
    { fault: { type: 'error', status: 500 }, error: 'InternalServerResponseError', code: 500 },
    {
      fault: { type: 'vendor-refusal', status: 502 },
      error: 'BadGatewayResponseError',
      code: 502,
    },
    {
      fault: { type: 'rate-limit', retryAfter: 1 },
      error: 'TooManyRequestsResponseError',
      code: 429,
    },
  ])('throws $error for a status of $code', async ({ fault, error, code }) => {
    const { chat, emulator } = setUp();
    emulator.fail({ fault });

    const failure = await failureOf(chat({ model: 'm-large', messages }));

    expect(failure).toMatchObject({ name: error, error: { code } });
  });

  test('accepts rejections of keys, credit, models and fields', async () => {
    const { sdk, emulator } = setUp({ credit: 1 });
    const chatRequest = { model: 'm-large', messages, stream: false as const };
    const wrongKey = new OpenRouter({
      apiKey: 'sk-other',
      serverURL: `${emulator.baseURL}/api/v1`,
      httpClient: new HTTPClient({ fetcher: (input, init) => emulator.fetch(input, init) }),
    });
    const failures = [
      await failureOf(wrongKey.chat.send({ chatRequest })),
      await failureOf(sdk.chat.send({ chatRequest })),
      await failureOf(sdk.chat.send({ chatRequest: { ...chatRequest, model: 'missing-model' } })),
      await failureOf(
        sdk.videoGeneration.generate({
          videoGenerationRequest: { model: 'm-video', prompt: 'A fox', duration: -1 },
        }),
      ),
    ];

    expect(failures).toMatchObject([
      { name: 'UnauthorizedResponseError' },
      { name: 'PaymentRequiredResponseError' },
      { name: 'BadRequestResponseError' },
      { name: 'BadRequestResponseError' },
    ]);
    expect(emulator.charges).toHaveLength(0);
  });
});

describe("requests that equal those of OpenRouter's client", () => {
  const text = 'A fox';
  const rows: readonly {
    readonly name: string;
    readonly ours: (client: Gateway) => PromiseLike<unknown>;
    readonly theirs: (sdk: OpenRouter) => PromiseLike<unknown>;
  }[] = [
    {
      name: 'chat with routing',
      ours: ({ chat }) =>
        chat.completions.create({
          model: 'm-large',
          models: ['m-reasoning'],
          provider: { order: ['acme'], allow_fallbacks: false },
          plugins: [{ id: 'web', max_results: 3 }],
          messages,
        }),
      theirs: (sdk) =>
        sdk.chat.send({
          chatRequest: {
            model: 'm-large',
            models: ['m-reasoning'],
            provider: { order: ['acme'], allowFallbacks: false },
            plugins: [{ id: 'web', maxResults: 3 }],
            messages,
          },
        }),
    },
    {
      name: 'embeddings',
      ours: ({ embeddings }) =>
        embeddings.create({ model: 'm-embedding', input: text, encoding_format: 'base64' }),
      theirs: (sdk) =>
        sdk.embeddings.generate({
          requestBody: { model: 'm-embedding', input: text, encodingFormat: 'base64' },
        }),
    },
    {
      name: 'an image',
      ours: ({ images }) =>
        images.generate({ model: 'm-image', prompt: text, n: 2, size: '16:9', quality: 'high' }),
      theirs: (sdk) =>
        sdk.images.generate({
          imageGenerationRequest: {
            model: 'm-image',
            prompt: text,
            n: 2,
            aspectRatio: '16:9',
            quality: 'high',
          },
        }),
    },
    {
      name: 'an edited image',
      ours: ({ images }) =>
        images.edit({ model: 'm-image', prompt: text, image: picture, size: '64x64' }),
      theirs: (sdk) =>
        sdk.images.generate({
          imageGenerationRequest: {
            model: 'm-image',
            prompt: text,
            inputReferences: [image],
            size: '64x64',
          },
        }),
    },
    {
      name: 'a video',
      ours: ({ videos }) =>
        videos.create({
          model: 'm-video',
          prompt: text,
          seconds: 4,
          size: '720p',
          image: picture,
        }),
      theirs: (sdk) =>
        sdk.videoGeneration.generate({
          videoGenerationRequest: {
            model: 'm-video',
            prompt: text,
            duration: 4,
            resolution: '720p',
            frameImages: [{ ...image, frameType: 'first_frame' }],
          },
        }),
    },
    {
      name: 'speech',
      ours: ({ audio }) =>
        audio.speech.create({ model: 'm-speech', input: text, voice: 'alloy', speed: 1.5 }),
      theirs: (sdk) =>
        sdk.tts.createSpeech({
          speechRequest: {
            model: 'm-speech',
            input: text,
            voice: 'alloy',
            speed: 1.5,
            responseFormat: 'mp3',
          },
        }),
    },
    {
      name: 'models',
      ours: ({ models }) => models.list(),
      theirs: async (sdk) => collect(await sdk.models.list({ outputModalities: 'all' })),
    },
    {
      name: 'a generation',
      ours: ({ account }) => account.charges({ requestId: 'gen-1' }),
      theirs: (sdk) => sdk.generations.getGeneration({ id: 'gen-1' }),
    },
  ];

  test.each(rows)('$name', async ({ ours, theirs }) => {
    const { emulator, sdk } = setUp();
    const { apiKey, baseURL, fetch } = emulator;
    const client = new Gateway({ gateway: 'openrouter', apiKey, baseURL, fetch, logLevel: 'off' });

    await Promise.resolve(ours(client)).catch(() => {});
    const [own] = emulator.requests;
    emulator.reset();
    await Promise.resolve(theirs(sdk)).catch(() => {});
    const [other] = emulator.requests;

    expect([own?.method, own?.path]).toEqual([other?.method, other?.path]);
    // Their client adds defaults.
    expect(other?.body).toMatchObject(Object(own?.body));
  });
});
