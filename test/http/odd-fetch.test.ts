import { describe, expect, test } from 'vitest';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  Gateway,
  UnexpectedResponseError,
} from '../../src/index.ts';
import type { Fetch } from '../../src/options/options.ts';
import { failureOf } from '../helpers/clients.ts';
import { chat, completion, draw } from '../helpers/transport.ts';
import { untyped } from '../helpers/untyped.ts';

function createClient(answer: () => unknown) {
  let calls = 0;
  const fetch = untyped<Fetch>(() => {
    calls += 1;
    return answer();
  });
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    maxRetries: 0,
    fetch,
  });
  return { client, calls: () => calls };
}

describe("the caller's fetch", () => {
  test.each([
    ['nothing', () => undefined],
    ['nothing, later', () => Promise.resolve()],
    ['null', () => Promise.resolve(null)],
    ['text', () => Promise.resolve('hello')],
    ['a parsed answer', () => Promise.resolve(completion)],
    ['half a response', () => Promise.resolve({ ok: true, status: 200 })],
    ['headers that are none', () => Promise.resolve({ status: 400, headers: { get: () => null } })],
    ['an error response', () => Promise.resolve(Response.error())],
  ])('that returns %s fails with an error that names it', async (_, answer) => {
    const { client, calls } = createClient(answer);

    const failure = await failureOf(draw(client));

    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).toMatchObject({ outcome: 'unknown' });
    expect(failure).toHaveProperty('message', expect.stringContaining('no Response'));
    expect(calls()).toBe(1);
  });

  test('that returns a text body fails like a cut response', async () => {
    const body = new ReadableStream<string>({
      start(controller) {
        controller.enqueue('{"data":[]}');
        controller.close();
      },
    });
    const { client, calls } = createClient(
      () => new Response(untyped<ReadableStream<Uint8Array>>(body)),
    );

    const failure = await failureOf(draw(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure).toMatchObject({ outcome: 'unknown', status: 200 });
    expect(calls()).toBe(1);
  });

  test.each([
    ['text', () => Promise.reject('nope')],
    ['nothing', () => Promise.reject(undefined)],
    [
      'an error at once',
      () => {
        throw new Error('sync');
      },
    ],
  ])('that throws %s fails with an error of this package', async (_, answer) => {
    const failure = await failureOf(chat(createClient(answer).client));

    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).not.toBeInstanceOf(APIConnectionTimeoutError);
  });

  test.each([
    ['TimeoutError', new DOMException('The operation timed out.', 'TimeoutError')],
    ['AbortError of its own', new DOMException('This operation was aborted', 'AbortError')],
    ['words', new Error('network timeout at: https://gateway.test')],
    ['a cause', new TypeError('fetch failed', { cause: new Error('request timed out') })],
    ['a code', Object.assign(new Error('late'), { code: 'UND_ERR_HEADERS_TIMEOUT' })],
  ])('that times out, by its %s', async (_, error) => {
    const failure = await failureOf(chat(createClient(() => Promise.reject(error)).client));

    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toMatchObject({ outcome: 'unknown', timeout: undefined });
  });

  test("is not blamed for the caller's abort", async () => {
    const abort = new DOMException('This operation was aborted', 'AbortError');
    const controller = new AbortController();
    const { client } = createClient(() => {
      controller.abort();
      return Promise.reject(abort);
    });

    const failure = await failureOf(client.models.list({ signal: controller.signal }));

    expect(failure).toBeInstanceOf(APIUserAbortError);
  });
});
