import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  GatewayError,
  StreamError,
  type Gateway,
  type GatewayOptions,
  Stream,
} from '../../src/index.ts';
import { recordings, streamOf } from './recordings.ts';
import { streams as ownStreams, type SentStream } from './streams.ts';
import {
  clientFor,
  expectGolden,
  inFakedTime,
  inWords,
  plain,
  sectionsOf,
  toJSON,
  withAdvice,
  withoutAdvice,
} from './support.ts';

const recorded = recordings.map(streamOf).filter((sent) => sent !== undefined);
const streams: readonly SentStream[] = [...ownStreams, ...recorded];

const messages = [{ role: 'user' as const, content: 'Hi' }];
const chat = { model: 'm', messages };
const prompt = { model: 'm', prompt: 'A boat' };

const openers: Readonly<
  Record<SentStream['kind'], (client: Gateway) => PromiseLike<Stream<unknown>>>
> = {
  chat: (client) => client.chat.completions.create({ ...chat, stream: true }),
  generate: (client) => client.generate.contentStream({ model: 'm', contents: 'Hi' }),
  images: (client) => client.images.generate({ ...prompt, stream: true }),
  speech: (client) =>
    client.audio.speech.create({ model: 'm', input: 'Hi', voice: 'alloy', stream_format: 'sse' }),
};

/** A response body, in chunks of `size` bytes. */
function createBody({ text, end }: SentStream, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let start = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (start < bytes.length) {
        controller.enqueue(bytes.slice(start, start + size));
        start += size;
      } else if (end === 'break') controller.error(new TypeError('terminated'));
      else if (end === 'silence') return new Promise<never>(() => {});
      else controller.close();
      return undefined;
    },
  });
}

function createClient(sent: SentStream, size: number, options: GatewayOptions = {}): Gateway {
  const headers = {
    'x-oneapi-request-id': 'r-1',
    'content-type': sent.type ?? 'text/event-stream',
  };
  if (headers['content-type'] === '') Reflect.deleteProperty(headers, 'content-type');
  const answer = () => new Response(createBody(sent, size), { headers });
  return clientFor(answer, { idleTimeout: 1_000, firstByteTimeout: 1_000, ...options }).client;
}

/** The error of a stream, the gateway's message and the partial response. */
function describeFailure(error: unknown) {
  const said = GatewayError.isInstance(error) ? withoutAdvice(error) : '';
  const { code, type, requestID } = Object(error);
  const id = requestID === 'r-1' ? undefined : (requestID ?? null);
  return { words: inWords(error), said, fields: plain({ code, type, requestID: id }) };
}

/** Everything that a loop receives from a stream. */
async function readByLoop(sent: SentStream, size: number, options: GatewayOptions = {}) {
  const items: unknown[] = [];
  let stream: Stream<unknown> | undefined;
  try {
    stream = await openers[sent.kind](createClient(sent, size, options));
    for await (const item of stream) items.push(plain(item));
    return { items, stream: describeStream(stream), failure: undefined, carried: undefined };
  } catch (error) {
    const carried = StreamError.isInstance(error) ? plain(error.partial) : undefined;
    return { items, stream: describeStream(stream), failure: describeFailure(error), carried };
  }
}

const describeStream = (stream: Stream<unknown> | undefined) =>
  plain(stream && { verdict: stream.verdict, partial: stream.partial, usage: stream.usage });

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** JSON of the read events, without the fields of every chunk. */
const shortly = (value: unknown): string =>
  toJSON(value)
    .replace('"created":1,"id":"c","model":"m","object":"chat.completion.chunk"', '(chunk)')
    .replace('"created":1,"id":"c","model":"m","object":"chat.completion"', '(completion)');

/** The numbers of the events that are yielded unchanged, and JSON of the others. */
function itemsInWords(items: readonly unknown[], { text }: SentStream): string {
  const events = text
    .replace('\uFEFF', '')
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) => parsed(event.replaceAll(/^(?!data:).*$|^data: ?/gm, '')))
    .filter((event) => event !== undefined);
  const places = items.map((item) => events.findIndex((event) => isDeepStrictEqual(event, item)));
  if (items.length === events.length && places.every((place) => place >= 0)) return 'as sent';
  return items
    .map((item, at) => ((places[at] ?? -1) < 0 ? shortly(item) : `event ${(places[at] ?? 0) + 1}`))
    .join(', ');
}

