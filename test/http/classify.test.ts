import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { readErrorText } from '../../src/answers/error-body.ts';
import { failures, type FailureKind } from '../../src/http/retry.ts';

// The golden files have every status, error code and network error. Here are the cases that depend
// on an error message or on the address of a request.

function kindOfStatus(status: number, text: string, headers: Record<string, string> = {}) {
  return classifyStatus(status, readErrorText(text), new Headers(headers));
}

/** An error with a message, and a code if one is passed. */
function errorBody(message: string, type: string | null = 'new_api_error', code?: string): string {
  return JSON.stringify({ error: { message, type, code } });
}

/** A task error whose message is the provider's response. */
function providerError(response: object | string): string {
  const message = typeof response === 'string' ? response : JSON.stringify(response);
  return JSON.stringify({ code: 'fail_to_fetch_task', message, data: null });
}

describe('classifyStatus()', () => {
  test.each<{ name: string; status: number; text: string; expected: FailureKind }>([
    {
      name: 'an unknown model at one-api',
      status: 503,
      text: errorBody(
        '当前分组 default 下对于模型 nope 无可用渠道 (request id: 2026)',
        'one_api_error',
      ),
      expected: 'refused',
    },
    {
      name: 'an unknown model at an older build',
      status: 503,
      text: errorBody('No available channel for model nope under group default (distributor)'),
      expected: 'refused',
    },
    {
      name: 'a model that does not exist',
      status: 503,
      text: errorBody('The model `nope` does not exist'),
      expected: 'refused',
    },
    {
      name: 'no other channel after one that failed',
      status: 503,
      text: errorBody('分组 default 下模型 nope 的可用渠道不存在（retry）'),
      expected: 'interrupted',
    },
    {
      name: 'an overloaded model',
      status: 503,
      text: errorBody('The model is overloaded: unknown error'),
      expected: 'interrupted',
    },
    {
      name: 'a busy model',
      status: 503,
      text: errorBody('The model is not available, try again'),
      expected: 'interrupted',
    },
    {
      name: 'an invalid key at LiteLLM without a database',
      status: 400,
      text: errorBody('No connected db.', 'no_db_connection', '400'),
      expected: 'unauthorized',
    },
    {
      name: 'an invalid key at LiteLLM, without a type',
      status: 400,
      text: errorBody('No connected db.', null, '400'),
      expected: 'unauthorized',
    },
    {
      name: 'a message that quotes LiteLLM',
      status: 400,
      text: errorBody('The page says: no connected db.'),
      expected: 'refused',
    },
    {
      name: 'a busy provider with a request id',
      status: 429,
      text: providerError({ error: 'busy', request_id: 'r' }),
      expected: 'rate_limited',
    },
    {
      name: 'a busy provider without an id',
      status: 429,
      text: providerError({ error: 'busy', id: null }),
      expected: 'rate_limited',
    },
    {
      name: 'a provider that created a task',
      status: 429,
      text: providerError({ data: { task_id: 'made' } }),
      expected: 'unusable_answer',
    },
    {
      name: 'a provider that created a task with a number',
      status: 429,
      text: providerError({ taskId: 7 }),
      expected: 'unusable_answer',
    },
    {
      name: 'a provider that created a task, in truncated JSON',
      status: 400,
      text: providerError('{"id": "cut'),
      expected: 'unusable_answer',
    },
  ])('$name, status $status: $expected', ({ status, text, expected }) => {
    expect(kindOfStatus(status, text)).toBe(expected);
  });

  test('an empty 429 is a rate limit if a header says when to retry', () => {
    expect(kindOfStatus(429, '', { 'retry-after': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'retry-after-ms': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'ratelimit-reset': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'retry-after': 'soon' })).toBe('bare_rate_limited');
  });

  test('no 5xx proves that nothing was charged, except a missing route', () => {
    const body = fc.oneof(
      fc.constantFrom('', '<html></html>', 'error', '{}'),
      fc.jsonValue().map((code) => JSON.stringify({ error: { message: 'no', code } })),
    );
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 599 }), body, (status, text) => {
        const kind = kindOfStatus(status, text);
        const isMissing = status === 501 || status === 505;
        return failures[kind].outcome === (isMissing ? 'rejected' : 'unknown');
      }),
    );
  });
});

