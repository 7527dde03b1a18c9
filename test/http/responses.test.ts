import { describe, expect, test } from 'vitest';
import {
  BadRequestError,
  InvalidInputError,
  UnexpectedResponseError,
  VideoSubmitUnknownError,
} from '../../src/index.ts';
import { failures } from '../failures.ts';
import { collect, eventStream, failureOf, json, scripted } from '../helpers/clients.ts';
import { cutResponse } from '../helpers/failures.ts';
import {
  apiErrorOf,
  chat,
  completion,
  draw,
  error,
  film,
  html,
  list,
  messages,
  models,
  named,
  remix,
  speak,
  text,
  translate,
} from '../helpers/transport.ts';

describe('responses', () => {
  test('an HTML page with status 200 names the base URL', async () => {
    const { client } = scripted([html(200)]);

    const failure = await apiErrorOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toContain('baseURL');
    expect(failure.message).toContain('vendor prefix');
    expect(failure).toHaveProperty('body', expect.stringContaining('<html>'));
    expect(failure.outcome).toBe('unknown');
  });

  test.each([
    ['nothing', text('')],
    ['blanks', text(' \n')],
    ['no body at all', text(null, { status: 204 })],
  ])('%s instead of JSON is rejected', async (_, answer) => {
    const { client } = scripted([answer]);

    const failure = await apiErrorOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toContain('empty');
  });

  test.each(['text/event-stream', 'text/html', 'text/plain', 'application/octet-stream', ''])(
    'JSON labelled as %j is parsed',
    async (type) => {
      const label = { headers: { 'content-type': type } };
      const good = scripted([text(`\uFEFF ${JSON.stringify(completion)}\n`, label)]);
      const bad = scripted([
        text('{"error":{"message":"no model","code":"x"}}', { status: 400, ...label }),
      ]);

      expect((await chat(good.client)).id).toBe('chatcmpl-1');
      const failure = await apiErrorOf(chat(bad.client));

      expect(failure).toBeInstanceOf(BadRequestError);
      expect(failure.message).toContain('no model');
      expect(failure.code).toBe('x');
    },
  );

  test.each(failures.filter(({ name }) => name.startsWith('200 with an error')))(
    'audio: $name may have been charged',
    async ({ wire, text: words }) => {
      for (const call of [speak, translate]) {
        const { client, requests } = scripted([wire]);

        const failure = await apiErrorOf(call(client));

        expect(requests).toHaveLength(1);
        expect(failure).toMatchObject({ status: 200, outcome: 'unknown' });
        expect(failure.message).toContain(words);
        expect(failure.advice).toContain('may have been accepted and charged');
      }
    },
  );

  test.each([
    ['of the gateway', { code: 'ali_api_error', message: 'Throttling.RateQuota', data: null }],
    ['with a request', { code: 'ali_api_error', message: '{"request_id":"r"}', data: null }],
    ['with an empty id', { code: 'x', message: '{"task_id":""}', data: null, task_id: null }],
  ])('a submission is rejected by a task error %s', async (_, body) => {
    const { client, requests } = scripted([json(body)]);

    const rejections = [await apiErrorOf(film(client)), await apiErrorOf(remix(client))];

    expect(requests).toHaveLength(2);
    for (const failure of rejections) {
      expect(failure).toMatchObject({ status: 200, outcome: 'rejected' });
      expect(failure.advice).toContain('no charge is expected');
    }
  });

  test.each([
    { status: 201, code: 'fail_to_fetch_task', message: 'Created' },
    {
      status: 201,
      code: 'fail_to_fetch_task',
      message: '{"code":0,"message":"SUCCEED","data":{"task_id":"800000001530"}}',
    },
    { status: 200, code: 'x', message: '{"id":"made"}' },
    { status: 200, code: 'x', message: 'status_code=201, {"job":{"uuid": 7}}' },
    { status: 200, code: 'x', message: '{\\"id\\":\\"made\\"' },
  ])(
    'a task error that carries a task id: $status $code $message',
    async ({ status, code, message }) => {
      const { client, requests } = scripted([json({ code, message, data: null }, status)]);

      const failure = await apiErrorOf(film(client));

      expect(requests).toHaveLength(1);
      expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
      expect(failure.outcome).toBe('unknown');
    },
  );

  test.each([{ error: { message: 'no', type: 'x' } }, { success: false, message: 'no' }])(
    'an error of another envelope does not prove that no task was created: %j',
    async (body) => {
      const { client } = scripted([json(body)]);

      expect(await apiErrorOf(film(client))).toBeInstanceOf(VideoSubmitUnknownError);
    },
  );

  test('an empty error has the message of its status', async () => {
    const { client } = scripted([text('', { status: 429 })], { maxRetries: 0 });

    expect((await apiErrorOf(chat(client))).message).toContain('429 Too many requests.');
  });

  test('an error body is read up to 64 KiB', async () => {
    let sent = 0;
    let isCancelled = false;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 1_024;
            controller.enqueue(new TextEncoder().encode('x'.repeat(1_024)));
          },
          cancel() {
            isCancelled = true;
          },
        }),
        { status: 400 },
      );
    const { client } = scripted([endless]);

    const failure = await apiErrorOf(chat(client));

    expect(failure.message.length).toBeLessThan(2_200);
    expect(String(failure.error)).toHaveLength(65_536);
    expect(sent).toBeLessThan(80_000);
    expect(isCancelled).toBe(true);
  });

  test('an error status counts even if its body is cut', async () => {
    const { client } = scripted([
      () => cutResponse('{"error":{"message":"no"}}', { status: 403 }),
      () => cutResponse('<html>', { status: 403 }),
    ]);

    expect((await apiErrorOf(chat(client))).message).toContain('403 no');
    expect((await apiErrorOf(chat(client))).status).toBe(403);
  });
});

