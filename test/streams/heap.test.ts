import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { type ChatCompletionStream, Gateway, type Stream, tool } from '../../src/index.ts';
import { someOf, takesSome } from '../helpers/some-cases.ts';
import { chunk, encode } from '../helpers/sse.ts';

/**
 * The kinds other than chat share its code. 3,000 of each take 200 s of CPU, and 1,000 are enough: a stream that is
 * not collected takes 16 KB, of which 1,000 are four times the allowed growth, and the 200 of a sample twice.
 */
function countFor(kind: string): number {
  if (takesSome) return 200;
  return kind === 'chat' ? 3_000 : 1_000;
}
const concurrency = 50;

// Thousands of streams take long on a busy machine.
vi.setConfig({ testTimeout: 300_000 });
/** A stream that is never collected takes 16 KB or more; the heap itself varies by half a megabyte. */
const allowedGrowth = (takesSome ? 1.5 : 4) * 1024 * 1024;
const warmUp = takesSome ? 50 : 300;

type Rest = 'silent' | 'whole' | 'cut' | 'error';

const call = {
  tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } }],
};
const candidate = (finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, ...(finishReason && { finishReason }) }],
});
const image = (type: string) => ({ type, b64_json: 'aGk=' });

/** The first event of a stream and the rest of a complete one, by a word in the path or model. */
const kinds: Readonly<Record<string, readonly [first: string, rest: string]>> = {
  chat: [encode(chunk({ content: 'Hi' })), encode(chunk({}, 'stop'), '[DONE]')],
  tools: [encode(chunk(call)), encode(chunk({}, 'tool_calls'), '[DONE]')],
  generate: [encode(candidate()), encode(candidate('STOP'))],
  images: [
    encode(image('image_generation.partial_image')),
    encode(image('image_generation.completed'), '[DONE]'),
  ],
  raw: [encode({ text: 'Hi' }), encode({ text: 'there' }, '[DONE]')],
};

const failure = encode({ error: { message: 'overloaded' } });
const bytes = new TextEncoder();

/** A `fetch` whose events depend on the model, such as `chat-silent`. */
const fetch: typeof globalThis.fetch = async (input, init) => {
  const text = typeof init?.body === 'string' ? init.body : '';
  const url = input instanceof Request ? input.url : input.toString();
  const { model = /models\/([^:]+):/.exec(url)?.[1] } = Object(JSON.parse(text));
  const [kind = '', rest] = String(model).split('-');
  const isAnswered = text.includes('"role":"tool"');
  const [first, last] = kinds[isAnswered ? 'chat' : kind] ?? ['', ''];
  const isWhole = rest === 'whole' || (kind === 'tools' && !isAnswered);
  const signal = init?.signal;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const fail = (): void => controller.error(signal?.reason);
      signal?.addEventListener('abort', fail, { once: true });
      controller.enqueue(bytes.encode(first));
    },
    pull(controller) {
      if (isWhole) controller.enqueue(bytes.encode(last));
      else if (rest === 'error') controller.enqueue(bytes.encode(failure));
      else if (rest === 'cut') controller.error(new TypeError('terminated'));
      if (isWhole || rest === 'error') controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const client = new Gateway({
  baseURL: 'https://gateway.test',
  apiKey: 'sk-test',
  logLevel: 'off',
  maxRetries: 0,
  fetch,
});

interface Options {
  readonly signal?: AbortSignal;
  readonly idleTimeout?: number;
}

const messages = [{ role: 'user' as const, content: 'Hi' }];

/** Opens a stream of each kind. */
const open: Readonly<Record<string, (rest: Rest, options?: Options) => Promise<Stream<unknown>>>> =
  {
    chat: (rest, options) =>
      client.chat.completions.create({ model: `chat-${rest}`, messages, stream: true }, options),
    generate: (rest, options) =>
      client.generate.contentStream({ model: `generate-${rest}`, contents: 'Hi' }, options),
    images: (rest, options) =>
      client.images.generate({ model: `images-${rest}`, prompt: 'Hi', stream: true }, options),
    'raw routes': (rest, options) =>
      client.post('/v1/raw', { body: { model: `raw-${rest}` }, stream: true, ...options }),
  };

async function readOn(stream: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // Expected: many of them fail.
  }
}

