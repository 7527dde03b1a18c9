import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StreamTruncatedError } from '../../../src/index.ts';
import { collect, eventStream, scripted } from '../../helpers/clients.ts';
import { outputText, ResponseAccumulator, type Event } from './support.ts';

const ask = { model: 'm', input: 'Hello', stream: true } as const;

/** Assembles events, and returns the response so far. */
function assemble(events: readonly Event[]) {
  const progress = new ResponseAccumulator(true);
  for (const event of events) progress.add(event);
  return progress.partial;
}

const text = (delta: string, fields = {}): Event => ({
  type: 'response.output_text.delta',
  delta,
  ...fields,
});
const args = (delta: string, fields = {}): Event => ({
  type: 'response.function_call_arguments.delta',
  delta,
  ...fields,
});
const state = (type: 'added' | 'done', item: unknown, fields = {}): Event => ({
  type: `response.output_item.${type}`,
  item,
  ...fields,
});
const message = (fields = {}) => ({ type: 'message', role: 'assistant', content: [], ...fields });
const call = (name: string, fields = {}) => ({
  type: 'function_call',
  name,
  arguments: '',
  ...fields,
});
const last = (response: unknown): Event => ({ type: 'response.completed', response });
const ended: Event = { type: 'response.completed', response: { status: 'completed', output: [] } };

describe('text', () => {
  test.each<[name: string, events: Event[]]>([
    ['without ids, indexes and items', [text('Hel'), text('lo')]],
    ['before its item', [text('Hel'), state('added', message()), text('lo')]],
    ['with only an index', [text('Hel', { output_index: 0 }), text('lo', { output_index: 0 })]],
    [
      'with an id for each event',
      [
        state('added', message({ id: 'a' }), { output_index: 0 }),
        text('Hel', { item_id: 'b', output_index: 0 }),
        text('lo', { item_id: 'c', output_index: 0 }),
        state('done', message({ id: 'd' }), { output_index: 0 }),
      ],
    ],
    [
      'with another id than its item and no index',
      [
        state('added', message({ id: 'a' })),
        text('Hel', { item_id: 'b' }),
        text('lo', { item_id: 'b' }),
      ],
    ],
    [
      'with absurd indexes',
      [-1, 1e21, 0.5, '0', null].map((output_index) => text('.', { output_index })),
    ],
    ['with gaps', [text('Hel', { output_index: 7 }), text('lo', { output_index: 7 })]],
    [
      'in parts with repeated indexes',
      [
        text('Hel', { content_index: 0 }),
        { type: 'response.refusal.delta', delta: 'No', content_index: 0 },
        text('lo', { content_index: 0 }),
      ],
    ],
    [
      'with the id __proto__',
      [text('Hel', { item_id: '__proto__' }), text('lo', { item_id: '__proto__' })],
    ],
    ['as a whole', [{ type: 'response.output_text.done', text: 'Hello' }]],
    [
      'as a whole part',
      [{ type: 'response.content_part.done', part: { type: 'output_text', text: 'Hello' } }],
    ],
    [
      'as a whole item',
      [state('done', message({ content: [{ type: 'output_text', text: 'Hello' }] }))],
    ],
    ['as the text of an item', [state('done', message({ content: 'Hello' }))]],
    [
      'in a part of another type',
      [
        {
          type: 'response.content_part.added',
          part: { type: 'text', text: '' },
          content_index: 0,
        },
        text('Hello', { content_index: 0 }),
      ],
    ],
    [
      'next to null texts, parts and items',
      [
        state('added', null),
        { type: 'response.content_part.added', part: null },
        { ...text(''), delta: null },
        { type: 'response.output_text.done', text: null },
        text('Hello'),
        state('done', message({ content: [null, { type: 'output_text', text: null }] })),
      ],
    ],
    [
      'that is repeated as a whole',
      [text('Hel'), text('lo'), { type: 'response.output_text.done', text: 'Hello' }],
    ],
  ])('%s is assembled', (_, events) => {
    const expected = events.some(({ delta }) => delta === '.') ? '.....' : 'Hello';
    for (const end of [[], [ended]]) {
      const response = assemble([...events, ...end]);
      expect(response?.output_text).toBe(expected);
      expect(response?.output.filter(({ type }) => type === 'message')).toHaveLength(1);
    }
    expect({}).not.toHaveProperty('content');
  });

  test('text of several items is in the order of their indexes', () => {
    const response = assemble([
      text('b', { output_index: 1, content_index: 1 }),
      text('a', { output_index: 0 }),
      text('B', { output_index: 1, content_index: 0 }),
    ]);
    expect(response?.output_text).toBe('aBb');
  });

  test('text does not contain reasoning', () => {
    const response = assemble([
      { type: 'response.reasoning_text.delta', delta: 'so', output_index: 0 },
      { type: 'response.reasoning_summary_text.delta', delta: 'sum', output_index: 0 },
      text('Hi', { output_index: 0 }),
      ended,
    ]);
    expect(response?.output_text).toBe('Hi');
    expect(response?.output).toMatchObject([
      {
        type: 'reasoning',
        content: [{ type: 'reasoning_text', text: 'so' }],
        summary: [{ type: 'summary_text', text: 'sum' }],
      },
      { type: 'message', status: 'completed' },
    ]);
  });

  test('text has its annotations', () => {
    const annotation = { type: 'url_citation', url: 'https://example.com' };
    const added = { type: 'response.output_text.annotation.added', annotation };
    const response = assemble([text('Hi'), added, added]);
    expect(response?.output).toMatchObject([
      { content: [{ text: 'Hi', annotations: [annotation, annotation] }] },
    ]);
  });
});

