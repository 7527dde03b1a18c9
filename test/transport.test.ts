import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from '../src/errors/api-error.ts';
import { APIConnectionError, APIConnectionTimeoutError } from '../src/errors/connection-error.ts';
import { InvalidInputError, type Outcome } from '../src/errors/gateway-error.ts';
import { UnexpectedResponseError } from '../src/errors/response-error.ts';
import { VideoSubmitUnknownError } from '../src/errors/video-error.ts';
import type { Gateway } from '../src/gateway.ts';
import type { GatewayOptions } from '../src/options.ts';
import { bodyOf, failureOf, json, scripted } from './helpers/clients.ts';
import { cutResponse, fetchFailure, never, settled } from './helpers/failures.ts';

const messages = [{ role: 'user', content: 'hi' }] as const;
const chat = (client: Gateway) =>
  client.chat.completions.create({ model: 'm', messages: [...messages] });
const draw = (client: Gateway) => client.images.generate({ model: 'm', prompt: 'a cat' });
const film = (client: Gateway) => client.videos.create({ model: 'm', prompt: 'a cat' });
const list = (client: Gateway) => client.models.list();

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
};
const models = { object: 'list', data: [] };

function error(code: string | null, status: number, type = 'new_api_error') {
  return json({ error: { message: 'no', type, code } }, status);
}

function html(status: number) {
  return () =>
    new Response('<html><title>nginx</title></html>', {
      status,
      headers: { 'content-type': 'text/html' },
    });
}

function text(body: string | null, init?: ResponseInit) {
  return () => new Response(body, init);
}

async function apiErrorOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const failure = await failureOf(promise);
  if (failure instanceof APIError) return failure;
  throw failure;
}

/** The times, in milliseconds, at which requests went out. */
async function timesOf(
  answers: Parameters<typeof scripted>[0],
  options?: GatewayOptions,
  call: (client: Gateway) => PromiseLike<unknown> = list,
) {
  const start = performance.now();
  const times: number[] = [];
  const { client } = scripted(
    answers.map((answer) => (request: Request) => {
      times.push(performance.now() - start);
      return typeof answer === 'function' ? answer(request) : answer;
    }),
    options,
  );
  let elapsed = Number.NaN;
  const stop = () => {
    elapsed = performance.now() - start;
  };
  const promise = call(client);
  void promise.then(stop, stop);
  const { error: failure } = await settled(promise);
  return { times, failure, elapsed };
}

function limited(headers: Record<string, string>) {
  return text('{"error":{"message":"slow"}}', { status: 429, headers });
}

const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, 400));
  return error('x', 500)();
};

const stuck = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
    }),
  );

const named = (headers: Record<string, string>, body: unknown = completion, status = 200) =>
  text(JSON.stringify(body), { status, headers });

const reset = () => fetchFailure('ECONNRESET', 'read');
const refused = () => fetchFailure('ECONNREFUSED', 'connect');

function logged(answers: Parameters<typeof scripted>[0], options: GatewayOptions) {
  const lines: [level: string, message: string, details: unknown][] = [];
  const at = (level: string) => (message: string, details: unknown) => {
    lines.push([level, message, details]);
  };
  const logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  return { ...scripted(answers, { logger, ...options }), lines };
}

const fail = () => {
  throw new Error('disk full');
};