async function readFirst(stream: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of stream) return true;
  return false;
}

type End = readonly [rest: Rest, end: (stream: Stream<unknown>, own: AbortController) => unknown];

/** Ways in which the consumer or the gateway ends a stream. */
const ends: Readonly<Record<string, End>> = {
  'read to its end': ['whole', readOn],
  'left by break': [
    'silent',
    async (stream) => {
      for await (const _ of stream) break;
    },
  ],
  'left by return in a function': ['silent', readFirst],
  'aborted by the caller': [
    'silent',
    (stream, own) => {
      const reading = readOn(stream);
      setImmediate(() => own.abort());
      return reading;
    },
  ],
  'aborted by its controller': [
    'silent',
    async (stream) => {
      for await (const _ of stream) stream.controller.abort();
    },
  ],
  closed: ['silent', (stream) => stream.close()],
  'dropped unread': ['silent', () => undefined],
  failed: ['error', readOn],
  cut: ['cut', readOn],
  'timed out': ['silent', readOn],
  'left by both branches of tee()': [
    'silent',
    (stream) => Promise.all(stream.tee().map(readFirst)),
  ],
  'closed in both branches of tee()': [
    'silent',
    (stream) => {
      for (const branch of stream.tee()) branch.close();
    },
  ],
  'read in one branch of tee(), closed in the other': [
    'whole',
    async (stream) => {
      const [left, right] = stream.tee();
      await readOn(left);
      right.close();
    },
  ],
  'cancelled as a readable stream': [
    'silent',
    async (stream) => {
      const reader = stream.toReadableStream().getReader();
      await reader.read();
      await reader.cancel();
    },
  ],
};

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/**
 * Returns the used heap after finalizers have run, which may take several collections.
 *
 * @param enough - A heap that needs no further collection.
 */
async function usedHeap(enough: number): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 6; turn += 1) {
    collectGarbage();
    // Finalizers run in a task, and what they close is freed after another one.
    await new Promise((resolve) => void setTimeout(resolve, 5));
    const { heapUsed } = process.memoryUsage();
    if (heapUsed < enough || (turn > 0 && heapUsed > least - 100_000)) break;
    least = Math.min(least, heapUsed);
  }
  return process.memoryUsage().heapUsed;
}

async function repeat(count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  const turn = async (): Promise<void> => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: concurrency }, turn));
}

/** Returns the growth of the heap while `work` runs `count` times. */
async function growth(count: number, work: () => Promise<unknown>): Promise<number> {
  await repeat(warmUp, work);
  const before = await usedHeap(0);
  await repeat(count, work);
  return (await usedHeap(before + allowedGrowth)) - before;
}

describe.each(Object.entries(open))('the heap does not grow with streams of %s', (kind, begin) => {
  // The other kinds share the code of chat.
  const cases = Object.entries(ends);
  test.each(kind === 'chat' ? cases : someOf(cases))('%s', async (name, [rest, end]) => {
    const grown = await growth(countFor(kind), async () => {
      const own = new AbortController();
      const options = name === 'timed out' ? { idleTimeout: 1 } : { signal: own.signal };
      await end(await begin(rest, options), own);
    });
    expect(grown).toBeLessThan(allowedGrowth);
  });
});

type Share = (stream: Stream<unknown>) => readonly AsyncIterable<unknown>[];

/** Streams that share the reading of another one. */
const shares: Readonly<Record<string, Share>> = {
  'tee()': (stream) => stream.tee(),
  'toReadableStream()': (stream) => [stream.toReadableStream()],
};

type SharedEnd = readonly [
  rest: Rest,
  end: (shared: readonly AsyncIterable<unknown>[], own: AbortController) => unknown,
];

