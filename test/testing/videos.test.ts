import { describe, expect, test } from 'vitest';
import { markers, type EmulatorOptions } from '../../src/testing/index.ts';
import { newClient, type PlainClient } from '../helpers/emulator-client.ts';

const order = { model: 'm-video', prompt: 'a cat' };

interface Submitted extends PlainClient {
  readonly id: string;
  readonly status: () => Promise<Record<string, unknown>>;
  readonly vendor: () => Promise<Record<string, unknown>>;
}

/** A caller who has submitted a task to an emulator whose time stands still. */
async function submitted(
  options: EmulatorOptions = {},
  fields: object = order,
): Promise<Submitted> {
  const client = newClient(options);
  client.emulator.clock.hold();
  await client.post('/v1/videos', fields);
  const id = client.emulator.videos.list[0]?.id ?? '';
  const read = async (path: string): Promise<Record<string, unknown>> =>
    (await client.get(path)).json();
  return {
    ...client,
    id,
    status: () => read(`/v1/videos/${id}`),
    vendor: () => read(`/kling/v1/videos/text2video/${id}`),
  };
}

describe('submitting a video', () => {
  test('returns the task and charges once', async () => {
    const { emulator, post } = newClient();

    const response = await post('/v1/videos', { ...order, seconds: '8', size: '720x1280' });
    const task = await response.json();

    expect(response.status).toBe(200);
    expect(response.headers.get('x-new-api-other-ratios')).toBe('{"seconds":8,"size":1}');
    expect(task).toEqual({
      id: expect.stringMatching(/^task_\w{32}$/),
      task_id: task.id,
      object: 'video',
      model: 'm-video',
      status: 'queued',
      progress: 0,
      created_at: expect.any(Number),
      seconds: '8',
      size: '720x1280',
    });
    expect(emulator.charges).toMatchObject([{ operation: 'videos.create', taskId: task.id }]);
  });

  test('accepts a form with a file', async () => {
    const { emulator, post } = newClient();
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...order, seconds: '8' })) form.set(name, value);
    form.set('input_reference', new File(['x'], 'a.png'));

    expect((await post('/v1/videos', form)).status).toBe(200);
    expect(emulator.videos.list).toMatchObject([{ prompt: 'a cat', seconds: '8' }]);
  });

  test('twice creates two tasks and two charges', async () => {
    const { emulator, post } = newClient();

    await post('/v1/videos', order);
    await post('/v1/videos', order);

    expect(emulator.charges).toHaveLength(2);
    expect(new Set(emulator.videos.list.map(({ id }) => id)).size).toBe(2);
  });

  test.each([
    {
      fields: { seconds: 8 },
      name: 'a number in seconds',
      code: 'invalid_json',
      message: 'expected string, got number',
    },
    {
      fields: { input_reference: { image_url: 'x' } },
      name: 'an object in input_reference',
      code: 'invalid_json',
      message: 'expected string, got object',
    },
    {
      fields: { prompt: ' ' },
      name: 'a blank prompt',
      code: 'invalid_request',
      message: 'prompt is required',
    },
    {
      fields: { size: 'large' },
      name: 'a wrong size',
      code: 'invalid_size',
      message: 'not supported',
    },
  ])('rejects $fields ($name) in the format of tasks', async ({ fields, code, message }) => {
    const { emulator, post } = newClient();

    const response = await post('/v1/videos', { ...order, ...fields });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code,
      message: expect.stringContaining(message),
      data: null,
    });
    expect(emulator.charges).toEqual([]);
  });

  test.each([
    ['id', ['id']],
    ['task_id', ['task_id']],
    ['video_id', ['video_id']],
    ['data.task_id', ['data', 'task_id']],
    ['data.id', ['data', 'id']],
  ] as const)('a submitted video can have the id only in %s', async (videoId, path) => {
    const { emulator, post } = newClient({ quirks: { videoId, videoSubmitStatus: 201 } });

    const response = await post('/v1/videos', order);
    const task = await response.json();

    expect(response.status).toBe(201);
    expect(path.reduce((value, name) => value[name], task)).toBe(emulator.videos.list[0]?.id);
    expect(JSON.stringify(task).match(/task_\w{32}/g)).toHaveLength(1);
  });
});

