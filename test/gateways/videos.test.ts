// Where each gateway puts a video's fields, and which gateway a handle belongs to.
import { describe, expect, test } from 'vitest';
import { type GatewayProfile, InvalidInputError, parseVideoTaskRef } from '../../src/index.ts';
import { bodyOf, emulated, failureOf, json, scripted } from '../helpers/clients.ts';

const gateway: GatewayProfile = {
  name: 'reels',
  paths: { 'videos.create': '/reels', 'videos.retrieve': '/reels/{task_id}' },
  requests: {
    'videos.create': { body: 'json', names: { seconds: 'duration', size: null } },
  },
  video: {
    id: 'job.key',
    status: 'job.phase',
    statuses: { brewing: 'in_progress', served: 'completed', spilt: 'failed' },
    url: 'job.files[0].href',
    error: 'job.reason',
  },
};

const params = { model: 'm-video', prompt: 'A fox', seconds: 5 };
const href = 'https://files.test/1.mp4';

describe('videos of a profile', () => {
  test('videos of a profile are sent and read by its rules, and submitted once', async () => {
    const { client, requests } = scripted(
      [
        json({ job: { key: 'r1', phase: 'brewing' } }),
        json({ job: { key: 'r1', phase: 'served', files: [{ href }] } }),
      ],
      { gateway },
    );

    const task = await client.videos.create(params, { extraBody: { size: 'wide' } });
    const done = await client.videos.retrieve(task);

    expect(task).toMatchObject({ id: 'r1', status: 'in_progress' });
    expect(task.ref).toMatchObject({ gateway: 'reels', baseURL: 'https://gateway.test' });
    expect(done).toMatchObject({ status: 'completed', url: href });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://gateway.test/reels',
      'GET https://gateway.test/reels/r1',
    ]);
    expect(await bodyOf(requests[0])).toEqual({
      model: 'm-video',
      prompt: 'A fox',
      duration: '5',
      size: 'wide',
    });
  });

  test('videos of a profile have the failure reason that the profile reads', async () => {
    const { client } = scripted(
      [json({ job: { key: 'r1', phase: 'spilt', reason: 'The milk boiled over' } })],
      { gateway },
    );

    expect(await client.videos.retrieve('r1')).toMatchObject({
      status: 'failed',
      error: { message: 'The milk boiled over' },
    });
  });

  test('videos of a profile reject an unsupported parameter before anything is sent', async () => {
    const { client, requests } = scripted([json({})], { gateway });

    const error = await failureOf(client.videos.create({ ...params, size: '720x1280' }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: 'size' });
    expect(requests).toHaveLength(0);
  });
});

describe('a handle', () => {
  const ref = {
    v: 1,
    kind: 'video',
    id: 'task_1',
    route: { type: 'openai' },
    baseURL: 'https://gateway.test',
    createdAt: 1,
  } as const;

  test('a handle of new-api has no kind of gateway, like older handles', async () => {
    const { client } = emulated();

    const task = await client.videos.create(params);

    expect(task.ref).not.toHaveProperty('gateway');
  });

  test('a handle keeps its gateway kind in JSON', () => {
    const parsed = parseVideoTaskRef(JSON.parse(JSON.stringify({ ...ref, gateway: 'openai' })));

    expect(parsed.gateway).toBe('openai');
  });

  test('a handle without a kind uses that of its client', async () => {
    const { client, requests } = scripted([json({ job: { key: 'r1', phase: 'brewing' } })], {
      gateway,
    });

    expect(await client.videos.retrieve(ref)).toMatchObject({ status: 'in_progress' });
    expect(requests[0]?.url).toBe('https://gateway.test/reels/task_1');
  });

  test('a handle is read as its own kind by any client', async () => {
    const { client, requests } = scripted([json({ id: 'task_1', status: 'queued' })], { gateway });

    expect(await client.videos.retrieve({ ...ref, gateway: 'openai' })).toMatchObject({
      status: 'queued',
    });
    expect(requests[0]?.url).toBe('https://gateway.test/v1/videos/task_1');
  });

  test('a handle with an unknown kind is read by the profile of its client', async () => {
    const { client, requests } = scripted([json({ job: { phase: 'brewing' } })], { gateway });

    await client.videos.retrieve({ ...ref, gateway: 'films' });

    expect(requests[0]?.url).toBe('https://gateway.test/reels/task_1');
  });
});