describe('the number of requests', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const rows: readonly [
    fault: string,
    answer: () => Response | Error | Promise<Response>,
    outcome: Outcome,
    free: number,
    metered: number,
    charged: number,
  ][] = [
    ['refused connection', () => fetchFailure('ECONNREFUSED', 'connect'), 'not_sent', 3, 3, 3],
    ['busy name server', () => fetchFailure('EAI_AGAIN', 'getaddrinfo'), 'not_sent', 3, 3, 3],
    ['unknown host', () => fetchFailure('ENOTFOUND', 'getaddrinfo'), 'not_sent', 2, 2, 2],
    ['bad certificate', () => fetchFailure('CERT_HAS_EXPIRED'), 'not_sent', 1, 1, 1],
    ['reset connection', () => fetchFailure('ECONNRESET', 'read'), 'unknown', 3, 3, 1],
    ['closed connection', () => fetchFailure('UND_ERR_SOCKET'), 'unknown', 3, 3, 1],
    ['headers that never come', never, 'unknown', 3, 3, 1],
    ['Failed to fetch', () => new TypeError('Failed to fetch'), 'unknown', 3, 3, 1],
    ['400', error('x', 400), 'rejected', 1, 1, 1],
    ['401', error('', 401), 'rejected', 1, 1, 1],
    ['402', error('x', 402), 'rejected', 1, 1, 1],
    ['403', error('insufficient_user_quota', 403), 'rejected', 1, 1, 1],
    ['404', error('', 404), 'rejected', 1, 1, 1],
    ['408', error('', 408), 'unknown', 3, 3, 1],
    ['409', error('idempotency_conflict', 409), 'rejected', 1, 1, 1],
    ['413', error('x', 413), 'rejected', 1, 1, 1],
    ['422', error('x', 422), 'rejected', 1, 1, 1],
    ['425', error('', 425), 'rejected', 3, 3, 2],
    ['429', error('', 429), 'rejected', 3, 3, 3],
    ['429 with an empty body', text('', { status: 429 }), 'rejected', 3, 3, 2],
    ['429 about a quota', error('insufficient_quota', 429), 'rejected', 1, 1, 1],
    ['500', error('do_request_failed', 500), 'unknown', 3, 3, 1],
    ['500 invalid_request', error('invalid_request', 500), 'rejected', 1, 1, 1],
    ['500 sensitive_words_detected', error('sensitive_words_detected', 500), 'rejected', 1, 1, 1],
    ['500 with a page', html(500), 'unknown', 3, 3, 1],
    ['501', error('api_not_implemented', 501), 'rejected', 1, 1, 1],
    ['502 with a page', html(502), 'unknown', 3, 3, 1],
    ['503', error('system_cpu_overloaded', 503), 'unknown', 3, 3, 1],
    ['503 model_not_found', error('model_not_found', 503), 'rejected', 1, 1, 1],
    ['524', text('error code: 524', { status: 524 }), 'unknown', 3, 3, 1],
    ['200 with a page', html(200), 'unknown', 3, 1, 1],
    ['200 with nothing', text(''), 'unknown', 3, 1, 1],
    ['200 with text', text('OK'), 'unknown', 3, 1, 1],
    ['200 with a body that breaks off', () => cutResponse('{"id":'), 'unknown', 3, 1, 1],
    ['200 with an error', error('x', 200), 'rejected', 1, 1, 1],
    [
      '200 with a failure of the console',
      json({ success: false, message: 'no' }),
      'rejected',
      1,
      1,
      1,
    ],
  ];

  const columns = rows.flatMap(([fault, answer, outcome, ...counts]) => {
    const calls = [list, chat, draw] as const;
    const names = ['models.list', 'chat.completions.create', 'images.generate'];
    return calls.map((call, index) => ({
      fault,
      answer,
      outcome,
      call,
      name: names[index],
      count: counts[index],
    }));
  });

  test.each(columns)(
    'rules 9, 14 and 15, traps 6 and 7: $fault: $name is sent $count times ($outcome)',
    async ({ answer, call, count, outcome }) => {
      const { client, requests } = scripted([answer]);

      const { error: failure } = await settled<unknown>(call(client));

      expect(requests).toHaveLength(count ?? 0);
      expect(failure).toBeInstanceOf(APIError);
      expect(failure).toHaveProperty('outcome', outcome);
      expect(failure).toHaveProperty('evidence.attempts.length', count);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('retryUnknownOutcome: false puts a metered call under the strict rule', async () => {
    const { client, requests } = scripted([error('x', 500)], { retryUnknownOutcome: false });

    await settled(chat(client));

    expect(requests).toHaveLength(1);
  });

  test('retryUnknownOutcome: true is the explicit word that repeats a charged call', async () => {
    const { client, requests } = scripted([html(502)]);

    await settled(
      client.images.generate({ model: 'm', prompt: 'x' }, { retryUnknownOutcome: true }),
    );

    expect(requests).toHaveLength(3);
  });

  test('maxRetries limits what may be repeated, and nothing else', async () => {
    for (const [maxRetries, count] of [
      [0, 1],
      [1, 2],
      [4, 5],
    ] as const) {
      const { client, requests } = scripted([error('x', 500)]);
      await settled(client.models.list({ maxRetries }));
      expect(requests).toHaveLength(count);
    }
    const { client, requests } = scripted([html(502)], { maxRetries: 100 });
    await settled(film(client));
    expect(requests).toHaveLength(1);
  });

  test('a call that heals gives its answer', async () => {
    const { client, requests } = scripted([
      () => fetchFailure('ECONNREFUSED', 'connect'),
      error('', 429),
      json(completion),
    ]);

    const { value } = await settled(chat(client));

    expect(value).toMatchObject({ id: 'chatcmpl-1' });
    expect(requests).toHaveLength(3);
    expect(await bodyOf(requests[2])).toEqual({ model: 'm', messages });
  });

  test('a read whose body breaks off is read again from the start', async () => {
    const { client, requests } = scripted([
      () => cutResponse('{"data":[{', { headers: { 'x-request-id': 'first' } }),
      text(JSON.stringify(models), {
        headers: { 'content-type': 'application/json', 'x-request-id': 'second' },
      }),
    ]);

    const { value } = await settled(client.models.list().withResponse());

    expect(requests).toHaveLength(2);
    expect(value?.data.data).toEqual([]);
    expect(value?.response.headers.get('content-type')).toContain('json');
    expect(value?.request_id).toBe('second');
    expect(value?.data._request_id).toBe('second');
  });
});

describe('pauses', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('grow from half a second', async () => {
    const { times } = await timesOf([error('x', 500)], { maxRetries: 5 });

    expect(times).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500]);
  });

  test('rule 8: are as long as the gateway asks', async () => {
    const { times } = await timesOf([
      limited({ 'retry-after': '7' }),
      limited({ 'retry-after-ms': '20' }),
      json(models),
    ]);

    expect(times).toEqual([0, 7_000, 7_020]);
  });

  test.each([
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 9_000).toUTCString() })],
    ['the reset of a rate limit', () => ({ 'ratelimit-reset': '9' })],
    ['a reset at a point in time', () => ({ 'ratelimit-reset': `${Date.now() / 1_000 + 9}` })],
  ])('rule 8: are as long as the gateway asks with %s', async (_, headers) => {
    vi.setSystemTime('2026-09-01T12:00:00Z');

    const { times } = await timesOf([limited(headers()), json(completion)], {}, draw);

    expect(times).toEqual([0, 9_000]);
  });

  test('of more than a minute are not waited for', async () => {
    const { times, failure, elapsed } = await timesOf([limited({ 'retry-after': '61' })]);

    expect(times).toEqual([0]);
    expect(elapsed).toBe(0);
    expect(failure).toBeInstanceOf(RateLimitError);
  });

  test('trap 29: of a silent 429 are at least a second', async () => {
    const { times } = await timesOf([text('', { status: 429 })], {}, draw);

    expect(times).toEqual([0, 1_000]);
  });

  test('end with totalTimeout, and none begins that would pass it', async () => {
    const { times, failure, elapsed } = await timesOf([slow], { totalTimeout: 1_000 });

    expect(times).toEqual([0, 900]);
    expect(elapsed).toBe(1_000);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('timeout', 1_000);
  });

  test('are not begun when totalTimeout leaves no room', async () => {
    const { times, failure, elapsed } = await timesOf([error('x', 500)], { totalTimeout: 400 });

    expect(times).toEqual([0]);
    expect(elapsed).toBe(0);
    expect(failure).toBeInstanceOf(InternalServerError);
  });
});

