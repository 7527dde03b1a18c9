import * as fc from 'fast-check';
import { describe, test } from 'vitest';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { readErrorText } from '../../src/answers/failure.ts';
import { failures } from '../../src/http/retry.ts';

// The tables of failures have the cases. Here is what holds for all others.

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

describe('classifyThrown()', () => {
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
