// Each operation of the client at OpenRouter, as the emulator plays it. OpenRouter's own client judges the
// emulator in test/compat.
import { generateImage, generateText } from 'ai';
import { describe, expect, test } from 'vitest';
import {
  Gateway,
  GatewayError,
  InvalidInputError,
  memoryLedger,
  parseVideoTaskRef,
  UnsupportedByGatewayError,
  VideoFailedError,
  type RequestOptions,
  usageOf,
} from '../../src/index.ts';
import type { EmulatorOptions, Fault } from '../../src/testing/index.ts';
import { emulatedProvider } from '../adapters/ai-sdk/support.ts';
import { collect, emulated, failureOf, scripted } from '../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../helpers/fake-time.ts';
import { mediaHeads } from '../helpers/media.ts';
import { completion } from '../helpers/transport.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const url = 'https://files.example.com/cat.png';
const part = { type: 'image_url', image_url: { url } };
const inline = {
  type: 'image_url',
  image_url: { url: expect.stringMatching(/^data:image\/png;/) },
};

const sizeOf = async (response: Response): Promise<number> =>
  (await response.arrayBuffer()).byteLength;

function atOpenRouter(setup: EmulatorOptions = {}) {
  return emulated({ gateway: 'openrouter' }, { gateway: 'openrouter', ...setup });
}

const picture = new File([mediaHeads.png], 'cat.png', { type: 'image/png' });

interface Row {
  readonly name: string;
  readonly call: (client: Gateway) => PromiseLike<unknown>;
  readonly route: string;
  readonly body?: unknown;
  /** Fields of the answer. */
  readonly answer: unknown;
}

