import { describe, expect, test, vi } from 'vitest';
import {
  APIConnectionError,
  BadRequestError,
  InternalServerError,
  VideoSubmitUnknownError,
} from '../../src/index.ts';
import { collect, eventStream, json, scripted } from '../helpers/clients.ts';
import { fetchFailure } from '../helpers/failures.ts';
import {
  apiErrorOf,
  chat,
  completion,
  draw,
  error,
  fail,
  film,
  html,
  list,
  logged,
  messages,
  models,
  refused,
  reset,
  text,
} from '../helpers/transport.ts';
import { settle } from '../helpers/fake-time.ts';

describe('errors', () => {
  test('errors have the worst outcome of all attempts', async () => {
    vi.useFakeTimers();
    for (const [answers, outcome] of [
      [[reset, refused], 'unknown'],
      [[reset, error('x', 400)], 'unknown'],
      [[error('', 429), refused], 'rejected'],
      [[refused, error('x', 400)], 'rejected'],
      [[refused], 'not_sent'],
    ] as const) {
      const { client } = scripted(answers);

      const { error: failure } = await settle(chat(client));

      expect(failure).toHaveProperty('outcome', outcome);
      const { message } = failure instanceof Error ? failure : new Error('none');
      expect(message.includes('Nothing was sent')).toBe(outcome === 'not_sent');
      expect(message.includes('may have been accepted')).toBe(outcome === 'unknown');
    }
    vi.useRealTimers();
  });

  test('errors contain the attempts, the outcome and advice', async () => {
    vi.useFakeTimers();
    const { client } = scripted([
      () => fetchFailure('ECONNREFUSED', 'connect'),
      text('{"error":{"message":"slow","code":"c"}}', {
        status: 429,
        headers: { 'x-request-id': 'r' },
      }),
      () => fetchFailure('ECONNRESET', 'read'),
    ]);

    const { error: failure } = await settle(draw(client));

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
      'POST https://gateway.test/v1/images/generations lost its connection (ECONNRESET). 3 attempts were made. The request may have been accepted and charged. Check the account before sending it again.',
    );
    vi.useRealTimers();
  });

  test('errors of a read state that it is safe to retry', async () => {
    const { client } = scripted([html(502)], { maxRetries: 0 });

    expect((await apiErrorOf(list(client))).message).toContain('safe to repeat');
  });

  test.each([chat, draw, film])(
    'errors have outcome unknown for blocked content, which is sent once',
    async (call) => {
      for (const code of ['prompt_blocked', 'violation_fee.grok.csam']) {
        const { client, requests } = scripted([error(code, 400)]);

        const failure = await apiErrorOf(call(client));

        expect(failure).toMatchObject({ status: 400, code, outcome: 'unknown' });
        expect(failure.message).toMatch(/may charge for that|may exist and be charged/);
        expect(requests).toHaveLength(1);
      }
    },
  );

  test('errors have the request id of the body, if no header has one', async () => {
    const body = {
      type: 'error',
      error: { type: 'insufficient_balance_error', message: 'insufficient balance (1008)' },
      request_id: '06abc',
    };
    const first = scripted([json(body, 429)]);
    const second = scripted([
      () => Response.json(body, { status: 429, headers: { 'x-request-id': 'r' } }),
    ]);

    expect(await apiErrorOf(chat(first.client))).toMatchObject({ requestID: '06abc' });
    expect(first.requests).toHaveLength(1);
    expect(await apiErrorOf(chat(second.client))).toMatchObject({ requestID: 'r' });
  });

  test('errors have outcome unknown for a rejection next to an id, which may be that of a task', async () => {
    const rejected = { error: { message: 'no', code: 'insufficient_quota' } };
    const first = scripted([json(rejected)]);
    const second = scripted([json({ id: 'task_1', ...rejected })]);

    expect(await apiErrorOf(draw(first.client))).toMatchObject({ outcome: 'rejected' });
    expect(await apiErrorOf(draw(second.client))).toMatchObject({ outcome: 'unknown' });
    expect(second.requests).toHaveLength(1);
  });

  test.each<{ name: string; status: number; problem: object }>([
    {
      name: 'one-api',
      status: 401,
      problem: { message: '无效的令牌 (request id: 2026)', type: 'one_api_error' },
    },
    {
      name: 'a fork of it',
      status: 401,
      problem: { message: 'Invalid token (request id: 2026)', type: 'x_api_error' },
    },
    {
      name: 'LiteLLM',
      status: 401,
      problem: { message: 'Authentication Error', type: 'auth_error', code: '401' },
    },
    {
      name: 'LiteLLM without a database',
      status: 400,
      problem: { message: 'No connected db.', type: 'no_db_connection' },
    },
    {
      name: 'OpenRouter',
      status: 401,
      problem: { message: 'No auth credentials found', code: 401 },
    },
  ])('name the key if $name rejects it', async ({ status, problem }) => {
    const { client, requests } = scripted([json({ error: problem }, status)]);

    const failure = await apiErrorOf(chat(client));

    expect(failure).toMatchObject({ status, outcome: 'rejected' });
    expect(failure.message).toMatch(/Check apiKey: /);
    expect(failure.message).not.toContain('operator');
    expect(requests).toHaveLength(1);
  });

  test('errors mention the scheme if TLS fails without proof', async () => {
    const { client } = scripted([() => fetchFailure('ERR_SSL_WRONG_VERSION_NUMBER')]);

    const failure = await apiErrorOf(draw(client));

    expect(failure.outcome).toBe('unknown');
    expect(failure.message).toContain('scheme');
  });

  test('a submission with an unknown outcome has its own error class', async () => {
    const { client, requests } = scripted([
      () => new Response('<html>', { status: 502, headers: { 'x-oneapi-request-id': 'r' } }),
    ]);

    const failure = await apiErrorOf(film(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure).toMatchObject({ status: 502, requestID: 'r', outcome: 'unknown' });
    expect(failure.cause).toBeInstanceOf(InternalServerError);
    expect(failure.message).toContain('be charged');
  });

  test('a rejected submission is a plain error', async () => {
    const { client } = scripted([error('x', 400)]);

    expect(await apiErrorOf(film(client))).toBeInstanceOf(BadRequestError);
  });
});

