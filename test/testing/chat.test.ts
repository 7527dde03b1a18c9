import { describe, expect, test } from 'vitest';
import { markers } from '../../src/testing/index.ts';
import { eventData, eventObjects, newClient } from '../helpers/emulator-client.ts';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 1, maximum: 7 },
      },
      required: ['city', 'unit'],
    },
  },
};

describe('chat completions', () => {
  test("chat completions respond with the user's last message", async () => {
    const { chat } = newClient();

    const response = await chat('What is tea?');

    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'm-large',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'You said: "What is tea?" This is the answer of m-large.',
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 19,
        total_tokens: 26,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_emulator',
    });
  });

  test.each([{}, { messages: [] }, { messages: [{ content: 'x' }] }])(
    'chat completions reject the messages %j',
    async (fields) => {
      const { post } = newClient();

      const response = await post('/v1/chat/completions', { model: 'm-large', ...fields });

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
    },
  );

  test.each([
    { max_tokens: -1 },
    { max_tokens: '5' },
    { n: 1.5 },
    { temperature: 'hot' },
    { stream: 1 },
  ])('chat completions reject %j', async (fields) => {
    const { chat } = newClient();

    expect((await chat('x', fields)).status).toBe(400);
  });

  test('chat completions stop at max_tokens and at a stop word', async () => {
    const { chat } = newClient();

    const cut = await chat('What is tea?', { max_tokens: 3 });
    const stopped = await chat('What is tea?', { stop: ['This'] });

    expect(await cut.json()).toMatchObject({
      choices: [{ message: { content: 'You said:' }, finish_reason: 'length' }],
      usage: { completion_tokens: 3 },
    });
    expect(await stopped.json()).toMatchObject({
      choices: [{ message: { content: 'You said: "What is tea?" ' }, finish_reason: 'stop' }],
    });
  });

  test('describe other content than text', async () => {
    const { ask, chat } = newClient();
    const order = { model: 'm-image', prompt: 'x', size: '64x48', response_format: 'b64_json' };
    const image: unknown = await ask('/v1/images/generations', order);
    const [, encoded] = /"b64_json":"([^"]+)"/.exec(JSON.stringify(image)) ?? [];
    const url = `data:image/png;base64,${encoded}`;

    const response = await chat('', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });

    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: expect.stringContaining('a PNG image of 64x48') } }],
    });
  });

  test('call a tool with arguments from the prompt, then respond with its result', async () => {
    const { chat } = newClient();

    const call = await chat('The weather in Paris for 3 days, in fahrenheit', { tools: [weather] });
    const { choices } = await call.json();
    const [{ message, finish_reason: reason }] = choices;
    const [toolCall] = message.tool_calls;
    const final = await chat('', {
      tools: [weather],
      messages: [
        { role: 'user', content: 'The weather in Paris' },
        message,
        { role: 'tool', tool_call_id: toolCall.id, content: '21 degrees' },
      ],
    });

    expect(reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    expect(toolCall.function.name).toBe('get_weather');
    expect(JSON.parse(toolCall.function.arguments)).toEqual({
      city: 'Paris',
      unit: 'fahrenheit',
      days: 3,
    });
    expect(await final.json()).toMatchObject({
      choices: [{ message: { content: 'get_weather says: 21 degrees' }, finish_reason: 'stop' }],
    });
  });

  test('call the chosen tool, none, or several at once', async () => {
    const { emulator, chat } = newClient();
    const other = { type: 'function', function: { name: 'find' } };
    const tools = [weather, other];
    const names = async (fields: object): Promise<unknown[]> => {
      const { choices } = await (await chat('Hello', { tools, ...fields })).json();
      const calls: { function: { name: string } }[] = choices[0].message.tool_calls ?? [];
      return calls.map((call) => call.function.name);
    };

    expect(await names({ tool_choice: { type: 'function', function: { name: 'find' } } })).toEqual([
      'find',
    ]);
    expect(await names({ tool_choice: 'none' })).toEqual([]);
    emulator.quirks.chatToolCallCount = 2;
    expect(await names({})).toEqual(['get_weather', 'find']);
    expect(await names({ parallel_tool_calls: false })).toEqual(['get_weather']);
  });

  test('chat completions match a JSON schema', async () => {
    const { chat } = newClient();
    const schema = {
      type: 'object',
      $defs: { tag: { type: 'string', minLength: 12 } },
      properties: {
        name: { type: 'string' },
        age: { type: 'number', minimum: 18 },
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 2 },
        born: { anyOf: [{ type: 'null' }, { type: 'string', format: 'date' }] },
        kind: { const: 'person' },
      },
    };

    const response = await chat('About Ada, aged 36', {
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    const { choices } = await response.json();

    expect(JSON.parse(choices[0].message.content)).toEqual({
      name: 'Ada',
      age: 36,
      tags: ['Ada.........', 'Ada.........'],
      born: '2026-01-02',
      kind: 'person',
    });
  });

  test('chat completions return several choices and log probabilities', async () => {
    const { chat } = newClient();

    const response = await chat('Hi', { n: 2, logprobs: true, top_logprobs: 2, max_tokens: 1 });

    expect(await response.json()).toMatchObject({
      choices: [
        { index: 0, logprobs: { content: [{ token: 'You', top_logprobs: [{}, {}] }] } },
        { index: 1, message: { content: '(' } },
      ],
    });
  });

  test('chat completions start with reasoning for a reasoning model', async () => {
    const { chat } = newClient();

    const response = await chat('Hi', { model: 'm-reasoning' });

    expect(await response.json()).toMatchObject({
      choices: [{ message: { reasoning_content: expect.stringContaining('1 words') } }],
      usage: { completion_tokens_details: { reasoning_tokens: expect.any(Number) } },
    });
  });

  test('chat completions are filtered, refused or blocked by a marker', async () => {
    const { emulator, chat } = newClient();

    const filtered = await (await chat(`x ${markers.filter}`)).json();
    const refused = await (await chat(`x ${markers.refuse}`)).json();
    const blocked = await chat(`x ${markers.block}`);

    expect(filtered.choices[0].finish_reason).toBe('content_filter');
    expect(refused.choices[0].message).toMatchObject({
      content: null,
      refusal: expect.any(String),
    });
    expect(blocked.status).toBe(400);
    expect(await blocked.json()).toMatchObject({ error: { code: 'prompt_blocked' } });
    expect(emulator.charges).toHaveLength(3);
  });
});

