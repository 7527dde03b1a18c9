// Answers as the real proxy sends them: test/litellm runs it.
import { describe, expect, test } from 'vitest';
import {
  AuthenticationError,
  BadRequestError,
  GatewayError,
  type GatewayOptions,
  InternalServerError,
  InvalidInputError,
  UnsupportedByGatewayError,
} from '../../src/index.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';

const connect = (answers: Parameters<typeof scripted>[0], options: GatewayOptions = {}) =>
  scripted(answers, { gateway: 'litellm', maxRetries: 0, ...options });
const image = { model: 'm-image', prompt: 'A fox' };

const spend = {
  request_id: 'chatcmpl-4c4OEGz0FtmpV7DU96Inh1WJ',
  call_type: 'acompletion',
  startTime: '2026-11-23T15:55:05.925081Z',
  endTime: '2026-11-23T15:55:07.123112Z',
  model: 'openai/m-large',
  model_group: 'chat',
  metadata: { attempted_retries: 0, error_information: null },
  spend: 0.036,
  prompt_tokens: 4,
  completion_tokens: 16,
  status: 'success',
  litellm_call_id: 'call_1-1',
};

const error = (status: number, message: string, type: string) =>
  json({ error: { message, type, param: null, code: `${status}` } }, status);

const noDatabase =
  'Database not connected. Connect a database to your proxy - https://docs.litellm.ai/docs/simple_proxy';

describe('ids of requests', () => {
  test('ids of requests are set by the client, a new one for each attempt that may be charged', async () => {
    const busy = error(429, 'Rate limit exceeded', 'throttling_error');
    const answers = [busy, json({ data: [{ url: 'https://f.test/1' }] }), json({ data: [] })];
    const { client, requests } = connect(answers, { maxRetries: 1 });

    await client.images.generate(image, { callId: 'call_1' });
    await client.models.list();

    expect(requests.map(({ headers }) => headers.get('x-litellm-call-id'))).toEqual([
      'call_1-1',
      'call_1-2',
      null,
    ]);
  });

  test('ids of requests settle a call that got no response', async () => {
    const { client, requests } = connect([new TypeError('terminated'), json([spend])]);
    const lost = await failureOf(client.images.generate(image, { callId: 'call_1' }));
    if (!GatewayError.isInstance(lost)) throw lost;

    expect(lost).toMatchObject({
      outcome: 'unknown',
      evidence: { attempts: [{ requestId: 'call_1-1' }] },
    });
    expect(await client.account.settle(lost)).toMatchObject({
      verdict: 'charged',
      amount: { value: 0.036, unit: 'USD' },
      requestId: 'call_1-1',
    });
    expect(requests[1]?.url).toBe('https://gateway.test/spend/logs?request_id=call_1-1');
  });

  test('ids of requests may be set by the caller', async () => {
    const { client, requests } = connect([new TypeError('terminated')]);
    const headers = { 'x-litellm-call-id': 'mine' };
    const lost = await failureOf(client.images.generate(image, { headers }));

    expect(lost).toMatchObject({ evidence: { attempts: [{ requestId: 'mine' }] } });
    expect(requests[0]?.headers.get('x-litellm-call-id')).toBe('mine');
  });

  test('ids of requests are not sent to other gateways', async () => {
    const { client, requests } = scripted([json({ data: [{ url: 'https://f.test/1' }] })]);

    await client.images.generate(image);

    expect(requests[0]?.headers.has('x-litellm-call-id')).toBe(false);
  });
});

