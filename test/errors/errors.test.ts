import { inspect } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  BadRequestError,
  GatewayError,
  InvalidInputError,
  RateLimitError,
} from '../../src/index.ts';
import { errorClassForStatus } from '../../src/errors/api-errors.ts';
import type * as connectionErrors from '../../src/errors/api-errors.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';

const rejected = { outcome: 'rejected' } as const;

describe('the class for a status', () => {
  test.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [402, 'PaymentRequiredError'],
    [403, 'PermissionDeniedError'],
    [404, 'NotFoundError'],
    [409, 'ConflictError'],
    [413, 'RequestTooLargeError'],
    [422, 'UnprocessableEntityError'],
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'InternalServerError'],
    [524, 'InternalServerError'],
    [418, 'APIError'],
    [200, 'APIError'],
  ])('%i is %s', (status, name) => {
    expect(errorClassForStatus(status)).toHaveProperty('kind', name);
  });
});

describe('an error of the gateway', () => {
  test("an error of the gateway has the fields of the openai package's error", async () => {
    const body = {
      error: { message: 'no such field', type: 'invalid_request_error', param: 'size', code: 7 },
    };
    const { client } = scripted([
      () => Response.json(body, { status: 400, headers: { 'x-request-id': 'r', 'x-a': 'b' } }),
    ]);

    const failure = await failureOf(client.models.list());

    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure).toMatchObject({
      name: 'BadRequestError',
      message: '400 no such field. The gateway rejected the request, so no charge is expected.',
      status: 400,
      code: 7,
      param: 'size',
      type: 'invalid_request_error',
      requestID: 'r',
      request_id: 'r',
      error: body.error,
      outcome: 'rejected',
      advice: 'The gateway rejected the request, so no charge is expected.',
    });
    expect(failure).toHaveProperty('headers', expect.any(Headers));
  });

  test.each([
    ['no', '400 no.'],
    ['no.', '400 no.'],
    ['no!', '400 no!'],
    ['no\u3002', '400 no\u3002'],
    ['no (request id: a)', '400 no (request id: a).'],
  ])('an error of the gateway ends the message %j as a sentence', async (message, expected) => {
    const { client } = scripted([json({ error: { message } }, 400)]);

    const failure = await failureOf(client.models.list());

    expect(String(failure)).toContain(`${expected} The gateway rejected`);
  });

  test('an error of the gateway has its class name in its stack and when it is printed', () => {
    const error = new RateLimitError('slow down.', rejected);

    expect(error.stack).toMatch(/^RateLimitError: slow down\./);
    expect(inspect(error)).toMatch(/^RateLimitError: slow down\./);
    expect(String(error)).toMatch(/^RateLimitError: slow down\./);
  });

  test('an error of the gateway ends its message with advice for each outcome', () => {
    for (const outcome of ['not_sent', 'rejected', 'unknown'] as const) {
      const error = new APIError('failed.', { outcome });

      expect(error.message).toBe(`failed. ${error.advice}`);
      expect(error.advice.length).toBeGreaterThan(20);
      expect(error.evidence).toEqual({ phase: 'local', attempts: [] });
    }
    expect(new APIError('failed.', { outcome: 'unknown', advice: '' }).message).toBe('failed.');
    for (const [summary, message] of [
      ['401 Invalid token', '401 Invalid token. Check apiKey.'],
      ['Is it on?', 'Is it on? Check apiKey.'],
      ['额度不足。', '额度不足。 Check apiKey.'],
      ['额度不足', '额度不足. Check apiKey.'],
      ['400 {"code":1}', '400 {"code":1} Check apiKey.'],
    ] as const) {
      const init = { outcome: 'rejected', advice: 'Check apiKey.' } as const;
      expect(new APIError(summary, init)).toMatchObject({ summary, message });
    }
  });

  test('an error of the gateway names the invalid input in one line', () => {
    const error = new InvalidInputError('size', 'must be text.');

    expect(error.message).toBe('size: must be text.');
    expect(error).toMatchObject({ field: 'size', outcome: 'not_sent', advice: '' });
  });
});

describe('isInstance()', () => {
  const error = new APIConnectionTimeoutError('late.', { outcome: 'unknown', timeout: 5 });

  test('includes base classes', () => {
    expect(APIConnectionTimeoutError.isInstance(error)).toBe(true);
    expect(APIConnectionError.isInstance(error)).toBe(true);
    expect(APIError.isInstance(error)).toBe(true);
    expect(GatewayError.isInstance(error)).toBe(true);
    expect(RateLimitError.isInstance(error)).toBe(false);
    expect(InvalidInputError.isInstance(error)).toBe(false);
  });

  test.each([[undefined], [null], ['APIError'], [new Error('x')], [{ name: 'APIError' }], [{}]])(
    'is false for %j',
    (value) => {
      expect(GatewayError.isInstance(value)).toBe(false);
    },
  );

  describe('with another copy of the package', () => {
    let other: typeof connectionErrors;

    beforeAll(async () => {
      vi.resetModules();
      other = await import('../../src/errors/api-errors.ts');
    });

    test('recognizes its errors, unlike instanceof', () => {
      const foreign = new other.APIConnectionTimeoutError('late.', {
        outcome: 'unknown',
        timeout: 5,
      });

      expect(foreign).not.toBeInstanceOf(GatewayError);
      expect(GatewayError.isInstance(foreign)).toBe(true);
      expect(APIConnectionError.isInstance(foreign)).toBe(true);
      expect(RateLimitError.isInstance(foreign)).toBe(false);
      expect(other.APIConnectionError.isInstance(error)).toBe(true);
    });
  });

  test('recognizes errors of derived classes', () => {
    class TenantError extends RateLimitError {
      static override readonly kind: string = 'TenantError';
    }
    const derived = new TenantError('slow down.', rejected);

    expect(derived.name).toBe('TenantError');
    expect(RateLimitError.isInstance(derived)).toBe(true);
    expect(TenantError.isInstance(new RateLimitError('x', rejected))).toBe(false);
  });
});

test('an error does not repeat a status that is in the title of an HTML page', async () => {
  const page = '<html><head><title>502 Bad Gateway</title></head></html>';
  const { client } = scripted([() => new Response(page, { status: 502 })], { maxRetries: 0 });

  const error = await failureOf(client.models.list());

  expect(error).toMatchObject({ message: expect.stringMatching(/^502 Bad Gateway\. /) });
});
