import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StreamError, StreamTruncatedError } from '../../../src/index.ts';
import { collectStream, streamFromValues } from '../../../src/streams/open-stream.ts';
import { generateProtocol } from '../../../src/resources/generate/accumulator.ts';
import type { Part } from '../../../src/resources/generate/types.ts';
import { scripted } from '../../helpers/clients.ts';
import {
  createStream,
  cutBytes,
  encode,
  readStream,
  respond,
  watchedContext,
} from '../../helpers/sse.ts';

function open(text: string, size = 65_536) {
  const watched = watchedContext();
  return createStream(respond(cutBytes(text, size)), watched.context, generateProtocol);
}

/** A piece of a generation with one candidate. */
function piece(parts: readonly object[], finishReason?: string, more: object = {}) {
  return { candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }], ...more };
}

/** The sum of pieces with these parts. */
async function addParts(...pieces: readonly (readonly object[])[]): Promise<Part[] | undefined> {
  const text = encode(...pieces.map((parts) => piece(parts)), piece([{ text: '' }], 'STOP'));
  const { partial, error } = await readStream(open(text));
  expect(error).toBeUndefined();
  return partial?.candidates?.[0]?.content?.parts;
}

const counts = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 };
const answer = encode(
  piece([{ text: 'Grü' }], undefined, { usageMetadata: { trafficType: 'ON_DEMAND' } }),
  piece([{ text: 'ße 🌍' }]),
  piece([{ text: '' }], 'STOP', { usageMetadata: counts, modelVersion: 'm-1' }),
);

/** A citation of the text that begins here. */
const cite = (startIndex: number, uri = `https://a.test/${startIndex}`) => ({
  startIndex,
  endIndex: startIndex + 9,
  uri,
});

/** The sum of pieces with this citation metadata. */
async function addCitations(...metadata: readonly unknown[]): Promise<unknown> {
  const pieces = metadata.map((citationMetadata) => ({
    candidates: [{ content: { parts: [{ text: 'a' }] }, citationMetadata, index: 0 }],
  }));
  const text = encode(...pieces, piece([{ text: '' }], 'STOP'));
  const { partial, error } = await readStream(open(text));
  expect(error).toBeUndefined();
  return partial?.candidates?.[0]?.citationMetadata;
}

/** A whole candidate with one citation. */
const cited = (index: number) => ({
  index,
  content: { parts: [{ text: 'a' }] },
  finishReason: 'STOP',
  citationMetadata: { citationSources: [cite(index)] },
});

describe('citations', () => {
  test.each(['citationSources', 'citations'])(
    'citations of all chunks are kept (%s)',
    async (name) => {
      const all = Array.from({ length: 10 }, (_, index) => cite(index));
      await expect(addCitations(...all.map((one) => ({ [name]: [one] })))).resolves.toEqual({
        [name]: all,
      });
    },
  );

  test('repeated citations are kept once', async () => {
    const found = await addCitations(
      { citationSources: [cite(0)] },
      { citationSources: [cite(0), cite(1)] },
      undefined,
      null,
      { citationSources: [cite(0), cite(1), cite(2)], note: 'last' },
    );
    expect(found).toEqual({ citationSources: [cite(0), cite(1), cite(2)], note: 'last' });
  });

  test('citations stay with their candidate', async () => {
    const { partial } = await readStream(open(encode({ candidates: [cited(0), cited(1)] })));
    expect(partial?.candidates?.map(({ citationMetadata }) => citationMetadata)).toEqual([
      { citationSources: [cite(0)] },
      { citationSources: [cite(1)] },
    ]);
  });

  test('citations of a yielded chunk stay its own', async () => {
    const text = encode(
      {
        candidates: [{ content: { parts: [{ text: 'a' }] }, citationMetadata: { citations: [1] } }],
      },
      { candidates: [{ finishReason: 'STOP', citationMetadata: { citations: [2] } }] },
    );
    const { items } = await readStream(open(text));
    expect(items.map(({ candidates }) => candidates?.[0]?.citationMetadata)).toEqual([
      { citations: [1] },
      { citations: [2] },
    ]);
  });
});

