import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  APIConnectionTimeoutError,
  BadRequestError,
  type Gateway,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import type { RequestOptions } from '../../../src/options/options.ts';
import { json, scripted } from '../../helpers/clients.ts';
import { cutResponse, fetchFailure, silentResponse } from '../../helpers/failures.ts';
import { settle } from '../../helpers/fake-time.ts';
import { apiErrorOf } from '../../helpers/transport.ts';

const speak = (client: Gateway, options?: RequestOptions) =>
  client.audio.speech.create({ model: 'm', input: 'x', voice: 'v' }, options);
const download = (client: Gateway) => client.videos.downloadContent('t');

function file(content: BodyInit | null, headers: Record<string, string> = {}) {
  return () => new Response(content, { headers: { 'content-type': 'audio/mpeg', ...headers } });
}

/** A body in the given pieces, and how many of them were asked for. */
function inPieces(pieces: readonly Uint8Array[]) {
  const state = { asked: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[state.asked];
        state.asked += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, state };
}

const lost = () => fetchFailure('ECONNRESET', 'read');

describe('the bytes of a file', () => {
  test('the bytes of a file are a file even if the first chunk is only a byte order mark', async () => {
    const whole = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0]);
    const { client } = scripted([
      () => new Response(inPieces([whole.slice(0, 3), whole.slice(3)]).body),
    ]);

    expect(await (await speak(client)).bytes()).toEqual(whole);
  });

  test('the bytes of a file arrive unchanged, whatever they begin with and wherever they are split', async () => {
    const beginning = fc.constantFrom(
      '',
      '{',
      '{"',
      '[',
      '<',
      '<html',
      '\uFEFF{',
      ' \n{',
      '{"error":',
    );
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(
        beginning,
        bytes,
        fc.integer({ min: 1, max: 50 }),
        async (start, rest, size) => {
          // A zero byte, as no JSON and no page has.
          const whole = new Uint8Array([...new TextEncoder().encode(start), 0, ...rest]);
          const pieces: Uint8Array[] = [];
          for (let at = 0; at < whole.length; at += size) pieces.push(whole.slice(at, at + size));
          const { client } = scripted([() => new Response(inPieces(pieces).body)]);

          const received = await (await speak(client)).bytes();

          return (
            received.length === whole.length && received.every((byte, at) => byte === whole[at])
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the bytes of a file are not read before the caller reads', async () => {
    const pieces = Array.from({ length: 50 }, () => new Uint8Array(100).fill(1));
    const { body, state } = inPieces(pieces);
    const { client } = scripted([() => new Response(body)]);

    const reader = (await speak(client)).body?.getReader();
    await reader?.read();
    await reader?.read();
    await new Promise((resolve) => setImmediate(resolve));

    expect(state.asked).toBeLessThanOrEqual(3);
  });

  test('the bytes of a file keep the status, the headers and the URL of their response', async () => {
    const answer = Object.defineProperty(
      new Response('bytes', { status: 206, headers: { 'content-range': 'bytes 0-4/9' } }),
      'url',
      { value: 'https://cdn.test/f' },
    );
    const { client } = scripted([answer]);

    const response = await download(client);

    expect(response).toMatchObject({ status: 206, url: 'https://cdn.test/f', redirected: false });
    expect(response.headers.get('content-range')).toBe('bytes 0-4/9');
    expect(await response.text()).toBe('bytes');
  });
});

describe('a truncated file', () => {
  test('a truncated file is detected by Content-Length, unless the body is compressed', async () => {
    const short = scripted([file('abc', { 'content-length': '9' })]);
    const failure = await apiErrorOf((await speak(short.client)).text());

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toContain('3 of 9 bytes');
    expect(failure.outcome).toBe('unknown');

    for (const headers of [
      { 'content-length': '9', 'content-encoding': 'gzip' },
      { 'content-length': '3', 'content-encoding': 'identity' },
      { 'content-length': 'many' },
      {},
    ]) {
      const { client } = scripted([file('abc', headers)]);
      expect(await (await speak(client)).text()).toBe('abc');
    }
    const plain = scripted([
      file('abc', { 'content-length': '9', 'content-encoding': 'identity' }),
    ]);
    expect((await apiErrorOf((await speak(plain.client)).text())).message).toContain('3 of 9');
  });

  test('a truncated file fails at the cut, and a read is safe to repeat', async () => {
    const { client, requests } = scripted([() => cutResponse('ID3')]);

    const failure = await apiErrorOf((await download(client)).arrayBuffer());

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toContain('safe to repeat');
    expect(failure.evidence.attempts).toEqual([
      { phase: 'body', code: undefined, status: 200, requestId: undefined },
    ]);
    expect(requests).toHaveLength(1);
  });

  test('a truncated file is rejected if it is empty', async () => {
    for (const answer of [file(null), file(''), file(new Uint8Array())]) {
      const { client, requests } = scripted([answer]);

      expect((await apiErrorOf(speak(client))).message).toContain('empty');
      expect(requests).toHaveLength(1);
    }
  });
});

describe('responses that are not files', () => {
  const error = '{"error":{"message":"no voice","code":"x"}}';

  test.each(['application/json', 'audio/mpeg', 'text/event-stream', 'text/plain'])(
    'an error that is labelled %s is an error',
    async (type) => {
      for (const status of [200, 400]) {
        const { client } = scripted([
          () => new Response(`\n${error}`, { status, headers: { 'content-type': type } }),
        ]);

        const failure = await apiErrorOf(speak(client));

        expect(failure.message).toContain('no voice');
        expect(failure.code).toBe('x');
        expect(failure.outcome).toBe(status === 400 ? 'rejected' : 'unknown');
        expect(failure instanceof BadRequestError).toBe(status === 400);
      }
    },
  );

  test('JSON without an error is not saved as a file', async () => {
    const { client } = scripted([file('{"url":"https://cdn.test/f"}')]);

    const failure = await apiErrorOf(speak(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure).toHaveProperty('body', '{"url":"https://cdn.test/f"}');
  });

  test('an HTML page is not saved as a file', async () => {
    const { client } = scripted([file('<!doctype html><title>x</title>')]);

    expect((await apiErrorOf(speak(client))).message).toContain('baseURL');
  });

  test('recognizes JSON in small pieces', async () => {
    const pieces = error.split('').map((letter) => new TextEncoder().encode(letter));
    const { client } = scripted([() => new Response(inPieces(pieces).body)]);

    expect((await apiErrorOf(speak(client))).message).toContain('no voice');
  });
});

describe('time limits of a file', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  test('timeout ends with the first byte, so that it does not cut a long file', async () => {
    const gate = { open: () => {} };
    const slow = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('a'));
            gate.open = () => {
              controller.enqueue(new TextEncoder().encode('b'));
              controller.close();
            };
          },
        }),
      );
    const { client } = scripted([slow]);
    const response = await speak(client, { timeout: 1_000, idleTimeout: null });
    const text = response.text();

    await vi.advanceTimersByTimeAsync(3_600_000);
    gate.open();

    expect(await text).toBe('ab');
  });

  test('timeout covers the wait for the first byte', async () => {
    const { client } = scripted([() => silentResponse('')]);

    const { error } = await settle(speak(client, { timeout: 1_000 }));

    expect(error).toBeInstanceOf(APIConnectionTimeoutError);
  });

  test('idleTimeout fails a stalled file, and closes its connection', async () => {
    const onCancel = vi.fn();
    const { client } = scripted([() => silentResponse('ID3', {}, onCancel)]);
    const response = await speak(client, { idleTimeout: 5_000 });

    const { error } = await settle(response.text());

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toHaveProperty('message', expect.stringContaining('5000 ms (idleTimeout)'));
    expect(onCancel).toHaveBeenCalledTimes(1);
  });

  test('totalTimeout covers the whole file', async () => {
    const { client } = scripted([() => silentResponse('ID3')]);
    const response = await speak(client, { totalTimeout: 9_000 });

    const { error } = await settle(response.text());

    expect(error).toBeInstanceOf(APIConnectionTimeoutError);
    expect(error).toHaveProperty('timeout', 9_000);
  });

  test('a file is retried until its first byte has arrived', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const video = scripted([lost, () => cutResponse(''), json({}, 502), file('video')]);
    const speech = scripted([lost, json({ error: { message: 'x' } }, 500), file('speech')]);

    const { value: first } = await settle(
      video.client.videos.downloadContent('t', {}, { maxRetries: 3 }),
    );
    const { value: second } = await settle(speak(speech.client));

    expect(await first?.text()).toBe('video');
    expect(video.requests).toHaveLength(4);
    expect(await second?.text()).toBe('speech');
    expect(speech.requests).toHaveLength(3);
  });
});