describe('time limits', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('timeout ends an attempt, also when fetch ignores the abort', async () => {
    const { client, requests } = scripted([never]);
    const start = performance.now();

    const { error: failure } = await settled(client.models.list({ timeout: 2_000, maxRetries: 1 }));

    expect(performance.now() - start).toBe(4_000);
    expect(requests).toHaveLength(2);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('timeout', 2_000);
    expect(failure).toHaveProperty('message', expect.stringContaining('2000 ms'));
  });

  test('an attempt after a timed out one has all its time, and a signal of its own', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const { client } = scripted([], {
      fetch: async (_, init) => {
        signals.push(init?.signal);
        if (signals.length === 1) return never();
        await new Promise((resolve) => setTimeout(resolve, 1_900));
        return Response.json(models);
      },
    });

    const { value } = await settled(client.models.list({ timeout: 2_000 }));

    expect(value).toMatchObject({ data: [] });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  });

  test('timeout covers the body of a whole answer', async () => {
    const { client, requests } = scripted([stuck]);

    const { error: failure } = await settled(
      client.images.generate({ model: 'm', prompt: 'x' }, { timeout: 3_000 }),
    );

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('outcome', 'unknown');
    expect(failure).toHaveProperty('evidence.status', 200);
  });

  test('a read whose body did not come in time is read again', async () => {
    const { client, requests } = scripted([stuck, json(models)]);

    const { value } = await settled(client.models.list({ timeout: 3_000 }));

    expect(value).toMatchObject({ data: [] });
    expect(requests).toHaveLength(2);
  });

  test('timeout covers the function that gives the key, and then nothing was sent', async () => {
    const { client, requests } = scripted([json(completion)], { apiKey: never });

    const { error: failure } = await settled(chat(client.withOptions({ timeout: 5_000 })));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('outcome', 'not_sent');
    expect(failure).toHaveProperty('evidence.attempts', []);
  });

  test('totalTimeout holds over attempts, also when fetch ignores the abort', async () => {
    const { client, requests } = scripted([never]);
    const start = performance.now();

    const { error: failure } = await settled(
      client.models.list({ timeout: 2_000, totalTimeout: 5_000, maxRetries: 9 }),
    );

    expect(performance.now() - start).toBe(5_000);
    expect(requests).toHaveLength(3);
    expect(failure).toHaveProperty('timeout', 5_000);
  });

  test('a video that may have been submitted says so when its time is over', async () => {
    const { client, requests } = scripted([never]);

    const { error: failure } = await settled(film(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure).toHaveProperty('cause', expect.any(APIConnectionTimeoutError));
  });
});