describe('calls', () => {
  test('calls with one call id are several calls', () => {
    const [first, second] = ['Paris', 'Rome'].map((city, index) =>
      call('look', { id: `fc_${index}`, call_id: 'x', arguments: JSON.stringify({ city }) }),
    );
    const endings: readonly Event[] = [
      last({ status: 'completed', output: [first, second] }),
      ended,
    ];
    for (const end of endings) {
      const progress = new ResponseAccumulator(true);
      for (const [index, item] of [first, second].entries()) {
        progress.add(state('added', { ...item, arguments: '' }, { output_index: index }));
        progress.add(state('done', item, { output_index: index }));
      }
      progress.add(end);

      expect(progress.partial?.output).toEqual([first, second]);
    }
  });

  const first = { id: 'a', call_id: 'x' };
  const second = { id: 'b', call_id: 'y' };

  test.each<[name: string, events: Event[]]>([
    [
      'with ids alone',
      [
        state('added', call('f', first)),
        state('added', call('g', second)),
        args('{"a"', { item_id: 'a' }),
        args('{"b"', { item_id: 'b' }),
        args(':1}', { item_id: 'a' }),
        args(':2}', { item_id: 'b' }),
      ],
    ],
    [
      'with indexes alone',
      [
        state('added', call('f', first), { output_index: 0 }),
        args('{"a":1}', { output_index: 0 }),
        state('added', call('g', second), { output_index: 1 }),
        args('{"b":2}', { output_index: 1 }),
      ],
    ],
    [
      'that all have the index 0',
      [
        state('added', call('f', first), { output_index: 0 }),
        args('{"a":1}', { item_id: 'a', output_index: 0 }),
        state('done', call('f', { ...first, arguments: '{"a":1}' }), { output_index: 0 }),
        state('added', call('g', second), { output_index: 0 }),
        args('{"b":2}', { item_id: 'b', output_index: 0 }),
        state('done', call('g', { ...second, arguments: '{"b":2}' }), { output_index: 0 }),
      ],
    ],
    [
      'of which only the ends came',
      [
        state('done', call('f', { call_id: 'x', arguments: '{"a":1}' })),
        state('done', call('g', { call_id: 'y', arguments: '{"b":2}' })),
      ],
    ],
    [
      'whose ends are repeated',
      [
        state('done', call('f', { ...first, arguments: '{"a":1}' }), { output_index: 0 }),
        state('done', call('g', { ...second, arguments: '{"b":2}' }), { output_index: 1 }),
        state('done', call('f', { ...first, arguments: '{"a":1}' }), { output_index: 0 }),
        state('done', call('g', { call_id: 'y', arguments: '{"b":2}' })),
      ],
    ],
    [
      'whose arguments are objects',
      [
        state('done', call('f', { ...first, arguments: { a: 1 } })),
        state('done', call('g', { ...second, arguments: { b: 2 } })),
      ],
    ],
  ])('%s are told apart', (_, events) => {
    expect(assemble([...events, ended])?.output).toMatchObject([
      { name: 'f', arguments: '{"a":1}', call_id: 'x' },
      { name: 'g', arguments: '{"b":2}', call_id: 'y' },
    ]);
  });

  test('calls without their items have their arguments, and the name of the last event', () => {
    const response = assemble([
      args('{"a"', { item_id: 'a' }),
      args('{"b"', { item_id: 'b' }),
      args(':1}', { item_id: 'a' }),
      { type: 'response.function_call_arguments.done', item_id: 'b', name: 'g', arguments: '{}' },
    ]);
    expect(response?.output).toEqual([
      { type: 'function_call', id: 'a', arguments: '{"a":1}', status: 'in_progress' },
      { type: 'function_call', id: 'b', arguments: '{}', name: 'g', status: 'in_progress' },
    ]);
  });

  test('calls of other tools have their input and code', () => {
    const response = assemble([
      { type: 'response.custom_tool_call_input.delta', delta: 'x', item_id: 'a' },
      { type: 'response.mcp_call_arguments.delta', delta: '{}', item_id: 'b' },
      { type: 'response.code_interpreter_call_code.delta', delta: '1+1', item_id: 'c' },
    ]);
    expect(response?.output).toMatchObject([
      { type: 'custom_tool_call', input: 'x' },
      { type: 'mcp_call', arguments: '{}' },
      { type: 'code_interpreter_call', code: '1+1' },
    ]);
  });
});

