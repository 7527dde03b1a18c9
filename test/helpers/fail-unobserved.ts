/** Options of a client with short limits of every kind. */
export const limits = {
  logLevel: 'off',
  maxRetries: 0,
  timeout: 400,
  firstByteTimeout: 200,
  idleTimeout: 200,
  chunkTimeout: 200,
  maxEventBytes: 8_000,
} as const;

/** A stream of the source or of the built package, whose classes are different types. */
interface AnyStream extends AsyncIterable<unknown> {
  readonly controller: AbortController;
  close(): void;
  tee(): [AnyStream, AnyStream];
  toReadableStream(): ReadableStream<Uint8Array>;
}

interface AnyRun {
  abort(): void;
  done(): Promise<unknown>;
  emitted(event: 'content' | 'error' | 'end'): Promise<unknown>;
  events(event: 'message'): AsyncIterable<unknown>;
  finalChatCompletion(): Promise<unknown>;
  finalCompletion(): Promise<unknown>;
  finalContent(): Promise<unknown>;
  finalFunctionToolCall(): Promise<unknown>;
  finalFunctionToolCallResult(): Promise<unknown>;
  finalMessage(): Promise<unknown>;
  on(event: 'connect' | 'error' | 'abort' | 'end', listener: () => void): AnyRun;
  totalUsage(): Promise<unknown>;
}

interface AnyHelper extends AnyRun, AsyncIterable<unknown> {
  toReadableStream(): ReadableStream<Uint8Array>;
}

interface AnyOptions {
  readonly signal: AbortSignal;
}

interface AnyRunOptions extends AnyOptions {
  readonly maxChatCompletions?: number;
  readonly afterCompletion?: () => never;
}

interface FromReadable {
  fromReadableStream(readable: ReadableStream<Uint8Array>): AsyncIterable<unknown>;
}

interface AnyAnswer extends PromiseLike<unknown> {
  asResponse(): Promise<Response>;
  withResponse(): Promise<unknown>;
}

interface AnyFormat {
  readonly type: 'json_schema';
  readonly json_schema: { readonly name: string };
}

interface AnyTool {
  readonly type: 'function';
  readonly function: { readonly name: string };
  $parseRaw(text: string): unknown;
}

interface AnyParams {
  readonly model: string;
  readonly messages: { readonly role: 'user'; readonly content: string }[];
}

/** Promises and streams of the package that can fail without a listener. */
export interface AnyPackage {
  readonly client: {
    readonly chat: {
      readonly completions: {
        create(params: AnyParams, options: AnyOptions): AnyAnswer;
        create(params: AnyParams & { stream: true }, options: AnyOptions): PromiseLike<AnyStream>;
        parse(
          params: AnyParams & { response_format: AnyFormat },
          options: AnyOptions,
        ): PromiseLike<unknown>;
        stream(params: AnyParams & { response_format?: AnyFormat }, options: AnyOptions): AnyHelper;
        runTools(params: AnyParams & { tools: AnyTool[] }, options: AnyRunOptions): AnyRun;
        runTools(
          params: AnyParams & { tools: AnyTool[]; stream: true },
          options: AnyRunOptions,
        ): AnyHelper;
      };
    };
    readonly generate: {
      content(
        params: { model: string; contents: string },
        options: AnyOptions,
      ): PromiseLike<unknown>;
      contentStream(
        params: { model: string; contents: string },
        options: AnyOptions,
      ): PromiseLike<AnyStream>;
    };
  };
  readonly Stream: FromReadable;
  readonly ChatCompletionStream: FromReadable;
  /** Called with partly read streams, which stay open until they are garbage collected. */
  readonly onLeft?: ((stream: { close(): void }) => void) | undefined;
  responseFormat(schema: object, name: string): AnyFormat;
  tool(definition: { name: string; execute: () => unknown }): AnyTool;
}

type Use<Thing> = (thing: Thing, abort: () => void) => unknown;

const ignore = (): void => undefined;
const failing = (): never => {
  throw new Error('mine');
};

/** Calls `next()` without awaiting the results. */
function iterate(iterable: AsyncIterable<unknown>): void {
  const iterator = iterable[Symbol.asyncIterator]();
  for (let times = 0; times < 4; times += 1) void iterator.next();
}

/** Reads a stream without awaiting the results, and ignores its errors. */
function readQuietly(readable: ReadableStream<Uint8Array>): void {
  const reader = readable.getReader();
  reader.closed.catch(ignore);
  for (let times = 0; times < 4; times += 1) reader.read().catch(ignore);
}

