// Whole answers, errors and streams, each under every label and whether it was asked for or not: what
// came decides, never what it is called.
import { describe, expect, test } from 'vitest';
import {
  APIError,
  BadRequestError,
  Gateway,
  StreamError,
  StreamTruncatedError,
} from '../../src/index.ts';
import {
  chunk,
  encode,
  readStream,
  textOf,
  usage,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const labels = ['application/json', 'text/event-stream', 'text/plain', undefined];

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: wholeText }, finish_reason: 'stop' },
  ],
  usage,
});
const errors = [
  { error: { message: 'Too long', type: 'invalid_request_error', code: 'context' } },
  { code: 'context', message: 'Too long', data: null },
  { message: 'Too long', type: 'new_api_error', param: '', code: 'context' },
];

function clientFor(body: string, label: string | undefined, status = 200): Gateway {
  return new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    maxRetries: 0,
    maxEventBytes: 2_000,
    fetch: async () => {
      const headers = { 'x-oneapi-request-id': 'r-1', ...(label && { 'content-type': label }) };
      const bytes = new TextEncoder().encode(body);
      return new Response(bytes, { status, headers });
    },
  });
}

/** The whole text, read as it was asked for. */
async function textFrom({ chat }: Gateway, stream: boolean): Promise<string | null | undefined> {
  if (!stream) return (await chat.completions.create(params)).choices[0]?.message.content;
  const read = await readStream(await chat.completions.create({ ...params, stream }));
  if (read.error !== undefined) throw read.error;
  expect(read.verdict).toBe('complete');
  expect(read.usage).toEqual(usage);
  return textOf(read.items);
}

const cases = [true, false].flatMap((stream) =>
  labels.map((label) => ({ stream, label, asked: stream ? 'a stream' : 'a whole answer' })),
);

describe.each(cases)('asked for $asked, labelled $label', ({ stream, label }) => {
  test('reads a whole response', async () => {
    expect(await textFrom(clientFor(completion, label), stream)).toBe(wholeText);
  });

  test('reads a stream', async () => {
    expect(await textFrom(clientFor(wholeAnswer, label), stream)).toBe(wholeText);
  });

  test.each(errors)('throws an error in place of the response: %j', async (body) => {
    const client = clientFor(JSON.stringify(body), label);

    const error: unknown = await textFrom(client, stream).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'context', requestID: 'r-1', status: 200 });
    expect(String(error)).toContain('Too long');
  });

  test.each(errors)('throws an error with an error status: %j', async (body) => {
    const client = clientFor(JSON.stringify(body), label, 400);

    await expect(textFrom(client, stream)).rejects.toBeInstanceOf(BadRequestError);
  });

  test('throws an error inside a stream, with the partial response', async () => {
    const events = encode(chunk({ content: 'Hel' }, null, { usage }), errors[0] ?? {}, '[DONE]');

    const error: unknown = await textFrom(clientFor(events, label), stream).catch(
      (caught: unknown) => caught,
    );

    expect(error).toBeInstanceOf(StreamError);
    expect(error).not.toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({
      code: 'context',
      outcome: 'unknown',
      usage,
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
  });

  test('throws for a truncated stream, with the partial response', async () => {
    const events = encode(chunk({ content: 'Hel' }, null, { usage }), '[DONE]');

    await expect(textFrom(clientFor(events, label), stream)).rejects.toMatchObject({
      name: 'StreamTruncatedError',
      verdict: 'no_finish_reason',
      usage,
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
  });

  test("throws for an event above maxEventBytes, with the partial response and the option's name", async () => {
    const events = encode(chunk({ content: 'Hel' }), chunk({ content: 'x'.repeat(2_000) }));

    await expect(textFrom(clientFor(events, label), stream)).rejects.toMatchObject({
      name: 'StreamError',
      message: expect.stringContaining('an event is larger than 2000 bytes (maxEventBytes)'),
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
  });

  test('rejects an HTML page', async () => {
    const page = '<!doctype html><html><title>Console</title></html>';

    const error: unknown = await textFrom(clientFor(page, label), stream).catch(
      (caught: unknown) => caught,
    );

    expect(error).toBeInstanceOf(APIError);
    expect(String(error)).toMatch(/HTML page/);
  });
});