describe('request ids', () => {
  test.each([
    [{ 'x-oneapi-request-id': 'a', 'x-request-id': 'b', 'cf-ray': 'd' }, 'a'],
    [{ 'x-request-id': 'b', 'cf-ray': 'd' }, 'b'],
    [{ 'x-litellm-call-id': 'e', 'cf-ray': 'd' }, 'e'],
    [{ 'apim-request-id': 'f', 'cf-ray': 'd' }, 'f'],
    [{ 'x-amzn-requestid': 'g' }, 'g'],
    [{ 'cf-ray': 'd' }, 'd'],
    [{}, null],
  ])('the request id of a response with %j is %j', async (headers, expected) => {
    const { client } = scripted([named(headers)]);

    const { data, request_id } = await chat(client).withResponse();

    expect(request_id).toBe(expected);
    expect(data._request_id).toBe(expected);
    expect(Object.keys(data)).not.toContain('_request_id');
    expect(JSON.stringify(data)).not.toContain('_request_id');
  });

  test.each([
    [{ 'x-oneapi-request-id': 'a' }, 'a'],
    [{ 'x-request-id': 'b' }, 'b'],
    [{ 'cf-ray': 'd' }, 'c'],
    [{}, 'c'],
  ])(
    'the request id of an error with %j and one in its message is %j',
    async (headers, expected) => {
      for (const status of [400, 200]) {
        const body = { error: { message: 'no (request id: c)' } };
        const { client } = scripted([named(headers, body, status)]);

        const failure = await apiErrorOf(chat(client));

        expect(failure.requestID).toBe(expected);
        expect(failure.request_id).toBe(expected);
        expect(failure.evidence.requestId).toBe(expected);
        expect(failure.evidence.attempts[0]?.requestId).toBe(expected);
      }
    },
  );
});