describe('a streamed generation', () => {
  test.each([1, 2, 7, 4096])(
    'a streamed generation ends with its connection, in chunks of %d bytes',
    async (size) => {
      const result = await readStream(open(answer, size));

      expect(result.error).toBeUndefined();
      expect(result.verdict).toBe('complete');
      expect(result.items.map(({ text }) => text)).toEqual(['Grü', 'ße 🌍', '']);
      expect(result.partial?.text).toBe('Grüße 🌍');
      expect(result.usage).toEqual({ ...counts, trafficType: 'ON_DEMAND' });
    },
  );

  test.each([
    ['CRLF', answer.replaceAll('\n', '\r\n')],
    ['a terminator', `${answer}data: [DONE]\n\n`],
    ['snake case', answer.replaceAll('finishReason', 'finish_reason')],
    ['heartbeats', `: PING\n\n${answer}`],
    ['no blank line at the end', answer.trimEnd()],
    ['a list in one event', `data: [${answer.match(/\{.*\}/g)?.join(',') ?? ''}]\n\n`],
    ['a list in place of events', `[${answer.match(/\{.*\}/g)?.join(',\n') ?? ''}]`],
    ['the answer in place of events', JSON.stringify(piece([{ text: 'Grüße 🌍' }], 'STOP'))],
  ])('a streamed generation is complete with %s', async (_, text) => {
    for (const size of [3, 65_536]) {
      const result = await readStream(open(text, size));

      expect(result.error).toBeUndefined();
      expect(result.verdict).toBe('complete');
      expect(result.items.map((item) => item.text ?? '').join('')).toBe('Grüße 🌍');
    }
  });

  test('truncated anywhere throws or returns the whole text', async () => {
    const bytes = new TextEncoder().encode(answer);
    const end = bytes.length - '\n\n'.length;

    for (let length = 0; length < bytes.length; length++) {
      const stream = createStream(
        respond([bytes.slice(0, length)]),
        watchedContext().context,
        generateProtocol,
      );
      const { error, partial, verdict } = await readStream(stream);

      if (length < end) expect(error, `cut at ${length}`).toBeInstanceOf(StreamTruncatedError);
      else expect(partial?.text).toBe('Grüße 🌍');
      expect(verdict === 'complete').toBe(length >= end);
    }
  });

  test('a streamed generation is complete when the prompt was blocked', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: counts };

    const { items, verdict, error } = await readStream(open(encode(blocked)));

    expect(error).toBeUndefined();
    expect(verdict).toBe('complete');
    expect(items[0]?.blockReason).toBe('SAFETY');
  });

  test.each([
    ['a null reason', encode(piece([{ text: 'a' }]), { candidates: [{ finishReason: null }] })],
    ['only usage', encode({ usageMetadata: counts })],
    ['nothing', ''],
    ['a reason for one of two candidates', encode({ candidates: [{ finishReason: 'STOP' }, {}] })],
  ])('a streamed generation throws with %s', async (_, text) => {
    expect((await readStream(open(text))).error).toBeInstanceOf(StreamTruncatedError);
  });

  test.each([
    ['in an event', encode({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } })],
    ['in a list', encode([{ error: { code: 503, message: 'Overloaded' } }])],
    ['behind the answer', `${answer}{"error":{"message":"Overloaded","code":503}}`],
    ['in a list behind pieces', encode([piece([{ text: 'a' }]), { error: 'Overloaded' }])],
    ['in the form of this gateway', encode({ error: { message: 'Overloaded', type: 'x' } })],
  ])('an error is thrown %s', async (_, text) => {
    const { error } = await readStream(open(text));

    expect(error).toBeInstanceOf(StreamError);
    expect(String(error)).toContain('Overloaded');
  });

  test('a streamed generation yields a whole JSON response as one chunk', async () => {
    const values = generateProtocol.fromResponse(piece([{ text: 'Hi' }], 'STOP'));
    const stream = streamFromValues(values, watchedContext().context, generateProtocol);

    const { items, verdict } = await readStream(stream);

    expect(items.map(({ text }) => text)).toEqual(['Hi']);
    expect(verdict).toBe('complete');
    expect(generateProtocol.fromResponse({ ok: true })).toEqual([]);
  });
});

/** A piece of text in the arguments of a function. */
const text = (jsonPath: string, stringValue: string, willContinue?: boolean) => ({
  jsonPath,
  stringValue,
  willContinue,
});

/** The next pieces of a function call. */
const more = (...partialArgs: readonly object[]) => [
  { functionCall: { partialArgs, willContinue: true } },
];

test('assembles an event stream in place of a JSON response', async () => {
  const whole = await collectStream(respond(answer), watchedContext().context, generateProtocol);

  expect(whole.text).toBe('Grüße 🌍');
  expect(whole.usageMetadata).toMatchObject(counts);
  await expect(
    collectStream(
      respond(encode(piece([{ text: 'a' }]))),
      watchedContext().context,
      generateProtocol,
    ),
  ).rejects.toBeInstanceOf(StreamTruncatedError);
});

/** A generation that runs code: the candidate goes on after its first finish reason. */
const ranCode: readonly object[] = [
  piece([{ text: 'Let me compute. ' }]),
  piece([{ executableCode: { language: 'PYTHON', code: 'print(6*7)' } }], 'STOP'),
  piece([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } }]),
  piece([{ text: 'It is 42.' }], 'STOP'),
  piece([{ text: '' }], undefined, { usageMetadata: counts }),
];