/** An error with fields, as runtimes throw them. */
function failure(message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), fields);
}

/** An error of Node's fetch. */
function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause });
}

const refused = { code: 'ECONNREFUSED', syscall: 'connect' };

describe('classifyThrown()', () => {
  const atGateway = 'https://gateway.test/v1/images/generations';
  const onLoopback = 'http://127.0.0.1:8080/v1/images/generations';
  const onPort = 'https://gateway.test:8443/v1/images/generations';

  test.each<{ name: string; url: string; error: unknown }>([
    {
      name: 'port',
      url: onPort,
      error: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
    },
    {
      name: 'address and port',
      url: onLoopback,
      error: failure('', { ...refused, address: '127.0.0.1', port: 8080 }),
    },
    {
      name: 'IPv6 address',
      url: 'http://[::1]:8080/v1',
      error: failure('', { ...refused, address: '::1', port: 8080 }),
    },
    {
      name: 'URL, in a field of Bun',
      url: onLoopback,
      error: failure('Unable to connect.', { code: 'ConnectionRefused', path: onLoopback }),
    },
    {
      name: 'URL, in the message of Deno',
      url: onLoopback,
      error: new TypeError(
        'error sending request for url (http://127.0.0.1:8080/v1): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    },
  ])(
    "an error of the caller's fetch is proof if it names the $name of the request",
    ({ url, error }) => {
      expect(
        failures[classifyThrown(fetchFailed(error), { url, isTrusted: false }).kind].outcome,
      ).toBe('not_sent');
    },
  );

  test.each<{ name: string; url: string; error: unknown }>([
    { name: 'no address', url: atGateway, error: failure('', refused) },
    {
      name: 'the default port of another address',
      url: atGateway,
      error: failure('', { ...refused, address: '192.0.2.1', port: 443 }),
    },
    {
      name: 'another address',
      url: onLoopback,
      error: failure('', { ...refused, address: '127.0.0.2', port: 8080 }),
    },
    {
      name: 'the port of the request in the cause, and another URL in the message',
      url: onPort,
      error: failure('The log https://log.test:8443/v1 failed', {
        cause: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
      }),
    },
  ])("an error of the caller's fetch proves nothing if it names $name", ({ url, error }) => {
    expect(classifyThrown(fetchFailed(error), { url, isTrusted: false }).kind).toBe('interrupted');
  });

  test('reads errors with cycles and with properties that throw', () => {
    const loop = failure('', {});
    Object.assign(loop, { cause: loop });
    const ring = new AggregateError([]);
    ring.errors.push(ring, ring);
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('no');
      },
      has() {
        throw new Error('no');
      },
    });

    for (const error of [loop, ring, hostile, fetchFailed(hostile)]) {
      expect(classifyThrown(error).kind).toBe('interrupted');
    }
  });

  test('no random error proves that nothing was sent', () => {
    const field = fc.constantFrom(
      'name',
      'message',
      'code',
      'syscall',
      'cause',
      'errors',
      'socket',
      'http2ErrorCode',
    );
    const word = fc.oneof(
      fc.constantFrom(
        'connect',
        'ECONNRESET',
        'fetch failed',
        'read',
        'ERR_SSL_X',
        'UND_ERR_SOCKET',
        'EPROTO',
        'Connect',
      ),
      fc.string(),
      fc.integer({ min: 8 }),
      fc.constant(null),
    );
    const garbage = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        word,
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(field, tie('node'), { maxKeys: 5 }),
        fc.dictionary(field, tie('node'), { maxKeys: 5 }).map((fields) => failure('x', fields)),
      ),
    })).node;
    fc.assert(
      fc.property(fc.oneof(garbage, fc.anything()), (error) => {
        return failures[classifyThrown(error).kind].outcome === 'unknown';
      }),
      { numRuns: 1_000 },
    );
  });
});