const readAll = (shared: readonly AsyncIterable<unknown>[]) => Promise.all(shared.map(readOn));

/** Ways in which streams end that share a reading. The others are above. */
const sharedEnds: Readonly<Record<string, SharedEnd>> = {
  'aborted by the caller': [
    'silent',
    (shared, own) => {
      setImmediate(() => own.abort());
      return readAll(shared);
    },
  ],
  'aborted by their controller': ['silent', readAll],
  'dropped unread': ['silent', () => undefined],
  failed: ['error', readAll],
  cut: ['cut', readAll],
  'timed out': ['silent', readAll],
};

describe.each(Object.entries(shares))(
  'the heap does not grow with streams of %s',
  (kind, share) => {
    // Both share the code of a shared reading.
    const cases = Object.entries(sharedEnds);
    test.each(kind === 'tee()' ? cases : someOf(cases))('%s', async (name, [rest, end]) => {
      const grown = await growth(countFor(kind), async () => {
        const own = new AbortController();
        const options = name === 'timed out' ? { idleTimeout: 1 } : { signal: own.signal };
        const stream = await client.chat.completions.create(
          { model: `chat-${rest}`, messages, stream: true },
          options,
        );
        const shared = share(stream);
        if (name === 'aborted by their controller') setImmediate(() => stream.controller.abort());
        await end(shared, own);
      });
      expect(grown).toBeLessThan(allowedGrowth);
    });
  },
);

type Helper = ChatCompletionStream<unknown>;

const look = tool({ name: 'look', execute: () => 'seen' });

/** Starts a run of each kind. */
const start: Readonly<Record<string, (rest: Rest, options?: Options) => Helper>> = {
  'stream()': (rest, options) =>
    client.chat.completions.stream({ model: `chat-${rest}`, messages }, options),
  'runTools()': (rest, options) =>
    client.chat.completions.runTools(
      { model: `tools-${rest}`, messages, tools: [look], stream: true },
      options,
    ),
};

type RunEnd = readonly [rest: Rest, end: (run: Helper, own: AbortController) => unknown];

/** Waits for the end of a run, which may fail. */
const over = (run: Helper): Promise<unknown> => run.done().catch(() => undefined);

/** Ways in which the consumer or the gateway ends a run. */
const runEnds: Readonly<Record<string, RunEnd>> = {
  'read to their end': ['whole', readOn],
  'left by break': [
    'silent',
    async (run) => {
      for await (const _ of run) break;
      await over(run);
    },
  ],
  'left by return in a function': [
    'silent',
    async (run) => {
      await readFirst(run);
      await over(run);
    },
  ],
  'aborted by the caller': [
    'silent',
    async (run, own) => {
      run.on('content', () => own.abort());
      await over(run);
    },
  ],
  'aborted by their controller': [
    'silent',
    async (run) => {
      run.on('content', () => run.controller.abort());
      await over(run);
    },
  ],
  'aborted by abort()': [
    'silent',
    async (run) => {
      run.on('content', () => run.abort());
      await over(run);
    },
  ],
  failed: ['error', over],
  cut: ['cut', over],
  'timed out': ['silent', over],
  'cancelled as a readable stream': [
    'silent',
    async (run) => {
      const reader = run.toReadableStream().getReader();
      await reader.read();
      await reader.cancel();
      await over(run);
    },
  ],
};

describe.each(Object.entries(start))('the heap does not grow with runs of %s', (kind, begin) => {
  // Both share the code of a run.
  const cases = Object.entries(runEnds);
  test.each(kind === 'stream()' ? cases : someOf(cases))('%s', async (name, [rest, end]) => {
    const grown = await growth(countFor(kind), async () => {
      const own = new AbortController();
      const options = name === 'timed out' ? { idleTimeout: 1 } : { signal: own.signal };
      await end(begin(rest, options), own);
    });
    expect(grown).toBeLessThan(allowedGrowth);
  });
});
