import { describe, expect, test } from 'vitest';
import { markers, type EmulatorOptions, type Fault } from '../../src/testing/index.ts';
import { newClient } from '../helpers/emulator-client.ts';

function toForm(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

/** A task of one model, submitted to an emulator whose time stands still. */
async function submittedTo(model: string, prompt = 'A boat', options: EmulatorOptions = {}) {
  const client = newClient(options);
  client.emulator.clock.hold();
  await client.post('/v1/videos', { model, prompt });
  const id = client.emulator.videos.list[0]?.id ?? '';
  const read = async (path: string) => Object(await (await client.get(path)).json());
  return {
    ...client,
    id,
    status: () => read(`/v1/videos/${id}`),
    vendor: () => read(`/kling/v1/videos/text2video/${id}`),
  };
}

describe('seconds of a submission', () => {
  test.each([
    { model: 'kling-v1', seconds: '10', made: '5', paid: 1000, ratios: {} },
    { model: 'viduq1', seconds: '10', made: '5', paid: 1000, ratios: {} },
    { model: 'MiniMax-Hailuo-02', seconds: '10', made: '6', paid: 1000, ratios: {} },
    { model: 'jimeng_v30', seconds: '10', made: '5', paid: 1000, ratios: {} },
    {
      model: 'veo-3.0-generate-001',
      seconds: '10',
      made: '8',
      paid: 10_000,
      ratios: { resolution: 1, seconds: 10 },
    },
    { model: 'sora-2', seconds: '8', made: '8', paid: 8000, ratios: { seconds: 8, size: 1 } },
    {
      model: 'wan2.5-t2v-preview',
      seconds: '10',
      made: '10',
      paid: 33_333,
      ratios: { 'resolution-1080P': 10 / 3, seconds: 10 },
    },
    { model: 'm-video', seconds: '10', made: '10', paid: 10_000, ratios: { seconds: 10, size: 1 } },
  ])(
    '$model: $seconds in JSON create a video of $made seconds for $paid units; a form is read everywhere',
    async ({ model, seconds, made, paid, ratios }) => {
      const { emulator, post } = newClient();

      const order = { model, prompt: 'A boat', seconds };
      const answers = [await post('/v1/videos', order), await post('/v1/videos', toForm(order))];

      expect(emulator.videos.list.map((video) => video.seconds)).toEqual([made, seconds]);
      expect(emulator.charges.map(({ amount }) => amount)).toEqual([paid, paid]);
      for (const { headers } of answers) {
        expect(JSON.parse(headers.get('x-new-api-other-ratios') ?? '')).toEqual(ratios);
      }
    },
  );

  test.each([
    ['1280*720', 10_000],
    ['832*480', 5000],
  ])('wan charges by the resolution: %s costs %i units', async (size, paid) => {
    const { emulator, post } = newClient();

    await post('/v1/videos', { model: 'wan2.5-t2v-preview', prompt: 'A boat', size });

    expect(emulator.charges).toMatchObject([{ amount: paid }]);
  });

  test('a number in JSON is rejected where it is read and ignored elsewhere; duration is read', async () => {
    const { emulator, post, ask } = newClient();

    const refused = await post('/v1/videos', { model: 'sora-2', prompt: 'A boat', seconds: 8 });
    await post('/v1/videos', { model: 'kling-v1', prompt: 'A boat', seconds: 10 });
    await ask('/v1/videos', { model: 'kling-v1', prompt: 'A boat', duration: 10 });

    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: 'invalid_json', data: null });
    expect(emulator.videos.list.map(({ seconds }) => seconds)).toEqual(['5', '10']);
  });
});

test.each([
  {
    model: 'sora-2',
    fields: { input_reference: 'https://a.test/a.png' },
    references: ['input_reference'],
  },
  { model: 'kling-v1', fields: { input_reference: 'https://a.test/a.png' }, references: [] },
  { model: 'kling-v1', fields: { image: 'https://a.test/a.png' }, references: ['image'] },
  { model: 'kling-v1', fields: { input_reference: new File(['x'], 'a.png') }, references: [] },
  {
    model: 'veo-3.0-generate-001',
    fields: { input_reference: new File(['x'], 'a.png') },
    references: ['file'],
  },
  {
    model: 'veo-3.0-generate-001',
    fields: { input_reference: 'https://a.test/a.png' },
    references: [],
  },
  {
    model: 'jimeng_v30',
    fields: { input_reference: new File(['x'], 'a.png') },
    references: ['file'],
  },
  {
    model: 'wan2.5-t2v-preview',
    fields: { input_reference: 'https://a.test/a.png' },
    references: ['input_reference'],
  },
])(
  '$model drops references that its vendor does not read: $fields',
  async ({ model, fields, references }) => {
    const { emulator, post } = newClient();

    await post('/v1/videos', toForm({ model, prompt: 'A boat', ...fields }));

    expect(emulator.videos.list).toMatchObject([{ references }]);
  },
);