describe('the spend log', () => {
  test('the spend log returns the entries of one request', async () => {
    const { client } = connect([json([spend])]);
    const { data } = await client.account.charges({ requestId: 'call_1-1' });

    expect(data).toEqual([
      expect.objectContaining({
        type: 'consume',
        amount: { value: 0.036, unit: 'USD' },
        model: 'chat',
        at: Date.parse('2026-11-23T15:55:07.123Z'),
        requestId: 'call_1-1',
        tokens: { input: 4, output: 16 },
      }),
    ]);
  });

  test('the spend log of older releases is searched by the id of the response', async () => {
    const { litellm_call_id: _, ...older } = spend;
    const { client } = connect([json([older])]);

    expect(await client.account.settle(older.request_id)).toMatchObject({ verdict: 'charged' });
  });

  test('the spend log contains failures with their reason, which prove nothing alone', async () => {
    const metadata = JSON.stringify({ error_information: { error_message: 'Boom' } });
    const failed = { ...spend, status: 'failure', spend: 0, metadata };
    const { client } = connect([json([failed])]);

    expect((await client.account.charges({ requestId: 'call_1-1' })).data).toMatchObject([
      { type: 'error', reason: 'Boom' },
    ]);
    expect(await client.account.settle('call_1-1')).toMatchObject({ verdict: 'unknowable' });
  });

  test('the spend log proves nothing without an entry, which is written seconds later', async () => {
    const { client } = connect([json([])]);

    expect(await client.account.settle('call_1-1')).toMatchObject({ verdict: 'unknowable' });
  });

  test('the spend log is not guessed from an incomplete entry', async () => {
    const { client } = connect([json([{ ...spend, spend: null }])]);

    const failure = await failureOf(client.account.settle('call_1-1'));

    expect(failure).toBeInstanceOf(UnsupportedByGatewayError);
    expect(String(failure)).toContain('an entry has no amount or no time');
  });

  test.each([
    ['no database', error(500, `/spend/logs Error${noDatabase}`, 'internal_error')],
    [
      'a key of no user',
      error(
        401,
        'Authentication Error, Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Route=/spend/logs. Your role=unknown.',
        'auth_error',
      ),
    ],
  ])('the spend log is unavailable with %s', async (_, answer) => {
    const { client, requests } = connect([answer], { maxRetries: 2 });

    const failure = await failureOf(client.account.settle('call_1-1'));

    expect(failure).toBeInstanceOf(UnsupportedByGatewayError);
    expect(requests).toHaveLength(1);
  });

  test('the spend log is not considered missing after other failures', async () => {
    const { client } = connect([error(500, '/spend/logs Error: timeout', 'internal_error')]);

    const failure = await failureOf(client.account.settle('call_1-1'));

    expect(failure).toBeInstanceOf(InternalServerError);
  });

  test('the spend log rejects a wrong key', async () => {
    const { client } = connect([error(401, 'Invalid proxy server token', 'token_not_found_in_db')]);

    expect(await failureOf(client.account.settle('call_1-1'))).toBeInstanceOf(AuthenticationError);
  });
});

describe('the balance', () => {
  const info = { spend: 0.25, max_budget: 10, expires: '2100-01-01T00:00:00+00:00' };

  test("the balance is the key's budget and spend", async () => {
    const { client, requests } = connect([json({ key: '8cdaaa8b', info })]);

    expect(await client.account.balance()).toMatchObject({
      used: { value: 0.25, unit: 'USD' },
      limit: { value: 10, unit: 'USD' },
      available: { value: 9.75, unit: 'USD' },
      expiresAt: Date.UTC(2100, 0, 1),
    });
    // The key is never in a URL.
    expect(requests[0]?.url).toBe('https://gateway.test/key/info');
  });

  test('the balance uses a shared budget, and is never below 0', async () => {
    const shared = { spend: 6, max_budget: null, litellm_budget_table: { max_budget: 5 } };
    const { client } = connect([json({ info: shared })]);

    expect(await client.account.balance()).toMatchObject({
      limit: { value: 5 },
      available: { value: 0 },
      expiresAt: undefined,
    });
  });

  test.each([
    ['the master key', error(404, 'Key not found in database', 'not_found_error')],
    ['no database', () => new Response('Internal Server Error', { status: 500 })],
    ['an answer without spend', json({ info: {} })],
  ])('the balance is unavailable with %s', async (_, answer) => {
    const { client } = connect([answer]);

    expect(await failureOf(client.account.balance())).toBeInstanceOf(UnsupportedByGatewayError);
  });
});

const model = (name: string, info: object) => ({ model_name: name, model_info: info });