describe('the key', () => {
  test('is asked for at every attempt', async () => {
    vi.useFakeTimers();
    let count = 0;
    const { client, requests } = scripted([error('x', 500), error('x', 500), json(models)], {
      apiKey: () => `sk-${(count += 1)}`,
    });

    await settled(list(client));

    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk-1',
      'Bearer sk-2',
      'Bearer sk-3',
    ]);
    vi.useRealTimers();
  });

  test('is asked for once more after a 401, also for a charged call and without retries', async () => {
    let count = 0;
    const { client, requests } = scripted([error('', 401)], {
      apiKey: () => Promise.resolve(`sk-${(count += 1)}`),
      maxRetries: 0,
    });

    const failure = await apiErrorOf(draw(client));

    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk-1',
      'Bearer sk-2',
    ]);
    expect(failure).toBeInstanceOf(AuthenticationError);
  });

  test('is not tried again after a 401 when it is a string', async () => {
    const { client, requests } = scripted([error('', 401)]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(failure.message).toContain('Check apiKey');
  });

  test("rule 10, trap 8: is not blamed for the provider's 401", async () => {
    const { client } = scripted([error('invalid_api_key', 401, 'invalid_request_error')]);

    const { message } = await apiErrorOf(chat(client));

    expect(message).toContain('provider');
    expect(message).not.toContain('Check apiKey');
  });

  test('that cannot be had fails the call before anything is sent', async () => {
    const { client, requests } = scripted([json(completion)], {
      apiKey: () => Promise.reject(new Error('vault is sealed')),
    });

    const failure = await failureOf(chat(client));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('outcome', 'not_sent');
    expect(failure).toHaveProperty('cause.message', 'vault is sealed');
  });

  test('is taken out of an error that repeats it', async () => {
    const { client } = scripted(
      [
        (request) =>
          Response.json(
            { error: { message: `Invalid token ${request.headers.get('authorization')}` } },
            { status: 401 },
          ),
      ],
      { apiKey: 'sk-canary-1234' },
    );

    const failure = await apiErrorOf(chat(client));

    expect(failure.message).not.toContain('canary');
    expect(JSON.stringify(failure)).not.toContain('canary');
  });
});