describe('the last event', () => {
  const output = [message({ id: 'a', content: [{ type: 'output_text', text: 'Whole' }] })];

  test('the last event has the output, unless it is empty', () => {
    expect(assemble([text('Hel'), last({ output })])?.output_text).toBe('Whole');
    const empty = [
      message({ content: [] }),
      message({ content: [{ type: 'output_text', text: '' }] }),
    ];
    for (const response of [{ output: [] }, { output: null }, {}, null, { output: empty }]) {
      expect(assemble([text('Hel'), last(response)])?.output_text).toBe('Hel');
    }
    expect(assemble([last({ output: [] })])?.output).toEqual([]);
  });

  const added = [
    state('added', call('f', { id: 'a', call_id: 'x' }), { output_index: 0 }),
    args('{"a":1}', { item_id: 'a', output_index: 0 }),
    { type: 'response.reasoning_summary_text.delta', delta: 'so', output_index: 1 },
    text('Hello', { output_index: 2 }),
  ];
  const hollow = [
    call('f', { id: 'a', call_id: 'x' }),
    { type: 'reasoning', id: 'r', summary: [] },
    message({ id: 'm' }),
  ];

  test.each<[name: string, output: unknown[]]>([
    ['without content', hollow],
    ['with other ids', hollow.map((item, at) => ({ ...item, id: `id_${at}`, call_id: null }))],
    [
      'with empty parts',
      [
        { ...call('f', { call_id: 'x' }), arguments: null },
        { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: '' }] },
        message({ content: [{ type: 'output_text', text: null }] }),
      ],
    ],
  ])('the last event may have items %s, which keep what was sent before', (_, hollowItems) => {
    const response = assemble([...added, last({ output: hollowItems })]);

    expect(response?.output_text).toBe('Hello');
    expect(response?.output).toMatchObject([
      { type: 'function_call', name: 'f', arguments: '{"a":1}', call_id: 'x' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'so' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
    ]);
  });

  test('the last event decides which items there are, and what each has', () => {
    const other = message({ id: 'm', content: [{ type: 'output_text', text: 'Other' }] });
    const response = assemble([...added, last({ output: [other, message({ id: 'n' })] })]);

    expect(response?.output_text).toBe('Other');
    expect(response?.output).toHaveLength(2);
  });

  test('the last event is not changed, and neither is any other event', () => {
    const events: Event[] = [
      state(
        'added',
        message({ id: 'a', content: [{ type: 'output_text', text: 'H', annotations: [] }] }),
      ),
      text('i', { item_id: 'a', content_index: 0 }),
      { type: 'response.output_text.annotation.added', item_id: 'a', annotation: { type: 'x' } },
      { type: 'response.completed', response: { output: [message({ content: null }), ...output] } },
    ];
    const copy = structuredClone(events);

    expect(assemble(events.slice(0, 3))?.output_text).toBe('Hi');
    assemble(events);

    expect(events).toEqual(copy);
  });
});

