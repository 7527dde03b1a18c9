// Every ending, under every policy, read in every way: all of them agree on what the stream was.
import { describe, expect, test } from 'vitest';
import {
  ChatCompletionStream,
  type ChatCompletionRunner,
  Gateway,
  type GatewayOptions,
  responseFormat,
  Stream,
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  tool,
} from '../../src/index.ts';
import { fakeWaitingTime, rejected, resolved } from '../helpers/fake-time.ts';
import { cutBytes, encode } from '../helpers/sse.ts';

fakeWaitingTime();

const text = '{"a":"Hello"}';
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const of = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const begun = encode(of({ role: 'assistant', content: '{"a":"Hel' }), of({ content: 'lo"}' }), {
  ...of({}),
  choices: [],
  usage,
});

/** The end of the body after its last event. */
type End = 'end' | 'break' | 'silence';

interface Ending {
  readonly name: string;
  readonly events: string;
  readonly end?: End;
  /** Verdicts that a policy may allow; all others throw in any case. */
  readonly verdict?: 'complete' | 'no_finish_reason' | 'no_terminator' | 'truncated';
  readonly error?: typeof StreamError | typeof StreamTimeoutError;
}

const failed = { error: { message: 'Overloaded', code: 'busy' } };
const endings: readonly Ending[] = [
  { name: 'whole', events: begun + encode(of({}, 'stop'), '[DONE]'), verdict: 'complete' },
  { name: 'no terminator', events: begun + encode(of({}, 'stop')), verdict: 'complete' },
  {
    name: 'a broken connection behind the finish reason',
    events: begun + encode(of({}, 'stop')),
    end: 'break',
    verdict: 'complete',
  },
  { name: 'no finish reason', events: `${begun}data: [DONE]\n\n`, verdict: 'no_finish_reason' },
  { name: 'neither', events: begun, verdict: 'no_terminator' },
  { name: 'a cut event', events: `${begun}data: {"choi`, verdict: 'truncated' },
  { name: 'a broken connection', events: begun, end: 'break', verdict: 'truncated' },
  { name: 'silence', events: begun, end: 'silence', error: StreamTimeoutError },
  { name: 'an error event', events: begun + encode(failed, '[DONE]'), error: StreamError },
  {
    name: 'an error behind the answer',
    events: begun + encode(of({}, 'stop'), failed),
    error: StreamError,
  },
  { name: 'a bare error', events: begun + JSON.stringify(failed), error: StreamError },
  { name: 'garbage', events: `${begun}data: {"choi\n\n`, error: StreamError },
];

function createBody({ events, end = 'end' }: Ending): ReadableStream<Uint8Array> {
  const pieces = cutBytes(events, 50);
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (end === 'end') controller.close();
      else if (end === 'break') controller.error(new TypeError('terminated'));
      else return new Promise(() => undefined);
      return undefined;
    },
  });
}

function clientFor(ending: Ending, options: GatewayOptions) {
  const warnings: unknown[] = [];
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    idleTimeout: 5_000,
    logLevel: 'warn',
    logger: {
      error: () => undefined,
      warn: (message: unknown) => warnings.push(message),
      info: () => undefined,
      debug: () => undefined,
    },
    fetch: async () => {
      const headers = { 'content-type': 'text/event-stream', 'x-oneapi-request-id': 'r-1' };
      return new Response(createBody(ending), { headers });
    },
    ...options,
  });
  return { client, warnings };
}

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const open = ({ chat }: Gateway) => chat.completions.create({ ...params, stream: true });
const helper = ({ chat }: Gateway) => chat.completions.stream(params);
const format = responseFormat({ type: 'object', properties: {} }, 'thing');
const parsing = ({ chat }: Gateway) =>
  chat.completions.stream({ ...params, response_format: format });
const tools = [
  tool({
    name: 'never',
    execute: () => {
      throw new Error('Nothing has called for this');
    },
  }),
];
const streamedRun = ({ chat }: Gateway) =>
  chat.completions.runTools({ ...params, tools, stream: true });

async function textIn(
  chunks: AsyncIterable<{ choices: { delta: { content?: string | null | undefined } }[] }>,
): Promise<string> {
  let found = '';
  for await (const { choices } of chunks) found += choices[0]?.delta.content ?? '';
  return found;
}

/** The text when `end` comes, or the error of `error`, as those see it who only listen. */
function listen(run: ChatCompletionRunner<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let found = '';
    run
      .on('content', (delta) => {
        found += delta;
      })
      .on('error', reject)
      .on('end', () => resolve(found));
  });
}