describe('streamed chat completions', () => {
  const stream = { stream: true };

  test('streamed chat completions come in chunks, with the usage by default and [DONE] at the end', async () => {
    const { chat } = newClient();

    const response = await chat('Hi', stream);
    const data = await eventData(response);
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text));

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(data.at(-1)).toBe('[DONE]');
    expect(chunks[0].choices[0].delta).toEqual({
      role: 'assistant',
      content: '',
      refusal: null,
    });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      'You said: "Hi" This is the answer of m-large.',
    );
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
  });

  test('streamed chat completions omit the usage only on request', async () => {
    const { emulator, chat } = newClient();
    const quiet = { ...stream, stream_options: { include_usage: false } };

    const plain = JSON.stringify(await eventObjects(await chat('Hi', quiet)));
    emulator.quirks.chatUsage = 'finish-chunk';
    const swallowed = JSON.stringify(await eventObjects(await chat('Hi', quiet)));

    expect(plain).not.toContain('prompt_tokens');
    expect(plain).toContain('"finish_reason":"stop"');
    expect(swallowed).not.toContain('"finish_reason":"stop"');
  });

  const named = { name: 'get_weather', arguments: '' };
  const first = { id: 'call_1', index: 0, type: 'function', function: named };
  const second = { index: 0, function: { arguments: '{"cit' } };
  const input = { city: 'Rome', unit: 'celsius', days: 1 };

  test.each([
    ['split', [first, second]],
    [
      'from-one',
      [
        { ...first, index: 1 },
        { ...second, index: 1 },
      ],
    ],
    [
      'empty-names',
      [first, { index: 0, id: '', type: null, function: { name: '', arguments: '{"cit' } }],
    ],
    [
      'no-index',
      [
        { id: 'call_1', type: 'function', function: named },
        { id: 'call_1', function: { arguments: '{"cit' } },
      ],
    ],
    ['whole', [{ ...first, function: { ...named, arguments: JSON.stringify(input) } }]],
    ['object', [{ ...first, function: { ...named, arguments: input } }]],
  ] as const)('call tools in the "%s" style', async (chatToolCalls, expected) => {
    const { chat } = newClient({ quirks: { chatToolCalls } });

    const response = await chat('Weather in Rome', { ...stream, tools: [weather] });
    const text = (await response.text()).replaceAll(/call_\w{24}/g, 'call_1');
    const chunks = await eventObjects(new Response(text));

    const deltas = chunks.flatMap((chunk) => Object(chunk).choices[0]?.delta.tool_calls ?? []);
    expect(deltas.slice(0, 2)).toEqual(expected);
  });

  test.each(['reasoning_content', 'reasoning', 'think-tags'] as const)(
    'streamed chat completions have thoughts as %s',
    async (chatReasoning) => {
      const { chat } = newClient({ quirks: { chatReasoning } });

      const chunks = await eventObjects(await chat('Hi', { ...stream, model: 'm-reasoning' }));

      const deltas = chunks.map((chunk) => Object(chunk).choices[0]?.delta ?? {});
      const field = chatReasoning === 'think-tags' ? 'content' : chatReasoning;
      const thoughts = deltas.map((delta) => delta[field] ?? '').join('');
      expect(thoughts).toContain('The user wrote 1 words.');
      expect(thoughts.startsWith('<think>')).toBe(chatReasoning === 'think-tags');
    },
  );

  test('streamed chat completions follow the quirks', async () => {
    const { chat } = newClient({
      quirks: {
        chatEmptyFirstChunk: true,
        chatBareChunks: true,
        chatFinishTwice: true,
        chatNullChoices: true,
        chatCreated: 'float',
        chatContent: 'parts',
        chatDone: false,
      },
    });

    const response = await chat('Hi', stream);
    const data = await eventData(response);
    const chunks = data.map((text) => JSON.parse(text));

    expect(chunks[0]).toMatchObject({ id: '', choices: null });
    expect(chunks[3]).toEqual({
      choices: [
        {
          index: 0,
          delta: { content: [{ type: 'text', text: ' said' }] },
          logprobs: null,
          finish_reason: null,
        },
      ],
      usage: null,
      obfuscation: 'a1b2c3',
    });
    expect(chunks.filter((chunk) => chunk.choices?.[0]?.finish_reason === 'stop')).toHaveLength(2);
    expect(chunks.at(-1).choices).toBeNull();
  });

  test('streamed chat completions are framed by the quirks', async () => {
    const { emulator, chat } = newClient({
      quirks: { lineEnding: 'crlf', heartbeatEvery: 1000, streamChunkBytes: 7 },
    });

    const pieces: number[] = [];
    const response = await chat('Grüße', stream);
    const copy = response.clone();
    for await (const piece of response.body ?? []) pieces.push(piece.length);
    const text = await copy.text();

    expect(text.startsWith(': PING\r\n\r\ndata: {')).toBe(true);
    expect(text).not.toMatch(/[^\r]\n/);
    expect(new Set(pieces.slice(0, -1))).toEqual(new Set([7]));
    emulator.quirks.lineEnding = 'cr';
    expect(await (await chat('x', stream)).text()).not.toContain('\n');
  });

  test('streamed chat completions arrive if JSON was requested, and the other way round', async () => {
    const { emulator, chat } = newClient();

    emulator.quirks.chatMode = 'always-events';
    expect((await chat('Hi')).headers.get('content-type')).toBe('text/event-stream');
    emulator.quirks.chatMode = 'always-json';
    expect((await chat('Hi', stream)).headers.get('content-type')).toBe('application/json');
  });
});