describe('prices', () => {
  test('prices are those of model groups, the highest of several deployments', async () => {
    const data = [
      model('chat', { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }),
      model('chat', { input_cost_per_token: 3e-6, cache_read_input_token_cost: 3e-7 }),
      model('image', { mode: 'image_generation', output_cost_per_image: 0.04 }),
      model('video', { mode: 'video_generation', output_cost_per_second: 0.1 }),
      model('speech', { mode: 'audio_speech', input_cost_per_character: 1e-5 }),
      model('unknown', { input_cost_per_token: 0, output_cost_per_token: 0 }),
    ];
    const { client } = connect([json({ data })]);

    const { models } = await client.account.prices();

    expect(models.map((price) => [price.model, price.billedPer, price.perCall?.value])).toEqual([
      ['chat', 'token', undefined],
      ['image', 'call', 0.04],
      ['video', 'second', undefined],
      ['speech', 'character', undefined],
      ['unknown', 'unknown', undefined],
    ]);
    expect(models[2]).toMatchObject({ perSecond: { value: 0.1, unit: 'USD' } });
    expect(models[3]).toMatchObject({ perCharacter: { value: 1e-5, unit: 'USD' } });
    expect(models[0]).toMatchObject({
      input: { value: 3 },
      output: { value: 2 },
      cachedInput: { value: 0.3 },
    });
  });

  const perSecond = { output_cost_per_video_per_second: 0.1 };
  const speech = { mode: 'audio_speech', input_cost_per_character: 1.5e-5 };
  const sound = { input_cost_per_second: 1e-4, output_cost_per_second: 1e-4 };
  const byTokens = {
    mode: 'image_generation',
    input_cost_per_token: 5e-6,
    input_cost_per_image_token: 1e-5,
    output_cost_per_image_token: 4e-5,
  };
  /** The numbers of LiteLLM's own price map. */
  const priced = [
    model('sora-2', { mode: 'video_generation', ...perSecond }),
    model('video', { mode: 'video_generation', output_cost_per_second: 0.1 }),
    model('custom-video', { mode: null, output_cost_per_second: 0.1 }),
    model('tts-1', speech),
    model('whisper-1', { mode: 'audio_transcription', ...sound }),
    model('gpt-image-1', byTokens),
    model('gpt-image-1.5', { ...byTokens, output_cost_per_token: 1e-5 }),
    model('voice', {
      mode: 'audio_speech',
      input_cost_per_token: 6e-7,
      output_cost_per_token: 1e-5,
      output_cost_per_audio_token: 1.2e-5,
      output_cost_per_second: 2.5e-4,
    }),
    model('listener', {
      mode: 'audio_transcription',
      input_cost_per_token: 2.5e-6,
      input_cost_per_audio_token: 6e-6,
      output_cost_per_token: 1e-5,
    }),
    model('unpriced', { mode: 'chat', input_cost_per_token: 0, output_cost_per_token: null }),
  ];

  test.each([
    [0.8, { model: 'sora-2', seconds: 8 }],
    [0.8, { model: 'video', seconds: 8 }],
    [0.8, { model: 'custom-video', seconds: 8 }],
    [0.0015, { model: 'tts-1', characters: 100 }],
    [0.006, { model: 'whisper-1', seconds: 60 }],
    [0.006, { model: 'whisper-1', usage: { type: 'duration', seconds: 60 } }],
    [0.00245, { model: 'gpt-image-1', usage: { input_tokens: 10, output_tokens: 60 } }],
    [0.00245, { model: 'gpt-image-1.5', usage: { input_tokens: 10, output_tokens: 60 } }],
    [
      0.0033,
      {
        model: 'gpt-image-1.5',
        usage: {
          input_tokens: 110,
          input_tokens_details: { text_tokens: 10, image_tokens: 100 },
          output_tokens: 60,
          output_tokens_details: { text_tokens: 5, image_tokens: 55 },
        },
      },
    ],
    [
      0.0012606,
      {
        model: 'voice',
        usage: {
          prompt_tokens: 101,
          completion_tokens: 100,
          completion_tokens_details: { audio_tokens: 100 },
        },
      },
    ],
    [
      0.00088,
      {
        model: 'listener',
        usage: {
          prompt_tokens: 130,
          completion_tokens: 10,
          prompt_tokens_details: { audio_tokens: 130 },
        },
      },
    ],
  ])('estimate %d dollars for %j', async (value, query) => {
    const { client } = connect([json({ data: priced })]);

    const { amount, reason } = await client.account.estimate(query);

    expect(reason).toBeUndefined();
    expect(amount?.value).toBeCloseTo(value, 8);
  });

  test.each([
    [{ model: 'sora-2' }, /priced per second, but the number of seconds is unknown/],
    [{ model: 'whisper-1', images: 3 }, /priced per second, but the number of seconds is unknown/],
    [{ model: 'tts-1' }, /priced per character, but the number of characters is unknown/],
    [{ model: 'unpriced' }, /the price list has no price for "unpriced"/],
    [{ model: 'nobody' }, /the price list has no model "nobody"/],
  ])('prices say what is missing for %j', async (query, reason) => {
    const { client } = connect([json({ data: priced })]);

    expect(await client.account.estimate(query)).toEqual({
      reason: expect.stringMatching(reason),
    });
  });

  test.each([{ seconds: -1 }, { seconds: Number.NaN }, { characters: 1.5 }, { characters: -1 }])(
    'prices reject %j',
    async (wrong) => {
      const { client, requests } = connect([json({ data: priced })]);
      const [name = ''] = Object.keys(wrong);

      const failure = await failureOf(client.account.estimate({ model: 'sora-2', ...wrong }));

      expect(failure).toBeInstanceOf(InvalidInputError);
      expect(String(failure)).toContain(name);
      expect(requests).toHaveLength(0);
    },
  );

  test('a budget reserves a video by its seconds and a speech by its characters', async () => {
    const { client, requests } = connect([json({ data: priced })], { budget: { limit: 0.5 } });

    const video = await failureOf(
      client.videos.create({ model: 'sora-2', prompt: 'A fox', seconds: 8 }),
    );
    const input = 'a'.repeat(40_000);
    const spoken = await failureOf(
      client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input }),
    );
    const file = new File(['RIFF'], 'a.wav');
    const heard = await failureOf(client.audio.transcriptions.create({ model: 'whisper-1', file }));

    expect(video).toMatchObject({ reason: 'limit', cost: 0.8 });
    expect(spoken).toMatchObject({ reason: 'limit', cost: 0.6 });
    expect(heard).toMatchObject({ reason: 'price', outcome: 'not_sent' });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('prices are used for responses without a cost', async () => {
    const data = [model('m-image', { mode: 'image_generation', output_cost_per_image: 0.04 })];
    const { client } = connect([json({ data }), json({ data: [{ url: 'https://f.test/1' }] })]);

    await client.account.prices();
    await client.images.generate({ ...image, n: 2 });

    expect((await client.account.spent()).estimate.value).toBeCloseTo(0.08);
  });
});

