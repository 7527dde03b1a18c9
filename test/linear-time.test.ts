import { describe, expect, test } from 'vitest';
import type { ClientLimits } from '../src/options/options.ts';
import type { ChatCompletionChunkChoice } from '../src/resources/chat/types.ts';
import type { EventFormat } from '../src/streams/events.ts';
import { takesSome } from './helpers/some-cases.ts';
import { countSteps, stepsOf } from './helpers/steps.ts';

await countSteps();
const { parseEmbeddings } = await import('../src/resources/embeddings/schema.ts');
const { ChatRun } = await import('../src/resources/chat/runs/run.ts');
const { ResponseAccumulator } = await import('../src/resources/responses/accumulator.ts');
const { ToolCallAssembler } = await import('../src/resources/chat/tool-calls.ts');
const { Limits } = await import('../src/policies/limits/limits.ts');
const { jsonLines, serverEvents } = await import('../src/streams/events.ts');
const { locateJSON } = await import('../src/structured/locate-json.ts');
const { repairArguments } = await import('../src/resources/chat/call-repair.ts');
const { readErrorText } = await import('../src/answers/failure.ts');
const { ReceivedFile } = await import('../src/answers/received-file.ts');
const { readRetryAfter } = await import('../src/http/retry-after.ts');
const { findJSON, GrowingJSON, parsePartialJSON } = await import('../src/structured/json.ts');

/** Divides lengths and numbers: a quarter shows the same growth. */
const scale = takesSome ? 4 : 1;
/** Characters of a text that is scanned. */
const textLength = 2 ** 20 / scale;

/** A text that repeats a unit, cut into pieces. */
function splitEvenly(unit: string, length: number, size: number): string[] {
  const text = unit.repeat(length / unit.length);
  return Array.from({ length: text.length / size }, (_, at) =>
    text.slice(at * size, at * size + size),
  );
}

/** Feeds a format with a text in pieces of 64 characters. */
function feed(format: EventFormat, unit: string, length: number): void {
  const reader = format({ take: () => {}, takeStrayLine: () => {} });
  const encoder = new TextEncoder();
  for (const piece of splitEvenly(unit, length, 64)) reader.push(encoder.encode(piece));
  reader.end();
}

function parseGrowing(unit: string, length: number): void {
  const json = new GrowingJSON();
  let text = '';
  for (const piece of splitEvenly(unit, length, 256)) json.read((text += piece));
}

const scanners: readonly {
  readonly name: string;
  readonly scan: (unit: string, length: number) => void;
  readonly units: readonly string[];
}[] = [
  {
    name: 'the beginning of JSON',
    scan: (unit, length) => parsePartialJSON(`["${unit.repeat(length / unit.length)}`),
    units: ['[', '{"a":', '"', '\\', '\\"', '"\\\\', 'a ', '1,', '["\\', '\n', '```'],
  },
  {
    name: 'JSON between prose',
    scan: (unit, length) => findJSON(unit.repeat(length / unit.length)),
    units: [
      '{"a":',
      '[',
      '{',
      '{ ',
      '{"',
      '[1,',
      '{"a":1',
      '[{"a":"\\',
      ']}',
      '{"a":1]',
      '[]',
      ' ',
    ],
  },
  {
    name: 'JSON of a response',
    scan: (unit, length) => locateJSON(unit.repeat(length / unit.length), 'object'),
    units: ['`', '```json\n', '<think>', '</think>', '</th', '</think>{', '\uFEFF', '"', 'a`'],
  },
  {
    name: 'arguments of calls',
    scan: (unit, length) => repairArguments(unit.repeat(length / unit.length)),
    units: ['{', '}', '{}', '{{', '"', '\\"', '{"', '{"a":1}', '{"a":"}', '{"a":{}}', ' ', '{ '],
  },
  {
    name: 'arguments that repeat a call',
    scan: (unit, length) => repairArguments(`{"a":1}${unit.repeat(length / unit.length)}`, unit),
    units: ['{"a":1}', '{"a":2}', '{"a":1} ', '{"a":[1]}', '{"a":"\\""}'],
  },
  {
    name: 'waits in the message of an error',
    scan: (unit, length) => readWait({ error: { message: unit.repeat(length / unit.length) } }),
    units: [
      'retry in ',
      'try again in 1',
      'retry after 1.5 s ',
      'retryDelay',
      '1s ',
      '9',
      ' ',
      'a',
    ],
  },
  {
    name: "waits in the provider's error",
    scan: (unit, length) =>
      readWait({ error: { metadata: { raw: unit.repeat(length / unit.length) } } }),
    units: ['{"error":', '[', '[{"retryDelay":"1s"},', 'try again in 1s', '{"details":['],
  },
  {
    name: 'waits in many errors',
    scan: (unit, length) => readWait({ error: { details: listOf(unit, length) } }),
    units: ['1s', 'try again in 1', 'retry after '],
  },
  {
    name: 'dictionaries in messages',
    scan: (unit, length) =>
      readErrorText(
        JSON.stringify({ error: { message: `400: {${unit.repeat(length / unit.length)}` } }),
      ),
    units: ["'", "''", "'a': ", '"', '\\', "'\\", "\\'", '"\\"', '{', 'None', '('],
  },
  {
    name: 'events',
    scan: (unit, length) => feed(serverEvents, unit, length),
    units: ['a', '\n', '\r', 'data:', ':', '\r\n'],
  },
  {
    name: 'received files',
    scan(unit, length) {
      for (const head of ['\xff\xd8\xff\xda\0\x02', 'GIF89a\0\0\0\0\0\0\0']) {
        const file = new ReceivedFile(true);
        file.add(Buffer.from(head, 'latin1'));
        for (const piece of splitEvenly(unit, length, 64)) file.add(Buffer.from(piece, 'latin1'));
        file.end();
      }
    },
    units: ['\xff', '\xff\0', '{"', '{ "a":', 'TAG', '{"error":1}', '\x21\0\x01\0', ' '],
  },
  {
    name: 'lines',
    scan: (unit, length) => feed(jsonLines, unit, length),
    units: ['a', '\n', '\r'],
  },
  {
    name: 'vectors',
    scan: (unit, length) => quietly(() => parseEmbeddings(unit.repeat(length / unit.length))),
    units: ['"embedding"', '"embedding":"', '"embedding" ', '"', '\\'],
  },
];