/** Each gives the text, or fails. */
const ways: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  'a loop': async (client) => textIn(await open(client)),
  'the left branch': async (client) => textIn((await open(client)).tee()[0]),
  'both branches': async (client) => {
    const [left, right] = await Promise.allSettled((await open(client)).tee().map(textIn));
    expect(left).toEqual(right);
    if (left?.status === 'rejected') throw left.reason;
    return left?.value;
  },
  'toReadableStream()': async (client) => {
    let lines = '';
    const decoder = new TextDecoder();
    for await (const bytes of (await open(client)).toReadableStream()) {
      lines += decoder.decode(bytes, { stream: true });
    }
    const chunks = lines
      .trim()
      .split('\n')
      .map((line): ReturnType<typeof of> => JSON.parse(line));
    return chunks.map(({ choices }) => Object(choices[0]?.delta)['content'] ?? '').join('');
  },
  'fromReadableStream()': async (client) =>
    textIn(Stream.fromReadableStream((await open(client)).toReadableStream())),
  'next() by hand': async (client) => {
    const iterator = (await open(client))[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 6 }, () => iterator.next()));
    return results.map(({ value }) => value?.choices[0]?.delta.content ?? '').join('');
  },
  'an answer that was not to be streamed': async ({ chat }) =>
    (await chat.completions.create(params)).choices[0]?.message.content,
  'parse()': async ({ chat }) =>
    (await chat.completions.parse({ ...params, response_format: format })).choices[0]?.message
      .content,
  'a loop over the helper': (client) => textIn(helper(client)),
  'events of the helper': (client) => listen(helper(client)),
  'done()': async (client) => {
    const stream = helper(client);
    await stream.done();
    return stream.currentChatCompletionSnapshot?.choices[0]?.message.content;
  },
  'finalContent()': (client) => helper(client).finalContent(),
  'finalMessage()': async (client) => (await helper(client).finalMessage()).content,
  'finalChatCompletion()': async (client) =>
    (await helper(client).finalChatCompletion()).choices[0]?.message.content,
  'totalUsage()': async (client) => {
    expect(await helper(client).totalUsage()).toEqual(usage);
    return text;
  },
  'emitted("end")': async (client) => {
    const stream = helper(client);
    await stream.emitted('finalChatCompletion');
    return stream.finalContent();
  },
  'the lines of the helper, read elsewhere': (client) =>
    ChatCompletionStream.fromReadableStream(helper(client).toReadableStream()).finalContent(),
  'partial objects': async (client) => {
    const partial: unknown[] = [];
    const stream = parsing(client).on('content.delta', ({ parsed }) => partial.push(parsed));
    const { parsed, content } = await stream.finalMessage();
    expect(partial.at(-1)).toEqual(parsed);
    return content;
  },
  'runTools()': (client) => client.chat.completions.runTools({ ...params, tools }).finalContent(),
  'runTools(), streamed': (client) => streamedRun(client).finalContent(),
  'events of runTools()': (client) => listen(streamedRun(client)),
};

/** Nothing else distinguishes a cut answer here from a whole one there. */
const readsWithoutPolicy = /elsewhere/;

describe.each(Object.keys(ways))('%s', (name) => {
  const read = ways[name];
  if (read === undefined) return;

  test.each(endings.filter(({ verdict }) => verdict === 'complete'))(
    'returns the text: $name',
    async (ending) => {
      const { client, warnings } = clientFor(ending, { onTruncated: 'throw' });

      expect(await resolved(read(client))).toBe(text);
      expect(warnings).toEqual([]);
    },
  );

  test.each(endings.filter(({ verdict }) => verdict !== undefined && verdict !== 'complete'))(
    'throws StreamTruncatedError, warns or allows: $name',
    async (ending) => {
      const strict = clientFor(ending, {});
      const error: unknown = await rejected(read(strict.client));

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(error).toMatchObject({
        verdict: ending.verdict,
        outcome: 'unknown',
        requestID: 'r-1',
        status: 200,
        callId: expect.any(String),
        usage,
        partial: { usage, choices: [{ message: { content: text } }] },
      });

      if (readsWithoutPolicy.test(name)) return;
      for (const onTruncated of ['warn', 'allow'] as const) {
        const { client, warnings } = clientFor(ending, { onTruncated });
        expect(await resolved(read(client))).toBe(text);
        expect(warnings).toHaveLength(onTruncated === 'warn' ? 1 : 0);
      }
    },
  );

  test.each(endings.filter(({ error }) => error !== undefined))(
    'throws with every onTruncated: $name',
    async (ending) => {
      for (const onTruncated of ['throw', 'warn', 'allow'] as const) {
        const { client } = clientFor(ending, { onTruncated });
        const error: unknown = await rejected(read(client));

        expect(error).toBeInstanceOf(ending.error);
        expect(error).not.toBeInstanceOf(StreamTruncatedError);
        expect(error).toMatchObject({
          outcome: 'unknown',
          requestID: 'r-1',
          status: 200,
          callId: expect.any(String),
          usage,
          partial: { usage, choices: [{ message: { content: text } }] },
        });
      }
    },
  );
});
