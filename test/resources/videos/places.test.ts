import { describe, expect, test } from 'vitest';
import { isSecretName } from '../../../src/http/url.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { answeredVideos, inTurn, order } from '../../helpers/videos.ts';

fakeWaitingTime();

const url = 'https://cdn.example/v.mp4';
const image = 'https://cdn.example/boat.png';
const film = Buffer.alloc(300, 7).toString('base64');

describe('the URL of a completed video', () => {
  test.each<[place: string, body: object]>([
    ['result.videos[].url', { result: { videos: [{ url }] } }],
    ['result.videos[].url[]', { result: { videos: [{ url: [url] }] } }],
    ['video_result[].url', { video_result: [{ cover_image_url: image, url }] }],
    ['results.videos[].url', { results: { videos: [{ url }] } }],
    ['assets.video', { assets: { image, video: url } }],
    ['output.works[].video.resource', { output: { works: [{ video: { resource: url } }] } }],
    ['data.works[].video.resource', { data: { works: [{ video: { resource: url } }] } }],
    ['content.result_url', { content: { result_url: url } }],
    ['output.video', { output: { video: url } }],
    ['generations[].video', { generations: [{ video: { url } }] }],
    ['file.download_url', { file: { download_url: url } }],
    ['videos[] of texts', { videos: [url] }],
    ['assets[].url', { assets: [{ url: image }, { url }] }],
    ['result.video_urls[]', { result: { video_urls: [url] } }],
    ['a field that is not known', { clips: { hd: { link: url } } }],
    ['JSON inside text', { extra: JSON.stringify({ clips: [url] }) }],
  ])('the URL of a completed video is read at %s', async (_, body) => {
    const { videos } = answeredVideos(inTurn({ id: 'task_1', status: 'completed', ...body }));

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed', url });
  });

  test.each([
    { input: { video: url } },
    { prompt: url },
    { reference_video: url },
    { thumbnail: image },
    { webhook_url: url },
    { status_url: url },
    { audio_url: 'https://cdn.example/a.mp3' },
  ])(
    'the URL of a completed video is not read from the request or another file: %j',
    async (body) => {
      const { videos } = answeredVideos(inTurn({ id: 'task_1', status: 'completed', ...body }));

      expect((await videos.retrieve('task_1')).url).toBe(undefined);
    },
  );

  test.each([
    ['videos[].bytesBase64Encoded', { videos: [{ bytesBase64Encoded: film }] }],
    ['video_base64', { result: { video_base64: film } }],
  ])('the URL of a completed video is made of the bytes at %s', async (_, body) => {
    const { videos } = answeredVideos(inTurn({ id: 'task_1', status: 'completed', ...body }));

    expect((await videos.retrieve('task_1')).url).toBe(`data:video/mp4;base64,${film}`);
  });
});

describe("Google's operation", () => {
  const name = 'models/veo-3/operations/abc';
  const generateVideoResponse = { generatedSamples: [{ video: { uri: url } }] };

  test("Google's operation is pending until it is done, and has its video then", async () => {
    const { videos } = answeredVideos(
      inTurn(
        { name },
        { name, done: false },
        { name, done: true, response: { generateVideoResponse } },
      ),
    );

    expect(await settle(videos.wait(name))).toMatchObject({ value: { status: 'completed', url } });
  });

  test("Google's operation fails with its error", async () => {
    const error = { code: 3, message: 'The prompt was blocked' };
    const { videos } = answeredVideos(inTurn({ name, done: true, error }));

    expect(await settle(videos.wait(name))).toMatchObject({
      error: { name: 'VideoFailedError', reason: 'The prompt was blocked' },
    });
  });
});

describe('the id of a submission', () => {
  test.each<[place: string, body: object]>([
    ['requestId', { requestId: 'task_1' }],
    ['generation_id', { generation_id: 'task_1' }],
    ['jobId', { jobId: 'task_1', status: 'queued' }],
    ['queue_id', { queue_id: 'task_1' }],
    ['data.jobId', { data: { jobId: 'task_1' } }],
    ['Resp.video_id', { ErrCode: 0, ErrMsg: 'success', Resp: { video_id: 'task_1' } }],
    ['Response.JobId', { Response: { JobId: 'task_1', RequestId: 'r' } }],
    ['task_info.id', { task_info: { id: 'task_1', state: 'queued' } }],
    ['sdGenerationJob.generationId', { sdGenerationJob: { generationId: 'task_1' } }],
    ['data[].taskUUID', { data: [{ taskType: 'videoInference', taskUUID: 'task_1' }] }],
    ['prediction_id', { prediction_id: 'task_1' }],
    ['data as text', { code: 0, data: 'task_1' }],
    ['result as text', { code: 1, description: 'Submitted', result: 'task_1' }],
  ])('the id of a submission is read at %s', async (_, body) => {
    const { videos } = answeredVideos(inTurn(body));

    expect(await videos.create(order)).toMatchObject({ id: 'task_1', status: 'queued' });
  });

  test("the id of a submission is the name of Google's operation", async () => {
    const name = 'models/veo-3/operations/abc';
    const { videos, requests } = answeredVideos(inTurn({ name }));

    expect((await videos.create(order)).id).toBe(name);
    await videos.retrieve(name);
    expect(requests.at(-1)?.url).toContain(encodeURIComponent(name));
  });

  test.each([{ name: 'A boat' }, { error: { message: 'no' }, requestId: 'r' }])(
    'the id of a submission is not read from %j',
    async (body) => {
      const { videos } = answeredVideos(inTurn(body));

      expect(await failureOf(videos.create(order))).toMatchObject({
        name: expect.stringMatching(/Error$/),
      });
    },
  );
});