/** Reads how long the body of a 429 asks to wait. */
function readWait(body: object): void {
  readRetryAfter(undefined, 429, readErrorText(JSON.stringify(body)));
}

/** Returns errors whose messages have `length` characters together. */
function listOf(unit: string, length: number): object[] {
  const message = unit.repeat(64);
  return Array.from({ length: length / message.length }, () => ({ message, retryDelay: unit }));
}

function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // It need not be JSON.
  }
}

describe.each(scanners)('twice the text is twice the work: $name', ({ scan, units }) => {
  test.each(units)('twice the text of %j is twice the work', async (unit) => {
    const half = await stepsOf(() => scan(unit, textLength / 2));
    const whole = await stepsOf(() => scan(unit, textLength));

    expect(whole).toBeLessThan(half * 2.1 + 100);
    expect(whole).toBeGreaterThan(0);
  });
});

test('growing JSON is parsed again only after it has grown by a fraction', async () => {
  const once = await stepsOf(() => parsePartialJSON('[1,'.repeat(textLength / 48)));
  const growing = await stepsOf(() => parseGrowing('[1,', textLength / 16));

  expect(growing).toBeLessThan(once * 34);
});

const calling = (text: string) => ({ function: { name: 'f', arguments: text } });

describe('twice as many tool calls are twice the work', () => {
  test.each<[string, (position: number, count: number) => object]>([
    ['without an index, with ids', (position) => ({ id: `c${position}`, ...calling('{}') })],
    ['without an index and an id', () => calling('{}')],
    ['with indexes', (index) => ({ index, id: `c${index}`, ...calling('{}') })],
    ['with one index for all', (position) => ({ index: 0, id: `c${position}`, ...calling('{}') })],
    [
      'with indexes that fall',
      (position, count) => ({ index: count - position, ...calling('{}') }),
    ],
    ['one that never ends', () => calling('[1,')],
    ['one text that never ends', (position) => calling(position > 0 ? 'a' : '"')],
    ['one after a bracket, that never ends', (at) => calling(at > 0 ? '1,' : '{{"a":[')],
    ['one that ends badly', (position) => calling(position > 0 ? ' ' : `[${'1,'.repeat(9_999)}]`)],
  ])('%s', async (_, make) => {
    const add = (count: number) => () => {
      const assembler = new ToolCallAssembler();
      for (let position = 0; position < count; position += 1) {
        const piece = Object.assign({ index: Number.NaN }, make(position, count));
        if (Number.isNaN(piece.index)) Reflect.deleteProperty(piece, 'index');
        assembler.add([piece]);
        assembler.end(true);
      }
    };

    const half = await stepsOf(add(15_000 / scale));
    const whole = await stepsOf(add(30_000 / scale));

    expect(whole).toBeLessThan(half * 2.3);
  });
});

const textDelta = { type: 'response.output_text.delta', sequence_number: 0, delta: 'a' } as const;