/** An event of a well-formed stream, and the item and part that it belongs to. */
const items = fc.array(
  fc.record({
    type: fc.constantFrom('message', 'function_call', 'reasoning'),
    pieces: fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 5 },
);

const deltaTypes: Readonly<Record<string, string>> = {
  message: 'response.output_text.delta',
  function_call: 'response.function_call_arguments.delta',
  reasoning: 'response.reasoning_text.delta',
};

type Items = { readonly type: string; readonly pieces: readonly string[] }[];

/** Returns the events of each item, in order. */
function toEvents(list: Items): Event[][] {
  return list.map(({ type, pieces }, output_index) => {
    const id = `item_${output_index}`;
    const base = { item_id: id, output_index, content_index: 0 };
    const item = type === 'function_call' ? call('f', { id, call_id: `c${id}` }) : { id, type };
    return [
      state('added', item, { output_index }),
      ...pieces.map((delta) => ({ type: deltaTypes[type] ?? '', ...base, delta })),
      state('done', item, { output_index }),
    ];
  });
}

const whole = ({ pieces }: Items[number]): string => pieces.join('');

function texts(list: Items, type: string): string[] {
  return list.filter((item) => item.type === type).map(whole);
}

describe('properties', () => {
  test('the events of items may be interleaved', () => {
    fc.assert(
      fc.property(items, fc.infiniteStream(fc.nat()), (list, picks) => {
        const queues = toEvents(list);
        const events: Event[] = [];
        while (queues.some((queue) => queue.length > 0)) {
          const open = queues.filter((queue) => queue.length > 0);
          const next = open[Number(picks.next().value) % open.length]?.shift();
          if (next !== undefined) events.push(next);
        }
        const response = assemble([...events, ended]);
        expect(response?.output_text).toBe(texts(list, 'message').join(''));
        const calls = response?.output.filter((item) => item.type === 'function_call') ?? [];
        expect(calls.map((item) => item.arguments)).toEqual(texts(list, 'function_call'));
        expect(response?.output).toHaveLength(list.length);
      }),
    );
  });

  test('ids, or indexes, or both with the items, may be missing', () => {
    fc.assert(
      fc.property(items, fc.constantFrom('ids', 'indexes', 'items', 'ends'), (list, missing) => {
        const events = toEvents(list)
          .flat()
          .filter(({ type }) => {
            if (missing === 'items') return !type.startsWith('response.output_item');
            return missing !== 'ends' || type !== 'response.output_item.done';
          });
        const stripped = events.map((event): Event => {
          const { item_id: id, output_index: index, item, ...rest } = event;
          if (missing === 'ids')
            return { ...rest, item: item && { ...item, id: null }, output_index: index };
          if (missing === 'indexes') return { ...rest, item, item_id: id };
          return event;
        });
        const response = assemble([...stripped, ended]);
        expect(response?.output_text).toBe(texts(list, 'message').join(''));
        expect(outputText(response?.output ?? [])).toBe(response?.output_text);
      }),
    );
  });

  test('no JSON throws, and none changes prototypes', () => {
    const types = [
      ...Object.values(deltaTypes),
      ...['added', 'done'].map((end) => `response.output_item.${end}`),
    ];
    const field = fc.constantFrom(
      'item',
      'part',
      'response',
      'annotation',
      'item_id',
      'output_index',
      'content_index',
      'delta',
      'text',
    );
    const event = fc
      .tuple(
        fc.constantFrom(...types, 'response.completed', 'response.content_part.done'),
        fc.dictionary(field, fc.jsonValue()),
      )
      .map(([type, fields]): Event => ({ ...fields, type }));
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const copy = structuredClone(events);
        const response = assemble(events);
        expect(typeof response?.output_text).toBe(events.length === 0 ? 'undefined' : 'string');
        expect(events).toEqual(copy);
      }),
    );
  });

  test('a stream that is cut anywhere is not complete', async () => {
    const events = [
      {
        type: 'response.created',
        response: { id: 'r', object: 'response', status: 'in_progress' },
      },
      ...toEvents([{ type: 'message', pieces: ['Hé', 'llo'] }]).flat(),
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
    ];
    const body = new TextEncoder().encode(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    );
    const headers = { 'content-type': 'text/event-stream' };
    let end = 0;
    const answer = () => new Response(body.slice(0, end), { headers });
    const { client, requests } = scripted([answer]);
    // The last two bytes are the blank line that closes the last event.
    for (end = 1; end < body.length - 2; end += 1) {
      const reading = client.responses.create(ask).then(collect);
      await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    }
    expect(requests).toHaveLength(body.length - 3);
    for (end = body.length - 2; end <= body.length; end += 1) {
      expect(await collect(await client.responses.create(ask))).toHaveLength(events.length);
    }
  });

  test('a stream may arrive in pieces of any size', async () => {
    const events = [...toEvents([{ type: 'message', pieces: ['Hé', 'llo'] }]).flat(), ended];
    const answer = eventStream(...events);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (size) => {
        const bytes = new Uint8Array(await answer().arrayBuffer());
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.slice(at * size, at * size + size),
        );
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            const piece = pieces.shift();
            if (piece === undefined) controller.close();
            else controller.enqueue(piece);
          },
        });
        const headers = { 'content-type': 'text/event-stream' };
        const { client } = scripted([() => new Response(body, { headers })]);
        const stream = await client.responses.create(ask);
        expect(await collect(stream)).toEqual(events);
        expect(stream.partial?.output_text).toBe('Héllo');
      }),
      { numRuns: 20 },
    );
  });
});