/** A piece of one of several candidates. */
const pieceFor = (index: number, said: string, finishReason?: string) => ({
  candidates: [{ index, content: { parts: [{ text: said }] }, finishReason }],
});

describe('a candidate that continues after a finish reason', () => {
  test('a candidate that continues after a finish reason is complete with the last finish reason', async () => {
    const { verdict, partial, error } = await readStream(open(encode(...ranCode)));

    expect(error).toBeUndefined();
    expect(verdict).toBe('complete');
    expect(partial?.text).toBe('Let me compute. It is 42.');
    expect(partial?.candidates?.[0]?.finishReason).toBe('STOP');
  });

  test('a candidate that continues after a finish reason is truncated if it is cut after more content', async () => {
    const { verdict, partial, error } = await readStream(open(encode(...ranCode.slice(0, 3))));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(verdict).toBe('no_terminator');
    expect(partial?.candidates?.[0]).not.toHaveProperty('finishReason');
  });

  test.each<[name: string, after: object]>([
    ['usage', { usageMetadata: counts }],
    ['empty text', piece([{ text: '' }])],
    ['empty text of a thought', piece([{ text: '', thought: true }])],
    ['an empty function call', piece([{ functionCall: {} }])],
    ['no parts', piece([])],
    [
      'grounding metadata',
      { candidates: [{ index: 0, groundingMetadata: { webSearchQueries: ['q'] } }] },
    ],
  ])(
    'a candidate that continues after a finish reason stays complete if only %s follows',
    async (_, after) => {
      const { verdict, error } = await readStream(
        open(encode(piece([{ text: 'a' }], 'STOP'), after)),
      );

      expect(error).toBeUndefined();
      expect(verdict).toBe('complete');
    },
  );

  test('a candidate that continues after a finish reason does not affect other candidates', async () => {
    const cut = [pieceFor(0, 'a', 'STOP'), pieceFor(1, 'b', 'STOP'), pieceFor(0, 'A')];

    expect((await readStream(open(encode(...cut)))).verdict).toBe('no_terminator');
    expect((await readStream(open(encode(...cut, pieceFor(0, '!', 'STOP'))))).verdict).toBe(
      'complete',
    );
  });

  test('truncated at any byte, is complete only without content after its last finish reason', async () => {
    const kinds = fc.constantFrom<'text' | 'finish' | 'both' | 'empty' | 'usage'>(
      'text',
      'finish',
      'both',
      'empty',
      'usage',
    );
    const anyPieces = {
      text: piece([{ text: 'x' }]),
      finish: { candidates: [{ index: 0, finishReason: 'STOP' }] },
      both: piece([{ codeExecutionResult: { output: '4' } }], 'STOP'),
      empty: piece([{ text: '' }]),
      usage: { usageMetadata: counts },
    };
    const isOpenAfter = { text: true, finish: false, both: false } as const;

    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 6 }), async (sequence) => {
        const events = sequence.map((kind) => encode(anyPieces[kind]));
        const bytes = new TextEncoder().encode(events.join(''));
        for (let length = 0; length <= bytes.length; length += 1) {
          // An event counts without the blank line behind it: it is valid JSON then.
          let end = 0;
          const arrived = sequence.filter((_, at) => {
            end += events[at]?.length ?? 0;
            return end - '\n\n'.length <= length;
          });
          const last = arrived.findLast((kind) => kind in isOpenAfter);
          const begun = events.slice(0, arrived.length).join('').length;
          const torn = events.join('').slice(begun, length);
          const isFinished = last === 'finish' || last === 'both';
          const isComplete = isFinished && !/"(content|parts)"/.test(torn);

          const stream = createStream(
            respond([bytes.slice(0, length)]),
            watchedContext().context,
            generateProtocol,
          );
          const { verdict, error } = await readStream(stream);

          expect(verdict === 'complete', `${sequence.join()} cut at ${length}`).toBe(isComplete);
          expect(error === undefined).toBe(isComplete);
        }
      }),
      { numRuns: 25 },
    );
  });
});

const labelled = (type: string) => ({ headers: { 'content-type': type } });

