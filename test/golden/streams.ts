// Streams of gateways and their providers, and how they break.

type Kind = 'chat' | 'generate' | 'images' | 'speech';

/** An event stream, and how its connection ends. */
export interface SentStream {
  readonly name: string;
  readonly kind: Kind;
  readonly text: string;
  readonly end?: 'break' | 'silence' | undefined;
  /** Its content type; that of an event stream by default. */
  readonly type?: string | undefined;
}

/** Events; text is sent unchanged. */
const events = (...data: readonly unknown[]): string =>
  data
    .map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
    .join('');

const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const of = (delta: unknown, finish: string | null = null, more: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const choice = (index: number, content: string, finish: string | null = null) => ({
  ...head,
  choices: [{ index, delta: { content }, finish_reason: finish }],
});
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const usageChunk = { ...head, choices: [], usage };
const done = '[DONE]';
const begin = of({ role: 'assistant', content: '' });
const hello = [begin, of({ content: 'Hel' }), of({ content: 'lo' })];
const stop = of({}, 'stop');
const begun = events(...hello);
const whole = events(...hello, stop, usageChunk, done);
const error = { message: 'Too long (request id: r-7)', type: 'invalid', code: 'context' };
const hollow = {
  id: '',
  object: '',
  created: 0,
  model: '',
  system_fingerprint: null,
  choices: null,
  usage: null,
};
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage,
};

const call = (fields: object) => of({ tool_calls: [fields] });
const calls = (...list: readonly unknown[]) => of({ tool_calls: list });
const named = (id: string, name: string, text: unknown, more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...more,
});
const next = (text: string, more: object = {}) => ({ function: { arguments: text }, ...more });
const toolStop = of({}, 'tool_calls');