describe('structured output', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const formats = {
    json_schema: { type: 'json_schema', json_schema: { name: 'place', schema } },
    json_object: { type: 'json_object' },
  };

  test.each([
    { supported: 'json_schema', format: 'json_schema', status: 200 },
    { supported: 'json_object', format: 'json_schema', status: 400 },
    { supported: 'json_object', format: 'json_object', status: 200 },
    { supported: 'none', format: 'json_schema', status: 400 },
    { supported: 'none', format: 'json_object', status: 400 },
  ] as const)(
    'a model that supports $supported answers $format with $status',
    async ({ supported, format, status }) => {
      const { chat, emulator } = newClient({
        models: [{ id: 'm-large', structuredOutput: supported }],
      });

      const response = await chat('Oslo', { response_format: formats[format] });

      expect(response.status).toBe(status);
      expect(emulator.charges).toHaveLength(status === 200 ? 1 : 0);
    },
  );

  test.each([
    { dialect: 'openai', status: 400, words: /'response_format' of type 'json_schema'/ },
    { dialect: 'azure', status: 400, words: /enabled only for api versions/ },
    { dialect: 'cloudflare', status: 400, words: /doesn't support JSON Schema/ },
    { dialect: 'deepseek', status: 400, words: /This response_format type is unavailable now/ },
    { dialect: 'google', status: 400, words: /Json mode is not enabled for models\/m-large/ },
    { dialect: 'groq', status: 400, words: /does not support response format `json_schema`/ },
    { dialect: 'siliconflow', status: 400, words: /Json mode is not supported/ },
    { dialect: 'volcengine', status: 400, words: /`response_format.type` specified/ },
    { dialect: 'xai', status: 422, words: /parameter is unsupported at the moment/ },
  ] as const)(
    'structured output is rejected with the message of $dialect',
    async ({ dialect, status, words }) => {
      const { chat } = newClient({
        models: [{ id: 'm-large', structuredOutput: 'none' }],
        quirks: { structuredOutputError: dialect },
      });

      const response = await chat('Oslo', { response_format: formats.json_schema });

      expect(response.status).toBe(status);
      expect(await response.text()).toMatch(words);
    },
  );

  const inJSON = JSON.stringify(schema);
  const question = 'Where is Oslo?';
  const user = { role: 'user', content: question };
  const prompts = {
    'after a heading': [{ role: 'system', content: `JSON Schema:\n${inJSON}` }, user],
    'in other words, indented': [
      { role: 'developer', content: `description: A place\n  json schema: ${inJSON}\n  ` },
      user,
    ],
    'in a fence, formatted': [
      {
        role: 'system',
        content: `Match the following json_schema:\n\`\`\`json\n${JSON.stringify(schema, null, 2)}\n\`\`\``,
      },
      user,
    ],
    'after an example': [
      {
        role: 'system',
        content: `An example of the schema {"type":"array"} is ["a"]. The schema to match:\n${inJSON}`,
      },
      user,
    ],
    'in a message of its own': [
      user,
      { role: 'user', content: `Respond with JSON for the "JSON Schema" below:\n${inJSON}` },
    ],
    'in the last prompt': [
      {
        role: 'user',
        content: [
          { type: 'text', text: question },
          { type: 'text', text: `Conform to the following schema:\n\n\`\`\`\n${inJSON}\n\`\`\`\n` },
        ],
      },
    ],
  };

  test.each(Object.entries(prompts))(
    'structured output is fenced JSON if only the prompt has the schema, %s',
    async (_, messages) => {
      const { chat } = newClient();

      const response = await chat('Oslo', { messages });

      const { choices } = await response.json();
      expect(choices[0].message.content).toBe('```json\n{"city":"Oslo"}\n```');
    },
  );

  test('structured output has the schema beside the type json_object', async () => {
    const { chat } = newClient();

    const response = await chat('Where is Oslo?', {
      response_format: { type: 'json_object', schema },
    });

    const { choices } = await response.json();
    expect(choices[0].message.content).toBe('{"city":"Oslo"}');
  });

  test('structured output is JSON without a fence if the format requests JSON', async () => {
    const { chat } = newClient();
    const messages = prompts['in the last prompt'];

    const response = await chat('Oslo', { messages, response_format: { type: 'json_object' } });

    const { choices } = await response.json();
    expect(choices[0].message.content).toBe('{"city":"Oslo"}');
  });

  test.each(['{"type":"object"}', 'The schema {"city":"Oslo"}', 'The schema {"type":'])(
    'structured output is text if the prompt is %s',
    async (content) => {
      const { chat } = newClient();

      const response = await chat('Oslo', { messages: [{ role: 'user', content }] });

      const { choices } = await response.json();
      expect(choices[0].message.content).not.toContain('```json');
    },
  );
});