describe('the status of a video', () => {
  test('the status of a video moves from unknown to completed over time', async () => {
    const { emulator, status } = await submitted({ videoDuration: 1000 });
    const seen: unknown[] = [];

    for (let step = 0; step <= 10; step += 1) {
      const { status: word, progress } = await status();
      seen.push(`${String(word)} ${String(progress)}`);
      emulator.clock.advance(100);
    }

    expect([...new Set(seen)]).toEqual([
      'unknown 0',
      'queued 10',
      'in_progress 30',
      'in_progress 50',
      'completed 100',
    ]);
  });

  test('the status of a video has the URL of the result once it is completed', async () => {
    const { emulator, id, status } = await submitted();

    emulator.videos.complete(id);
    const task = await status();

    expect(task['metadata']).toEqual({ url: expect.stringMatching(/\.mp4$/) });
    const { url } = Object(task['metadata']);
    expect((await emulator.fetch(url)).headers.get('content-type')).toBe('video/mp4');
  });

  test('the status of a video fails by a marker or manually, and refunds the charge', async () => {
    const prompt = `a cat ${markers.fail}`;
    const { emulator, id, status, ask } = await submitted({}, { ...order, prompt });
    await ask('/v1/videos', order);
    const second = emulator.videos.list[1]?.id ?? '';

    emulator.clock.advance(3000);
    emulator.videos.fail(second, { message: 'No.', code: 'because' });

    expect(await status()).toMatchObject({
      status: 'failed',
      progress: 100,
      error: { code: 'content_policy_violation' },
    });
    expect(emulator.videos.get(second)?.failure).toEqual({ message: 'No.', code: 'because' });
    expect(emulator.charges.map(({ taskId, refundedAt }) => [taskId, refundedAt])).toEqual([
      [id, expect.any(Number)],
      [second, expect.any(Number)],
    ]);
  });

  test('the status of an unknown task is a 400', async () => {
    const { get } = newClient();

    const response = await get('/v1/videos/task_x');

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 'task_not_exist',
      message: 'task_not_exist',
      data: null,
    });
  });

  test('the status of a video can have another id', async () => {
    const { id, status } = await submitted({ quirks: { videoForeignId: true } });

    const task = await status();

    expect(task['id']).toBe(id);
    expect(task['task_id']).not.toBe(id);
  });

  test('the status of a video is reported in the values, fields and units of the quirks', async () => {
    const { emulator, id, status } = await submitted({
      quirks: {
        videoStatuses: { completed: 'SUCCEED' },
        videoNesting: 'data',
        videoProgress: 'percent',
        videoTimes: 'milliseconds',
        videoUrl: 'video_url',
        videoUrlBefore: 'empty',
        videoEarlyEnd: true,
        videoError: 'always',
      },
    });

    expect(await status()).toMatchObject({
      video_url: '',
      completed_at: expect.any(Number),
      error: { code: 10_001 },
    });
    emulator.videos.complete(id);
    const task = await status();
    expect(task).toMatchObject({ data: { status: 'SUCCEED' }, progress: '100%' });
    expect(task).not.toHaveProperty('status');
    expect(task['created_at']).toBeGreaterThan(1e12);
    expect(task['video_url']).toMatch(/^http/);
  });

  test.each([
    ['string', { error: 'No.' }],
    ['fail_reason', { fail_reason: 'No.' }],
    ['null', { error: null }],
    ['numeric-code', { error: { message: 'No.', code: 1301 } }],
    ['missing', {}],
  ] as const)(
    'the status of a video has the failure reason as %s',
    async (videoError, expected) => {
      const { emulator, id, status } = await submitted({ quirks: { videoError } });
      emulator.videos.fail(id, 'No.');

      const { error, fail_reason } = await status();

      expect(JSON.parse(JSON.stringify({ error, fail_reason }))).toEqual(expected);
    },
  );
});

