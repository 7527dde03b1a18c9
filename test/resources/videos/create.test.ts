import { describe, expect, test } from 'vitest';
import { APIError, APIUserAbortError } from '../../../src/errors/api-errors.ts';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { VideoSubmitUnknownError } from '../../../src/errors/operation-errors.ts';
import { parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import type { VideoSubmitOptions } from '../../../src/resources/videos/wait-options.ts';
import type { FaultRule } from '../../../src/testing/index.ts';
import type { VideoCreateParams } from '../../../src/resources/videos/types.ts';
import { fetchFailure } from '../../helpers/failures.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  loosely,
  order,
} from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);

/** The one request that a submission makes. */
async function captureRequest(params: VideoCreateParams, options: VideoSubmitOptions = {}) {
  const { requests, videos } = answeredVideos(inTurn({ id: 'a' }));
  await videos.create(params, options);
  expect(requests).toHaveLength(1);
  return requests[0] ?? new Request('https://gateway.test');
}

/** The JSON that a submission sends. */
async function captureJSON(params: VideoCreateParams, options: VideoSubmitOptions = {}) {
  const request = await captureRequest(params, { bodyFormat: 'json', ...options });
  expect(request.headers.get('content-type')).toBe('application/json');
  return request.json();
}

/** The fields of the form that a submission sends, in their order. */
async function captureForm(params: VideoCreateParams, options: VideoSubmitOptions = {}) {
  const request = await captureRequest(params, options);
  expect(request.headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=/);
  return [...(await request.formData())];
}

/** Texts that gateways ignore as a reference image, and charge for the video. */
const texts = [
  './cat.png',
  'cat.png',
  'C:\\cat.png',
  '/home/me/cat.jpg',
  'hello world',
  Buffer.from(png).toString('base64'),
  'file:///tmp/cat.png',
  's3://bucket/cat.png',
  'blob:https://app.example/1',
  'https:/cat.png',
  'data:image/png;base64,',
  'data:text/plain,hello',
  'data:,hello',
  'data:application/pdf;base64,JVBERi0=',
  'data:image/png;base64,%PNG(1)',
];

/** Files that are evidently not images. */
const noImages = [
  Buffer.from('hello world'),
  Buffer.from(Buffer.from(png).toString('base64').repeat(4)),
  Buffer.from('%PDF-1.7'),
  new Blob(['<!doctype html><title>Not found</title>']),
];