test.each([
  {
    model: 'kling-v1',
    fields: { metadata: { duration: { a: 1 } } },
    status: 500,
    code: 'build_request_failed',
  },
  {
    model: 'wan2.5-t2v-preview',
    fields: { size: '1x1' },
    status: 500,
    code: 'build_request_failed',
  },
  { model: 'sora-2', fields: { size: '1x1' }, status: 400, code: 'invalid_size' },
  { model: 'doubao-seedance-1-0-pro-250528', fields: {}, status: 400, code: 'invalid_request' },
])('$model rejects $fields before a vendor request', async ({ model, fields, status, code }) => {
  const { emulator, post } = newClient();

  const response = await post('/v1/videos', { model, prompt: 'A boat', ...fields });

  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ code, data: null });
  expect(emulator.charges).toEqual([]);
});

test('metadata that is text, or not JSON in a form, is ignored', async () => {
  const { post } = newClient();
  const order = { model: 'kling-v1', prompt: 'A boat' };

  expect((await post('/v1/videos', { ...order, metadata: 'x' })).status).toBe(200);
  expect((await post('/v1/videos', toForm({ ...order, metadata: '{x' }))).status).toBe(200);
});

describe('a task in the format of its vendor', () => {
  test.each([
    ['sora-2', { status: 'queued', error: null, prompt: 'A boat', seconds: '4', size: '720x1280' }],
    ['kling-v1', { status: 'unknown', model: '', completed_at: expect.any(Number) }],
    ['wan2.5-t2v-preview', { status: 'queued', metadata: { url: '' } }],
    ['viduq1', { status: 'unknown', model: '' }],
    ['veo-3.0-generate-001', { status: 'in_progress' }],
  ])('%s at first', async (model, body) => {
    const { id, status } = await submittedTo(model);

    const task = await status();

    expect(task).toMatchObject({ ...body, id });
    expect(task).not.toHaveProperty('task_id');
  });

  test.each([
    { model: 'sora-2', code: 'moderation_blocked', url: undefined },
    { model: 'kling-v1', code: '', url: undefined },
    {
      model: 'MiniMax-Hailuo-02',
      code: '1027',
      url: 'the generated video involves sensitive content',
    },
    { model: 'jimeng_v30', code: '50512', url: '' },
  ])('$model when it failed', async ({ model, code, url }) => {
    const { emulator, id, status } = await submittedTo(model);

    emulator.videos.fail(id);
    const task = await status();

    expect(task).toMatchObject({ status: 'failed', error: { code } });
    expect(task.metadata?.url).toBe(url);
  });

  test('Sora and Veo have no result URL; the vendor route points to the content route', async () => {
    for (const model of ['sora-2', 'veo-3.0-generate-001']) {
      const { emulator, id, status, vendor, get } = await submittedTo(model);

      emulator.videos.complete(id);
      const task = await status();
      const { data } = await vendor();

      expect(task).toMatchObject({ status: 'completed' });
      expect(JSON.stringify(task)).not.toContain('http');
      expect((data.result_url ?? data.url).endsWith(`/v1/videos/${id}/content`)).toBe(true);
      expect((await get(`/v1/videos/${id}/content`)).status).toBe(200);
    }
  });

  test('a remix is a 404 of Sora, and a new charged video of Kling', async () => {
    for (const [model, status, charges] of [
      ['sora-2', 404, 1],
      ['kling-v1', 200, 2],
    ] as const) {
      const { emulator, id, post } = await submittedTo(model);

      const response = await post(`/v1/videos/${id}/remix`, { prompt: 'At night' });

      expect(response.status).toBe(status);
      expect(emulator.charges).toHaveLength(charges);
    }
  });

  test('a quirk overrides the vendor', async () => {
    const quirks = { videoUrl: 'video_url', videoRemix: 'new' } as const;
    const { emulator, id, status, post } = await submittedTo('sora-2', 'A boat', { quirks });

    emulator.videos.complete(id);

    expect(await status()).toMatchObject({ video_url: expect.stringMatching(/\.mp4$/) });
    expect((await post(`/v1/videos/${id}/remix`, { prompt: 'x' })).status).toBe(200);
  });
});