const chats: Readonly<Record<string, string>> = {
  whole,
  'CRLF, a byte order mark, comments, ids, names and retries':
    `\uFEFF: PING\n\nid: 1\nevent: message\nretry: 3\n${whole}: PING\n\n`.replaceAll('\n', '\r\n'),
  'CR only': whole.replaceAll('\n', '\r'),
  'empty data and pings': `data:\n\ndata: \n\nevent: ping\ndata: {"type":"ping"}\n\n${whole}`,
  'data over several lines':
    'data: {"choices":[{"delta":\ndata: {"content":"Hi"},"finish_reason":"stop"}]}\n\n',
  'no blank line at the end': events(...hello, stop).trimEnd(),
  'no terminator': events(...hello, stop),
  'no finish reason': events(...hello, done),
  'an empty finish reason': events(...hello, of({}, ''), done),
  'neither terminator nor finish reason': begun,
  'a cut event': `${begun}data: {"choi`,
  'a cut terminator': `${events(...hello, stop)}data: [DO`,
  'usage only': events(usageChunk, done),
  'a terminator only': events(done),
  nothing: '',
  'heartbeats only': ': PING\n\n: PING\n\n',
  'an empty first chunk with filter results': events(
    { ...hollow, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    ...hello,
    stop,
    done,
  ),
  'ids that are empty, null or missing': events(
    { ...of({ content: 'a' }), id: '', model: '', created: 0, object: '' },
    { choices: [{ delta: { content: 'b' } }] },
    { ...of({ content: 'c' }), id: null, model: null, created: null, object: null },
    stop,
    done,
  ),
  'ids that never come': events({ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }),
  'deltas that are null or missing': events(
    { ...head, choices: [{ index: 0, delta: null, finish_reason: null }] },
    { ...head, choices: [{ index: 0 }] },
    of({ content: 'Hello' }),
    { ...head, choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
    done,
  ),
  'fields of deltas that are null': events(
    of({ role: null, content: null, refusal: null, reasoning_content: null, tool_calls: null }),
    of({ content: 'Hi', function_call: null, audio: null, reasoning: null }),
    stop,
    done,
  ),
  'choices that are missing, null, empty or hold null': events(
    { id: 'x' },
    { choices: null },
    { choices: [] },
    { choices: [null] },
    of({ content: 'Hello' }, 'stop'),
    done,
  ),
  'text in parts, with thoughts': events(
    of({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me ' }] }] }),
    of({
      content: [
        { type: 'thinking', thinking: 'see.' },
        { type: 'text', text: 'Hel' },
      ],
    }),
    of({
      content: [
        { type: 'text', text: 'l' },
        { type: 'text', text: 'o' },
      ],
    }),
    stop,
    done,
  ),
  'thoughts in reasoning_content': events(
    of({ reasoning_content: 'Hm' }),
    of({ reasoning_content: 'm', content: 'Hi' }),
    stop,
    done,
  ),
  'thoughts in reasoning': events(of({ reasoning: 'Hm' }), of({ content: 'Hi' }), stop, done),
  'thoughts in both fields': events(
    of({ reasoning: 'Hm', reasoning_content: 'Hm' }),
    of({ content: 'Hi' }, 'stop'),
    done,
  ),
  'two choices in turns, out of order': events(
    choice(1, 'b'),
    choice(0, 'a'),
    choice(1, 'B', 'stop'),
    choice(0, 'A', 'length'),
    done,
  ),
  'two choices, one of them unfinished': events(choice(0, 'a', 'stop'), choice(1, 'b'), done),
  'a choice whose index is text in between': events(
    choice(0, 'a'),
    { ...head, choices: [{ index: '0', delta: { content: 'b' } }] },
    stop,
    done,
  ),
  'two choices without an index': events(
    { ...head, choices: ['a', 'b'].map((content) => ({ delta: { content } })) },
    {
      ...head,
      choices: ['A', 'B'].map((content) => ({ delta: { content }, finish_reason: 'stop' })),
    },
  ),
  'usage on every chunk': events(
    of({ content: 'a' }, null, { usage: { ...usage, completion_tokens: 1 } }),
    of({}, 'stop', { usage }),
    done,
  ),
  'usage on the first chunk': events(of({ content: 'a' }, null, { usage }), stop, done),
  'usage that is null later': events(
    of({ content: 'a' }, null, { usage }),
    of({}, 'stop', { usage: null }),
    done,
  ),
  'usage in a choice': events({
    choices: [{ delta: { content: 'a' }, finish_reason: 'stop', usage }],
  }),
  'usage next to null choices': events(of({ content: 'a' }, 'stop'), { choices: null, usage }),
  'usage without an id, as the gateway makes it': events(
    ...hello,
    stop,
    { ...usageChunk, id: '', created: 0, system_fingerprint: '' },
    done,
  ),
  'log probabilities': events(
    {
      ...head,
      choices: [
        {
          index: 0,
          delta: { content: 'a' },
          logprobs: {
            content: [{ token: 'a', bytes: null, logprob: -1, top_logprobs: [] }],
            refusal: null,
          },
        },
      ],
    },
    {
      ...head,
      choices: [{ index: 0, delta: { content: 'b' }, logprobs: null, finish_reason: 'stop' }],
    },
    done,
  ),
  'a refusal': events(of({ refusal: 'I ' }), of({ refusal: 'cannot.', content: '' }), stop, done),
  audio: events(
    of({ audio: { id: 'a1', transcript: 'Hel' } }),
    of({ audio: { data: 'AAA=', transcript: 'lo' } }),
    of({ audio: { expires_at: 7 } }),
    done,
  ),
  'a finish reason twice': events(of({ content: 'a' }, 'stop'), stop, done),
  'a finish reason that is empty first': events(of({ content: 'a' }, ''), of({}, 'length'), done),
  'a filtered answer': events(of({ content: 'Well' }), of({}, 'content_filter'), done),
  'fields of a provider': events(
    of({ content: 'Hi' }, null, {
      x_groq: { id: 'g' },
      service_tier: 'on_demand',
      obfuscation: 'ab',
    }),
    { ...stop, choices: [{ index: 0, delta: {}, finish_reason: 'stop', matched_stop: 1 }] },
    done,
  ),
  'a function call of old': events(
    of({ function_call: { name: 'find', arguments: '{"q"' } }),
    of({ function_call: { arguments: ':1}' } }),
    of({}, 'function_call'),
    done,
  ),
  'a tool call with an index': events(
    call(named('c1', 'find', '{"q":', { index: 0 })),
    call(next('1}', { index: 0 })),
    toolStop,
    done,
  ),
  'two tool calls without an index': events(
    call(named('c1', 'find', '{"q":')),
    call(next('1}')),
    call(named('c2', 'list', '{"n":')),
    call(next('2}')),
    toolStop,
    done,
  ),
  'two tool calls side by side, without an index': events(
    calls(named('c1', 'find', '{"q":'), named('c2', 'list', '{"n":')),
    calls(next('1}'), next('2}')),
    toolStop,
    done,
  ),
  'two tool calls with an index from 1': events(
    call(named('c1', 'find', '{"q":1}', { index: 1 })),
    call(named('c2', 'list', '{"n":', { index: 2 })),
    call(next('2}', { index: 2 })),
    toolStop,
    done,
  ),
  'two tool calls with the same index': events(
    call(named('c1', 'find', '{"q":1}', { index: 0 })),
    call(named('c2', 'list', '{"n":2}', { index: 0 })),
    toolStop,
    done,
  ),
  'a tool call with empty ids and names later': events(
    call(named('c1', 'find', '{"q":', { index: 0 })),
    call(named('', '', '1}', { index: 0 })),
    call({ index: 0, id: null, type: null, function: { name: null, arguments: null } }),
    toolStop,
    done,
  ),
  'a tool call with arguments as an object': events(
    call(named('c1', 'find', { q: 1 }, { index: 0 })),
    toolStop,
    done,
  ),
  'a tool call without id': events(
    call({ index: 0, function: { name: 'find', arguments: '{}' } }),
    toolStop,
    done,
  ),
  'a tool call of a custom tool': events(
    call({ index: 0, id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls' } }),
    call({ index: 0, custom: { input: ' -l' } }),
    toolStop,
    done,
  ),
  'a tool call with an id later': events(
    call(named('', 'find', '{"q":', { index: 0 })),
    call(next('1}', { index: 0, id: 'c1' })),
    toolStop,
    done,
  ),
  'a tool call with an id and its name again later': events(
    call(named('', 'find', '{"q":', { index: 0 })),
    call(named('c1', 'find', '1}', { index: 0 })),
    toolStop,
    done,
  ),
  'a tool call with null arguments first, and null in place of a list': events(
    call(named('c1', 'find', null, { index: 0 })),
    of({ tool_calls: null }),
    call(next('{"q":1}', { index: 0 })),
    toolStop,
    done,
  ),
  'two tool calls whose index is text in between': events(
    call(named('c1', 'find', '{"q":', { index: 0 })),
    call(next('1}', { index: '0' })),
    call(named('c2', 'list', '{"n":', { index: '1' })),
    call(next('2}', { index: 1 })),
    toolStop,
    done,
  ),
  'two tool calls with the same index, side by side': events(
    calls(named('c1', 'find', '', { index: 0 }), named('c2', 'list', '{"n"', { index: 0 })),
    calls(next('{"q"', { index: 0, id: 'c1' }), next(':2', { index: 0, id: 'c2' })),
    calls(next('}', { index: 0 }), next(':1}', { index: 0, id: 'c1' })),
    toolStop,
    done,
  ),
  'two tool calls of one function with the same index': events(
    calls(named('c1', 'find', '{"q":', { index: 0 }), named('c2', 'find', '{"q":', { index: 0 })),
    calls(next('2}', { index: 0 }), next('1}', { index: 0, id: 'c1' })),
    toolStop,
    done,
  ),
  'a tool call that is cut': events(call(named('c1', 'find', '{"q":', { index: 0 })), done),
  'an error event': events(...hello, { error }, done),
  'an error event at first': events({ error }, done),
  'an error event behind the finish reason': events(...hello, stop, { error }),
  'an error event behind usage': events(...hello, usageChunk, { error: { ...error, code: 429 } }),
  'an error with a null code': events(...hello, { error: { message: 'No', type: '', code: null } }),
  "an error in Google's form": events(...hello, {
    error: { message: 'No', code: 503, status: 'UNAVAILABLE' },
  }),
  'an error that is text': events(...hello, { error: 'No' }),
  'an error in a list': events(...hello, [{ error: { code: 400, message: 'No' } }]),
  'an error that is a code and a message': events(...hello, { code: 'context', message: 'No' }),
  'an error that is a message and a type': events(...hello, { message: 'No', type: 'x', code: '' }),
  'a typed error': events(...hello, {
    type: 'error',
    error: { type: 'overloaded', message: 'No' },
  }),
  'an error that names itself': events(...hello, { object: 'error', message: 'No', type: 'X' }),
  'success: false': events(...hello, { success: false, message: 'No' }),
  'an error next to choices': events(...hello, { ...of({}), error: { message: 'No' } }),
  'an error with JSON in its message': events(...hello, {
    error: { message: '{"error":{"message":"No"}}' },
  }),
  'an event named error': `${begun}event: error\ndata: {"message":"No"}\n\n`,
  'an event named error with text': `${begun}event: error\ndata: No\n\n`,
  'an error field with nothing in it': events(...hello, { ...stop, error: {} }, done),
  'news with a type and a message': events({ type: 'status', message: 'thinking' }, ...hello, stop),
  'data that is no JSON': `${begun}data: No\n\n`,
  'data that is JSON text': `${begun}data: "No"\n\n`,
  'a hollow chunk at the end': events(...hello, hollow, done),
  'a hollow chunk at first': events(hollow, ...hello, stop, done),
  'a bare error': `: PING\n\n${JSON.stringify({ error })}`,
  'a bare error behind pieces': begun + JSON.stringify({ error }),
  'a bare error over several lines': begun + JSON.stringify({ error }, undefined, 2),
  'a bare error between pieces': `${begun}${JSON.stringify({ error })}\n\n${events(stop, done)}`,
  'a bare error behind the finish reason': `${events(...hello, stop)}${JSON.stringify({ error })}`,
  'bare text': `${begun}upstream connect error`,
  'bare text between pieces': `${begun}oops\n${events(stop, done)}`,
  'a page': '<html><title>502 Bad Gateway</title></html>',
  'a page behind pieces': `${begun}<html><title>502 Bad Gateway</title></html>`,
  'a whole answer': JSON.stringify(completion),
  'a whole answer without a finish reason': JSON.stringify({
    ...completion,
    choices: [{ message: { content: 'Hi' } }],
  }),
  'a whole answer in an event': events(completion, done),
  'an error in its place': JSON.stringify({ error }),
  'a task error in its place': JSON.stringify({ code: 'context', message: 'No', data: null }),
  'JSON that says nothing': '{"ok":true}',
};

const piece = (
  parts: readonly object[] | null,
  finishReason?: string | null,
  more: object = {},
) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  ...more,
});
const text = (value: string, more: object = {}) => ({ text: value, ...more });
const counts = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 };
const end = piece([text('')], 'STOP', { usageMetadata: counts, modelVersion: 'm-1' });
const arg = (jsonPath: string, value: object) => ({
  functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
});

const generations: Readonly<Record<string, string>> = {
  whole: events(piece([text('Grü')]), piece([text('ße 🌍')]), end),
  'a terminator': events(piece([text('Hi')]), end, done),
  'no finish reason': events(piece([text('Hi')])),
  'a finish reason that is null': events(piece([text('Hi')], null)),
  'usage only': events({ usageMetadata: counts }),
  nothing: '',
  'a cut event': `${events(piece([text('Hi')]))}data: {"cand`,
  'thoughts, signatures and text': events(
    piece([text('Let me ', { thought: true })]),
    piece([text('see.', { thought: true }), text('Hel', { thoughtSignature: 's1' })]),
    piece([text('lo')]),
    piece([text('', { thoughtSignature: 's2' })], 'STOP'),
  ),
  'function calls': events(
    piece([{ functionCall: { name: 'f', args: { a: 1 } } }]),
    piece([{ functionCall: { id: 'x', name: 'g', args: {} } }, { functionCall: { name: 'f' } }]),
    end,
  ),
  'a function call in pieces': events(
    piece([{ functionCall: { name: 'book', willContinue: true }, thoughtSignature: 's' }]),
    piece([arg('$.stops[0].city', { stringValue: 'Bos', willContinue: true })]),
    piece([arg('$.stops[0].city', { stringValue: 'ton' }), arg('$.days', { numberValue: 2 })]),
    piece([arg("$.stops[1]['the city']", { stringValue: 'Rome' })]),
    piece([arg('$.direct', { boolValue: true }), arg('$.via', { nullValue: 'NULL_VALUE' })]),
    piece([{ functionCall: {} }]),
    end,
  ),
  'inline data': events(piece([{ inlineData: { mimeType: 'image/png', data: 'AA==' } }]), end),
  'several candidates': events(
    { candidates: [{ index: 1, content: { parts: [text('b')] } }] },
    { candidates: [{ index: 0, content: { parts: [text('a')] }, finishReason: 'STOP' }] },
    { candidates: [{ index: 1, content: { parts: [text('B')] }, finishReason: 'STOP' }] },
  ),
  'one of two candidates unfinished': events({ candidates: [{ finishReason: 'STOP' }, {}] }),
  'what is null or missing': events(
    { candidates: null },
    { candidates: [{ content: null }] },
    piece(null),
    piece([text('Hi')]),
    { candidates: [{ finishReason: 'STOP' }] },
  ),
  'snake case': events(
    {
      candidates: [
        {
          content: {
            parts: [
              { text: 'Hm', thought: true, thought_signature: 's' },
              { inline_data: { mime_type: 'image/png', data: 'AA==' } },
              { function_call: { name: 'f', will_continue: true } },
            ],
          },
        },
      ],
      usage_metadata: { prompt_token_count: 3 },
    },
    piece([
      {
        function_call: {
          partial_args: [{ json_path: '$.a', string_value: 'b' }],
          will_continue: false,
        },
      },
    ]),
    { candidates: [{ finish_reason: 'STOP' }], model_version: 'm-1' },
  ),
  'a blocked prompt in snake case': events({ prompt_feedback: { block_reason: 'OTHER' } }),
  'usage on every chunk, and in parts': events(
    piece([text('a')], null, { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } }),
    piece([], 'STOP', { usageMetadata: counts }),
    { usageMetadata: { trafficType: 'ON_DEMAND' } },
  ),
  'a blocked prompt': events({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: counts }),
  'a blocked answer': events(piece([text('Well, ')]), {
    candidates: [{ finishReason: 'SAFETY', index: 0 }],
  }),
  'an error event': events(piece([text('Hi')]), {
    error: { code: 503, message: 'No', status: 'UNAVAILABLE' },
  }),
  'an error in a list': events([piece([text('Hi')]), { error: { code: 503, message: 'No' } }]),
  'a list in one event': events([piece([text('Hi')]), end]),
  'a list in place of events': JSON.stringify([piece([text('Hi')]), end]),
  'a whole answer in place of events': JSON.stringify(piece([text('Hi')], 'STOP')),
  'usage without counts': events(
    piece([text('Hi')], undefined, { usageMetadata: { trafficType: 'ON_DEMAND' } }),
    end,
  ),
};

const preview = {
  type: 'image_generation.partial_image',
  b64_json: 'AA==',
  partial_image_index: 0,
};
const image = { type: 'image_generation.completed', b64_json: 'AAAA', usage: { total_tokens: 9 } };

const images: Readonly<Record<string, string>> = {
  whole: events(preview, image),
  'with a terminator': events(preview, image, done),
  'names, heartbeats': `: PING\n\nevent: image_generation.completed\n${events(image)}`,
  'previews only': events(preview),
  'previews and a terminator': events(preview, done),
  nothing: '',
  'an error event': events(preview, { type: 'error', error: { type: 'x', message: 'No' } }, done),
  'a whole answer in place of events': JSON.stringify({
    created: 1,
    data: [{ b64_json: 'AAAA' }],
    usage: { total_tokens: 9 },
  }),
  'an error in its place': JSON.stringify({ error }),
};

const sound = { type: 'speech.audio.delta', audio: '//uQxAAA' };
const soundDone = { type: 'speech.audio.done', usage: { total_tokens: 22 } };

const speeches: Readonly<Record<string, string>> = {
  whole: events(sound, soundDone),
  'with a terminator': events(sound, soundDone, done),
  'cut short': events(sound),
  nothing: '',
  'an error event': events(sound, { type: 'error', error: { message: 'No' } }),
  'an error in its place': JSON.stringify({ error }),
};

const byKind: readonly (readonly [Kind, Readonly<Record<string, string>>])[] = [
  ['chat', chats],
  ['generate', generations],
  ['images', images],
  ['speech', speeches],
];

const finished = events(...hello, stop);

/** Every stream. */
export const streams: readonly SentStream[] = [
  ...byKind.flatMap(([kind, all]) =>
    Object.entries(all).map(([name, sent]) => ({ name, kind, text: sent })),
  ),
  { name: 'a broken connection', kind: 'chat', text: begun, end: 'break' },
  { name: 'a broken connection at first', kind: 'chat', text: '', end: 'break' },
  {
    name: 'a broken connection in an event',
    kind: 'chat',
    text: `${begun}data: {"c`,
    end: 'break',
  },
  { name: 'a broken connection behind the answer', kind: 'chat', text: finished, end: 'break' },
  {
    name: 'a broken connection behind usage',
    kind: 'chat',
    text: begun + events(usageChunk),
    end: 'break',
  },
  { name: 'silence', kind: 'chat', text: begun, end: 'silence' },
  { name: 'silence at first', kind: 'chat', text: '', end: 'silence' },
  { name: 'silence behind the answer', kind: 'chat', text: finished, end: 'silence' },
  {
    name: 'a broken connection',
    kind: 'generate',
    text: events(piece([text('Hi')])),
    end: 'break',
  },
  { name: 'silence', kind: 'generate', text: events(piece([text('Hi')])), end: 'silence' },
  { name: 'a broken connection', kind: 'images', text: events(image, preview), end: 'break' },
  { name: 'events that are called JSON', kind: 'chat', text: whole, type: 'application/json' },
  { name: 'events that are called nothing', kind: 'chat', text: whole, type: '' },
  {
    name: 'an answer that is called JSON',
    kind: 'chat',
    text: JSON.stringify(completion),
    type: 'application/json',
  },
  {
    name: 'a page that is called one',
    kind: 'chat',
    text: '<!doctype html><html></html>',
    type: 'text/html',
  },
  { name: 'sound in place of events', kind: 'speech', text: 'ID3 sound', type: 'audio/mpeg' },
];
