import { describe, expect, test } from 'vitest';
import { BadRequestError, InvalidInputError, StreamTruncatedError } from '../../../src/index.ts';
import { markers } from '../../../src/testing/index.ts';
import type { GenerateContentParams } from '../../../src/resources/generate/params.ts';
import {
  bodyOf,
  collect,
  emulated,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { intercepted } from '../../helpers/intercepted.ts';

const model = 'm-flash';
const answer = { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] };

type Fields = Omit<GenerateContentParams, 'model'>;

/** The body that is sent for these parameters. */
async function sentFor(fields: Fields): Promise<unknown> {
  const { client, requests } = scripted([json(answer)]);
  await client.generate.content({ model, ...fields });
  return bodyOf(requests[0]);
}

const turn = { role: 'user', parts: [{ text: 'Hello' }] };
const setting = { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' };
const tool = { googleSearch: {} };

describe('the request of a generation', () => {
  test.each<{ name: string; given: Fields; sent: object }>([
    {
      name: 'no parameter that is null',
      given: {
        contents: 'Hello',
        systemInstruction: null,
        safetySettings: null,
        tools: null,
        toolConfig: null,
        generationConfig: null,
        cachedContent: null,
        labels: null,
        modelArmorConfig: null,
      },
      sent: { contents: [turn] },
    },
    {
      name: 'a turn whose parts are null',
      given: { contents: { role: 'user', parts: null } },
      sent: { contents: [{ role: 'user' }] },
    },
    { name: 'text', given: { contents: 'Hello' }, sent: { contents: [turn] } },
    { name: 'a list of texts', given: { contents: ['Hello'] }, sent: { contents: [turn] } },
    { name: 'one part', given: { contents: { text: 'Hello' } }, sent: { contents: [turn] } },
    {
      name: 'parts and texts, which are one turn',
      given: { contents: ['Look:', { fileData: { fileUri: 'gs://a/b.png' } }, 'What is it?'] },
      sent: {
        contents: [
          {
            role: 'user',
            parts: [
              { text: 'Look:' },
              { fileData: { fileUri: 'gs://a/b.png' } },
              { text: 'What is it?' },
            ],
          },
        ],
      },
    },
    {
      name: 'texts between turns',
      given: { contents: [turn, { role: 'model', parts: [{ text: 'Hi' }] }, 'How', 'are you?'] },
      sent: {
        contents: [
          turn,
          { role: 'model', parts: [{ text: 'Hi' }] },
          { role: 'user', parts: [{ text: 'How' }, { text: 'are you?' }] },
        ],
      },
    },
    { name: 'one turn', given: { contents: turn }, sent: { contents: [turn] } },
    { name: 'several turns', given: { contents: [turn, turn] }, sent: { contents: [turn, turn] } },
    {
      name: 'a single part',
      given: { contents: { role: 'user', parts: { text: 'Hello' } } },
      sent: { contents: [turn] },
    },
    {
      name: 'an instruction of text',
      given: { contents: [turn], systemInstruction: 'Be kind' },
      sent: { contents: [turn], systemInstruction: { parts: [{ text: 'Be kind' }] } },
    },
    {
      name: 'an instruction of parts',
      given: { contents: [turn], systemInstruction: [{ text: 'Be kind' }] },
      sent: { contents: [turn], systemInstruction: { parts: [{ text: 'Be kind' }] } },
    },
    {
      name: 'an instruction with a single part',
      given: { contents: [turn], systemInstruction: { parts: { text: 'Be kind' } } },
      sent: { contents: [turn], systemInstruction: { parts: [{ text: 'Be kind' }] } },
    },
    {
      name: 'one safety setting',
      given: { contents: [turn], safetySettings: setting },
      sent: { contents: [turn], safetySettings: [setting] },
    },
    {
      name: 'safety settings',
      given: { contents: [turn], safetySettings: [setting] },
      sent: { contents: [turn], safetySettings: [setting] },
    },
    {
      name: 'one tool',
      given: { contents: [turn], tools: tool },
      sent: { contents: [turn], tools: [tool] },
    },
    {
      name: 'everything else as it is',
      given: {
        contents: [turn],
        generationConfig: { topP: 0.5 },
        cachedContent: 'c',
        toolConfig: {},
      },
      sent: {
        contents: [turn],
        generationConfig: { topP: 0.5 },
        cachedContent: 'c',
        toolConfig: {},
      },
    },
  ])('$name', async ({ given, sent }) => {
    expect(await sentFor(given)).toEqual(sent);
  });

  test.each([
    ['config', 'its fields beside contents'],
    ['generation_config', 'generationConfig'],
    ['system_instruction', 'systemInstruction'],
    ['safety_settings', 'safetySettings'],
    ['tool_config', 'toolConfig'],
    ['cached_content', 'cachedContent'],
  ])('a generation rejects %s, which gateways drop', async (name, known) => {
    const { client, requests } = scripted([json(answer)]);
    const params = { model, contents: 'x', [name]: {} };

    const error = await failureOf(misuse(client.generate, 'content', params));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: name, message: expect.stringContaining(known) });
    expect(requests).toHaveLength(0);
  });

  test('the request of a generation has the escaped model in the path only, and no extra fields', async () => {
    const { client, requests } = scripted([json(answer)]);

    await client.generate.content({ model: 'models/a b', contents: 'x' });

    expect(requests[0]?.url).toBe(
      'https://gateway.test/v1beta/models/models%2Fa%20b:generateContent',
    );
    expect(Object.keys(Object(await bodyOf(requests[0])))).toEqual(['contents']);
  });

  test('a generation requests a stream by its path and alt=sse', async () => {
    const { client, emulator } = emulated();

    await client.generate.content({ model, contents: 'x' });
    await collect(await client.generate.contentStream({ model, contents: 'x' }));

    expect(emulator.requests.map(({ path }) => path)).toEqual([
      '/v1beta/models/m-flash:generateContent',
      '/v1beta/models/m-flash:streamGenerateContent',
    ]);
    expect(emulator.requests.map(({ query }) => query)).toEqual([{}, { alt: 'sse' }]);
  });

  test.each([
    [undefined, 'params'],
    [{ model: '', contents: 'x' }, 'model'],
    [{ model: '..', contents: 'x' }, 'model'],
    [{ model }, 'contents'],
    [{ model, contents: '' }, 'contents'],
    [{ model, contents: [] }, 'contents'],
    [{ model, contents: [turn, null] }, 'contents'],
  ])('a generation rejects %j immediately', async (params, field) => {
    const { client, requests } = scripted([json(answer)]);

    for (const method of ['content', 'contentStream']) {
      const error = await failureOf(misuse(client.generate, method, params));
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });
});