type Ways = Readonly<Record<string, (client: Gateway) => PromiseLike<unknown>>>;

/** Ways to read a streamable response as a whole. */
const wholeWays: Readonly<Record<SentStream['kind'], Ways>> = {
  chat: {
    'create()': (client) => client.chat.completions.create(chat),
    'stream()': (client) => client.chat.completions.stream(chat).finalChatCompletion(),
  },
  generate: { 'content()': (client) => client.generate.content({ model: 'm', contents: 'Hi' }) },
  images: {},
  speech: {},
};

/** Results of reading without a loop, where they differ. */
async function otherwise(sent: SentStream, whole: string, failure: string): Promise<string[]> {
  const lines = Object.entries(wholeWays[sent.kind]).map(async ([name, call]) => {
    const words = await Promise.resolve(call(createClient(sent, 65_536))).then(
      // stream() adds `parsed`, which is null here.
      (value) => shortly(value).replaceAll(',"parsed":null', ''),
      inWords,
    );
    return words === whole || words === failure ? [] : [`${name}: ${words}`];
  });
  return (await Promise.all(lines)).flat();
}

/** True if the caller's policy allows the failure. */
async function isTolerable(sent: SentStream, failure: unknown): Promise<boolean> {
  if (failure === undefined) return false;
  const allowing = await readByLoop(sent, 65_536, { onTruncated: 'allow' });
  return allowing.failure === undefined;
}

async function describeLines(sent: SentStream): Promise<readonly [name: string, lines: string]> {
  const { items, stream, failure, carried } = await readByLoop(sent, 65_536);
  const { verdict, partial, usage } = Object(stream);
  const { usage: ofChat, usageMetadata: ofGeneration = ofChat } = Object(partial);
  const whole = shortly(partial);
  const lines = [
    failure === undefined ? `${verdict}` : `${verdict ?? 'not opened'}: ${failure.words}`,
    ...(failure === undefined ? [] : [`said: ${failure.said} ${toJSON(failure.fields)}`]),
    ...(items.length === 0 ? [] : [`items: ${itemsInWords(items, sent)}`]),
    ...(partial === undefined ? [] : [`whole: ${whole}`]),
    ...(isDeepStrictEqual(usage, ofGeneration) ? [] : [`usage: ${toJSON(usage)}`]),
    ...(failure === undefined || shortly(carried) === whole
      ? []
      : [`carried: ${shortly(carried)}`]),
    ...((await isTolerable(sent, failure)) ? ['complete when that is allowed'] : []),
    ...(await otherwise(sent, whole, failure?.words ?? '')),
  ];
  return [`${sent.kind}: ${sent.name}`, lines.map((line) => `  ${line}\n`).join('')];
}

test('every stream', async () => {
  const sections = await inFakedTime(streams.map((sent) => () => describeLines(sent)));

  const about = `
    What a loop learns of a stream: how it ended, what it gave (an event as it was sent, or what was made of
    it), the whole that its pieces add up to, and the last usage if it is not the one of the whole. Below,
    what create() without "stream" and the helper give where that is something else. "(chunk)" stands for id, model, object and created.
  `;
  await expectGolden('streams.txt', about, withAdvice(sectionsOf(sections)));
});

test.each([1, 7])('streams are read the same %i bytes at a time', async (size) => {
  const inPieces = await inFakedTime(streams.map((sent) => () => readByLoop(sent, size)));
  const inOne = await inFakedTime(streams.map((sent) => () => readByLoop(sent, 65_536)));

  expect(inPieces).toEqual(inOne);
});

/** Reads a stream that was forwarded to another program as lines. */
async function readElsewhere(sent: SentStream) {
  const items: unknown[] = [];
  try {
    const stream = await openers[sent.kind](createClient(sent, 65_536));
    for await (const item of Stream.fromReadableStream(stream.toReadableStream())) {
      items.push(plain(item));
    }
    return { items, failure: undefined };
  } catch (error) {
    return { items, failure: describeFailure(error) };
  }
}

test('streams are read the same when they are sent on and read elsewhere', async () => {
  const here = await inFakedTime(streams.map((sent) => () => readByLoop(sent, 65_536)));
  const elsewhere = await inFakedTime(streams.map((sent) => () => readElsewhere(sent)));

  expect(elsewhere).toEqual(here.map(({ items, failure }) => ({ items, failure })));
});
