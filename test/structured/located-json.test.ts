// Models write more than JSON although the schema is enforced, and the response is paid for.
import { generateText, Output, streamText } from 'ai';
import { zodResponseFormat as theirFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import {
  type ChatCompletionMessageParam,
  type Gateway,
  InvalidOutputError,
  responseFormat,
  tool,
} from '../../src/index.ts';
import type { Quirks } from '../../src/testing/index.ts';
import { emulated, eventStream, failureOf, json, scripted } from '../helpers/clients.ts';
import { chunk } from '../helpers/sse.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;

const Place = z.object({ city: z.string() });
const format = responseFormat(Place, 'place');
const model = 'm-large';
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Where is "Rome"?' }];
const value = { city: 'Rome' };
const object = JSON.stringify(value);
const pretty = JSON.stringify(value, null, 2);

const ask = { model, messages, response_format: format };

/** Ways to read a response to a request with a schema. */
const readers: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  'parse()': async (client) =>
    (await client.chat.completions.parse(ask)).choices[0]?.message.parsed,
  "parse() with openai's format": async (client) => {
    const params = { ...ask, response_format: theirFormat(Place, 'place') };
    return (await client.chat.completions.parse(params)).choices[0]?.message.parsed;
  },
  'parse() with a plain schema': async (client) => {
    const { type, json_schema } = format;
    const params = { ...ask, response_format: { type, json_schema } };
    return (await client.chat.completions.parse(params)).choices[0]?.message.parsed;
  },
  'stream()': async (client) => (await client.chat.completions.stream(ask).finalMessage()).parsed,
  'runTools()': async (client) =>
    (await client.chat.completions.runTools({ ...ask, tools: [] }).finalMessage()).parsed,
  'responses.parse()': async (client) =>
    (await client.responses.parse({ model, input: 'Where is "Rome"?', text: { format } }))
      .output_parsed,
  'generateText()': async (client) => {
    const output = Output.object({ schema: Place });
    const languageModel = createModelGateway({ client })(model);
    return (await generateText({ model: languageModel, prompt: 'Where is "Rome"?', output }))
      .output;
  },
  'streamText()': async (client) => {
    const output = Output.object({ schema: Place });
    const languageModel = createModelGateway({ client })(model);
    const result = streamText({ model: languageModel, prompt: 'Where is "Rome"?', output });
    await result.consumeStream();
    return result.output;
  },
  'generate.content() and the format': async (client) => {
    const { text } = await client.generate.content({
      model,
      contents: 'Where is "Rome"?',
      generationConfig: { responseJsonSchema: format.json_schema.schema },
    });
    return format.$parseRaw(text ?? '');
  },
};

const quirks: readonly Quirks['structuredOutputText'][] = [
  'plain',
  'prose',
  'lost-think-tag',
  'double-fence',
  'byte-order-mark',
  'json-string',
];

describe.each(Object.entries(readers))('%s', (_, read) => {
  test.each(quirks)('reads %s JSON with one charge', async (structuredOutputText) => {
    const { client, emulator } = emulated({}, { quirks: { structuredOutputText } });

    expect(await read(client)).toEqual(value);
    expect(emulator.charges).toHaveLength(1);
  });
});

const completion = (content: string) =>
  json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });

async function parseText(content: string, schema: object = Place): Promise<unknown> {
  const { client } = scripted([completion(content)]);
  const params = { model, messages, response_format: responseFormat(schema, 'place') };
  return (await client.chat.completions.parse(params)).choices[0]?.message.parsed;
}

describe('the value in a response', () => {
  test.each([
    `\uFEFF${object}`,
    `\n\uFEFF\u00A0${object}\n`,
    `Sure!\n${pretty}`,
    `${pretty}\nIs that right?`,
    `As {asked} [1]:\n\`\`\`json\n${pretty}\n\`\`\`\nIs that right?`,
    `\`\`\`json\n\`\`\`json\n${object}\n\`\`\`\n\`\`\``,
    `\`\`\`json\n${object}\n\`\`\`\n\`\`\``,
    `${object}\n\`\`\``,
    `<thinking>{"city":"Oslo"}</thinking>${object}`,
    `<thought>Oslo?</thought>\n${object}`,
    `<thinking>Not </think>, but {"city":"Oslo"}?</thinking>${object}`,
    `<think>a</think><think>b</think>${object}`,
    `Oslo? {"city":"Oslo"}, no.\n</think>\n\n${object}`,
    `{"city":"Oslo"} is wrong</thinking>\`\`\`json\n${object}\n\`\`\``,
    `Hm.</think>\n\nHere it is: ${object}`,
    JSON.stringify(object),
    JSON.stringify(`\`\`\`json\n${pretty}\n\`\`\``),
  ])('the value in a response is found in %j', async (content) => {
    await expect(parseText(content)).resolves.toEqual(value);
  });

  test.each([
    ['{"city":"a </think> b"}', 'a </think> b'],
    ['So: {"city":"a </think> b"}', 'a </think> b'],
    ['Hm.</think>{"city":"</think>"}', '</think>'],
    ['{"city":"```"}', '```'],
    ['{"city":"\\"{}\\""}', '"{}"'],
  ])('the value in a response keeps its text: %s', async (content, city) => {
    await expect(parseText(content)).resolves.toEqual({ city });
  });

  test.each([
    `${object} or {"city":"Oslo"}`,
    '{"city":"Oslo"} it is.</think>I cannot say.',
    '{"city":"Oslo"} it is.</think>{"city":"Ro',
    'Sure: {"city":"Ro',
    'Sure: ["Rome"]',
    '"Rome"',
    'Rome',
    '',
  ])('the value in a response is not guessed from %j', async (content) => {
    const error = await failureOf(parseText(content));

    expect(error).toBeInstanceOf(InvalidOutputError);
    expect(error).toMatchObject({ completion: { choices: [{ message: { content } }] } });
  });

  test.each<[string, object, string, unknown]>([
    ['a list', z.array(z.string()), 'The list {1}: ["a"]', ['a']],
    ['a list in a string', z.array(z.string()), '"[\\"a\\"]"', ['a']],
    ['a nullable object', Place.nullable(), JSON.stringify(object), value],
    ['a union of objects', z.union([Place, z.object({ x: z.int() })]), `"{\\"x\\":1}"`, { x: 1 }],
    ['text', z.string(), JSON.stringify(object), object],
    ['text with a fence', z.string(), '```json\n"a"\n```\n```', 'a'],
    ['text after reasoning', z.string(), 'Hm.</think>"a"', 'a'],
    ['a number after a mark', z.number(), '\uFEFF7', 7],
  ])('the value in a response may be %s', async (_, schema, content, expected) => {
    await expect(parseText(content, schema)).resolves.toEqual(expected);
  });

  test('the value in a response is found by the type that a reference names', async () => {
    const $defs = { place: { type: 'object', properties: { city: { type: 'string' } } } };
    const schema = { $ref: '#/$defs/place', $defs };
    await expect(parseText(JSON.stringify(object), schema)).resolves.toEqual(value);
    await expect(parseText(`Of [1]: ${object}`, schema)).resolves.toEqual(value);
  });

  test('the value in a response is not looked for in a text in place of text or a number', async () => {
    await expect(parseText('The answer is {"a":1}', z.string())).rejects.toThrow('not valid JSON');
  });
});

