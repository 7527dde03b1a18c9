import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { ImageTaskError } from '../../src/images/errors.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { bodyOf, collect, eventStream, failureOf, json, scripted } from '../helpers/clients.ts';

const model = 'm-image';
const prompt = 'a red circle';
const url = 'https://pictures.test/cat.png';
const image = 'https://pictures.test/before.png';

/** The ways to ask for an image. */
const calls: readonly [name: string, call: (client: Gateway) => PromiseLike<unknown>][] = [
  ['generate', (client) => client.images.generate({ model, prompt })],
  ['edit', (client) => client.images.edit({ model, prompt, image })],
  ['a streamed generate', (client) => client.images.generate({ model, prompt, stream: true })],
  ['a streamed edit', (client) => client.images.edit({ model, prompt, image, stream: true })],
];

/** Options under which a call is repeated whenever it may be. */
const eager: GatewayOptions = {
  maxRetries: 3,
  retryUnknownOutcome: true,
  idempotency: { header: 'Idempotency-Key' },
};

const tasks: readonly [string, object, id: string | undefined, status?: string][] = [
  [
    'a list with a task',
    { code: 200, data: [{ task_id: 't-1', status: 'submitted' }] },
    't-1',
    'submitted',
  ],
  ['a list of tasks', { data: [{ task_id: 't-1' }, { task_id: 't-2' }] }, 't-1'],
  ['data with a task id', { code: 'success', data: { task_id: 't-2' } }, 't-2'],
  [
    'data with a task id in camel case',
    { code: 200, msg: 'success', data: { taskId: 't-3' } },
    't-3',
  ],
  [
    'an object that is a task',
    { id: 't-4', object: 'generation.task', created: 1, progress: 0 },
    't-4',
  ],
  [
    'an object that is a task, with its status',
    {
      id: 't-5',
      object: 'image.generation.task',
      status: 'pending',
      task_info: { can_cancel: true },
    },
    't-5',
    'pending',
  ],
  ['a bare task id', { task_id: 't-6', task_status: 'SUCCEED', request_id: 'r' }, 't-6', 'SUCCEED'],
  [
    "a vendor's task",
    { output: { task_id: 't-7', task_status: 'PENDING' }, request_id: 'r' },
    't-7',
    'PENDING',
  ],
  [
    'a task id beside an empty list',
    { created: 1, data: [], task_id: 't-8', status: 'queued' },
    't-8',
    'queued',
  ],
  ['a task id beside null', { created: 1, data: null, task_id: 't-9' }, 't-9'],
  [
    'an id with a status that is pending',
    { id: 't-10', status: 'IN_PROGRESS' },
    't-10',
    'IN_PROGRESS',
  ],
  [
    'addresses to poll',
    {
      request_id: 't-11',
      status: 'IN_QUEUE',
      response_url: 'https://queue.test/t-11',
      status_url: 'https://queue.test/t-11/status',
      cancel_url: 'https://queue.test/t-11/cancel',
    },
    't-11',
    'IN_QUEUE',
  ],
  [
    'addresses to poll, and the input',
    {
      id: 't-12',
      status: 'starting',
      input: { prompt, image },
      output: null,
      urls: { get: 'https://api.test/t-12', cancel: 'https://api.test/t-12/cancel' },
    },
    't-12',
    'starting',
  ],
  ['a number as id', { data: [{ task_id: 88, status: 'queued' }] }, '88', 'queued'],
  [
    'a prompt that repeats a URL',
    { data: [{ task_id: 't-13', prompt: `like ${url}`, revised_prompt: url }] },
    't-13',
  ],
];