test('the list of models can set vendors', async () => {
  const models = [{ id: 'm-clips', vendor: 'kling' } as const];
  const { emulator, post } = newClient({ models });

  await post('/v1/videos', { model: 'm-clips', prompt: 'A boat', seconds: '10' });

  expect(emulator.videos.list).toMatchObject([{ seconds: '5' }]);
});

describe('a vendor that fails a poll of the gateway', () => {
  const prompt = `A boat ${markers.pollError}`;

  test.each(['sora-2', 'm-video'])('%s: { error, id } forever, and refunded', async (model) => {
    const { emulator, id, status, vendor } = await submittedTo(model, prompt);

    expect((await status()).status).toEqual(expect.any(String));
    emulator.clock.advance(3000);

    for (const wait of [0, 60_000, 3_600_000]) {
      emulator.clock.advance(wait);
      expect(await status()).toEqual({
        error: {
          code: 'rate_limit_exceeded',
          message: 'Rate limit reached',
          param: null,
          type: 'requests',
        },
        id,
      });
    }
    expect((await vendor()).data).toMatchObject({
      status: 'FAILURE',
      fail_reason: 'upstream returned error',
    });
    expect(emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
  });

  test('a failed poll behind another gateway is unknown forever, while the vendor route has FAILURE', async () => {
    const quirks = { videoPollError: 'unknown' } as const;
    const { emulator, status, vendor } = await submittedTo('m-video', prompt, { quirks });

    emulator.clock.advance(3_600_000);

    const task = await status();
    expect(task).toMatchObject({ status: 'unknown', progress: 0 });
    expect(task).not.toHaveProperty('error');
    expect((await vendor()).data).toMatchObject({
      status: 'FAILURE',
      fail_reason: 'upstream returned unrecognized message',
    });
    expect(emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
  });

  test('Veo: failed, then in_progress, then completed, and charged', async () => {
    const { emulator, status } = await submittedTo('veo-3.0-generate-001', prompt);

    const seen = [await status(), await status()];
    emulator.clock.advance(3000);
    seen.push(await status());

    expect(seen.map((task) => task.status)).toEqual(['failed', 'in_progress', 'completed']);
    expect(emulator.charges[0]).not.toHaveProperty('refundedAt');
  });

  test('Jimeng fails, Kling continues', async () => {
    for (const [model, word] of [
      ['jimeng_v30', 'failed'],
      ['kling-v1', 'completed'],
    ]) {
      const { emulator, status } = await submittedTo(model ?? '', prompt);

      emulator.clock.advance(3000);

      expect(await status()).toMatchObject({ status: word });
    }
  });

  test('set manually, on a running task', async () => {
    const { emulator, id, status } = await submittedTo('m-video');

    emulator.videos.failPoll(id);

    expect(Object.keys(await status()).toSorted()).toEqual(['error', 'id']);
  });
});

test('a failed Veo task keeps its charge if a client polled it first', async () => {
  const polled = await submittedTo('veo-3.0-generate-001', `A boat ${markers.fail}`);
  const unseen = await submittedTo('veo-3.0-generate-001', `A boat ${markers.fail}`);
  polled.emulator.clock.advance(3000);
  unseen.emulator.clock.advance(3000);

  expect(await polled.status()).not.toHaveProperty('error');

  expect(polled.emulator.charges[0]).not.toHaveProperty('refundedAt');
  expect(unseen.emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
});

describe('the limit of downloads', () => {
  test('the eleventh of a minute is an empty 429 without a hint; polls are not touched', async () => {
    const { emulator, id, get, status } = await submittedTo('m-video');
    const download = () => get(`/v1/videos/${id}/content`);
    emulator.videos.complete(id);

    for (let count = 0; count < 10; count += 1) expect((await download()).status).toBe(200);
    const refused = await download();

    expect(refused.status).toBe(429);
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(await refused.text()).toBe('');
    expect((await get('/v1/videos/task_nope/content')).status).toBe(429);
    expect(await status()).toMatchObject({ status: 'completed' });

    emulator.clock.advance(60_000);
    expect((await download()).status).toBe(200);
  });

  test('the limit of downloads can be set or removed', async () => {
    for (const [contentLimit, status] of [
      [1, 429],
      [0, 404],
    ] as const) {
      const { get } = newClient({ quirks: { contentLimit } });

      for (let count = 0; count < 20; count += 1) await get('/v1/videos/task_x/content');

      expect((await get('/v1/videos/task_x/content')).status).toBe(status);
    }
  });

  test('the content needs no key', async () => {
    const { emulator, id } = await submittedTo('m-video');
    emulator.videos.complete(id);

    const response = await emulator.fetch(`${emulator.baseURL}/v1/videos/${id}/content`);

    expect(response.status).toBe(200);
  });
});

test.each([429, 201, 500])(
  'a vendor rejects a submission with %i, in the task envelope',
  async (status) => {
    const { emulator, post } = newClient();
    emulator.fail({ operation: 'videos.create', fault: { type: 'vendor-refusal', status } });

    const response = await post('/v1/videos', { model: 'sora-2', prompt: 'A boat' });

    expect(response.status).toBe(status);
    expect(response.headers.has('retry-after')).toBe(false);
    expect(await response.json()).toEqual({
      code: 'fail_to_fetch_task',
      message: expect.any(String),
      data: null,
    });
    expect(emulator.charges).toEqual([]);
  },
);

describe('an error inside a 200', () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const typed: Fault = { type: 'error-in-200' };
  const untyped: Fault = { type: 'error-in-200', typed: false };
  const chat = '/v1/chat/completions';

  test.each([
    { path: chat, body: { model: 'm-large', messages }, fault: typed, charges: 0 },
    { path: chat, body: { model: 'm-large', messages }, fault: untyped, charges: 1 },
    {
      path: '/v1/embeddings',
      body: { model: 'm-embedding', input: 'x' },
      fault: typed,
      charges: 0,
    },
    {
      path: '/v1/embeddings',
      body: { model: 'm-embedding', input: 'x' },
      fault: untyped,
      charges: 1,
    },
    {
      path: '/v1/images/generations',
      body: { model: 'm-image', prompt: 'x' },
      fault: typed,
      charges: 1,
    },
    {
      path: '/v1/images/generations',
      body: { model: 'gpt-image-1', prompt: 'x' },
      fault: typed,
      charges: 0,
    },
    {
      path: '/v1/audio/speech',
      body: { model: 'm-speech', input: 'x', voice: 'alloy' },
      fault: typed,
      charges: 1,
    },
    {
      path: '/v1beta/models/m-large:generateContent',
      body: { contents },
      fault: typed,
      charges: 1,
    },
  ])('$path $body $fault is charged $charges times', async ({ path, body, fault, charges }) => {
    const { emulator, post } = newClient();
    emulator.fail({ fault });

    const response = await post(path, body);
    const { error } = Object(await response.json());

    expect(response.status).toBe(200);
    expect(error.message).toBe('Provider returned error');
    expect('type' in error).toBe(fault === typed);
    expect(emulator.charges).toHaveLength(charges);
  });

  test('an error of a submission inside a 200 is in the task envelope, has no id, and is free', async () => {
    const { emulator, ask } = newClient();
    emulator.fail({ fault: typed });

    const body = await ask('/v1/videos', { model: 'wan2.5-t2v-preview', prompt: 'x' });

    expect(body).toEqual({ code: 'ali_api_error', message: expect.any(String), data: null });
    expect(emulator.charges).toEqual([]);
    expect(emulator.videos.list).toEqual([]);
  });

  test('an error of streams inside a 200 shows only usage, charged, or nothing at all, free', async () => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: typed, times: 2 });

    const streamed = await post(chat, { model: 'm-large', messages, stream: true });
    const generated = await post('/v1beta/models/m-large:streamGenerateContent?alt=sse', {
      contents,
    });

    expect(await streamed.text()).toMatch(/^data: \{.*"choices":\[\],.*\}\n\ndata: \[DONE\]\n\n$/);
    expect(await generated.text()).toBe('');
    expect(generated.headers.get('content-type')).toBe('text/event-stream');
    expect(emulator.charges).toMatchObject([{ operation: 'chat.completions.create' }]);
  });
});
