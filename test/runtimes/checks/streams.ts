import {
  ChatCompletionStream,
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  Stream,
  type ChatCompletionChunk,
  type Gateway,
} from 'model-gateway';
import * as reader from 'model-gateway/stream';
import { assert, equal, includes, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh, type Remote } from '../harness/emulator.ts';

const chat = {
  model: 'm-large',
  messages: [{ role: 'user' as const, content: 'Tell me a [long] story' }],
};

const open = (client: Gateway): Promise<Stream<ChatCompletionChunk>> =>
  client.chat.completions.create({ ...chat, stream: true });

async function readText(stream: AsyncIterable<ChatCompletionChunk>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

/** Waits until the emulator has noticed that its client has gone. */
async function untilDisconnected(remote: Remote): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    const [request] = await remote.requests();
    if (request?.disconnected === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const seen = JSON.stringify(await remote.requests());
  throw new Error(`The connection was not closed: ${seen}`);
}

/** Event streams, whole and broken. */
export const streamChecks: readonly Check[] = [
  {
    name: 'a stream in pieces of one byte, with every line end and with heartbeats',
    async run(world) {
      const { client, remote } = await fresh(world);
      const expected = await readText(await open(client));
      for (const lineEnding of ['lf', 'crlf', 'cr']) {
        await remote.quirks({ lineEnding, streamChunkBytes: 7, heartbeatEvery: 2 });
        equal(await readText(await open(client)), expected, `text with ${lineEnding}`);
      }
      await remote.quirks({ lineEnding: 'crlf', streamChunkBytes: 1 });
      const short = await client.chat.completions.create({
        model: 'm-large',
        messages: [{ role: 'user', content: 'Grüße, 世界 👋' }],
        stream: true,
      });
      includes(await readText(short), '👋', 'text in pieces of one byte');
    },
  },
  {
    // The runtime decides how much is read before the connection breaks.
    name: 'a stream that is cut throws',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'cut-events', after: 5 });
      const stream = await open(client);
      const error = await rejects(readText(stream), StreamTruncatedError);
      equal([error.verdict, error.outcome], ['truncated', 'unknown'], 'verdict and outcome');
    },
  },
  {
    name: 'a stream that ends without a finish reason throws, with what had come, [DONE] or not',
    async run(world) {
      const { client, remote } = await fresh(world);
      for (const done of [true, false]) {
        await remote.fail({ type: 'no-finish', done });
        const error = await rejects(readText(await open(client)), StreamTruncatedError);
        equal(error.verdict, done ? 'no_finish_reason' : 'no_terminator', 'verdict');
        includes(JSON.stringify(error.partial), '"content"', 'the partial answer');
      }
    },
  },
  {
    name: 'an error inside a stream throws, in every shape',
    async run(world) {
      const { client, remote } = await fresh(world);
      const fault = { type: 'stream-error', after: 3, message: 'Out of memory' };
      for (const shape of ['error-data', 'error-event', 'typed-data', 'bare-json', 'plain-text']) {
        await remote.fail({ ...fault, shape });
        const error = await rejects(readText(await open(client)), StreamError);
        includes(error.message, 'Out of memory', `message of ${shape}`);
      }
    },
  },
  {
    name: 'a stream that falls silent throws after idleTimeout',
    async run(world) {
      const { client, remote } = await fresh(world, { idleTimeout: 300 });
      await remote.fail({ type: 'stall-events', after: 3 });
      await rejects(readText(await open(client)), StreamTimeoutError);
      await untilDisconnected(remote);
    },
  },
  {
    name: 'leaving the loop closes the connection',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.quirks({ eventDelay: 50 });
      for await (const chunk of await open(client)) {
        assert(chunk.object !== undefined, 'Not a chunk');
        break;
      }
      await untilDisconnected(remote);
    },
  },
  {
    name: 'a stream is read twice with tee, and travels as bytes',
    async run(world) {
      const { client } = await fresh(world);
      const stream = await open(client);
      equal(Object.getPrototypeOf(stream).constructor.name, 'Stream', 'what console.log() shows');
      const [left, right] = stream.tee();
      const texts = await Promise.all([readText(left), readText(right)]);
      equal(texts[0], texts[1], 'both texts');
      const bytes = (await open(client)).toReadableStream();
      const again = Stream.fromReadableStream<ChatCompletionChunk>(bytes);
      equal(await readText(again), texts[0], 'the text after its travel');
    },
  },
  {
    name: 'a server passes a stream on, and what it is read with has the same events',
    async run(world) {
      const { client } = await fresh(world);
      const expected = await readText(await open(client));
      const { body } = await fetch(`${world.control}/relay`);
      assert(body !== null, 'Missing body');
      let text = '';
      const received = ChatCompletionStream.fromReadableStream(body).on('content', (delta) => {
        text += delta;
      });
      const completion = await received.finalChatCompletion();
      equal(text, expected, 'text of the events');
      equal(completion.choices[0]?.message.content, expected, 'text of the completion');
      equal([completion.choices[0]?.finish_reason, received.verdict], ['stop', 'complete'], 'end');
    },
  },
  {
    name: 'model-gateway/stream reads what a server passes on, with the classes of the client',
    async run(world) {
      const { client, remote } = await fresh(world);
      const expected = await readText(await open(client));
      const relay = async (): Promise<ReadableStream<Uint8Array>> => {
        const { body } = await fetch(`${world.control}/relay`);
        assert(body !== null, 'Missing body');
        return body;
      };
      equal(reader.ChatCompletionStream === ChatCompletionStream, true, 'one class');
      const whole = reader.ChatCompletionStream.fromReadableStream(await relay());
      equal(await whole.finalContent(), expected, 'text of the helper');
      const chunks = reader.Stream.fromReadableStream<ChatCompletionChunk>(await relay());
      equal(await readText(chunks), expected, 'text of the chunks');
      await remote.fail({ type: 'cut-events', after: 5 });
      const cut = reader.ChatCompletionStream.fromReadableStream(await relay());
      await rejects(cut.finalContent(), reader.StreamTruncatedError);
    },
  },
  {
    name: 'a stream that is cut before the server that passes it on fails behind it too',
    async run(world) {
      const { remote } = await fresh(world);
      for (const fault of [
        { type: 'cut-events', after: 5 },
        { type: 'no-finish', done: true },
        { type: 'stream-error', after: 3, shape: 'error-data' },
      ]) {
        await remote.fail(fault);
        const { body } = await fetch(`${world.control}/relay`);
        assert(body !== null, 'Missing body');
        const received = ChatCompletionStream.fromReadableStream(body);
        await rejects(received.finalChatCompletion(), StreamTruncatedError);
        // WebKit ends a chunked body without its last chunk as if it were whole.
        const verdict = world.family === 'webkit' ? 'no_terminator' : 'truncated';
        equal(received.verdict, verdict, 'verdict');
      }
    },
  },
  {
    name: 'the stream of the Gemini form throws when it is cut',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'cut-events', after: 1 });
      const read = async (): Promise<void> => {
        const contents = 'Tell me a [long] story';
        const stream = await client.generate.contentStream({ model: 'm-flash', contents });
        for await (const chunk of stream) assert(chunk !== undefined, 'Missing chunk');
      };
      await rejects(read, StreamTruncatedError);
    },
  },
  {
    name: 'a stream comes as it is sent, not at its end',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.quirks({ eventDelay: 40 });
      let firstAt: number | undefined;
      let chunks = 0;
      for await (const chunk of await open(client)) {
        firstAt ??= Date.now();
        chunks += chunk.choices.length;
        if (chunks >= 20) break;
      }
      const spread = Date.now() - (firstAt ?? 0);
      assert(spread > 200, `20 chunks came within ${spread} ms, but 40 ms lie between any two`);
    },
  },
];