describe('a task that is called completed', () => {
  test.each<[what: string, body: object, reason: RegExp]>([
    [
      'an error and an empty URL',
      { status: 'completed', error: { message: 'No face found' }, metadata: { url: '' } },
      /No face found/,
    ],
    ['an error as text', { status: 'COMPLETED', error: 'Upstream died' }, /Upstream died/],
    [
      'a withheld video',
      { status: 'done', video: { url: '', respect_moderation: false } },
      /moderation/,
    ],
    ['a list of errors', { status: 'completed', errors: [{ message: 'No face' }] }, /No face/],
    ['errorMessage', { status: 'completed', errorMessage: 'No face', url: '' }, /No face/],
    ['fail_reason', { status: 'SUCCESS', fail_reason: 'No face found' }, /No face found/],
    ['a code alone', { status: 'completed', error: { code: 'nsfw' } }, /nsfw/],
    ['another word of BFL', { status: 'Content Moderated', result: null }, /./],
    ['nsfw', { status: 'nsfw', error: 'because of the prompt' }, /because of the prompt/],
    ['失败', { status: '失败', fail_reason: 'No face' }, /No face/],
    ['unsuccessful', { status: 'unsuccessful', error: 'No face' }, /No face/],
    ['Heygen', { status: 'MEDIA_GENERATION_STATUS_FAILED', error: 'No face' }, /No face/],
    [
      'a filtered video of Veo',
      {
        done: true,
        response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['It shows a person.'] },
      },
      /It shows a person/,
    ],
    [
      'a filtered video of Veo, one level deeper',
      {
        status: 'completed',
        response: { generateVideoResponse: { raiMediaFilteredReasons: ['It shows a person.'] } },
      },
      /It shows a person/,
    ],
    [
      'a filtered video of Veo without a reason',
      { done: true, response: { raiMediaFilteredCount: 1 } },
      /filtered/,
    ],
  ])('a task that is called completed fails with its reason: %s', async (_, body, reason) => {
    const { videos } = answeredVideos(inTurn({ id: 'task_1', ...body }));

    const end = await settle(videos.wait('task_1'));

    expect(end).toMatchObject({ error: { name: 'VideoFailedError' } });
    expect(String(Object(end).error.reason)).toMatch(reason);
  });

  test('a task that is called completed keeps an error beside its result', async () => {
    const error = { message: 'Upscaling failed' };
    const { videos } = answeredVideos(inTurn({ id: 'task_1', status: 'completed', url, error }));

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed', url, error });
  });

  test('a completed task has a video of Veo although another one was filtered', async () => {
    const generateVideoResponse = {
      raiMediaFilteredCount: 1,
      raiMediaFilteredReasons: ['It shows a person.'],
      generatedSamples: [{ video: { uri: url } }],
    };
    const body = { id: 'task_1', done: true, response: { generateVideoResponse } };
    const { videos } = answeredVideos(inTurn(body));

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed', url });
  });

  test.each(['ready', 'Ready', 'successful', 'MEDIA_GENERATION_STATUS_SUCCESSFUL'])(
    'a completed task may be called %s, with its URL or without',
    async (status) => {
      const { videos } = answeredVideos(
        inTurn({ id: 'task_1', status, result: { sample: url } }, { id: 'task_1', status }),
      );

      expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed' });
      expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed' });
    },
  );

  test('a completed task may be the only item of a list', async () => {
    const body = [{ id: 'task_1', status: 'processing', progress: '0.48' }];
    const { videos } = answeredVideos(inTurn(body));

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'in_progress', progress: 48 });
  });

  test('a completed task with a URL has no error', async () => {
    const { videos } = answeredVideos(inTurn({ id: 'task_1', status: 'completed', url }));

    expect((await videos.retrieve('task_1')).error).toBe(null);
  });

  test.each([
    { status: 'COMPLETED', error: 'Upstream died', response_url: 'https://gateway.test/r' },
    { status: 'completed', error: { message: 'Upstream died' }, images: [] },
  ])('a task that is called completed fails with its reason for images: %j', async (body) => {
    const { client } = scripted([json({ task_id: 'task_1', ...body })]);

    const end = await settle(client.images.wait('task_1'));

    expect(end).toMatchObject({ error: { name: 'ImageFailedError', reason: 'Upstream died' } });
  });
});