const answered = (cost: string) =>
  Response.json(
    { data: [{ url: 'https://f.test/1' }] },
    { headers: { 'x-litellm-response-cost': cost } },
  );

describe('the cost in a header', () => {
  test('the cost in a header is counted', async () => {
    const { client } = connect([answered('0.04')]);
    await client.images.generate(image);

    expect(await client.account.spent()).toMatchObject({ estimate: { value: 0.04 }, unpriced: 0 });
  });

  test('the cost in a header is the estimate, without the price list', async () => {
    const { client, requests } = connect([answered('0.00245')]);
    const { response } = await client.images.generate(image).withResponse();

    expect(
      await client.account.estimate({ model: image.model, headers: response.headers }),
    ).toEqual({ amount: { value: 0.00245, unit: 'USD' } });
    expect(requests).toHaveLength(1);
  });

  test('a cost of 0 in a header leaves the estimate to the price list', async () => {
    const data = [model(image.model, { mode: 'image_generation', output_cost_per_image: 0.04 })];
    const { client } = connect([answered('0.0'), json({ data })]);
    const { response } = await client.images.generate(image).withResponse();

    expect(
      await client.account.estimate({ model: image.model, headers: response.headers }),
    ).toEqual({ amount: { value: 0.04, unit: 'USD' } });
  });

  test('a cost of 0 in a header means an unknown price', async () => {
    const { client } = connect([answered('0.0')]);
    await client.images.generate(image);

    expect(await client.account.spent()).toMatchObject({ lines: [{ reported: 0 }], unpriced: 1 });
  });
});

describe('errors', () => {
  test.each([
    'litellm.BadRequestError: OpenAIException - you must provide a model parameter',
    'litellm.BadRequestError: OpenAIException - {"error":{"code":"","message":"Model name not specified, model name cannot be empty"}}',
    'litellm.BadRequestError: OpenAIException - model is required',
  ])('errors that LiteLLM resent without their fields prove nothing: %s', async (message) => {
    const { client, requests } = connect([error(400, message, 'invalid_request_error')], {
      maxRetries: 2,
    });

    const failure = await failureOf(client.videos.create({ model: 'm-video', prompt: 'A fox' }));

    expect(failure).toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    'litellm.BadRequestError: OpenAIException - The model does not support this size',
    'Missing required parameter: model',
  ])('errors of a rejected request prove the rejection: %s', async (message) => {
    const { client } = connect([error(400, message, 'invalid_request_error')]);

    const failure = await failureOf(client.videos.create({ model: 'm-video', prompt: 'A fox' }));

    expect(failure).toMatchObject({ outcome: 'rejected' });
  });

  test('name a spent budget, an expired key and a missing database', async () => {
    const spent = error(422, 'Budget has been exceeded! Key=key', 'budget_exceeded');
    const expired = error(401, 'Authentication Error - Expired Key.', 'expired_key');
    const unknown = error(400, 'No connected db.', 'no_db_connection');
    const { client } = connect([spent, expired, unknown], { maxRetries: 2 });
    const fail = () => failureOf(client.images.generate(image));

    expect(await fail()).toMatchObject({
      status: 422,
      type: 'budget_exceeded',
      outcome: 'rejected',
    });
    const refused = await fail();
    expect(refused).toBeInstanceOf(AuthenticationError);
    expect(String(refused)).toContain('Check apiKey');
    const missing = await fail();
    expect(missing).toBeInstanceOf(BadRequestError);
    expect(String(missing)).toContain('Check apiKey');
  });
});
