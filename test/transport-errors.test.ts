import { describe, expect, test, vi } from 'vitest';
import { BadRequestError, InternalServerError } from '../src/errors/api-error.ts';
import { APIConnectionError } from '../src/errors/connection-error.ts';
import { VideoSubmitUnknownError } from '../src/errors/video-error.ts';
import { json, scripted } from './helpers/clients.ts';
import { fetchFailure, settled } from './helpers/failures.ts';
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
  models,
  refused,
  reset,
  text,
} from './helpers/transport.ts';

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