const rows: readonly Row[] = [
  {
    name: 'models.list',
    call: (client) => client.models.list(),
    route: 'GET /api/v1/models',
    answer: { data: [{ id: 'acme/one', context_length: 128_000 }, {}, {}] },
  },
  {
    name: 'models.retrieve',
    call: (client) => client.models.retrieve('acme/one'),
    route: 'GET /api/v1/model/acme/one',
    answer: { id: 'acme/one', pricing: { prompt: '0.000002' } },
  },
  {
    name: 'chat.completions.create',
    call: (client) =>
      client.chat.completions.create({
        model: 'acme/missing',
        models: ['acme/one'],
        provider: { order: ['acme'] },
        messages,
      }),
    route: 'POST /api/v1/chat/completions',
    body: {
      model: 'acme/missing',
      models: ['acme/one'],
      provider: { order: ['acme'] },
      messages,
    },
    answer: { model: 'acme/one', provider: 'acme', usage: { cost: expect.any(Number) } },
  },
  {
    name: 'embeddings.create',
    call: (client) => client.embeddings.create({ model: 'acme/one', input: 'tea' }),
    route: 'POST /api/v1/embeddings',
    answer: { data: [{ index: 0 }], usage: { cost: expect.any(Number) } },
  },
  {
    name: 'images.generate',
    call: (client) =>
      client.images.generate({
        model: 'acme/image',
        prompt: 'A cat',
        size: '1024x1024',
        response_format: 'b64_json',
      }),
    route: 'POST /api/v1/images',
    body: { model: 'acme/image', prompt: 'A cat', size: '1024x1024' },
    answer: {
      data: [{ b64_json: expect.stringMatching(/^iVBOR/) }],
      usage: { input_tokens: 2, output_tokens: 1_000, cost: 0.002 },
    },
  },
  {
    name: 'images.generate with a ratio and a resolution',
    call: (client) =>
      client.images.generate({
        model: 'acme/image',
        prompt: 'A cat',
        size: '16:9',
        resolution: '1k',
      }),
    route: 'POST /api/v1/images',
    body: { model: 'acme/image', prompt: 'A cat', aspect_ratio: '16:9', resolution: '1K' },
    answer: { data: [{}] },
  },
  {
    name: 'images.edit with references',
    call: (client) =>
      client.images.edit({
        model: 'acme/image',
        prompt: 'A hat',
        image: [url, { image_url: { url } }],
        images: [{ url }],
      }),
    route: 'POST /api/v1/images',
    body: { model: 'acme/image', prompt: 'A hat', input_references: [part, part, part] },
    answer: { data: [{}] },
  },
  {
    name: 'images.edit with files',
    call: (client) =>
      client.images.edit({ model: 'acme/image', prompt: 'A hat', image: [picture, picture] }),
    route: 'POST /api/v1/images',
    body: { model: 'acme/image', prompt: 'A hat', input_references: [inline, inline] },
    answer: { data: [{}] },
  },
  {
    name: 'audio.speech.create',
    call: (client) => client.audio.speech.create({ model: 'acme/one', input: 'Hi', voice: 'a' }),
    route: 'POST /api/v1/audio/speech',
    body: { model: 'acme/one', input: 'Hi', voice: 'a', response_format: 'mp3' },
    answer: { status: 200 },
  },
  {
    name: 'audio.transcriptions.create',
    call: async (client) => {
      const speech = await client.audio.speech.create({ model: 'acme/one', input: 'Hi' });
      return client.audio.transcriptions.create({
        model: 'acme/one',
        file: new File([await speech.arrayBuffer()], 'hi.mp3'),
        response_format: 'verbose_json',
      });
    },
    route: 'POST /api/v1/audio/transcriptions',
    answer: { text: 'Hi', usage: { cost: expect.any(Number) } },
  },
  {
    name: 'videos.create',
    call: (client) =>
      client.videos.create({
        model: 'acme/reel',
        prompt: 'A fox',
        seconds: '8',
        size: '720x1280',
        input_reference: { image_url: url },
        image: url,
      }),
    route: 'POST /api/v1/videos',
    body: {
      model: 'acme/reel',
      prompt: 'A fox',
      duration: 8,
      size: '720x1280',
      frame_images: [{ ...part, frame_type: 'first_frame' }],
      input_references: [part],
    },
    answer: { id: expect.stringMatching(/^task_/), status: 'queued', raw_status: 'pending' },
  },
  {
    name: 'videos.create with files',
    call: (client) =>
      client.videos.create({
        model: 'acme/reel',
        prompt: 'A fox',
        size: '720p',
        images: [picture, url],
      }),
    route: 'POST /api/v1/videos',
    body: {
      model: 'acme/reel',
      prompt: 'A fox',
      resolution: '720p',
      input_references: [inline, part],
    },
    answer: { status: 'queued' },
  },
  {
    name: 'videos.retrieve',
    call: async (client) =>
      client.videos.retrieve(await client.videos.create({ model: 'acme/reel', prompt: 'A fox' })),
    route: `GET /api/v1/videos/`,
    answer: {
      status: 'completed',
      url: expect.stringMatching(/\/content\?index=0$/),
      usage: { cost: 0.008 },
    },
  },
  {
    name: 'videos.downloadContent',
    call: async (client) =>
      client.videos.downloadContent(
        await client.videos.create({ model: 'acme/reel', prompt: 'A fox' }),
      ),
    route: 'GET /api/v1/videos/',
    answer: { status: 200 },
  },
  {
    name: 'videos.remix',
    call: async (client) => {
      const { ref } = await client.videos.create({ model: 'acme/reel', prompt: 'A fox' });
      return client.videos.remix(ref, { prompt: 'By night' });
    },
    route: 'POST /api/v1/videos',
    body: {
      model: 'acme/reel',
      prompt: 'By night',
      previous_job_id: expect.stringMatching(/^task_/),
    },
    answer: { status: 'queued' },
  },
];

const models = [
  { id: 'acme/one' },
  { id: 'acme/image', type: 'image' },
  { id: 'acme/reel', type: 'video' },
];