describe('a generation in place of a stream', () => {
  const unfinished = JSON.stringify(piece([{ text: 'Hi' }]));

  test.each([
    { name: 'one line of NDJSON', body: `${unfinished}\n`, type: 'application/x-ndjson' },
    { name: 'one line of NDJSON called JSON', body: `${unfinished}\n`, type: 'application/json' },
    { name: 'JSON called an event stream', body: unfinished, type: 'text/event-stream' },
    {
      name: 'a null reason',
      body: unfinished.replace('"index"', '"finishReason":null,"index"'),
      type: 'application/json',
    },
    {
      name: 'two lines of NDJSON',
      body: `${unfinished}\n${unfinished}\n`,
      type: 'application/x-ndjson',
    },
  ])(
    'a generation in place of a stream is not complete without a finish reason: $name',
    async ({ body, type }) => {
      const { client } = scripted([() => new Response(body, labelled(type))]);

      const result = await readStream(
        await client.generate.contentStream({ model: 'm', contents: 'Hi' }),
      );

      expect(result.error).toBeInstanceOf(StreamTruncatedError);
      expect(result).toMatchObject({
        verdict: 'no_terminator',
        partial: { text: expect.stringContaining('Hi') },
      });
    },
  );

  test.each([
    ['a finish reason', piece([{ text: 'Hi' }], 'STOP')],
    [
      'a finish reason in snake case',
      { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finish_reason: 'STOP' }] },
    ],
    ['a block reason', { promptFeedback: { blockReason: 'SAFETY' } }],
  ])('a generation in place of a stream is complete with %s', async (_, generation) => {
    for (const type of ['application/json', 'text/event-stream']) {
      const { client } = scripted([() => new Response(JSON.stringify(generation), labelled(type))]);

      const result = await readStream(
        await client.generate.contentStream({ model: 'm', contents: 'Hi' }),
      );

      expect(result).toMatchObject({ verdict: 'complete', error: undefined });
    }
  });
});

describe('the parts of a streamed generation', () => {
  test('parts are joined when they are text of the same kind', async () => {
    const parts = await addParts(
      [{ text: 'Let me ', thought: true }],
      [{ text: 'see.', thought: true }, { text: 'Hel' }],
      [{ text: 'lo' }],
      [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }],
      [{ text: '!' }],
    );

    expect(parts).toEqual([
      { text: 'Let me see.', thought: true },
      { text: 'Hello' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
      { text: '!' },
    ]);
  });

  test('parts with a signature stay unchanged, also without text', async () => {
    const parts = await addParts(
      [{ text: '4' }],
      [{ text: '2', thoughtSignature: 's1' }],
      [{ text: '!' }],
      [{ text: '', thoughtSignature: 's2' }],
    );

    expect(parts).toEqual([
      { text: '4' },
      { text: '2', thoughtSignature: 's1' },
      { text: '!' },
      { text: '', thoughtSignature: 's2' },
    ]);
  });

  test('parts that are complete function calls stay separate', async () => {
    const parts = await addParts(
      [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'f', args: {} } }],
      [{ functionCall: { name: 'g' } }],
    );

    expect(parts).toEqual([
      { functionCall: { name: 'f', args: { a: 1 } } },
      { functionCall: { name: 'f', args: {} } },
      { functionCall: { name: 'g' } },
    ]);
  });

  test('parts that are fragments of function calls are joined', async () => {
    const parts = await addParts(
      [{ functionCall: { name: 'book', willContinue: true }, thoughtSignature: 's' }],
      more(text('$.stops[0].city', 'Bos', true)),
      more(text('$.stops[0].city', 'ton', true)),
      more(text('$.stops[0].city', ''), { jsonPath: '$.stops[0].nights', numberValue: 2 }),
      more({ jsonPath: "$.stops[1]['the city']", stringValue: 'Rome' }),
      more(
        { jsonPath: '$.direct', boolValue: true },
        { jsonPath: '$.via', nullValue: 'NULL_VALUE' },
      ),
      more({ jsonPath: '$.__proto__.polluted', stringValue: 'x' }),
      [{ functionCall: {} }],
      [{ functionCall: { name: 'book', willContinue: true } }],
      [{ functionCall: { partialArgs: [text('$.a', 'b')] } }],
    );

    expect(parts).toHaveLength(2);
    expect(parts?.[0]).toMatchObject({
      thoughtSignature: 's',
      functionCall: {
        name: 'book',
        args: {
          stops: [{ city: 'Boston', nights: 2 }, { 'the city': 'Rome' }],
          direct: true,
          via: null,
        },
      },
    });
    expect(parts?.[1]?.functionCall).toEqual({ name: 'book', args: { a: 'b' } });
    expect({}).not.toHaveProperty('polluted');
  });

  test('parts that are fragments of several function calls are matched by id', async () => {
    const parts = await addParts(
      [
        { functionCall: { id: 'a', name: 'f', willContinue: true } },
        { functionCall: { id: 'b', name: 'g', willContinue: true } },
      ],
      [{ functionCall: { id: 'a', partialArgs: [{ jsonPath: '$.x', numberValue: 1 }] } }],
      [{ functionCall: { id: 'b', partialArgs: [{ jsonPath: '$.y', numberValue: 2 }] } }],
    );

    expect(parts).toEqual([
      { functionCall: { id: 'a', name: 'f', args: { x: 1 } } },
      { functionCall: { id: 'b', name: 'g', args: { y: 2 } } },
    ]);
  });
});