/** Reads a response with the AI SDK, streamed and whole. */
const readWithSDK = async (content: string) => {
  const pieces = content.match(/[^]{1,3}/g) ?? [];
  const chunks = pieces.map((piece) => chunk({ content: piece }));
  const { client } = scripted([
    eventStream(...chunks, chunk({}, 'stop'), '[DONE]'),
    completion(content),
  ]);
  const languageModel = createModelGateway({ client })(model);
  const call = { model: languageModel, prompt: 'Where?', output: Output.object({ schema: Place }) };
  const stream = streamText({ ...call, onError: () => {} });
  const texts = [];
  for await (const text of stream.textStream) texts.push(text);
  return { texts, whole: generateText(call), stream };
};

describe('the AI SDK', () => {
  test('gets the beginning of an object as it arrives, without what follows it', async () => {
    const { texts, whole, stream } = await readWithSDK(`${object}\n\`\`\`\nIs that {right}?`);

    expect(texts.length).toBeGreaterThan(3);
    expect(texts.join('')).toBe(object);
    expect(await stream.output).toEqual(value);
    expect((await whole).output).toEqual(value);
  });

  test.each([`${object} or {"city":"Oslo"}`, 'Rome', '{"city":"Ro'])(
    'gets the text of %j unchanged',
    async (content) => {
      const { texts, whole } = await readWithSDK(content);

      expect(texts.join('')).toBe(content);
      expect(await failureOf(whole)).toMatchObject({ text: content });
    },
  );

  test('gets a text that is not JSON as it arrives', async () => {
    const { client } = scripted([
      eventStream(chunk({ content: 'Hm.' }), chunk({ content: ' {}' }, 'stop'), '[DONE]'),
    ]);
    const { textStream } = streamText({
      model: createModelGateway({ client })(model),
      prompt: 'Hi',
    });
    const texts = [];
    for await (const text of textStream) texts.push(text);

    expect(texts).toEqual(['Hm.', ' {}']);
  });
});

test('stream() yields the beginning of an object after reasoning without its first tag', async () => {
  const pieces = ['The user wants', ' {…}.\n</think>\n{"ci', 'ty":"Ro', 'me"}'];
  const chunks = pieces.map((content) => chunk({ content }));
  const { client } = scripted([eventStream(...chunks, chunk({}, 'stop'))]);
  const parsed: unknown[] = [];

  const stream = client.chat.completions.stream({ ...ask, model: 'm' });
  stream.on('content.delta', (event) => parsed.push(event.parsed));

  expect((await stream.finalMessage()).parsed).toEqual(value);
  expect(parsed).toEqual([null, {}, { city: 'Ro' }, value]);
});

const calling = (text: string) => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: text } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  return json({ id: 'c', object: 'chat.completion', created: 1, model, choices });
};

describe('arguments that are JSON in a JSON string', () => {
  const look = tool({ name: 'look', schema: Place, execute: ({ city }) => `seen ${city}` });
  test('arguments that are JSON in a JSON string are those of the function', async () => {
    const { client, requests } = scripted([calling(JSON.stringify(object)), completion('Done.')]);

    const run = client.chat.completions.runTools({ model, messages, tools: [look] });

    expect(await run.finalContent()).toBe('Done.');
    expect(await run.finalFunctionToolCallResult()).toBe('seen Rome');
    expect(requests).toHaveLength(2);
  });

  test('arguments that are JSON in a JSON string are parsed by parse()', async () => {
    const { client } = scripted([calling(JSON.stringify(object))]);

    const { choices } = await client.chat.completions.parse({ model, messages, tools: [look] });

    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { parsed_arguments: value } });
  });

  test('arguments that are JSON in a JSON string are not those of prose', async () => {
    await expect(async () => look.$parseRaw(`Sure: ${object}`)).rejects.toThrow('not valid JSON');
  });
});