describe('twice as many events of a response are twice the work', () => {
  test.each<[string, (position: number, count: number) => object]>([
    ['of one text', () => ({ item_id: 'm', output_index: 0, content_index: 0 })],
    ['without ids and indexes', () => ({})],
    ['with an id each', (position) => ({ item_id: `m${position}`, output_index: 0 })],
    ['with an item each', (position) => ({ item_id: `m${position}`, output_index: position })],
    ['with indexes that fall', (position, count) => ({ output_index: count - position })],
    ['with a part each', (position) => ({ output_index: 0, content_index: position })],
    ['with parts that fall', (at, count) => ({ output_index: 0, content_index: count - at })],
    [
      'with annotations',
      () => ({ type: 'response.output_text.annotation.added', annotation: { type: 'x' } }),
    ],
  ])('%s', async (_, make) => {
    const add = (count: number) => () => {
      const progress = new ResponseAccumulator(true);
      for (let position = 0; position < count; position += 1) {
        const base = { item_id: '', output_index: Number.NaN, content_index: Number.NaN };
        progress.add({ ...textDelta, ...base, ...make(position, count) });
      }
      expect(progress.partial?.output_text.length).toBeGreaterThanOrEqual(0);
    };

    const half = await stepsOf(add(10_000 / scale));
    const whole = await stepsOf(add(20_000 / scale));

    expect(whole).toBeLessThan(half * 2.3);
  });
});

const emptyChoice = (index: number): ChatCompletionChunkChoice => ({
  index,
  delta: {},
  finish_reason: null,
});

const endedCalls = (...indexes: number[]): ChatCompletionChunkChoice => ({
  index: 0,
  delta: {
    tool_calls: indexes.map((index) => ({ index, id: `c${index}`, ...calling('x') })),
  },
  finish_reason: 'tool_calls',
});

/** Reads a stream of these choices, and gives the indexes of the tool calls in order of their end. */
async function derive(chunks: ChatCompletionChunkChoice[][]): Promise<number[]> {
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const ended: number[] = [];
  const run = new ChatRun<unknown>([]);
  run.on('tool_calls.function.arguments.done', ({ index }) => ended.push(index));
  await run.read(
    Promise.resolve({
      verdict: undefined,
      async *[Symbol.asyncIterator]() {
        for (const choices of chunks) yield { ...head, choices };
      },
    }),
  );
  return ended;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test.each<[string, (count: number) => ChatCompletionChunkChoice[][]]>([
  ['choices in one chunk', (count) => [upTo(count).map(emptyChoice)]],
  ['choices whose indexes fall', (count) => [upTo(count).toReversed().map(emptyChoice)]],
  ['tool calls that each end the answer', (count) => upTo(count).map((at) => [endedCalls(at)])],
])('the events of twice as many %s are twice the work', async (_, make) => {
  const half = await stepsOf(() => derive(make(3_000 / scale)));
  const whole = await stepsOf(() => derive(make(6_000 / scale)));

  expect(whole).toBeLessThan(half * 2.3);
  // A step of each piece may itself be long, so their number is limited too.
  expect(whole).toBeLessThan((6_000 / scale) * 250);
});

test('reports the end of each tool call once, by index', async () => {
  const ended = await derive([[endedCalls(3, 1)], [endedCalls(1, 2, 0)], [endedCalls()]]);

  expect(ended).toEqual([1, 3, 0, 2]);
});

const never = new AbortController().signal;

/** Starts requests to two models at once, of which one is limited. */
async function startTogether(count: number): Promise<void> {
  const limits = new Limits({ models: { a: { concurrency: 1 } } });
  const turns = upTo(count).map((index) => limits.enter(index % 10 > 0 ? 'a' : 'b', 1, never));
  for (const entered of turns) {
    const turn = await entered;
    limits.sent(turn);
    limits.end(turn);
  }
}

describe('twice as many requests within limits are twice the work', () => {
  test.each<[string, ClientLimits]>([
    ['per minute', { requestsPerMinute: 1_000_000, models: { a: { tokensPerMinute: 1_000_000 } } }],
    ['at the same time', { concurrency: 3, models: { a: { concurrency: 2 } } }],
    ['of another model', { models: { b: { requestsPerMinute: 10 } } }],
  ])('%s', async (_, options) => {
    const start = (count: number) => async () => {
      const limits = new Limits(options);
      for (let index = 0; index < count; index += 1) {
        const turn = await limits.enter('a', 1, never);
        limits.sent(turn);
        limits.correct(turn, 2);
        limits.end(turn);
      }
    };

    const half = await stepsOf(start(1_500 / scale));
    const whole = await stepsOf(start(3_000 / scale));

    expect(whole).toBeLessThan(half * 2.3);
  });

  test('twice as many requests that wait behind those of other models are twice the work', async () => {
    const half = await stepsOf(() => startTogether(1_500 / scale));
    const whole = await stepsOf(() => startTogether(3_000 / scale));

    expect(whole).toBeLessThan(half * 2.3);
  });
});
