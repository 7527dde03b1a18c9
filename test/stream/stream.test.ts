import { describe, expect, test } from 'vitest';
import {
  APIUserAbortError,
  type ChatCompletionChunk,
  ChatCompletionStream,
  GatewayError,
  type GenerateContentResponse,
  type ImageGenStreamEvent,
  Stream,
  StreamError,
  StreamTruncatedError,
} from '../../src/stream.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { Gateway } from '../../src/index.ts';
import {
  chunk,
  encode,
  openChat,
  openResponse,
  readAll,
  readStream,
  respond,
  textOf,
  usage,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

/** The stream that a page receives from a server that forwards one. */
function sentOn(stream: { toReadableStream(): ReadableStream<Uint8Array> }) {
  return getBody(new Response(stream.toReadableStream()));
}

function getBody({ body }: Response): ReadableStream<Uint8Array> {
  if (body === null) throw new Error('Missing body');
  return body;
}

/** Lines as a server writes them. */
const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

const first = chunk({ role: 'assistant', content: 'a' });

/** A piece of the arguments of a tool call. */
const call = (text: string, more: object = {}) =>
  chunk({ tool_calls: [{ index: 0, function: { arguments: text }, ...more }] });

describe('a page', () => {
  test('reads the chunks of a server', async () => {
    const result = await readStream(
      Stream.fromReadableStream<ChatCompletionChunk>(sentOn(openChat(wholeAnswer))),
    );

    expect(textOf(result.items)).toBe(wholeText);
    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('a page has the events and promises of stream()', async () => {
    const stream = ChatCompletionStream.fromReadableStream(sentOn(openChat(wholeAnswer)));
    const deltas: string[] = [];
    stream.on('content.delta', ({ delta, snapshot, parsed }) => {
      deltas.push(delta);
      expect(wholeText.startsWith(snapshot)).toBe(true);
      expect(parsed).toBeNull();
    });

    const completion = await stream.finalChatCompletion();

    expect(deltas.join('')).toBe(wholeText);
    expect(completion.choices).toMatchObject([
      { finish_reason: 'stop', message: { content: wholeText, parsed: null } },
    ]);
    expect(completion.usage).toEqual(usage);
    expect(stream.verdict).toBe('complete');
  });

  test('assembles tool calls', async () => {
    const begun = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a"' } };
    const text = lines(call('', begun), call(':1}'), chunk({}, 'tool_calls'));
    const stream = ChatCompletionStream.fromReadableStream(getBody(respond(text)));
    const deltas: unknown[] = [];
    stream.on('tool_calls.function.arguments.delta', (event) => deltas.push(event));
    const done = stream.emitted('tool_calls.function.arguments.done');

    await expect(stream.finalFunctionToolCall()).resolves.toMatchObject({
      name: 'add',
      arguments: '{"a":1}',
    });
    await expect(done).resolves.toMatchObject({ arguments: '{"a":1}', parsed_arguments: null });
    expect(deltas).toMatchObject([{ arguments: '{"a"' }, { arguments: '{"a":1}' }]);
  });

  test('reads lines of another package, with missing fields', async () => {
    const text = lines(
      { choices: [{ message: { content: [{ type: 'text', text: 'a' }] } }] },
      { choices: [{ index: '0', delta: null, message: { content: 'b' }, finish_reason: 'stop' }] },
    );

    const stream = ChatCompletionStream.fromReadableStream(getBody(respond(text)));

    await expect(stream.finalContent()).resolves.toBe('ab');
  });

  test.each([
    ['in a line', `${lines(first)}{"id":"chatcmpl-1","choi`],
    ['after a line', lines(first)],
    ['before its first line', ''],
  ])('detects that the response was cut %s', async (_, text) => {
    const stream = ChatCompletionStream.fromReadableStream(getBody(respond(text)));

    const error = await stream.finalChatCompletion().catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({ outcome: 'unknown' });
  });

  test('detects a broken connection to its server', async () => {
    const broken = respond(lines(first), new TypeError('terminated'));
    const stream = ChatCompletionStream.fromReadableStream(getBody(broken));

    const error = await stream.done().catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({
      verdict: 'truncated',
      partial: { choices: [{ message: { content: 'a' } }] },
    });
  });

  test('reads an error that its server wrote as a line', async () => {
    const sent = { error: { message: 'No more today', code: 'quota', type: 'server_error' } };
    const stream = ChatCompletionStream.fromReadableStream(getBody(respond(lines(first, sent))));

    const error = await stream.done().catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({
      message: expect.stringContaining('No more today.'),
      code: 'quota',
      partial: { choices: [{ message: { content: 'a' } }] },
    });
  });

  test("detects that the server's stream failed", async () => {
    const failing = openChat(encode(first, { error: 'no' }));
    const stream = ChatCompletionStream.fromReadableStream(sentOn(failing));

    await expect(stream.done()).rejects.toBeInstanceOf(GatewayError);
  });

  test('a page can stop the stream, which aborts it on the server', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(first));
    const stream = ChatCompletionStream.fromReadableStream(sentOn(openChat(response)));
    await stream.emitted('content');

    stream.abort();

    await expect(stream.done()).rejects.toBeInstanceOf(APIUserAbortError);
    expect(stream.aborted).toBe(true);
    await expect(isCancelled()).resolves.toBe(true);
  });
});

describe('streams other than chat', () => {
  const emulator = createEmulator();
  const client = new Gateway({
    apiKey: emulator.apiKey,
    baseURL: emulator.baseURL,
    fetch: emulator.fetch,
  });

  test('images are read as their events', async () => {
    const body = { model: 'm-image', prompt: 'A dog', stream: true, partial_images: 1 } as const;
    const direct = await readAll(await client.images.generate(body));

    const stream = await client.images.generate(body);
    const page = Stream.fromReadableStream<ImageGenStreamEvent>(sentOn(stream));
    const { items, error } = await readAll(page);

    expect(error).toBeUndefined();
    expect(items.map(({ type }) => type)).toEqual(direct.items.map(({ type }) => type));
    expect(items.at(-1)?.type).toBe('image_generation.completed');
  });

  test('generated content is read as its chunks', async () => {
    const body = { model: 'm-flash', contents: 'Say [hello]' };
    const direct = await readAll(await client.generate.contentStream(body));

    const stream = await client.generate.contentStream(body);
    const page = Stream.fromReadableStream<GenerateContentResponse>(sentOn(stream));
    const { items, error } = await readAll(page);

    expect(error).toBeUndefined();
    expect(items.map(({ candidates }) => candidates)).toEqual(
      direct.items.map(({ candidates }) => candidates),
    );
    expect(items.length).toBeGreaterThan(0);
  });
});