describe('videos.create()', () => {
  test('submits once and returns a task with a handle', async () => {
    const { emulator, videos } = emulatedVideos();

    const task = await videos.create({ ...order, seconds: 8 });

    expect(task).toMatchObject({ id: emulator.videos.list[0]?.id, status: 'queued' });
    expect(task.task_id).toBe(task.id);
    expect(task.ref).toEqual({
      v: 1,
      kind: 'video',
      id: task.id,
      route: { type: 'openai' },
      baseURL: emulator.baseURL,
      model: order.model,
      createdAt: expect.any(Number),
      callId: expect.stringMatching(/^call_/),
      requestId: emulator.charges[0]?.requestId,
    });
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
    expect(emulator.charges).toHaveLength(1);
  });

  test('the handle is not in the JSON of a task, and can be stored as JSON', async () => {
    const { videos } = emulatedVideos();

    const task = await videos.create(order);

    expect(JSON.parse(JSON.stringify(task))).not.toHaveProperty('ref');
    expect(JSON.parse(JSON.stringify(task))).not.toHaveProperty('raw');
    expect(parseVideoTaskRef(JSON.parse(JSON.stringify(task.ref)))).toEqual(task.ref);
    expect(JSON.stringify(task.ref)).not.toContain(order.prompt);
  });

  test('returns the raw response and the request id too', async () => {
    const { emulator, videos } = emulatedVideos();

    const { data, response, request_id: requestId } = await videos.create(order).withResponse();

    expect(data).toHaveProperty('_request_id', requestId);
    expect(requestId).toBe(emulator.requests[0]?.id);
    expect(response.headers.get('x-new-api-other-ratios')).not.toBeNull();
    expect(await (await videos.create(order).asResponse()).json()).toMatchObject({
      status: 'queued',
    });
  });

  test.each([200, 201] as const)('accepts a submission answered with %i', async (status) => {
    const { videos } = emulatedVideos({}, { quirks: { videoSubmitStatus: status } });

    expect((await videos.create(order)).status).toBe('queued');
  });

  test.each(['both', 'id', 'task_id', 'video_id', 'data.task_id', 'data.id'] as const)(
    'finds the id in %s',
    async (videoId) => {
      const { emulator, videos } = emulatedVideos({}, { quirks: { videoId } });

      const task = await videos.create(order);

      expect(task.id).toBe(emulator.videos.list[0]?.id);
      expect(task.task_id).toBe(task.id);
      expect(task.ref.id).toBe(task.id);
    },
  );

  test.each([
    ['{"output":{"task_id":"task_1","task_status":"PENDING"},"request_id":"r"}', 'task_1'],
    ['{"request_id":"task_1"}', 'task_1'],
    ['{"code":0,"result":{"task_id":"task_1"}}', 'task_1'],
    ['{"id":9007199254740991}', '9007199254740991'],
    ['{"id":9007199254740993}', '9007199254740993'],
    ['{"id":880137461900052531,"seed":18446744073709551615}', '880137461900052531'],
    ['{"code":0,"data":{"task_id" : 99999999999999999999}}', '99999999999999999999'],
    ['{"id":"task_1","prompt":"\\"id\\":9007199254740993","seed":9007199254740993}', 'task_1'],
  ])('finds the id in %s, unchanged', async (text, id) => {
    const headers = { 'content-type': 'application/json' };
    const { videos } = answeredVideos(inTurn(new Response(text, { headers })));

    const task = await videos.create(order);

    expect(task.ref.id).toBe(id);
    const { prompt, seed } = JSON.parse(text);
    expect(task).toEqual(expect.objectContaining({ task_id: id }));
    expect([Reflect.get(task, 'prompt'), Reflect.get(task, 'seed')]).toEqual([prompt, seed]);
  });

  describe('the request', () => {
    const reference = 'https://images.example/a.png';
    const many = ['https://images.example/a.png', 'https://images.example/b.png'];

    test('sends a form, with seconds as text and metadata as JSON text; unknown fields as they are', async () => {
      const metadata = { seed: 1, negative_prompt: 'rain' };
      const params = {
        ...order,
        seconds: 8,
        size: '1280x720',
        metadata,
        mode: 'pro',
        watermark: false,
      };

      expect(await captureForm(params)).toEqual([
        ['model', order.model],
        ['prompt', order.prompt],
        ['seconds', '8'],
        ['size', '1280x720'],
        ['metadata', '{"seed":1,"negative_prompt":"rain"}'],
        ['mode', 'pro'],
        ['watermark', 'false'],
      ]);
    });

    test('sends JSON if the call sets it, with seconds as text and metadata as an object', async () => {
      const params = { ...order, seconds: 8, metadata: { seed: 1 }, mode: 'pro' };

      expect(await captureJSON(params)).toEqual({ ...params, seconds: '8' });
    });

    test("sends the client's format, unless the call overrides it", async () => {
      const { requests, videos } = answeredVideos(inTurn({ id: 'a' }), { bodyFormat: 'json' });

      await videos.create(order);
      await videos.create(order, { bodyFormat: 'form' });
      await videos.remix('task_1', { prompt: 'At night' });
      await videos.remix('task_1', { prompt: 'At night' }, { bodyFormat: 'form' });

      expect(requests.map(({ headers }) => headers.get('content-type')?.split(';')[0])).toEqual([
        'application/json',
        'multipart/form-data',
        'application/json',
        'multipart/form-data',
      ]);
    });

    test('sends seconds that are text already', async () => {
      expect(await captureForm({ ...order, seconds: '5' })).toContainEqual(['seconds', '5']);
      expect(await captureJSON({ ...order, seconds: '5' })).toEqual({ ...order, seconds: '5' });
    });

    test.each([
      { name: 'a URL', given: reference, sent: reference },
      {
        name: 'a data URL',
        given: 'data:image/png;base64,AAAA',
        sent: 'data:image/png;base64,AAAA',
      },
      { name: "OpenAI's object", given: { image_url: reference }, sent: reference },
    ])('sends a reference that is $name as text', async ({ given, sent }) => {
      const params = { ...order, input_reference: given };

      expect(await captureForm(params)).toContainEqual(['input_reference', sent]);
      expect(await captureJSON(params)).toEqual({ ...order, input_reference: sent });
    });

    test.each<{ name: string; params: Partial<VideoCreateParams>; sent: [string, string][] }>([
      { name: 'one in image', params: { image: reference }, sent: [['image', reference]] },
      { name: 'one in a list', params: { images: [reference] }, sent: [['image', reference]] },
      {
        name: 'several in a list',
        params: { images: many },
        sent: [
          ['images', many[0] ?? ''],
          ['images', many[1] ?? ''],
        ],
      },
      {
        name: 'one in a list beside another',
        params: { image: many[1], images: [reference] },
        sent: [
          ['image', many[1] ?? ''],
          ['images', reference],
        ],
      },
      {
        name: "a vendor's own field",
        params: { metadata: { image_tail: reference } },
        sent: [['metadata', `{"image_tail":"${reference}"}`]],
      },
    ])('sends references in the given field: $name', async ({ params, sent }) => {
      expect(await captureForm({ ...order, ...params })).toEqual([
        ...Object.entries(order),
        ...sent,
      ]);
      expect(await captureJSON({ ...order, ...params })).toEqual({ ...order, ...params });
    });

    test('sends a reference file after the text fields', async () => {
      const file = new File([png], 'boat.png', { type: 'image/png' });
      const form = await captureForm({ input_reference: file, ...order, seconds: 8 });

      expect(form.map(([name]) => name)).toEqual(['model', 'prompt', 'seconds', 'input_reference']);
      expect(form[3]?.[1]).toMatchObject({ name: 'boat.png', type: 'image/png', size: png.length });
    });

    test("sends files of a list, each under the list's field", async () => {
      const form = await captureForm({ images: [png, new Blob([png])], ...order });

      expect(form.map(([name]) => name)).toEqual(['model', 'prompt', 'images', 'images']);
      expect(form[3]?.[1]).toMatchObject({ type: 'image/png', size: png.length });
    });

    test('names bytes by their format', async () => {
      const form = await captureForm({ ...order, input_reference: png });

      expect(form[2]?.[1]).toMatchObject({ name: 'input_reference.png', type: 'image/png' });
    });

    test('sends fields of extraBody, which take precedence, by the same rules', async () => {
      const extraBody = { size: '480p', content: [{ type: 'text' }], images: [reference] };
      const params = { ...order, size: '720p' };

      expect(await captureForm(params, { extraBody })).toEqual([
        ...Object.entries(order),
        ['size', '480p'],
        ['content', '[{"type":"text"}]'],
        ['image', reference],
      ]);
      expect(await captureJSON(params, { extraBody })).toEqual({ ...order, ...extraBody });
    });

    test.each<{ field: string; params: object; more: object }>([
      { field: 'input_reference', params: { input_reference: png }, more: {} },
      { field: 'images', params: { images: [reference, png] }, more: {} },
      { field: 'image', params: {}, more: { extraBody: { image: new Blob([png]) } } },
    ])(
      'rejects a file in JSON before anything is sent: $field',
      async ({ field, params, more }) => {
        const { requests, videos } = answeredVideos(inTurn({ id: 'a' }));
        const options = { bodyFormat: 'json', ...more } as const;

        const error = await failureOf(videos.create({ ...order, ...params }, options));

        expect(error).toMatchObject({ name: 'InvalidInputError', field, outcome: 'not_sent' });
        expect(String(error)).toMatch(/is a file, which JSON cannot contain; .*bodyFormat: "json"/);
        expect(requests).toHaveLength(0);
      },
    );

    test.each(['form', 'json'] as const)(
      'rejects a file in metadata, sent as %s',
      async (bodyFormat) => {
        const { requests, videos } = answeredVideos(inTurn({ id: 'a' }));

        const error = await failureOf(
          videos.create({ ...order, metadata: { image: png } }, { bodyFormat }),
        );

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'metadata.image' });
        expect(requests).toHaveLength(0);
      },
    );

    test.each([
      [415, 'Input should be an object'],
      [422, 'Input should be an object'],
      // A vendor whose tasks are created with JSON only.
      [400, 'invalid asset request (request id: 2026)'],
      [400, 'body must be valid JSON'],
      [400, "invalid character '-' in numeric literal"],
      [400, 'Expecting value: line 1 column 1 (char 0)'],
      [400, 'No number after minus sign in JSON at position 1'],
    ])('a %i names the option, and is not retried', async (status, message) => {
      for (const bodyFormat of ['form', 'json'] as const) {
        const answer = Response.json({ error: { message } }, { status });
        const { requests, videos } = answeredVideos(inTurn(answer));

        const created = await failureOf(videos.create(order, { bodyFormat }));
        const remixed = await failureOf(videos.remix('a', { prompt: 'x' }, { bodyFormat }));

        for (const error of [created, remixed]) {
          expect(error).toMatchObject({ status, outcome: 'rejected' });
          expect(String(error)).toMatch(/bodyFormat.*no charge is expected/);
        }
        expect(requests).toHaveLength(2);
      }
    });

    test('a failure with an unknown outcome names the option in its cause', async () => {
      const answer = Response.json(
        { error: { message: 'invalid asset request' } },
        { status: 500 },
      );
      const { requests, videos } = answeredVideos(inTurn(answer));

      const error = await failureOf(videos.create(order));

      expect(error).toBeInstanceOf(VideoSubmitUnknownError);
      expect(error).toMatchObject({
        outcome: 'unknown',
        advice: expect.not.stringContaining('bodyFormat'),
        cause: { status: 500, advice: expect.stringContaining('bodyFormat') },
      });
      expect(requests).toHaveLength(1);
    });

    test('a multipart submission is accepted and charged once', async () => {
      const { emulator, videos } = emulatedVideos();

      const task = await videos.create({ ...order, seconds: 6, input_reference: png });

      expect(emulator.videos.get(task.id)).toMatchObject({ seconds: '6', prompt: order.prompt });
      expect(emulator.charges).toHaveLength(1);
    });
  });

  test.each<[string, unknown]>([
    ['params', undefined],
    ['model', { prompt: 'x' }],
    ['model', { model: ' ', prompt: 'x' }],
    ['model', { model: 7, prompt: 'x' }],
    ['prompt', { model: 'm' }],
    ['prompt', { model: 'm', prompt: '  \n' }],
    ['seconds', { ...order, seconds: Number.NaN }],
    ['seconds', { ...order, seconds: 0 }],
    ['seconds', { ...order, seconds: '' }],
    ['input_reference', { ...order, input_reference: '' }],
    ['input_reference', { ...order, input_reference: new Uint8Array(0) }],
    ['input_reference', { ...order, input_reference: new File([], 'empty.png') }],
    ['input_reference', { ...order, input_reference: Promise.resolve(png) }],
    ['input_reference', { ...order, input_reference: { file_id: 'file_1' } }],
    ['input_reference.image_url', { ...order, input_reference: { image_url: '' } }],
    ['input_reference', { ...order, input_reference: 7 }],
    ['image', { ...order, image: '' }],
    ['image', { ...order, image: { image_url: 'https://images.example/a.png' } }],
    ['images', { ...order, images: Promise.resolve([png]) }],
    ['images[1]', { ...order, images: [png, 7] }],
    ...texts.map((text): [string, object] => [
      'input_reference',
      { ...order, input_reference: text },
    ]),
    ...texts.map((text): [string, object] => ['image', { ...order, image: text }]),
    ...texts.map((text): [string, object] => ['images[1]', { ...order, images: [png, text] }]),
    ...texts.map((text): [string, object] => [
      'input_reference.image_url',
      { ...order, input_reference: { image_url: text } },
    ]),
    ...noImages.map((file): [string, object] => [
      'input_reference',
      { ...order, input_reference: file },
    ]),
  ])('rejects an invalid %s in %o before anything is sent', async (field, params) => {
    const { emulator, videos } = emulatedVideos();

    const error = await failureOf(loosely(videos, 'create', params));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('a submission is never sent twice', () => {
  test.each<{ name: string; fault: FaultRule['fault']; charges: number }>([
    {
      name: 'a reset after the charge',
      fault: { type: 'reset', when: 'after-charge' },
      charges: 1,
    },
    {
      name: 'a reset before the charge',
      fault: { type: 'reset', when: 'before-charge' },
      charges: 0,
    },
    {
      name: 'a 502 page after the charge',
      fault: { type: 'html', status: 502, charged: true },
      charges: 1,
    },
    { name: 'a 503', fault: { type: 'error', status: 503, message: 'overloaded' }, charges: 0 },
    { name: 'a 500', fault: { type: 'error', status: 500, message: 'broken' }, charges: 0 },
    { name: 'a 408', fault: { type: 'error', status: 408, message: 'slow' }, charges: 0 },
    { name: 'a cut answer', fault: { type: 'cut', bytes: 20 }, charges: 1 },
    {
      name: 'an HTML page with status 200',
      fault: { type: 'html', status: 200, charged: true },
      charges: 1,
    },
    {
      name: 'the status 201 of the provider in an error',
      fault: {
        type: 'error',
        status: 201,
        code: 'fail_to_fetch_task',
        message: 'x',
        charged: true,
      },
      charges: 1,
    },
  ])('$name leaves the outcome unknown', async ({ fault, charges }) => {
    const { emulator, videos } = emulatedVideos({ maxRetries: 5 });
    emulator.fail({ operation: 'videos.create', fault, times: 10 });

    const error = await failureOf(videos.create(order));

    expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ outcome: 'unknown', callId: expect.any(String) });
    expect(String(error)).toContain('may pay twice');
    expect(countRequests(emulator).posts).toBe(1);
    expect(emulator.charges).toHaveLength(charges);
  });

  test('a response without a task id leaves the outcome unknown, and is on the error', async () => {
    const body = { object: 'video', status: 'queued' };
    const { requests, videos } = answeredVideos(inTurn(body));

    const error = await failureOf(videos.create(order));

    expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ outcome: 'unknown', body: JSON.stringify(body) });
    expect(requests).toHaveLength(1);
  });

  test('an error with status 200 is a rejection', async () => {
    const answer = { code: 'ali_api_error', message: 'no quota', data: null };
    const { requests, videos } = answeredVideos(inTurn(answer));

    const error = await failureOf(videos.create(order));

    expect(APIError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ outcome: 'rejected', code: 'ali_api_error' });
    expect(requests).toHaveLength(1);
  });

  test('a refused connection is retried, because nothing was sent', async () => {
    const refused = fetchFailure('ECONNREFUSED', 'connect');
    const { requests, videos } = answeredVideos(inTurn(refused, { id: 'task_1' }));

    expect((await videos.create(order)).id).toBe('task_1');
    expect(requests).toHaveLength(2);
  });

  test('an abort before the submission sends nothing', async () => {
    const { emulator, videos } = emulatedVideos();

    const error = await failureOf(videos.create(order, { signal: AbortSignal.abort() }));

    expect(APIUserAbortError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(emulator.requests).toHaveLength(0);
  });
});