describe('generate.content()', () => {
  test('returns the response with its helpers and the request id', async () => {
    const { client, emulator } = emulated();

    const response = await client.generate.content({ model, contents: 'What is tea?' });

    expect(response.text).toBe('You said: "What is tea?" This is the answer of m-flash.');
    expect(response.functionCalls).toBeUndefined();
    expect(response.blockReason).toBeUndefined();
    expect(response.usageMetadata?.totalTokenCount).toBeGreaterThan(0);
    expect(response._request_id).toBe(emulator.requests[0]?.id);
    expect(Object.keys(response)).not.toContain('text');
  });

  test('a blocked prompt is a response with a block reason', async () => {
    const { client } = emulated();

    const response = await client.generate.content({ model, contents: markers.block });

    expect(response.text).toBeUndefined();
    expect(response.blockReason).toBe('PROHIBITED_CONTENT');
  });

  test('reads keys in snake case', async () => {
    const { client } = emulated({}, { quirks: { generateKeys: 'snake' } });

    const response = await client.generate.content({ model, contents: 'tea' });

    expect(response.candidates?.[0]?.finishReason).toBe('STOP');
    expect(response.usageMetadata?.promptTokenCount).toBeGreaterThan(0);
  });

  test("reads errors in OpenAI's format and in Google's", async () => {
    const google = { error: { code: 400, message: 'No such field.', status: 'INVALID_ARGUMENT' } };
    const { client } = scripted([
      json({ error: { message: 'No such field.', type: 'upstream_error', code: 400 } }, 400),
      json([google], 400),
    ]);

    for (const type of ['upstream_error', 'INVALID_ARGUMENT']) {
      const error = await failureOf(client.generate.content({ model, contents: 'x' }));
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({
        type,
        code: 400,
        message: expect.stringContaining('No such field.'),
      });
    }
  });

  test('is retried after a failure, because it is metered', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ operation: 'generate.content', fault: { type: 'error', status: 502 } });

    await client.generate.content({ model, contents: 'x' });

    expect(emulator.requests).toHaveLength(2);
  });
});

describe('generate.contentStream()', () => {
  test.each(['with-text', 'extra-chunk'] as const)('yields chunks, ended %s', async (style) => {
    const { client } = emulated({}, { quirks: { generateFinish: style, generateDone: true } });

    const stream = await client.generate.contentStream({ model, contents: 'What is tea?' });
    const pieces = await collect(stream);

    expect(pieces.map(({ text }) => text ?? '').join('')).toBe(
      'You said: "What is tea?" This is the answer of m-flash.',
    );
    expect(stream.verdict).toBe('complete');
  });

  test('throws if it is truncated, and keeps the received text', async () => {
    const { client, emulator } = emulated();
    const fault = { type: 'cut-events', after: 2 } as const;
    emulator.fail({ operation: 'generate.contentStream', fault });

    const stream = await client.generate.contentStream({ model, contents: 'What is tea?' });
    const error = await failureOf(collect(stream));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toHaveProperty('partial.candidates');
  });
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('receives a whole response and a stream', async () => {
    const whole = await client.generate.content({ model, contents: 'x' });
    const stream = await client.generate.contentStream({ model, contents: 'x' });
    const pieces = await collect(stream);

    expect(pieces.map(({ text }) => text ?? '').join('')).toBe(whole.text);
    expect(emulator.requests).toHaveLength(2);
  });
});