/** Uses of a stream without awaiting it. */
function streamUses({ Stream, ChatCompletionStream, onLeft }: AnyPackage): Use<AnyStream>[] {
  return Object.values({
    nothing: ignore,
    'a step': (stream) => {
      void stream[Symbol.asyncIterator]().next();
      onLeft?.(stream);
    },
    'steps that are not awaited': iterate,
    'a loop that is left': async (stream) => {
      for await (const _ of stream) break;
    },
    'a loop': async (stream) => {
      try {
        for await (const _ of stream);
      } catch {
        // Expected: streams fail in different ways.
      }
    },
    close: (stream) => stream.close(),
    'close while it is read': (stream) => {
      iterate(stream);
      stream.close();
    },
    'its controller': (stream) => {
      iterate(stream);
      stream.controller.abort();
    },
    'its controller with a reason': (stream) => {
      iterate(stream);
      stream.controller.abort(new Error('mine'));
    },
    'the signal': (stream, abort) => {
      iterate(stream);
      abort();
    },
    'the signal of an unread stream': (_, abort) => abort(),
    tee: (stream) => void stream.tee(),
    'one branch': (stream) => iterate(stream.tee()[0]),
    'both branches': (stream) => stream.tee().forEach(iterate),
    'a readable': (stream) => void stream.toReadableStream(),
    'a readable that is read': (stream) => readQuietly(stream.toReadableStream()),
    'a readable that is left': (stream) => stream.toReadableStream().cancel(),
    'a copy': (stream) => {
      void Stream.fromReadableStream(stream.toReadableStream());
      onLeft?.(stream);
    },
    'a copy that is read': (stream) =>
      iterate(Stream.fromReadableStream(stream.toReadableStream())),
    'a copy with events': (stream) =>
      void ChatCompletionStream.fromReadableStream(stream.toReadableStream()),
  } satisfies Record<string, Use<AnyStream>>);
}

/** Uses of `stream()` and `runTools()` without awaiting them. */
const runUses: readonly Use<AnyRun>[] = Object.values({
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
  'a listener that throws': (run) => run.on('connect', failing),
  'events that are not read': (run) => void run.events('message'),
  'events that are not awaited': (run) => iterate(run.events('message')),
  'an abort at once': (run) => run.abort(),
  'an abort by the signal': (_, abort) => abort(),
  'an abort later': (run) => void setTimeout(() => run.abort()),
  'an abort with the answer': (run) => run.on('connect', () => run.abort()),
} satisfies Record<string, Use<AnyRun>>);

/** Other uses of `stream()`, without awaiting it. */
function helperUses({ ChatCompletionStream }: AnyPackage): Use<AnyHelper>[] {
  return Object.values({
    'a loop that is not awaited': iterate,
    'a readable': (run) => void run.toReadableStream(),
    'a readable that is read': (run) => readQuietly(run.toReadableStream()),
    'a readable that is left': (run) => run.toReadableStream().cancel(),
    'a copy': (run) => void ChatCompletionStream.fromReadableStream(run.toReadableStream()),
  } satisfies Record<string, Use<AnyHelper>>);
}

/** Makes a call with its own signal, and uses its result. */
async function attempt<Thing>(
  use: Use<Thing>,
  begin: (options: AnyOptions) => Thing | PromiseLike<Thing>,
): Promise<void> {
  const controller = new AbortController();
  try {
    await use(await begin({ signal: controller.signal }), () => controller.abort());
  } catch {
    // Expected: the call itself may fail.
  }
}

function listAttempts(kit: AnyPackage, behaviours: readonly string[]): (() => Promise<void>)[] {
  const { completions } = kit.client.chat;
  const { generate } = kit.client;
  const tools = [kit.tool({ name: 'find', execute: () => ({ found: true }) })];
  const format = kit.responseFormat({ type: 'object', properties: {} }, 'thing');
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const attempts: (() => Promise<void>)[] = [];
  for (const model of behaviours) {
    const chat = { model, messages };
    const content = { model, contents: 'Hi' };
    for (const use of streamUses(kit)) {
      attempts.push(
        () => attempt(use, (options) => completions.create({ ...chat, stream: true }, options)),
        () => attempt(use, (options) => generate.contentStream(content, options)),
      );
    }
    for (const use of [...runUses, ...helperUses(kit)]) {
      const short = { maxChatCompletions: 2 };
      attempts.push(
        () => attempt(use, (options) => completions.stream(chat, options)),
        () =>
          attempt(use, (options) =>
            completions.stream({ ...chat, response_format: format }, options),
          ),
        () =>
          attempt(use, (options) =>
            completions.runTools({ ...chat, tools, stream: true }, { ...options, ...short }),
          ),
      );
    }
    for (const use of runUses) {
      for (const more of [{ maxChatCompletions: 2 }, { afterCompletion: failing }]) {
        attempts.push(() =>
          attempt(use, (options) =>
            completions.runTools({ ...chat, tools }, { ...options, ...more }),
          ),
        );
      }
    }
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
      () =>
        attempt(ignore, (options) =>
          completions.parse({ ...chat, response_format: format }, options),
        ),
      () => attempt(ignore, (options) => generate.content(content, options)),
    );
  }
  return attempts;
}

/**
 * Lets streams, `stream()` and `runTools()` fail in every way without a listener.
 *
 * @param behaviours - Behaviours of the server, which are names of models.
 * @returns the number of calls, once all have started
 */
export async function failUnobserved(
  kit: AnyPackage,
  behaviours: readonly string[],
): Promise<number> {
  const attempts = listAttempts(kit, behaviours);
  const count = attempts.length;
  // Limited, because a machine has a limited number of ports.
  const workers = Array.from({ length: 100 }, async () => {
    for (let next = attempts.shift(); next !== undefined; next = attempts.shift()) await next();
  });
  await Promise.all(workers);
  return count;
}
