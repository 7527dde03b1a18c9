import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Gateway, Observer } from '../../../src/index.ts';
import type { GatewayOptions } from '../../../src/options/options.ts';
import type { ImageRequestOptions } from '../../../src/resources/images/wait-options.ts';
import { Stream } from '../../../src/streams/stream.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import {
  bodyOf,
  collect,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { silentResponse } from '../../helpers/failures.ts';

const model = 'm-image';
const prompt = 'a red circle';
const url = 'https://pictures.test/cat.png';
const image = 'https://pictures.test/before.png';

/** The ways to ask for an image. */
const calls: readonly [
  name: string,
  call: (client: Gateway, options?: ImageRequestOptions) => PromiseLike<unknown>,
][] = [
  ['generate', ({ images }, options) => images.generate({ model, prompt }, options)],
  ['edit', ({ images }, options) => images.edit({ model, prompt, image }, options)],
  [
    'a streamed generate',
    ({ images }, options) => images.generate({ model, prompt, stream: true }, options),
  ],
  [
    'a streamed edit',
    ({ images }, options) => images.edit({ model, prompt, image, stream: true }, options),
  ],
];

const plain = { v: 1, kind: 'image', id: 't-1', baseURL: 'https://gateway.test', createdAt: 1 };

/** Reads an answer to its end; of a stream, what it gives is under `data`. */
async function readAll(call: PromiseLike<unknown>): Promise<unknown> {
  const value = await call;
  return value instanceof Stream ? { data: await collect(value) } : value;
}

/** Options under which a call is repeated whenever it may be. */
const eager: GatewayOptions = {
  maxRetries: 3,
  retryUnknownOutcome: true,
  idempotency: { header: 'Idempotency-Key' },
};

const tasks: readonly {
  name: string;
  answer: object;
  taskId: string | undefined;
  status?: string;
}[] = [
  {
    name: 'a list with a task',
    answer: { code: 200, data: [{ task_id: 't-1', status: 'submitted' }] },
    taskId: 't-1',
    status: 'submitted',
  },
  {
    name: 'a list of tasks',
    answer: { data: [{ task_id: 't-1' }, { task_id: 't-2' }] },
    taskId: 't-1',
  },
  {
    name: 'data with a task id',
    answer: { code: 'success', data: { task_id: 't-2' } },
    taskId: 't-2',
  },
  {
    name: 'data with a task id in camel case',
    answer: { code: 200, msg: 'success', data: { taskId: 't-3' } },
    taskId: 't-3',
  },
  {
    name: 'an object that is a task',
    answer: { id: 't-4', object: 'generation.task', created: 1, progress: 0 },
    taskId: 't-4',
  },
  {
    name: 'an object that is a task, with its status',
    answer: {
      id: 't-5',
      object: 'image.generation.task',
      status: 'pending',
      task_info: { can_cancel: true },
    },
    taskId: 't-5',
    status: 'pending',
  },
  {
    name: 'a bare task id',
    answer: { task_id: 't-6', task_status: 'SUCCEED', request_id: 'r' },
    taskId: 't-6',
    status: 'SUCCEED',
  },
  {
    name: "a vendor's task",
    answer: { output: { task_id: 't-7', task_status: 'PENDING' }, request_id: 'r' },
    taskId: 't-7',
    status: 'PENDING',
  },
  {
    name: 'a task id beside an empty list',
    answer: { created: 1, data: [], task_id: 't-8', status: 'queued' },
    taskId: 't-8',
    status: 'queued',
  },
  {
    name: 'a task id beside null',
    answer: { created: 1, data: null, task_id: 't-9' },
    taskId: 't-9',
  },
  {
    name: 'an id with a status that is pending',
    answer: { id: 't-10', status: 'IN_PROGRESS' },
    taskId: 't-10',
    status: 'IN_PROGRESS',
  },
  {
    name: 'addresses to poll',
    answer: {
      request_id: 't-11',
      status: 'IN_QUEUE',
      response_url: 'https://queue.test/t-11',
      status_url: 'https://queue.test/t-11/status',
      cancel_url: 'https://queue.test/t-11/cancel',
    },
    taskId: 't-11',
    status: 'IN_QUEUE',
  },
  {
    name: 'addresses to poll, and the input',
    answer: {
      id: 't-12',
      status: 'starting',
      input: { prompt, image },
      output: null,
      urls: { get: 'https://api.test/t-12', cancel: 'https://api.test/t-12/cancel' },
    },
    taskId: 't-12',
    status: 'starting',
  },
  {
    name: 'a number as id',
    answer: { data: [{ task_id: 88, status: 'queued' }] },
    taskId: '88',
    status: 'queued',
  },
  {
    name: 'a prompt that repeats a URL',
    answer: { data: [{ task_id: 't-13', prompt: `like ${url}`, revised_prompt: url }] },
    taskId: 't-13',
  },
];