describe('a 404 and a 503', () => {
  const noChannel = 'No available channel for model nope under group default (distributor)';

  test.each<{ name: string; status: number; problem: object; path: string; fix: RegExp }>([
    {
      name: 'a path that doubles /v1',
      status: 404,
      problem: { message: 'Invalid URL' },
      path: '/v1/v1/x',
      fix: /version twice/,
    },
    {
      name: 'a route that is not there',
      status: 404,
      problem: { message: 'Invalid URL' },
      path: '/v1/images',
      fix: /Check baseURL/,
    },
    {
      name: 'no channel',
      status: 503,
      problem: { message: noChannel, code: 'model_not_found' },
      path: '/v1/images',
      fix: /models\.list\(\)/,
    },
    {
      name: 'no channel, without a code',
      status: 503,
      problem: { message: noChannel },
      path: '/v1/images',
      fix: /models\.list\(\)/,
    },
    {
      name: 'an outage',
      status: 503,
      problem: { message: 'Overloaded' },
      path: '/v1/images',
      fix: /may have been accepted/,
    },
  ])('name the URL and the fix: $name', async ({ status, problem, path, fix }) => {
    const { client } = scripted([json({ error: problem }, status)], { maxRetries: 0 });

    const { message } = await apiErrorOf(client.post(path, { body: {} }));

    expect(message).toContain(` The request was POST https://gateway.test${path}.`);
    expect(message).toMatch(fix);
  });

  test('a 404 and a 503 of a task name the id', async () => {
    const { client } = scripted([json({ error: { message: 'Task not found' } }, 404)], {
      baseURL: 'https://gateway.test/v1',
    });

    expect((await apiErrorOf(client.videos.retrieve('task_x'))).message).toBe(
      '404 Task not found. The request was GET https://gateway.test/v1/videos/task_x. Check the id, and that baseURL is the gateway that issued it. The gateway rejected the request, so no charge is expected.',
    );
  });
});

describe('errors in a browser', () => {
  const cause = new TypeError('Failed to fetch');

  test('advise to check the console, because a rejected preflight looks like a lost connection', async () => {
    vi.stubGlobal('window', { document: {} });
    const { client } = scripted([cause], { maxRetries: 0, dangerouslyAllowBrowser: true });

    const lost = await apiErrorOf(draw(client));

    expect(lost.message).toMatch(/lost its connection\. See the console of the browser .*CORS/);
    expect(lost.outcome).toBe('unknown');
  });

  test('errors outside a browser mention none', async () => {
    const { client } = scripted([cause], { maxRetries: 0 });

    expect((await apiErrorOf(draw(client))).message).not.toContain('browser');
  });
});