describe('answers', () => {
  test('rule 3, trap 26: a page with status 200 points at the base URL', async () => {
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
  ])('%s instead of JSON is not taken for an answer', async (_, answer) => {
    const { client } = scripted([answer]);

    const failure = await apiErrorOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toContain('empty');
  });

  test.each(['text/event-stream', 'text/html', 'text/plain', 'application/octet-stream', ''])(
    'rule 1, trap 4: JSON labelled as %j is read as JSON',
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

  test.each([
    ['{error}', { error: { message: 'no', type: 'x', code: 'y' } }],
    ['a task error', { code: 'ali_api_error', message: 'no', data: null }],
    ['success: false', { success: false, message: 'no' }],
    ['no wrapper', { code: null, type: 'x', param: null, message: 'no' }],
    ['Google', { error: { code: 503, status: 'UNAVAILABLE', message: 'no' } }],
    ['Google in a list', [{ error: { code: 503, status: 'UNAVAILABLE', message: 'no' } }]],
  ])('rule 2: status 200 with %s is an error that was refused', async (_, body) => {
    const { client, requests } = scripted([json(body)]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(failure.status).toBe(200);
    expect(failure.outcome).toBe('rejected');
    expect(failure.message).toContain('no');
  });

  test('rule 2: a 201 that says that the task was refused does not prove it', async () => {
    const body = { code: 'fail_to_fetch_task', message: '{"id":"made"}', data: null };
    const { client, requests } = scripted([json(body, 201)]);

    const failure = await apiErrorOf(film(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure.outcome).toBe('unknown');
  });

  test('a body that holds an error and an id does not say that nothing was charged', async () => {
    const { client } = scripted([
      json({ id: 'chatcmpl-1', choices: [], error: { message: 'no' } }),
    ]);

    expect((await apiErrorOf(chat(client))).outcome).toBe('unknown');
  });

  test('rule 4: an empty error gets its message from the status', async () => {
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

  test('an error status counts although its body breaks off', async () => {
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
    [{ 'cf-ray': 'd' }, 'd'],
    [{}, null],
  ])('rule 7: of an answer with %j is %j', async (headers, expected) => {
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
  ])('rule 7: of an error with %j and one in its message is %j', async (headers, expected) => {
    for (const status of [400, 200]) {
      const body = { error: { message: 'no (request id: c)' } };
      const { client } = scripted([named(headers, body, status)]);

      const failure = await apiErrorOf(chat(client));

      expect(failure.requestID).toBe(expected);
      expect(failure.request_id).toBe(expected);
      expect(failure.evidence.requestId).toBe(expected);
      expect(failure.evidence.attempts[0]?.requestId).toBe(expected);
    }
  });
});

describe('asResponse() and withResponse()', () => {
  test('asResponse() gives the raw answer before its body is read', async () => {
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

  test('asResponse() of an answer without a body', async () => {
    const { client } = scripted([text(null, { status: 204 })]);

    expect((await client.get('/api/x').asResponse()).status).toBe(204);
  });

  test('a body that was handed out is not parsed as well, and not fetched again', async () => {
    const { client, requests } = scripted([json(models)]);
    const promise = list(client);
    await promise.asResponse();

    const failure = await failureOf(promise);

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(requests).toHaveLength(1);
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

  test('a request is sent without anybody awaiting it', async () => {
    const { client, requests } = scripted([json(completion)]);

    const promise = chat(client);
    await vi.waitFor(() => expect(requests).toHaveLength(1));

    expect(promise).toBeInstanceOf(Promise);
    await promise.finally(() => {});
  });

  test('catch() and finally() give plain promises', async () => {
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

describe('requests', () => {
  test('rules 11 and 12, trap 27: carry one credential, a type and an accept header', async () => {
    const { client, requests } = scripted([json(completion), json(models)]);

    await chat(client);
    await list(client);

    expect(Object.fromEntries(requests[0]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
    });
    expect(Object.fromEntries(requests[1]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk-test',
    });
    expect(requests.map(({ url }) => url)).toEqual([
      'https://gateway.test/v1/chat/completions',
      'https://gateway.test/v1/models',
    ]);
  });

  test('headers of a call win over those of the client, and null removes', async () => {
    const { client, requests } = scripted([json(models)], {
      defaultHeaders: { 'x-a': '1', 'x-b': '2', 'X-C': '3' },
    });

    await client.models.list({
      headers: { 'X-A': null, 'x-b': '4', 'x-c': undefined, authorization: null },
    });

    expect(Object.fromEntries(requests[0]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      'x-b': '4',
      'x-c': '3',
    });
  });

  test('rule 12: the type of a body is not the callers to change, as the gateway would skip it', async () => {
    const { client, requests } = scripted([json(completion), json({ data: [{ url: 'x' }] })], {
      defaultHeaders: { 'content-type': 'text/plain' },
    });

    await chat(client);
    await client.images.edit(
      {
        model: 'm',
        prompt: 'x',
        image: new File(['\u0089PNG'], 'a.png', { type: 'image/png' }),
      },
      { headers: { 'content-type': null } },
    );
    await client.images.edit({
      model: 'm',
      prompt: 'x',
      image: new File(['\u0089PNG'], 'a.png', { type: 'image/png' }),
    });

    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    for (const request of requests.slice(1)) {
      expect(request.headers.get('content-type')).toMatch(/^multipart\/form-data; *boundary=/);
    }
  });

  test('a header that cannot be sent is named, and its value is not', async () => {
    const { client, requests } = scripted([json(models)]);

    const failure = await failureOf(client.models.list({ headers: { 'x-a': 'se\ncret' } }));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('field', 'headers');
    expect(String(failure)).not.toContain('cret');
  });

  test('query parameters of the client, the operation and the call are merged', async () => {
    const { client, requests } = scripted([json({ candidates: [] }), json(models)], {
      defaultQuery: { tenant: 'a', trace: true },
    });

    await client.generate
      .contentStream({ model: 'm', contents: 'hi' }, { query: { trace: null, tag: ['x', 'y'] } })
      .asResponse();
    await client.models.list({ query: { tenant: 'b' } });

    expect(new URL(requests[0]?.url ?? '').search).toBe('?tenant=a&alt=sse&tag=x&tag=y');
    expect(new URL(requests[1]?.url ?? '').search).toBe('?tenant=b&trace=true');
  });

  test('extraBody adds fields and wins', async () => {
    const { client, requests } = scripted([json(completion)]);

    await client.chat.completions.create(
      { model: 'm', messages: [...messages] },
      { extraBody: { model: 'n', seed: 7, nothing: undefined } },
    );

    expect(await bodyOf(requests[0])).toEqual({ model: 'n', messages, seed: 7 });
  });

  test('extraBody is refused where there is no body to add to', async () => {
    const { client, requests } = scripted([json(models)]);

    for (const call of [
      client.models.list({ extraBody: { a: 1 } }),
      client.get('/v1/x', { extraBody: { a: 1 } }),
      client.post('/v1/x', { body: [1], extraBody: { a: 1 } }),
      client.post('/v1/x', { body: 'text', extraBody: { a: 1 } }),
    ]) {
      expect(await failureOf(call)).toHaveProperty('field', 'extraBody');
    }
    expect(requests).toHaveLength(0);
  });

  test('a body that is no JSON is refused before anything is sent', async () => {
    const { client, requests } = scripted([json({})]);
    const loop: { self?: unknown } = {};
    loop.self = loop;

    for (const body of [loop, { n: 1n }, () => 1]) {
      expect(await failureOf(client.post('/v1/x', { body }))).toHaveProperty('field', 'body');
    }
    expect(requests).toHaveLength(0);
  });

  test('fetchOptions reach fetch, and cannot change what is sent', async () => {
    const inits: (RequestInit | undefined)[] = [];
    const dispatcher = {};
    const { client } = scripted([], {
      fetch: (_, init) => {
        inits.push(init);
        return Promise.resolve(Response.json(models));
      },
      fetchOptions: { dispatcher, cache: 'no-store', credentials: 'omit', priority: 'low' },
    });

    await client.models.list({
      fetchOptions: {
        keepalive: false,
        priority: 'high',
        method: 'POST',
        body: 'x',
        redirect: 'follow',
        headers: { authorization: 'x' },
        hooks: { beforeRequest: [() => Response.json({ data: ['hooked'] })] },
        searchParams: { a: 1 },
        retry: 5,
        timeout: 1,
      },
    });

    expect(inits).toHaveLength(1);
    expect(inits[0]).toMatchObject({
      dispatcher,
      cache: 'no-store',
      credentials: 'omit',
      keepalive: false,
      priority: 'high',
      method: 'GET',
      redirect: 'manual',
    });
    expect(inits[0]?.body).toBeNull();
    expect(new Headers(inits[0]?.headers).get('authorization')).toBe('Bearer sk-test');
  });

  test('options of a call that cannot work reject it by name', async () => {
    const { client, requests } = scripted([json(models)]);

    for (const [field, value] of [
      ['timeout', 0],
      ['maxRetries', -1],
      ['retryUnknownOutcome', 'true'],
      ['signal', {}],
      ['headers', 'x: y'],
      ['query', 'a=1'],
      ['extraBody', [1]],
      ['fetchOptions', 1],
    ] as const) {
      const options = JSON.parse(JSON.stringify({ [field]: value }));
      expect(await failureOf(client.models.list(options))).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });
});

describe('undocumented routes', () => {
  test('give JSON, JSON of any kind, or text', async () => {
    const label = { headers: { 'content-type': 'application/json' } };
    for (const [answer, expected] of [
      [json({ a: 1 }), { a: 1 }],
      [json([1, 2]), [1, 2]],
      [text('7', label), 7],
      [text('"x"', label), 'x'],
      [text('null', label), null],
      [text('{"a":1}'), { a: 1 }],
      [text('OK', label), 'OK'],
      [text('[Music] la la'), '[Music] la la'],
      [text('plain'), 'plain'],
      [text(''), ''],
      [text(null, { status: 204 }), ''],
    ] as const) {
      const { client } = scripted([answer]);
      expect(await client.get('/api/x')).toEqual(expected);
    }
  });

  test('do not give half of a JSON answer, or a page', async () => {
    const { client } = scripted(
      [text('{"a":', { headers: { 'content-type': 'application/json' } }), html(200)],
      { maxRetries: 0 },
    );

    expect(await apiErrorOf(client.get('/api/x'))).toBeInstanceOf(UnexpectedResponseError);
    expect((await apiErrorOf(client.get('/api/x'))).message).toContain('baseURL');
  });

  test('are below the base URL and its version', async () => {
    const { client, requests } = scripted([json({})], { baseURL: 'https://gateway.test/v1' });

    await client.get('/coupons', { query: { a: 1 } });
    await client.get('/v1beta/models');
    await client.request('DELETE', 'v1/coupons/7?b=2', { query: { a: 1 } });

    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://gateway.test/v1/coupons?a=1',
      'GET https://gateway.test/v1beta/models',
      'DELETE https://gateway.test/v1/coupons/7?b=2&a=1',
    ]);
  });

  test('count as charged when they are sent with POST or PATCH', async () => {
    vi.useFakeTimers();
    for (const [method, count] of [
      ['GET', 3],
      ['PUT', 3],
      ['DELETE', 3],
      ['POST', 1],
      ['PATCH', 1],
    ] as const) {
      const { client, requests } = scripted([error('x', 500)]);
      await settled(client.request(method, '/api/x'));
      expect(requests).toHaveLength(count);
    }
    vi.useRealTimers();
  });

  test('refuse what cannot be called', async () => {
    const { client, requests } = scripted([json({})]);

    for (const [call, field] of [
      [client.get('https://elsewhere.test/'), 'path'],
      [client.get('/v1/../x'), 'path'],
      [client.get(JSON.parse('7')), 'path'],
      [client.get('/v1/x', { body: {} }), 'body'],
      [client.request(JSON.parse('"TRACE"'), '/v1/x'), 'method'],
    ] as const) {
      expect(await failureOf(call)).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });
});

describe('validation', () => {
  const odd = { ...completion, model: 7, choices: [{ ...completion.choices[0], index: 'x' }] };

  test('tolerant: returns the answer and reports each difference once', async () => {
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

  test('strict: throws, and loses nothing', async () => {
    const { client } = scripted([json(odd)], { validation: 'strict' });

    const failure = await apiErrorOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure).toMatchObject({ outcome: 'unknown', data: odd, status: 200 });
    expect(failure).toHaveProperty('issues.length', 2);
    expect(failure.evidence).toMatchObject({ phase: 'body', status: 200 });
    expect(failure.evidence.attempts).toHaveLength(1);
  });

  test('off: does not look', async () => {
    const { client, drifts } = scripted([json(odd)], { validation: 'off' });

    expect((await chat(client)).model).toBe(7);
    expect(drifts).toEqual([]);
  });

  test('a list where an object belongs is no answer, and a video may have been submitted', async () => {
    const { client } = scripted([json([1])]);

    expect(await apiErrorOf(chat(client))).toBeInstanceOf(UnexpectedResponseError);
    expect(await apiErrorOf(film(client))).toBeInstanceOf(VideoSubmitUnknownError);
  });

  test('onDrift that fails does not fail a call that is paid for', async () => {
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

describe('errors', () => {
  test('know no more than the worst attempt of the call', async () => {
    vi.useFakeTimers();
    for (const [answers, outcome] of [
      [[reset, refused], 'unknown'],
      [[reset, error('x', 400)], 'unknown'],
      [[error('', 429), refused], 'rejected'],
      [[refused, error('x', 400)], 'rejected'],
      [[refused], 'not_sent'],
    ] as const) {
      const { client } = scripted(answers);

      const { error: failure } = await settled(chat(client));

      expect(failure).toHaveProperty('outcome', outcome);
      const { message } = failure instanceof Error ? failure : new Error('none');
      expect(message.includes('Nothing was sent')).toBe(outcome === 'not_sent');
      expect(message.includes('may have been accepted')).toBe(outcome === 'unknown');
    }
    vi.useRealTimers();
  });

  test('say what was tried, what is known and what to do', async () => {
    vi.useFakeTimers();
    const { client } = scripted([
      () => fetchFailure('ECONNREFUSED', 'connect'),
      text('{"error":{"message":"slow","code":"c"}}', {
        status: 429,
        headers: { 'x-request-id': 'r' },
      }),
      () => fetchFailure('ECONNRESET', 'read'),
    ]);

    const { error: failure } = await settled(draw(client));

    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).toMatchObject({
      name: 'APIConnectionError',
      outcome: 'unknown',
      status: undefined,
      callId: expect.stringMatching(/^call_/),
      evidence: {
        phase: 'sent',
        code: 'ECONNRESET',
        attempts: [
          { phase: 'connect', code: 'ECONNREFUSED' },
          { phase: 'headers', code: 'c', status: 429, requestId: 'r' },
          { phase: 'sent', code: 'ECONNRESET' },
        ],
      },
    });
    expect(failure).toHaveProperty(
      'message',
      'POST https://gateway.test/v1/images/generations lost its connection (ECONNRESET). The request may have been accepted and charged. Check the account before sending it again.',
    );
    vi.useRealTimers();
  });

  test('of a read say that it is safe to repeat', async () => {
    const { client } = scripted([html(502)], { maxRetries: 0 });

    expect((await apiErrorOf(list(client))).message).toContain('safe to repeat');
  });

  test.each(['prompt_blocked', 'violation_fee.grok.csam'])(
    'do not promise that %s costs nothing',
    async (code) => {
      const { client } = scripted([error(code, 400)]);

      expect((await apiErrorOf(chat(client))).message).not.toContain('no charge');
    },
  );

  test('hint at the scheme when TLS fails without proof', async () => {
    const { client } = scripted([() => fetchFailure('ERR_SSL_WRONG_VERSION_NUMBER')]);

    const failure = await apiErrorOf(draw(client));

    expect(failure.outcome).toBe('unknown');
    expect(failure.message).toContain('scheme');
  });

  test('rule 16: a submission of unknown fate is an error of its own', async () => {
    const { client, requests } = scripted([
      () => new Response('<html>', { status: 502, headers: { 'x-oneapi-request-id': 'r' } }),
    ]);

    const failure = await apiErrorOf(film(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure).toMatchObject({ status: 502, requestID: 'r', outcome: 'unknown' });
    expect(failure.cause).toBeInstanceOf(InternalServerError);
    expect(failure.message).toContain('may be charged');
  });

  test('a submission that was refused is a plain error', async () => {
    const { client } = scripted([error('x', 400)]);

    expect(await apiErrorOf(film(client))).toBeInstanceOf(BadRequestError);
  });
});

describe('log lines', () => {
  test.each([
    ['off', []],
    ['error', []],
    ['warn', []],
    ['info', ['info']],
    ['debug', ['debug', 'debug', 'info', 'debug', 'debug']],
  ] as const)('at level %s are %j', async (logLevel, expected) => {
    vi.useFakeTimers();
    const { client, lines } = logged([error('x', 500), json(models)], { logLevel });

    await settled(list(client));

    expect(lines.map(([level]) => level)).toEqual(expected);
    vi.useRealTimers();
  });

  test('name the call, and hold neither key nor prompt nor query', async () => {
    vi.useFakeTimers();
    const { client, lines } = logged(
      [error('canary-code', 500), json({ ...completion, model: 7 })],
      {
        logLevel: 'debug',
        apiKey: 'sk-canary',
        defaultQuery: { tenant: 'canary' },
        defaultHeaders: { 'x-tenant': 'canary' },
      },
    );

    await settled(
      client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'canary' }],
      }),
    );

    expect(lines.length).toBeGreaterThan(3);
    expect(JSON.stringify(lines)).not.toContain('canary');
    for (const [, message] of lines) expect(message).toMatch(/^\[model-gateway\] /);
    vi.useRealTimers();
  });

  test('that cannot be written do not fail the call', async () => {
    const { client } = scripted([json(models)], {
      logLevel: 'debug',
      logger: { error: fail, warn: fail, info: fail, debug: fail },
    });

    expect((await list(client)).data).toEqual([]);
  });
});