describe.each(calls)('%s: an answer that names a task and holds no picture', (_, call) => {
  test.each(tasks)('%s', async (_name, answer, taskId, taskStatus) => {
    const { client, requests } = scripted([json(answer)], eager);

    const error = await failureOf(call(client));

    expect(ImageTaskError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ name: 'ImageTaskError', outcome: 'unknown', taskId, taskStatus });
    expect(error).toHaveProperty('message', expect.stringMatching(/task .*is paid for/));
    expect(error).toHaveProperty('message', expect.stringContaining(String(taskId)));
    expect(error).toHaveProperty('body', JSON.stringify(answer));
    expect(requests).toHaveLength(1);
  });

  test.each<[string, () => Response, id: string | undefined]>([
    ['an id', json({ id: 't-1' }, 202), 't-1'],
    ['a request id', json({ request_id: 't-2' }, 202), 't-2'],
    ['an empty list', json({ created: 1, data: [] }, 202), undefined],
    ['a sentence', json({ message: 'Accepted' }, 202), undefined],
  ])('a 202 with %s', async (_name, answer, taskId) => {
    const { client, requests } = scripted([answer], eager);

    const error = await failureOf(call(client));

    expect(error).toMatchObject({
      name: 'ImageTaskError',
      status: 202,
      outcome: 'unknown',
      taskId,
    });
    expect(requests).toHaveLength(1);
  });

  test('an empty 202 is not repeated either', async () => {
    const { client, requests } = scripted([() => new Response('', { status: 202 })]);
    expect(await failureOf(call(client))).toMatchObject({ status: 202, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});

describe('an answer that is not a task', () => {
  test.each<[string, object]>([
    [
      'a picture with a task id',
      { created: 1, data: [{ url, task_id: 't', status: 'completed' }] },
    ],
    [
      'bytes with a task id',
      { created: 1, task_id: 't', status: 'processing', data: [{ b64_json: 'AA' }] },
    ],
    ['a picture in another form', { id: 'x', status: 'succeeded', data: [{ image: { url } }] }],
    ['a picture as an image_url', { task_id: 'x', data: [{ image_url: url }] }],
    ['a picture beside an empty list', { task_id: 'x', data: [], images: [{ url }] }],
    ['a text of a picture', { task_id: 'x', data: [{ svg: '<svg></svg>' }] }],
    ['a relative address', { id: 'x', status: 'created', data: [{ url: '/files/a.png' }] }],
    ['no picture after a filter', { created: 1, data: [] }],
    ['no picture after a filter, with ids', { id: 'img-1', request_id: 'r', created: 1, data: [] }],
    [
      'no picture after a filter, of a task that ended',
      { created: 1, data: [], task_id: 't', status: 'completed' },
    ],
  ])('%s resolves', async (_, answer) => {
    for (const [, call] of calls.slice(0, 2)) {
      const { client } = scripted([json(answer)]);
      await expect(call(client)).resolves.toMatchObject(answer);
    }
  });

  test('a 202 with a picture resolves', async () => {
    const { client } = scripted([json({ created: 1, data: [{ url }] }, 202)]);
    await expect(client.images.generate({ model, prompt })).resolves.toHaveProperty('data', [
      { url },
    ]);
  });

  test('an error with a task id says what it says', async () => {
    const error = { message: 'inspected', code: 'DataInspectionFailed' };
    const { client } = scripted([json({ task_id: 't', error })]);
    expect(await failureOf(client.images.generate({ model, prompt }))).toMatchObject({
      name: 'APIError',
      code: 'DataInspectionFailed',
      outcome: 'unknown',
    });
  });

  test('an answer without task and picture is the error that it was', async () => {
    const { client } = scripted([json({ created: 1, data: null })]);
    expect(await failureOf(client.images.generate({ model, prompt }))).toMatchObject({
      name: 'UnexpectedResponseError',
    });
  });

  test('events that hold a picture are a stream', async () => {
    const event = { type: 'image_generation.completed', b64_json: 'AAAA', task_id: 't' };
    const { client } = scripted([eventStream(event)]);
    const stream = await client.images.generate({ model, prompt, stream: true });
    expect(await collect(stream)).toMatchObject([event]);
  });

  test('property: a picture is never lost, whatever stands beside it', async () => {
    const word = fc.constantFrom('queued', 'processing', 'completed', 'failed', 'SUCCESS', '');
    const beside = fc.record(
      {
        task_id: fc.string(),
        id: fc.string(),
        status: word,
        object: fc.constant('generation.task'),
      },
      { requiredKeys: [] },
    );
    const picture = fc.constantFrom(
      { url },
      { b64_json: 'AAAA' },
      { url: 'data:image/png;base64,AA' },
      { content: `${'A'.repeat(255)}=` },
    );
    await fc.assert(
      fc.asyncProperty(
        beside,
        beside,
        picture,
        fc.constantFrom(200, 201, 202),
        async (outer, inner, made, status) => {
          const { client } = scripted([json({ ...outer, data: [{ ...inner, ...made }] }, status)]);
          const answer = await client.images.generate({ model, prompt });
          expect(answer.data).toMatchObject([made]);
        },
      ),
    );
  });
});

test('generateMany() gives the error of a task beside the images of the others', async () => {
  const { client, requests } = scripted([
    async (request) => {
      const { prompt: asked } = Object(await bodyOf(request));
      return Response.json({ data: [asked === 'late' ? { task_id: 't-1' } : { url }] });
    },
  ]);

  const results = await collect(
    client.images.generateMany([
      { model, prompt },
      { model, prompt: 'late' },
    ]),
  );

  expect(results.find(({ index }) => index === 0)).toMatchObject({ images: { data: [{ url }] } });
  expect(results.find(({ index }) => index === 1)).toMatchObject({
    error: { name: 'ImageTaskError', taskId: 't-1' },
  });
  expect(requests).toHaveLength(2);
});
