import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { readErrorText } from '../../src/answers/error-body.ts';
import { failures } from '../../src/http/retry.ts';

// The golden files have every status, error code and network error. Here are the cases that depend
// on an error message or on the address of a request.

function kindOfStatus(status: number, text: string, headers: Record<string, string> = {}) {
  return classifyStatus(status, readErrorText(text), new Headers(headers));
}

describe('classifyStatus()', () => {
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