describe('at OpenRouter', () => {
  test.each(rows)(
    "$name is sent and read in OpenRouter's format",
    async ({ call, route, body, answer }) => {
      const { client, emulator } = atOpenRouter({ models, videoDuration: 0 });

      const found = await call(client);

      expect(found).toMatchObject(Object(answer));
      const last = emulator.requests.at(-1);
      expect(`${last?.method} ${last?.path}`).toContain(route);
      if (body !== undefined) expect(last?.body).toEqual({ kind: 'json', value: body });
    },
  );

  test.each<readonly [string, (client: Gateway) => PromiseLike<unknown>]>([
    [
      'response_format',
      (client) => client.images.generate({ model: 'm', prompt: 'A cat', response_format: 'url' }),
    ],
    ['style', (client) => client.images.generate({ model: 'm', prompt: 'A cat', style: 'vivid' })],
    [
      'mask',
      (client) => client.images.edit({ model: 'm', prompt: 'A hat', image: url, mask: url }),
    ],
    [
      'mask',
      (client) =>
        client.images.edit({ model: 'm', prompt: 'A hat', image: picture, mask: picture }),
    ],
    [
      'image',
      (client) => client.images.edit({ model: 'm', prompt: 'A hat', image: { file_id: 'file_1' } }),
    ],
    [
      'instructions',
      (client) => client.audio.speech.create({ model: 'm', input: 'Hi', instructions: 'Shout' }),
    ],
    [
      'prompt',
      (client) =>
        client.audio.transcriptions.create({ model: 'm', file: picture, prompt: 'Names' }),
    ],
    [
      'metadata',
      (client) =>
        client.videos.create({ model: 'm', prompt: 'A fox', metadata: { image_tail: url } }),
    ],
    ['seconds', (client) => client.videos.create({ model: 'm', prompt: 'A fox', seconds: 'long' })],
    ['task', (client) => client.videos.remix('task_1', { prompt: 'By night' })],
  ])('an unsupported %s is rejected before anything is sent', async (field, call) => {
    const { client, emulator } = atOpenRouter();

    const error = await failureOf(call(client));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(emulator.requests).toHaveLength(0);
  });

  test('lists all models, or those of a query', async () => {
    const { client } = atOpenRouter();
    const ids = async (options?: RequestOptions) =>
      (await client.models.list(options)).data.map((model) => model.id);

    expect(await ids()).toEqual(expect.arrayContaining(['m-large', 'm-embedding', 'm-image']));
    expect(await ids({ query: { output_modalities: 'image' } })).toEqual(['m-image']);
    const prices = await client.account.prices();
    expect(prices.models.map(({ model }) => model)).toContain('m-image');
  });

  test('extraBody adds fields', async () => {
    const { client, emulator } = atOpenRouter();
    const frames = [{ ...part, frame_type: 'last_frame' }];

    await client.videos.create(
      { model: 'm', prompt: 'A fox' },
      { extraBody: { frame_images: frames, seed: 7 } },
    );
    await client.videos.create(
      { model: 'm', prompt: 'A fox', image: picture },
      { extraBody: { seed: 7 } },
    );

    expect(emulator.requests.map(({ body }) => body)).toMatchObject([
      { value: { frame_images: frames, seed: 7 } },
      { value: { frame_images: [{ ...inline, frame_type: 'first_frame' }], seed: 7 } },
    ]);
  });

  test.each<readonly [string, (client: Gateway) => PromiseLike<unknown>]>([
    ['chat', (client) => client.generate.content({ model: 'm', contents: 'Hi' })],
    ['chat', (client) => client.generate.contentStream({ model: 'm', contents: 'Hi' })],
    [
      'embeddings.create',
      (client) => client.embeddings.createForEngine({ model: 'm', input: 'tea' }),
    ],
    [
      'audio.transcriptions',
      (client) => client.audio.translations.create({ model: 'm', file: picture }),
    ],
    [
      'videos.retrieve',
      (client) => client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: 't' }),
    ],
  ])('an unsupported operation is rejected and names %s', async (advice, call) => {
    const { client, emulator } = atOpenRouter();

    const error = await failureOf(call(client));

    expect(error).toBeInstanceOf(UnsupportedByGatewayError);
    expect(error).toMatchObject({
      outcome: 'not_sent',
      advice: expect.stringContaining(advice),
    });
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('a charged call at OpenRouter', () => {
  const calls: readonly {
    readonly name: string;
    readonly call: (client: Gateway) => PromiseLike<unknown>;
  }[] = [
    {
      name: 'images.generate',
      call: (client) => client.images.generate({ model: 'm', prompt: 'A cat' }),
    },
    {
      name: 'images.edit',
      call: (client) => client.images.edit({ model: 'm', prompt: 'A hat', image: picture }),
    },
    {
      name: 'videos.create',
      call: (client) => client.videos.create({ model: 'm', prompt: 'A fox' }),
    },
  ];
  const faults: readonly { readonly failure: string; readonly fault: Fault }[] = [
    { failure: 'a lost answer', fault: { type: 'reset', when: 'after-charge' } },
    { failure: 'a cut answer', fault: { type: 'cut', bytes: 10 } },
    { failure: 'an error of the gateway', fault: { type: 'error', status: 500, charged: true } },
    { failure: 'an error of a proxy', fault: { type: 'html', status: 502, charged: true } },
    { failure: 'an edge timeout', fault: { type: 'bare', status: 524, charged: true } },
    { failure: 'an error with a success status', fault: { type: 'error-in-200' } },
  ];

  test.each(calls.flatMap((call) => faults.map((fault) => ({ ...call, ...fault }))))(
    '$name is not repeated after $failure',
    async ({ call, fault }) => {
      const { client, emulator } = atOpenRouter();
      emulator.fail({ fault, times: 9 });

      const error = await failureOf(call(client));

      expect(error).toMatchObject({ outcome: 'unknown' });
      expect(emulator.requests).toHaveLength(1);
      expect(emulator.charges.length).toBeLessThanOrEqual(1);
    },
  );

  test.each(calls)('$name waits for a limit and is charged once', async ({ call }) => {
    const { client, emulator } = atOpenRouter();
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 0 } });

    await call(client);

    expect(emulator.requests.map(({ status }) => status)).toEqual([
      429,
      expect.toBeOneOf([200, 202]),
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(calls)('$name without credit is rejected at once', async ({ call }) => {
    const { client, emulator } = atOpenRouter({ credit: 1 });

    const error = await failureOf(call(client));

    expect(error).toMatchObject({ status: 402, outcome: 'rejected' });
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('a stream at OpenRouter', () => {
  const params = { model: 'm-reasoning', messages, stream: true } as const;

  test('a stream at OpenRouter ignores comments, and has reasoning, images and cost', async () => {
    const { client, emulator } = atOpenRouter({ quirks: { heartbeatEvery: 1 } });

    const stream = await client.chat.completions.create({
      ...params,
      modalities: ['text', 'image'],
    });
    const chunks = await collect(stream);

    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toContain('You said: "Hello"');
    expect(chunks.some(({ choices }) => choices[0]?.delta.reasoning_details)).toBe(true);
    expect(chunks.some(({ choices }) => choices[0]?.delta.images)).toBe(true);
    expect(chunks.at(-1)?.usage?.cost).toBeCloseTo((emulator.charges[0]?.amount ?? 0) / 500_000);
  });

  test('a stream at OpenRouter throws if it is truncated, and keeps its text', async () => {
    const { client, emulator } = atOpenRouter();
    emulator.fail({ fault: { type: 'cut-events', after: 12 } });

    const error = await failureOf(collect(await client.chat.completions.create(params)));

    expect(error).toMatchObject({
      outcome: 'unknown',
      partial: { choices: [{ message: { reasoning: expect.stringMatching(/^The user wrote/) } }] },
    });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a stream at OpenRouter throws an error inside with its code', async () => {
    const { client, emulator } = atOpenRouter();
    const fault = { type: 'stream-error', after: 5, shape: 'error-data', code: 429 } as const;
    emulator.fail({ fault });

    const error = await failureOf(collect(await client.chat.completions.create(params)));

    expect(error).toMatchObject({
      message: expect.stringContaining('stopped unexpectedly'),
      code: 429,
    });
    expect(emulator.requests).toHaveLength(1);
  });

  test('a stream of images at OpenRouter ends with the image and its cost', async () => {
    const { client } = atOpenRouter({ quirks: { imageStream: 'partial' } });

    const stream = await client.images.generate({ model: 'm', prompt: 'A cat', stream: true });
    const events = await collect(stream);

    expect(events).toMatchObject([
      { type: 'image_generation.partial_image', partial_image_index: 0 },
      {
        type: 'image_generation.completed',
        b64_json: expect.stringMatching(/^iVBOR/),
        usage: { output_tokens: 1_000, cost: 0.002 },
      },
    ]);
  });
});

describe('a video at OpenRouter', () => {
  fakeWaitingTime();
  const params = { model: 'm-video', prompt: 'A fox', seconds: 4 };

  test('a video at OpenRouter is waited for, and counts its cost once it is completed', async () => {
    const { client, emulator } = atOpenRouter();

    const { value: video } = await settle(client.videos.createAndWait(params));

    expect(video).toMatchObject({ status: 'completed', raw_status: 'completed' });
    expect(video?.ref).toMatchObject({
      gateway: 'openrouter',
      baseURL: 'http://emulator.test/api',
      requestId: emulator.charges[0]?.requestId,
    });
    expect(await client.account.spent()).toMatchObject({ estimate: { value: 0.008 } });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video at OpenRouter continues in another process by its handle, without the gateway option', async () => {
    const { client, emulator } = atOpenRouter();
    const { ref } = await client.videos.create(params);
    const stored: unknown = JSON.parse(JSON.stringify(ref));
    const { apiKey, fetch } = emulator;
    const other = new Gateway({
      apiKey,
      fetch,
      baseURL: `${emulator.baseURL}/api/v1`,
      logLevel: 'off',
    });

    const task = parseVideoTaskRef(stored);
    const { value: video, error } = await settle(other.videos.wait(task));

    expect(error).toBeUndefined();
    expect(video).toMatchObject({ id: ref.id, status: 'completed' });
    expect(await sizeOf(await other.videos.downloadContent(task))).toBeGreaterThan(1_000);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video at OpenRouter is submitted once with a ledger, also with files', async () => {
    const { client, emulator } = atOpenRouter();
    const own = { ledger: memoryLedger(), callId: 'job-1' };
    const order = { ...params, image: picture };

    const first = await client.videos.create(order, own);
    const again = await settle(client.videos.createAndWait(order, own));

    expect(again).toMatchObject({ value: { id: first.id, status: 'completed' } });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a video at OpenRouter settles a cut submission by its generation, without a second one', async () => {
    const { client, emulator } = atOpenRouter();
    emulator.fail({ fault: { type: 'cut', bytes: 10 } });
    const own = { ledger: memoryLedger(), callId: 'job-1', onUnknown: 'settle' as const };

    const first = await failureOf(client.videos.create(params, own));
    const second = await failureOf(client.videos.create(params, own));

    expect(first).toMatchObject({ outcome: 'unknown' });
    expect(second).toMatchObject({ message: expect.stringContaining('charge') });
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['failed', 'A reason'],
    ['cancelled', undefined],
    ['expired', undefined],
  ])('a video at OpenRouter that is %s ends the wait', async (word, reason) => {
    const { client, emulator } = atOpenRouter();
    const { ref } = await client.videos.create(params);
    if (reason !== undefined) emulator.videos.fail(ref.id, reason);
    else {
      const fault = { type: 'status-word', word } as const;
      emulator.fail({ operation: 'videos.retrieve', fault, times: 9 });
    }

    const { error } = await settle(client.videos.wait(ref));

    expect(error).toBeInstanceOf(VideoFailedError);
    expect(error).toMatchObject({ ref, message: expect.stringContaining(reason ?? word) });
  });
});

/** Asks about a chat whose generation cost nothing, in the same second. */
async function settleFree(fields: object, headers: Record<string, string> = {}) {
  const generation = {
    id: 'gen-1',
    model: 'm:free',
    created_at: new Date().toISOString(),
    finish_reason: 'stop',
    cancelled: false,
    total_cost: 0,
    ...fields,
  };
  const { client } = scripted(
    [
      () => Response.json(completion, { headers: { 'x-generation-id': generation.id } }),
      () => Response.json({ data: generation }, { headers }),
    ],
    { gateway: 'openrouter' },
  );
  const answer = await client.chat.completions.create({ model: 'm:free', messages });
  return client.account.settle(answer);
}

describe('the account at OpenRouter', () => {
  test('the account at OpenRouter has its credits', async () => {
    const { client } = atOpenRouter({ credit: 5_000_000 });
    await client.images.generate({ model: 'm', prompt: 'A cat' });

    expect(await client.account.balance()).toMatchObject({
      used: { value: 0.002, unit: 'USD' },
      limit: { value: 10, unit: 'USD' },
      available: { value: 9.998, unit: 'USD' },
    });
  });

  test('the account at OpenRouter has the limit of a key that may not read credits', async () => {
    const { emulator } = atOpenRouter({ credit: 5_000_000 });
    const { client } = emulated({
      gateway: 'openrouter',
      apiKey: emulator.apiKey,
      fetch: async (input, init) =>
        new Request(input).url.endsWith('/credits')
          ? Response.json({ error: { code: 403, message: 'Only for managers' } }, { status: 403 })
          : emulator.fetch(input, init),
    });

    expect(await client.account.balance()).toMatchObject({
      used: { value: 0, unit: 'USD' },
      available: { value: 10, unit: 'USD' },
      expiresAt: undefined,
    });
  });

  test('the account at OpenRouter finds a charge by the generation of its answer', async () => {
    const { client } = atOpenRouter();
    const answer = await client.chat.completions.create({ model: 'm-large', messages });

    const { data } = await client.account.charges({ requestId: answer.id });

    expect(answer._request_id).toBe(answer.id);
    expect(data).toMatchObject([
      {
        type: 'consume',
        amount: { value: answer.usage?.cost, unit: 'USD' },
        model: 'm-large',
        tokens: { input: answer.usage?.prompt_tokens },
        requestId: answer.id,
      },
    ]);
  });

  test('the account at OpenRouter settles a call with a cut response', async () => {
    const { client, emulator } = atOpenRouter();
    emulator.fail({ fault: { type: 'cut', bytes: 10 } });
    const error = await failureOf(client.images.generate({ model: 'm', prompt: 'A cat' }));

    expect(await client.account.settle(GatewayError.isInstance(error) ? error : '')).toMatchObject({
      verdict: 'charged',
      amount: { value: 0.002, unit: 'USD' },
      requestId: emulator.charges[0]?.requestId,
    });
  });

  test.each([
    ['with a time', { date: new Date().toUTCString() }],
    ['without a time', {}],
  ])('a call that ended well at no cost was not charged: response %s', async (_, headers) => {
    expect(await settleFree({}, headers)).toMatchObject({
      verdict: 'not_charged',
      amount: { value: 0, unit: 'USD' },
    });
  });

  test.each([
    ['is running', { finish_reason: null }],
    ['was cancelled', { cancelled: true }],
    ['failed', { finish_reason: 'error' }],
    ["was paid for with the caller's key", { is_byok: true }],
  ])('no cost proves nothing yet if the generation %s', async (_, fields) => {
    expect(await settleFree(fields)).toMatchObject({ verdict: 'unknowable' });
  });

  test('the account at OpenRouter draws no conclusion from an unknown generation', async () => {
    const { client } = atOpenRouter({ quirks: { usageLogDelay: 60_000 } });
    const { id } = await client.chat.completions.create({ model: 'm-large', messages });

    expect(await client.account.settle(id)).toMatchObject({ verdict: 'unknowable' });
  });

  test('the account at OpenRouter counts reported costs, and has the prices of models', async () => {
    const { client } = atOpenRouter();
    await client.images.generate({ model: 'm-image', prompt: 'A cat' });
    const { usage } = await client.chat.completions.create({ model: 'm-large', messages });

    const { estimate } = await client.account.spent();
    const { amount } = await client.account.estimate({ model: 'm-large', usage });

    expect(estimate).toEqual({ value: 0.002 + (usageOf(usage).cost ?? 0), unit: 'USD' });
    expect(amount?.value).toBeCloseTo(usageOf(usage).cost ?? 0);
  });
});

describe('other modules at OpenRouter', () => {
  test('the AI SDK provider creates text, images and edits, each charged once', async () => {
    const { provider, emulator } = emulatedProvider(
      { gateway: 'openrouter' },
      { gateway: 'openrouter' },
    );
    const model = provider.imageModel('m-image');

    const { text } = await generateText({ model: provider('m-large'), prompt: 'Hello' });
    const { image } = await generateImage({ model, prompt: 'A cat', size: '64x64' });
    const edit = { text: 'Snow', images: [image.uint8Array] };
    const edited = await generateImage({ model, prompt: edit });

    expect(text).toContain('You said: "Hello"');
    expect(edited.image.mediaType).toBe('image/png');
    expect(emulator.charges.map(({ operation }) => operation)).toEqual([
      'chat.completions.create',
      'images.generate',
      'images.edit',
    ]);
  });
});
