// Makes every stream, helper and run fail in every way while nobody listens, and prints how many there
// were when all are over. Any rejection that is not handled ends it, as Node is told to be strict.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type ChatCompletionRunner,
  ChatCompletionStream,
  type ChatCompletionChunk,
  Gateway,
  type GenerateContentResponse,
  type RequestOptions,
  responseFormat,
  Stream,
  tool,
} from '../../src/index.ts';
import { behaviourNames } from './faulty-server.ts';

const client = new Gateway({
  baseURL: process.env['GATEWAY_BASE_URL'],
  apiKey: 'sk-test',
  logLevel: 'off',
  maxRetries: 0,
  timeout: 400,
  firstByteTimeout: 200,
  idleTimeout: 200,
  idleContentTimeout: 200,
  maxEventBytes: 8_000,
});
const messages = [{ role: 'user' as const, content: 'Hi' }];
const ignore = (): void => undefined;
const failing = (): never => {
  throw new Error('mine');
};
const format = responseFormat({ type: 'object', properties: {} }, 'thing');
const find = tool({ name: 'find', execute: () => ({ found: true }) });

type Item = ChatCompletionChunk | GenerateContentResponse;
type Way<Thing> = (thing: Thing, abort: () => void) => unknown;

/** An iterator that is asked without anybody waiting for its answers. */
function ask(iterable: AsyncIterable<unknown>): void {
  const iterator = iterable[Symbol.asyncIterator]();
  for (let times = 0; times < 4; times += 1) void iterator.next();
}

/** A readable that is asked without anybody waiting for its answers, and fails while it is. */
function readQuietly(readable: ReadableStream<Uint8Array>): void {
  const reader = readable.getReader();
  reader.closed.catch(ignore);
  for (let times = 0; times < 4; times += 1) reader.read().catch(ignore);
}

/** What is done with a stream, and never waited for. */
const streamWays: Readonly<Record<string, Way<Stream<Item>>>> = {
  nothing: ignore,
  'a step': (stream) => void stream[Symbol.asyncIterator]().next(),
  'steps that nobody waits for': ask,
  'a loop that is left': async (stream) => {
    for await (const _ of stream) break;
  },
  'a loop': async (stream) => {
    try {
      for await (const _ of stream);
    } catch {
      // Only the loop is looked at.
    }
  },
  close: (stream) => stream.close(),
  'close while it is read': (stream) => {
    ask(stream);
    stream.close();
  },
  'its controller': (stream) => {
    ask(stream);
    stream.controller.abort();
  },
  'its controller with a reason': (stream) => {
    ask(stream);
    stream.controller.abort(new Error('mine'));
  },
  'the signal': (stream, abort) => {
    ask(stream);
    abort();
  },
  'the signal of a stream that nobody reads': (_, abort) => abort(),
  tee: (stream) => void stream.tee(),
  'one branch': (stream) => ask(stream.tee()[0]),
  'both branches': (stream) => stream.tee().forEach(ask),
  'a readable': (stream) => void stream.toReadableStream(),
  'a readable that is read': (stream) => readQuietly(stream.toReadableStream()),
  'a readable that is left': (stream) => stream.toReadableStream().cancel(),
  'a copy': (stream) => void Stream.fromReadableStream(stream.toReadableStream()),
  'a copy that is read': (stream) => ask(Stream.fromReadableStream(stream.toReadableStream())),
  'a copy with events': (stream) =>
    void ChatCompletionStream.fromReadableStream(stream.toReadableStream()),
};

type Helper = ChatCompletionStream<unknown> | ChatCompletionStream;
type Runner = ChatCompletionRunner<unknown> | ChatCompletionRunner;