describe("the status on the vendor's route", () => {
  test.each([
    ['task', { code: 'success', data: { status: 'SUCCESS', progress: '100%', fail_reason: '' } }],
    ['old-task', { data: { status: 'SUCCESS', fail_reason: expect.stringMatching(/^http/) } }],
    ['simple', { code: 'success', data: { status: 'succeeded', format: 'mp4', error: null } }],
    ['flat', { status: 'succeeded', url: expect.stringMatching(/^http/) }],
    [
      'native',
      { code: 0, data: { task_status: 'succeed', task_result: { videos: [{ id: '1' }] } } },
    ],
    ['null', { code: 'success', data: null }],
    ['video', { object: 'video', status: 'completed' }],
  ] as const)(
    'the status on the vendor\'s route has the format "%s"',
    async (vendorBody, expected) => {
      const { emulator, id, vendor } = await submitted({ quirks: { vendorBody } });
      emulator.videos.complete(id);

      expect(await vendor()).toMatchObject(expected);
    },
  );

  test("the status on the vendor's route has the failure reason in the URL field", async () => {
    const { emulator, id, vendor } = await submitted();
    emulator.videos.fail(id, 'Refused.');

    expect(await vendor()).toMatchObject({
      data: { status: 'FAILURE', fail_reason: 'Refused.', result_url: 'Refused.' },
    });
  });

  test("the status on the vendor's route has the prefix of the options", async () => {
    const { get } = newClient({ vendorPrefix: 'other' });

    expect((await get('/other/v1/videos/text2video/x')).status).toBe(400);
    expect((await get('/kling/v1/videos/text2video/x')).status).toBe(200);
  });
});

describe('the content of a video', () => {
  test('the content of a video is rejected before the task is completed, after it expired, and without a task', async () => {
    const { emulator, id, get } = await submitted();
    const content = async (task: string): Promise<[number, unknown]> => {
      const response = await get(`/v1/videos/${task}/content`);
      return [response.status, (await response.json()).error.message];
    };

    expect(await content(id)).toEqual([
      400,
      expect.stringContaining('Task is not completed yet, current status: NOT_START'),
    ]);
    emulator.videos.complete(id);
    emulator.videos.expire(id);
    expect(await content(id)).toEqual([410, expect.stringContaining('video result has expired')]);
    expect(await content('x')).toEqual([404, expect.stringContaining('Task not found')]);
  });

  test('the content of a video ignores the range, or honours it', async () => {
    const { emulator, id, get } = await submitted();
    emulator.videos.complete(id);
    const part = (range: string): Promise<Response> => get(`/v1/videos/${id}/content`, { range });

    const ignored = await part('bytes=10-19');
    emulator.quirks.contentRange = 'honoured';
    const [middle, rest, beyond] = [
      await part('bytes=10-19'),
      await part('bytes=100-'),
      await part('bytes=99999999-'),
    ];
    const whole = await ignored.bytes();

    expect([ignored.status, ignored.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
    expect(middle.status).toBe(206);
    expect(middle.headers.get('content-range')).toBe(`bytes 10-19/${whole.length}`);
    expect(await middle.bytes()).toEqual(whole.subarray(10, 20));
    expect(await rest.bytes()).toEqual(whole.subarray(100));
    expect(beyond.status).toBe(416);
  });

  test('redirects to another origin, which receives no key', async () => {
    const { emulator, id, get } = await submitted({ quirks: { contentDelivery: 'redirect' } });
    emulator.videos.complete(id);

    const response = await get(`/v1/videos/${id}/content`);

    expect(response.status).toBe(200);
    expect(response.url).toMatch(/^http:\/\/files\.emulator\.test\/files\//);
    expect(emulator.requests.slice(-2).map(({ origin, hasKey }) => [origin, hasKey])).toEqual([
      ['http://emulator.test', true],
      ['http://files.emulator.test', false],
    ]);
  });
});

describe('a remix', () => {
  test('a remix is a new task of the same model and a new charge', async () => {
    const { emulator, id, post } = await submitted({}, { ...order, seconds: '8' });

    const task = await (await post(`/v1/videos/${id}/remix`, { prompt: 'a dog' })).json();

    expect(task).toMatchObject({ model: 'm-video', seconds: '8', remixed_from_video_id: id });
    expect(task.id).not.toBe(id);
    expect(emulator.charges.map(({ operation }) => operation)).toEqual([
      'videos.create',
      'videos.remix',
    ]);
  });

  test('a remix requires a prompt and an original', async () => {
    const { id, post } = await submitted();

    const blank = await post(`/v1/videos/${id}/remix`, {});
    const missing = await post('/v1/videos/x/remix', { prompt: 'a dog' });

    expect(await blank.json()).toMatchObject({ code: 'invalid_request' });
    expect(missing.status).toBe(400);
    expect(await missing.json()).toMatchObject({
      code: 'task_not_exist',
      message: 'task_origin_not_exist',
    });
  });
});