describe("kie's successFlag", () => {
  const failed = { taskId: 'task_1', errorCode: 501, errorMessage: 'Content policy' };

  test.each([2, 3, '3'])('%j with an errorMessage ends the waits', async (successFlag) => {
    const body = { code: 200, msg: 'success', data: { ...failed, successFlag } };
    const { videos } = answeredVideos(inTurn(body));
    const { client } = scripted([json(body)]);

    expect(await settle(videos.wait('task_1'))).toMatchObject({
      error: { name: 'VideoFailedError', reason: 'Content policy' },
    });
    expect(await settle(client.images.wait('task_1'))).toMatchObject({
      error: { name: 'ImageFailedError', reason: 'Content policy' },
    });
  });

  test.each([0, 1])('%d does not', async (successFlag) => {
    const { videos } = answeredVideos(
      inTurn({ code: 200, data: { taskId: 'task_1', successFlag } }),
    );

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'queued' });
  });
});

describe('a poll with status 202', () => {
  const pages = [
    '',
    'null',
    'Accepted',
    '<!doctype html><title>Wait</title>',
    '{"error":"busy"}',
    '[]',
  ];

  test.each(pages)('a poll with status 202 is a pending video: %j', async (body) => {
    let polls = 0;
    const { videos } = answeredVideos(() => {
      polls += 1;
      if (polls > 25) return Response.json({ id: 'task_1', status: 'completed', url });
      return new Response(body, { status: 202, headers: { 'retry-after': '1' } });
    });

    expect(await settle(videos.wait('task_1'))).toMatchObject({ value: { url } });
  });

  test.each(pages)(
    'a poll with status 202 is a pending image on the same route: %j',
    async (body) => {
      const { client, requests } = scripted([
        ...Array.from({ length: 15 }, () => () => new Response(body, { status: 202 })),
        json({ task_id: 'task_1', status: 'completed', data: [{ url: image }] }),
      ]);

      const end = await settle(client.images.wait('task_1'));

      expect(end).toMatchObject({ value: { data: [{ url: image }] } });
      expect(new Set(requests.map((request) => request.url)).size).toBe(1);
    },
  );

  test('a poll with status 202 honours Retry-After, and ends with the deadline', async () => {
    const times: number[] = [];
    const { videos } = answeredVideos(() => {
      times.push(Date.now());
      return new Response(null, { status: 202, headers: { 'retry-after': '60' } });
    });

    const end = await settle(videos.wait('task_1', { timeout: 150_000 }));

    expect(end).toMatchObject({ error: { name: 'VideoWaitTimeoutError' } });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(60_000);
  });

  test('a poll with status 202 counts by the status of its task', async () => {
    const { videos } = answeredVideos(() =>
      Response.json({ id: 'task_1', status: 'completed', url }, { status: 202 }),
    );

    expect(await videos.retrieve('task_1')).toMatchObject({ status: 'completed', url });
  });
});

test.each([
  'key',
  'api_key',
  'X-Amz-Signature',
  'access_token',
  'sig',
  'sign',
  'authKey',
  'apikey',
  'Authorization',
  'X-Authentication',
  'Ocp-Apim-Subscription-Key',
  'OSSAccessKeyId',
  'Set-Cookie',
  'mj-api-secret',
  'JSESSIONID',
  'userPassword',
])('%s is a secret name', (name) => expect(isSecretName(name)).toBe(true));

test.each([
  'author',
  'design',
  'id',
  'monkey',
  'keyword',
  'signal',
  'keyframe',
  'assignment',
  'bypass',
  'task_id',
  'x-tenant',
])('%s is not a secret name', (name) => expect(isSecretName(name)).toBe(false));

test('a polling URL keeps parameters that are not secrets', async () => {
  const { client, emulator } = emulated();
  const paths: string[] = [];
  const polling = `${emulator.baseURL}/v1/get_result?id=task_1&author=me&design=2&sig=secret`;
  const other = client.withOptions({
    fetch: async (input, init) => {
      const request = new Request(input, init);
      paths.push(request.url);
      return request.method === 'POST'
        ? Response.json({ id: 'task_1', status: 'pending', polling_url: polling })
        : Response.json({ id: 'task_1', status: 'Ready', result: { sample: image } });
    },
  });

  const end = await settle(other.images.generate({ model: 'm-image', prompt: 'A boat' }));

  expect(end).toMatchObject({ value: { data: [{ url: image }] } });
  expect(paths.at(-1)).toMatch(/\/v1\/get_result\?id=task_1&author=me&design=2$/);
});