/** What is done with a helper or a run, and never waited for. */
const runWays: Readonly<Record<string, Way<Runner>>> = {
  nothing: ignore,
  'every promise': (run) => {
    void run.done();
    void run.finalChatCompletion();
    void run.finalCompletion();
    void run.finalContent();
    void run.finalMessage();
    void run.finalFunctionToolCall();
    void run.finalFunctionToolCallResult();
    void run.totalUsage();
    void run.emitted('content');
    void run.emitted('error');
    void run.emitted('end');
  },
  listeners: (run) => run.on('error', ignore).on('abort', ignore).on('end', ignore),
  'a listener that throws': (run) =>
    run.on('connect', () => {
      throw new Error('mine');
    }),
  'events that nobody reads': (run) => void run.events('message'),
  'events that nobody waits for': (run) => ask(run.events('message')),
  'an abort at once': (run) => run.abort(),
  'an abort by the signal': (_, abort) => abort(),
  'an abort later': (run) => setImmediate(() => run.abort()),
  'an abort with the answer': (run) => run.on('connect', () => run.abort()),
};

/** What is done with a helper besides. */
const helperWays: Readonly<Record<string, Way<Helper>>> = {
  'a loop that nobody waits for': ask,
  'a readable': (run) => void run.toReadableStream(),
  'a readable that is read': (run) => readQuietly(run.toReadableStream()),
  'a readable that is left': (run) => run.toReadableStream().cancel(),
  'a copy': (run) => void ChatCompletionStream.fromReadableStream(run.toReadableStream()),
};

let count = 0;

/** Does one thing with what a call gives, with a signal of its own. */
async function attempt<Thing>(
  way: Way<Thing>,
  begin: (options: RequestOptions) => Thing | PromiseLike<Thing>,
): Promise<void> {
  count += 1;
  const controller = new AbortController();
  try {
    await way(await begin({ signal: controller.signal }), () => controller.abort());
  } catch {
    // The call itself was waited for, and has failed.
  }
}

const allRunWays = Object.values(runWays);
const attempts: (() => Promise<void>)[] = [];
for (const model of behaviourNames) {
  const chat = { model, messages };
  const { completions } = client.chat;
  for (const way of Object.values(streamWays)) {
    attempts.push(
      () => attempt(way, (options) => completions.create({ ...chat, stream: true }, options)),
      () =>
        attempt(way, (options) =>
          client.generate.contentStream({ model, contents: 'Hi' }, options),
        ),
    );
  }
  for (const way of [...allRunWays, ...Object.values(helperWays)]) {
    const tools = { ...chat, tools: [find], stream: true } as const;
    const parsed = { ...chat, response_format: format };
    attempts.push(
      () => attempt(way, (options) => completions.stream(chat, options)),
      () => attempt(way, (options) => completions.stream(parsed, options)),
      () =>
        attempt(way, (options) =>
          completions.runTools(tools, { ...options, maxChatCompletions: 2 }),
        ),
    );
  }
  for (const way of allRunWays) {
    const tools = { ...chat, tools: [find] };
    attempts.push(
      () =>
        attempt(way, (options) =>
          completions.runTools(tools, { ...options, maxChatCompletions: 2 }),
        ),
      () =>
        attempt(way, (options) =>
          completions.runTools(tools, { ...options, afterCompletion: failing }),
        ),
    );
  }
  const whole = { ...chat, response_format: format };
  attempts.push(
    () => attempt(ignore, (options) => completions.create(chat, options)),
    () =>
      attempt(ignore, (options) =>
        completions
          .create(chat, options)
          .asResponse()
          .then(({ body }) => body?.cancel()),
      ),
    () => attempt(ignore, (options) => completions.create(chat, options).withResponse()),
    () => attempt(ignore, (options) => completions.parse(whole, options)),
    () => attempt(ignore, (options) => client.generate.content({ model, contents: 'Hi' }, options)),
  );
}

// Some at a time: a machine has only so many ports.
const workers = Array.from({ length: 100 }, async () => {
  for (let next = attempts.shift(); next !== undefined; next = attempts.shift()) await next();
});
await Promise.all(workers);

// A stream that somebody has begun to read and holds no more is closed when it is collected.
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
setInterval(() => typeof collect === 'function' && collect(), 50).unref();
process.on('exit', () => console.log(`${count} failures`));