describe('asResponse() and withResponse()', () => {
  test('asResponse() returns the raw response before its body is read', async () => {
    const { client, requests } = scripted([text('not json', { headers: { 'x-request-id': 'a' } })]);

    const response = await chat(client).asResponse();

    expect(response).toBeInstanceOf(Response);
    expect(response.bodyUsed).toBe(false);
    expect(response.headers.get('x-request-id')).toBe('a');
    expect(await response.text()).toBe('not json');
    expect(requests).toHaveLength(1);
  });

  test('asResponse() rejects on an error status', async () => {
    const { client } = scripted([error('x', 400)]);

    expect(await apiErrorOf(chat(client).asResponse())).toBeInstanceOf(BadRequestError);
  });

  test('asResponse() of a response without a body', async () => {
    const { client } = scripted([text(null, { status: 204 })]);

    expect((await client.get('/api/x').asResponse()).status).toBe(204);
  });

  test('a body that the caller reads is not parsed, and not requested again', async () => {
    const { client, requests } = scripted([json(models)]);
    for (const use of [
      (response: Response) => response.text(),
      (response: Response) => response.body?.getReader(),
      (response: Response) => response.body?.cancel(),
    ]) {
      const promise = list(client);
      await use(await promise.asResponse());

      expect(await failureOf(promise)).toBeInstanceOf(InvalidInputError);
    }
    expect(requests).toHaveLength(3);
  });

  test('after asResponse() the promise still resolves to the parsed response of the same request', async () => {
    const { client, requests } = scripted([json(completion)]);
    const promise = chat(client);

    const response = await promise.asResponse();
    const { id, choices } = await promise;

    expect(response.status).toBe(200);
    expect(id).toBe('chatcmpl-1');
    expect(choices).toHaveLength(1);
    expect((await promise.withResponse()).response).toBe(response);
    expect(requests).toHaveLength(1);
  });

  test('after asResponse() the promise still resolves to a stream, a file and a page', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] };
    const { client } = scripted([
      eventStream(chunk, '[DONE]'),
      text('ID3', { headers: { 'content-type': 'audio/mpeg' } }),
      json({ ...models, data: [{ id: 'm' }] }),
    ]);

    const streaming = client.chat.completions.create({
      model: 'm',
      messages: [...messages],
      stream: true,
    });
    expect((await streaming.asResponse()).headers.get('content-type')).toContain('event-stream');
    expect(await collect(await streaming)).toHaveLength(1);
    const speaking = client.audio.speech.create({ model: 'm', input: 'hi' });
    await speaking.asResponse();
    expect(await (await speaking).text()).toBe('ID3');
    const listing = list(client);
    await listing.asResponse();
    expect((await listing).data).toMatchObject([{ id: 'm' }]);
  });

  test('after asResponse() a cut body rejects the promise, and nothing is charged twice', async () => {
    const { client, requests } = scripted([() => cutResponse('{"data":[')]);
    const promise = draw(client);
    await promise.asResponse();

    expect(await apiErrorOf(promise)).toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  test('after asResponse() the signal of the call still ends it', async () => {
    const controller = new AbortController();
    const { client } = scripted([() => new Response(new ReadableStream())]);
    const promise = client.get('/api/x', { signal: controller.signal });
    await promise.asResponse();

    const failure = failureOf(promise);
    controller.abort();

    expect(await failure).toHaveProperty('name', 'APIUserAbortError');
  });

  test('a promise can be awaited any number of times and sends once', async () => {
    const { client, requests } = scripted([json(completion)]);
    const promise = chat(client);

    const [first, second, { data, response }] = await Promise.all([
      promise,
      promise.then((value) => value),
      promise.withResponse(),
    ]);

    expect(first).toBe(second);
    expect(data).toBe(first);
    expect(response.status).toBe(200);
    expect(await promise.asResponse()).toBe(response);
    expect(requests).toHaveLength(1);
  });

  test('a request is sent even if it is not awaited', async () => {
    const { client, requests } = scripted([json(completion)]);

    const promise = chat(client);
    await expect.poll(() => requests).toHaveLength(1);

    expect(promise).toBeInstanceOf(Promise);
    await promise.finally(() => {});
  });

  test('catch() and finally() return plain promises', async () => {
    const { client } = scripted([error('x', 400)]);
    let isDone = false;

    const result = chat(client)
      .finally(() => {
        isDone = true;
      })
      .catch((failure: unknown) => failure);

    expect(Object.getPrototypeOf(result)).toBe(Promise.prototype);
    expect(await result).toBeInstanceOf(BadRequestError);
    expect(isDone).toBe(true);
  });
});

describe('validation', () => {
  const odd = { ...completion, model: 7, choices: [{ ...completion.choices[0], index: 'x' }] };

  test('tolerant: returns the response and reports each difference once', async () => {
    const { client, drifts } = scripted([json(odd)]);

    const first = await chat(client);
    await chat(client);

    expect(first.model).toBe(7);
    expect(drifts).toEqual([
      {
        operation: 'chat.completions.create',
        path: 'model',
        expected: 'string',
        received: 'number',
      },
      {
        operation: 'chat.completions.create',
        path: 'choices[0].index',
        expected: 'number',
        received: 'string',
      },
    ]);
  });

  test('strict: throws, with the response on the error', async () => {
    const { client } = scripted([json(odd)], { validation: 'strict' });

    const failure = await apiErrorOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure).toMatchObject({ outcome: 'unknown', data: odd, status: 200 });
    expect(failure).toHaveProperty('issues.length', 2);
    expect(failure.evidence).toMatchObject({ phase: 'body', status: 200 });
    expect(failure.evidence.attempts).toHaveLength(1);
  });

  test('off: skips validation', async () => {
    const { client, drifts } = scripted([json(odd)], { validation: 'off' });

    expect((await chat(client)).model).toBe(7);
    expect(drifts).toEqual([]);
  });

  test('rejects a list in place of an object, and reports that a video may have been submitted', async () => {
    const { client } = scripted([json([1])]);

    expect(await apiErrorOf(chat(client))).toBeInstanceOf(UnexpectedResponseError);
    expect(await apiErrorOf(film(client))).toBeInstanceOf(VideoSubmitUnknownError);
  });

  test('an onDrift that throws does not fail a paid call', async () => {
    for (const onDrift of [
      () => {
        throw new Error('mine');
      },
      () => Promise.reject(new Error('mine')),
    ]) {
      // oxlint-disable-next-line typescript/no-misused-promises -- what is tested
      const { client } = scripted([json(odd)], { onDrift });
      expect((await chat(client)).id).toBe('chatcmpl-1');
    }
  });
});