/** Answers the submission, and then every poll by its path. */
function withTask(answer: () => Response, poll: (path: string) => Response, options = eager) {
  let isSubmitted = false;
  return scripted(
    [
      (request) => {
        if (isSubmitted) return poll(new URL(request.url).pathname);
        isSubmitted = true;
        return answer();
      },
    ],
    options,
  );
}

const missing = (): Response =>
  Response.json({ error: { message: 'Invalid URL' } }, { status: 404 });
const done = (): Response => Response.json({ status: 'completed', data: [{ url }] });

const methods = (requests: readonly Request[]): string =>
  requests.map(({ method }) => method).join(' ');

fakeWaitingTime();

describe.each(calls)('%s: a response with a task and without an image', (_, call) => {
  test.each(tasks)('$name is awaited', async ({ answer, taskId }) => {
    const { client, requests } = withTask(json(answer), done);

    const end = await settle(readAll(call(client)));

    expect(end).toHaveProperty('value', expect.objectContaining({ data: expect.anything() }));
    expect(methods(requests)).toMatch(/^POST( GET)+$/);
    expect(requests[1]?.url).toContain(String(taskId));
  });

  test.each<{ name: string; answer: () => Response; taskId: string }>([
    { name: 'an id', answer: json({ id: 't-1' }, 202), taskId: 't-1' },
    { name: 'a request id', answer: json({ request_id: 't-2' }, 202), taskId: 't-2' },
    {
      name: 'nothing but an address',
      answer: () => new Response(null, { status: 202, headers: { location: '/v1/jobs/t-3' } }),
      taskId: 't-3',
    },
    {
      name: 'a text as id',
      answer: json({ code: 1, description: 'ok', result: '1320098173412546' }),
      taskId: '1320098',
    },
  ])('$name is enough to wait for the task', async ({ answer, taskId }) => {
    const { client, requests } = withTask(answer, done);

    const end = await settle(readAll(call(client)));

    expect(end).toHaveProperty('value');
    expect(requests[1]?.url).toContain(taskId);
    expect(methods(requests)).toBe('POST GET');
  });

  test.each<[string, () => Response]>([
    ['an empty list', json({ created: 1, data: [] }, 202)],
    ['a sentence', json({ message: 'Accepted' }, 202)],
    ['nothing', () => new Response('', { status: 202 })],
  ])('a 202 with %s and without an id is an error, and not retried', async (_name, answer) => {
    const { client, requests } = scripted([answer], eager);

    const { error } = Object(await settle(readAll(call(client))));

    expect(error).toMatchObject({
      name: 'UnexpectedResponseError',
      status: 202,
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });
});

const submittedAs = (answer: object, poll: (path: string) => Response, options = eager) =>
  withTask(json(answer), poll, options);

describe('the wait for an image task', () => {
  const task = { data: [{ task_id: 't-1', status: 'submitted' }] };

  test('the wait for an image task polls after 2 s, and then every 2 to 10 s', async () => {
    const begun = Date.now();
    const times: number[] = [];
    const { client } = submittedAs(task, () => {
      times.push(Date.now() - begun);
      return times.length < 10 ? Response.json({ status: 'processing' }) : done();
    });

    await settle(client.images.generate({ model, prompt }));

    const [first = 0, ...others] = times.map((time, index) => time - (times[index - 1] ?? 0));
    expect(first).toBe(2_000);
    expect(Math.min(...others)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...others)).toBe(10_000);
  });

  test.each(calls)(
    '%s with strict validation rejects a result with the handle, after its call has ended',
    async (_name, call) => {
      const events: string[] = [];
      const observer: Observer = {
        start: ({ operation }) => ({
          attempt: () => () => void events.push(`response ${operation}`),
          end: ({ error }) => void events.push(`end ${operation} ${error === undefined}`),
        }),
      };
      const odd = json({ status: 'completed', created: 'today', data: [{ url }] });
      const { client } = submittedAs(task, odd, { validation: 'strict', observer });

      const { error } = Object(await settle(readAll(call(client))));

      expect(error).toMatchObject({
        name: 'ImageWaitError',
        outcome: 'unknown',
        ref: { id: 't-1' },
        cause: { name: 'UnexpectedResponseError', issues: [{ path: 'created' }] },
      });
      expect(error.cause.body).toContain(url);
      expect(events).toEqual([
        expect.stringMatching(/^response images\.(generate|edit)$/),
        expect.stringMatching(/^end images\.(generate|edit) true$/),
        'response images.retrieveTask',
        'end images.retrieveTask true',
      ]);
    },
  );

  test('wait() and step() validate the result too', async () => {
    const odd = json({ status: 'completed', created: 'today', data: [{ url }] });
    const { client } = scripted([odd], { validation: 'strict' });
    const waited = Object(await settle(client.images.wait('t-1')));
    const step = await client.images.step('t-1');
    const tolerant = await client.images.step('t-1', undefined, { validation: 'tolerant' });

    const expected = { name: 'ImageWaitError', cause: { issues: [{ path: 'created' }] } };
    expect(waited.error).toMatchObject(expected);
    expect(step).toHaveProperty('next.error', expect.objectContaining({ name: 'ImageWaitError' }));
    expect(tolerant).toHaveProperty('next.images.data', [{ url }]);
  });

  test.each(
    calls.flatMap(([way, call]) => [
      ['an abort', way, 'ImageWaitAbortedError', call] as const,
      ['the end of totalTimeout', way, 'ImageWaitTimeoutError', call] as const,
    ]),
  )('%s right after the response to %s was read has the handle', async (name, _way, kind, call) => {
    const controller = new AbortController();
    const { signal } = controller;
    const observer: Observer = {
      start: () => ({
        end() {
          if (name === 'an abort') controller.abort();
          else vi.advanceTimersByTime(5_000);
        },
      }),
    };
    const options = name === 'an abort' ? { signal } : { totalTimeout: 5_000 };
    const { client, requests } = submittedAs(task, done, { observer });

    const { error } = Object(await settle(call(client, options)));

    expect(error).toMatchObject({ name: kind, ref: { id: 't-1' }, outcome: 'unknown' });
    expect(methods(requests)).toBe('POST');
  });

  test('the wait for an image task polls the known routes in turn, then the one that knows the task', async () => {
    const { client, requests } = submittedAs(task, (path) =>
      path === '/v1/images/jobs/t-1' ? done() : missing(),
    );

    await settle(client.images.generate({ model, prompt }));
    const paths = requests.slice(1).map((request) => new URL(request.url).pathname);
    await settle(client.images.wait('t-1'));

    expect(paths).toEqual([
      '/v1/images/tasks/t-1',
      '/v1/images/generations/t-1',
      '/v1/images/jobs/t-1',
    ]);
    expect(new URL(requests.at(-1)?.url ?? '').pathname).toBe('/v1/images/jobs/t-1');
    expect(requests).toHaveLength(5);
  });

  test('the wait for an image task polls the route of the profile first', async () => {
    const { client, requests } = submittedAs(task, done, {
      ...eager,
      gateway: { name: 'house', imageTask: '/house/pictures/{id}' },
    });

    await settle(client.images.generate({ model, prompt }));

    expect(new URL(requests[1]?.url ?? '').pathname).toBe('/house/pictures/t-1');
  });

  test.each([
    ['404 everywhere', 404],
    ['405 everywhere', 405],
  ])('%s rejects with the handle', async (_, status) => {
    const { client, requests } = submittedAs(task, () => Response.json({}, { status }));

    const { error } = Object(await settle(client.images.generate({ model, prompt })));

    expect(error).toMatchObject({ name: 'ImageWaitError', outcome: 'unknown', ref: { id: 't-1' } });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('never polls another origin, and names it in the error', async () => {
    const answer = {
      request_id: 't-1',
      status: 'IN_QUEUE',
      status_url: 'https://queue.test/t-1/status?sig=secret',
    };
    const { client, requests } = submittedAs(answer, missing);

    const { error } = Object(await settle(client.images.generate({ model, prompt })));

    expect(error).toMatchObject({ name: 'ImageWaitError', ref: { id: 't-1' } });
    expect(String(error)).toContain('https://queue.test/t-1/status');
    expect(String(error)).not.toContain('secret');
    expect(new Set(requests.map((request) => new URL(request.url).origin))).toEqual(
      new Set(['https://gateway.test']),
    );
  });

  test('never sends the key to the origin of a result', async () => {
    const { client, requests } = submittedAs(task, () =>
      Response.json({ status: 'COMPLETED', response_url: 'https://queue.test/t-1' }),
    );

    const { error } = Object(await settle(client.images.generate({ model, prompt })));

    expect(error).toMatchObject({ name: 'ImageWaitError', ref: { id: 't-1' } });
    expect(String(error)).toContain('https://queue.test/t-1');
    expect(methods(requests)).toBe('POST GET');
  });

  test('several tasks are one response', async () => {
    const answer = { data: [{ task_id: 't-1' }, { task_id: 't-2' }] };
    const { client } = submittedAs(answer, (path) => {
      const name = path.endsWith('t-1') ? 'one' : 'two';
      return Response.json({ status: 'succeeded', output: [`https://pictures.test/${name}.png`] });
    });

    const end = await settle(client.images.generate({ model, prompt, n: 2 }));

    expect(end).toHaveProperty('value.data', [
      { url: 'https://pictures.test/one.png' },
      { url: 'https://pictures.test/two.png' },
    ]);
  });

  test.each([
    ['taskTimeout', { taskTimeout: 30_000 }],
    ['totalTimeout', { totalTimeout: 30_000 }],
  ])('the wait for an image task rejects after %s with the handle', async (_, limits) => {
    const { client, requests } = submittedAs(task, () => Response.json({ status: 'processing' }));
    const begun = Date.now();

    const { error } = Object(await settle(client.images.generate({ model, prompt }, limits)));

    expect(error).toMatchObject({
      name: 'ImageWaitTimeoutError',
      lastStatus: 'processing',
      ref: { id: 't-1' },
    });
    expect(Date.now() - begun).toBeLessThanOrEqual(31_000);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('the wait for an image task ends a poll that hangs after the timeout of the call', async () => {
    const begun = Date.now();
    const times: number[] = [];
    const { client } = withTask(json(task), () => {
      times.push(Date.now() - begun);
      return times.length > 1 ? done() : silentResponse('{"status": "');
    });

    await settle(client.images.generate({ model, prompt }, { timeout: 5_000, maxRetries: 0 }));

    expect(times).toEqual([2_000, 9_000]);
  });

  test('the wait for an image task is not limited by timeout', async () => {
    let polls = 0;
    const { client } = submittedAs(task, () => {
      polls += 1;
      return polls < 8 ? Response.json({ status: 'processing' }) : done();
    });

    const end = await settle(client.images.generate({ model, prompt }, { timeout: 5_000 }));

    expect(end).toHaveProperty('value.data', [{ url }]);
  });

  test.each([504, 524])('a %i advises how to avoid proxy timeouts', async (status) => {
    const { client } = scripted([() => new Response('', { status })]);
    const { error } = Object(await settle(client.images.generate({ model, prompt })));
    expect(String(error)).toMatch(/stream: true.*task/);
  });
});

describe('invalid input to the wait for images', () => {
  test.each<{ title: string; given: unknown; options: object; field: string }>([
    { title: 'an empty id', given: ' ', options: {}, field: 'ref' },
    {
      title: 'a handle of a video',
      given: { v: 1, kind: 'video' },
      options: {},
      field: 'ref.kind',
    },
    { title: 'text of a handle', given: '{"v":1}', options: {}, field: 'ref' },
    { title: 'a number', given: 7, options: {}, field: 'ref' },
    {
      title: 'a path elsewhere',
      given: { ...plain, path: '//evil.test/t' },
      options: {},
      field: 'ref.path',
    },
    { title: 'ids that are no list', given: { ...plain, ids: 't' }, options: {}, field: 'ref.ids' },
    {
      title: 'another gateway',
      given: { ...plain, baseURL: 'https://other.test' },
      options: {},
      field: 'ref.baseURL',
    },
    {
      title: 'images without a task',
      given: { ...plain, hasImages: true },
      options: {},
      field: 'ref',
    },
  ])('$title', async ({ given, options, field }) => {
    const { client, requests } = scripted([done]);
    const error = await failureOf(misuse(client.images, 'wait', given, options));
    expect(error).toMatchObject({ name: 'InvalidInputError', field });
    expect(requests).toHaveLength(0);
  });

  test.each<{ title: string; options: object; field: string }>([
    { title: 'a ledger without a call id', options: { ledger: memoryLedger() }, field: 'callId' },
  ])('generate() with $title sends nothing', async ({ options, field }) => {
    const { client, requests } = scripted([done]);
    const error = await failureOf(misuse(client.images, 'generate', { model, prompt }, options));
    expect(error).toMatchObject({ name: 'InvalidInputError', field });
    expect(requests).toHaveLength(0);
  });

  test('a stream with a ledger sends nothing', async () => {
    const { client, requests } = scripted([done]);
    const options = { ledger: memoryLedger(), callId: 'a' };
    const call = client.images.generate({ model, prompt, stream: true }, options);
    expect(await failureOf(call)).toMatchObject({ name: 'InvalidInputError', field: 'ledger' });
    expect(requests).toHaveLength(0);
  });
});

describe('a response that is not a task', () => {
  test.each<[string, object]>([
    [
      'a picture with a task id',
      { created: 1, data: [{ url, task_id: 't', status: 'completed' }] },
    ],
    [
      'bytes with a task id',
      { created: 1, task_id: 't', status: 'processing', data: [{ b64_json: 'AAAA' }] },
    ],
    ['a picture in another form', { id: 'x', status: 'succeeded', data: [{ image: { url } }] }],
    ['a picture as an image_url', { task_id: 'x', data: [{ image_url: url }] }],
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

  test('a 202 with an image resolves', async () => {
    const { client } = scripted([json({ created: 1, data: [{ url }] }, 202)]);
    await expect(client.images.generate({ model, prompt })).resolves.toHaveProperty('data', [
      { url },
    ]);
  });

  test('an error with a task id keeps its message', async () => {
    const error = { message: 'inspected', code: 'DataInspectionFailed' };
    const { client } = scripted([json({ task_id: 't', error })]);
    expect(await failureOf(client.images.generate({ model, prompt }))).toMatchObject({
      name: 'APIError',
      code: 'DataInspectionFailed',
      outcome: 'unknown',
    });
  });

  test('a response without a task and image is an error', async () => {
    const { client } = scripted([json({ created: 1, data: null })]);
    expect(await failureOf(client.images.generate({ model, prompt }))).toMatchObject({
      name: 'UnexpectedResponseError',
    });
  });

  test('events with an image are a stream', async () => {
    const event = { type: 'image_generation.completed', b64_json: 'AAAA', task_id: 't' };
    const { client } = scripted([eventStream(event)]);
    const stream = await client.images.generate({ model, prompt, stream: true });
    expect(await collect(stream)).toMatchObject([event]);
  });

  test('property: an image is never lost, whatever other fields exist', async () => {
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
      { url: 'data:image/png;base64,AA==' },
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

test('generateMany() waits for a task, and reports its call', async () => {
  const told: unknown[] = [];
  const { client, requests } = scripted([
    async (request) => {
      if (request.method === 'GET') return done();
      const { prompt: asked } = Object(await bodyOf(request));
      return Response.json({ data: [asked === 'late' ? { task_id: 't-1' } : { url }] });
    },
  ]);

  const end = await settle(
    collect(
      client.images.generateMany(
        [
          { model, prompt },
          { model, prompt: 'late' },
        ],
        { onSubmitted: ({ id }, index) => void told.push([id, index]) },
      ),
    ),
  );

  expect(end).toHaveProperty('value', [
    expect.objectContaining({ images: expect.objectContaining({ data: [{ url }] }) }),
    expect.objectContaining({ images: expect.objectContaining({ data: [{ url }] }) }),
  ]);
  expect(told).toEqual([['t-1', 1]]);
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
});