describe('JSON of an error', () => {
  test('JSON of an error has the message, and only visible fields of the error', async () => {
    const { client } = scripted([error('c', 400)], { apiKey: 'sk-canary-1' });

    const failure = await apiErrorOf(list(client));
    const written: unknown = JSON.parse(JSON.stringify({ failure }));

    expect(written).toMatchObject({
      failure: {
        name: 'BadRequestError',
        message: failure.message,
        outcome: 'rejected',
        status: 400,
        code: 'c',
        advice: failure.advice,
      },
    });
    expect(JSON.stringify(written)).not.toContain('sk-canary');
  });
});

/** A client whose key can be had once. */
function withKeys(...answers: Parameters<typeof scripted>[0]) {
  let asked = 0;
  const problem = new Error('no more keys');
  const apiKey = (): string => {
    asked += 1;
    if (asked > 1) throw problem;
    return 'sk-test';
  };
  return { ...scripted(answers, { apiKey }), problem };
}

describe('a key function that fails', () => {
  test('a key function that fails after a 401 keeps the rejection, and is its cause', async () => {
    const { client, requests, problem } = withKeys(error('', 401));

    const failure = await apiErrorOf(draw(client));

    expect(failure).toMatchObject({
      name: 'AuthenticationError',
      outcome: 'rejected',
      status: 401,
    });
    expect(failure).toHaveProperty('cause.field', 'apiKey');
    expect(failure).toHaveProperty('cause.cause', problem);
    expect(failure.evidence.attempts).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  test('a key function that fails after a lost connection leaves the outcome unknown', async () => {
    vi.useFakeTimers();
    const { client, requests } = withKeys(reset());

    const { error: failure } = await settle(
      client.images.generate({ model: 'm', prompt: 'a cat' }, { retryUnknownOutcome: true }),
    );

    expect(failure).toMatchObject({ name: 'APIConnectionError', outcome: 'unknown' });
    expect(requests).toHaveLength(1);
    vi.useRealTimers();
  });
});

describe('log lines', () => {
  test.each([
    ['off', []],
    ['error', []],
    ['warn', []],
    ['info', ['info', 'info', 'info']],
    ['debug', ['debug', 'info', 'info', 'debug', 'info']],
  ] as const)('log lines at level %s are %j', async (logLevel, expected) => {
    vi.useFakeTimers();
    const { client, lines } = logged([error('x', 500), json(models)], { logLevel });

    await settle(list(client));

    expect(lines.map(({ level }) => level)).toEqual(expected);
    vi.useRealTimers();
  });

  test('name the call, without key, prompt and query', async () => {
    vi.useFakeTimers();
    const { client, lines } = logged(
      [
        json({ error: { message: 'Not now, sk-canary', code: 'busy' } }, 500),
        json({ ...completion, model: 7 }),
      ],
      {
        logLevel: 'debug',
        apiKey: 'sk-canary',
        defaultQuery: { tenant: 'canary' },
        defaultHeaders: { 'x-tenant': 'canary' },
      },
    );

    await settle(
      client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'canary' }],
      }),
    );

    expect(lines.length).toBeGreaterThan(3);
    expect(lines[1]?.details).toMatchObject({
      code: 'busy',
      message: 'Not now, [key]',
      status: 500,
    });
    expect(JSON.stringify(lines)).not.toContain('canary');
    for (const { message } of lines) expect(message).toMatch(/^\[model-gateway\] /);
    vi.useRealTimers();
  });

  test.each([
    {
      name: 'complete',
      events: [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
      end: { verdict: 'complete', error: undefined },
    },
    {
      name: 'truncated',
      events: [{ choices: [{ index: 0, delta: { content: 'a' } }] }],
      end: { verdict: 'no_terminator', error: 'StreamTruncatedError', message: expect.any(String) },
    },
    {
      name: 'failed',
      events: [{ error: { message: 'No, sk-canary.' } }],
      end: { error: 'StreamError', message: expect.stringContaining('No, [key].') },
    },
  ])('log lines report the end of a stream: $name', async ({ events, end }) => {
    const options = { logLevel: 'debug', apiKey: 'sk-canary' } as const;
    const { client, lines } = logged([eventStream(...events)], options);

    const stream = await client.chat.completions.create({
      model: 'm',
      messages: [...messages],
      stream: true,
    });
    await collect(stream).catch(() => undefined);

    const { message, details } = lines.at(-1) ?? {};
    expect(message).toBe('[model-gateway] Stream ended');
    expect(details).toMatchObject({ ...end, durationMs: expect.any(Number) });
  });

  test("don't fail the call if the logger throws", async () => {
    const { client } = scripted([json(models)], {
      logLevel: 'debug',
      logger: { error: fail, warn: fail, info: fail, debug: fail },
    });

    expect((await list(client)).data).toEqual([]);
  });
});
