import { describe, expect, test } from 'vitest';
import { markers } from '../../src/testing/index.ts';
import {
  eventData,
  eventObjects,
  newClient,
  type PlainClient,
} from '../helpers/emulator-client.ts';

const contents = [{ role: 'user', parts: [{ text: 'What is tea?' }] }];

function callers({ post }: PlainClient) {
  return {
    generate: (fields: object) => post('/v1beta/models/m-flash:generateContent', fields),
    stream: (fields: object) =>
      post('/v1beta/models/m-flash:streamGenerateContent?alt=sse', fields),
  };
}

const marked = (marker: string): object => ({ contents: [{ parts: [{ text: marker }] }] });

describe('generateContent', () => {
  test('responds in the format of the compatible interface', async () => {
    const { generate } = callers(newClient());

    const response = await generate({ contents });

    expect(await response.json()).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'You said: "What is tea?" This is the answer of m-flash.' }],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 4,
        candidatesTokenCount: 19,
        totalTokenCount: 23,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4 }],
      },
      modelVersion: 'm-flash',
      responseId: expect.any(String),
    });
  });

  test.each([
    {},
    { contents: { parts: [{ text: 'x' }] } },
    { contents: [{ parts: { text: 'x' } }] },
    { contents, safetySettings: { category: 'x' } },
  ])('rejects %j in the format of other routes', async (fields) => {
    const { generate } = callers(newClient());

    const response = await generate(fields);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'new_api_error', code: 'invalid_request' },
    });
  });

  test('calls functions and responds with their results', async () => {
    const { generate } = callers(newClient());
    const parameters = { type: 'OBJECT', properties: { city: { type: 'STRING' } } };
    const tools = [{ functionDeclarations: [{ name: 'weather', parameters }] }];
    const ask = { role: 'user', parts: [{ text: 'The weather in Paris' }] };

    const { candidates } = await (await generate({ contents: [ask], tools })).json();
    const [part] = candidates[0].content.parts;
    const functionResponse = { name: 'weather', response: { degrees: 21 } };
    const answer = { role: 'user', parts: [{ functionResponse }] };
    const final = await generate({ contents: [ask, candidates[0].content, answer], tools });

    expect(part.functionCall).toMatchObject({ name: 'weather', args: { city: 'Paris' } });
    expect(await final.json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'weather says: {"degrees":21}' }] } }],
    });
  });

  test('returns thoughts, images, token counts and truncated text on request', async () => {
    const { generate } = callers(newClient());

    const response = await generate({
      contents,
      generationConfig: {
        thinkingConfig: { includeThoughts: true },
        responseModalities: ['TEXT', 'IMAGE'],
        max_output_tokens: 2,
        candidateCount: 2,
      },
    });
    const { candidates } = await response.json();

    expect(candidates).toHaveLength(2);
    expect(candidates[0]).toMatchObject({
      content: {
        parts: [
          { thought: true },
          { text: 'You said' },
          { inlineData: { mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) } },
        ],
      },
      finishReason: 'MAX_TOKENS',
    });
  });

  test('responds in JSON on request', async () => {
    const { generate } = callers(newClient());
    const responseSchema = { type: 'OBJECT', properties: { n: { type: 'INTEGER' } } };

    const response = await generate({
      contents,
      generationConfig: { responseMimeType: 'application/json', responseSchema },
    });
    const { candidates } = await response.json();

    expect(JSON.parse(candidates[0].content.parts[0].text)).toEqual({ n: 1 });
  });

  test('blocks a prompt and a response by a marker, and charges both', async () => {
    const client = newClient();
    const { generate } = callers(client);

    const blocked = await (await generate(marked(markers.block))).json();
    const filtered = await (await generate(marked(markers.filter))).json();

    expect(blocked).toMatchObject({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
    expect(blocked).not.toHaveProperty('candidates');
    expect(filtered.candidates).toMatchObject([{ finishReason: 'SAFETY', index: 0 }]);
    expect(filtered.candidates[0]).not.toHaveProperty('content');
    expect(client.emulator.charges).toHaveLength(2);
  });
});

describe('streamGenerateContent', () => {
  test('streams parts and ends without [DONE]', async () => {
    const { stream } = callers(newClient());

    const response = await stream({ contents });
    const data = await eventData(response);
    const chunks = data.map((text) => JSON.parse(text));

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(data).not.toContain('[DONE]');
    expect(chunks.map((chunk) => chunk.candidates[0].content.parts[0].text).join('')).toBe(
      'You said: "What is tea?" This is the answer of m-flash.',
    );
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { totalTokenCount: 23 },
    });
  });

  test('streamGenerateContent is also what generateContent does with alt=sse', async () => {
    const { post } = newClient();

    const response = await post('/v1beta/models/m-flash:generateContent?alt=sse', { contents });

    expect(response.headers.get('content-type')).toBe('text/event-stream');
  });

  test('streamGenerateContent has the keys, usage and end of the quirks', async () => {
    const quirks = {
      generateKeys: 'snake',
      generateUsage: 'last-chunk',
      generateFinish: 'extra-chunk',
      generateDone: true,
      lineEnding: 'crlf',
    } as const;
    const { stream } = callers(newClient({ quirks }));

    const response = await stream({ contents });
    const text = await response.clone().text();
    const chunks = await eventObjects(response);

    expect(text.endsWith('data: [DONE]\r\n\r\n')).toBe(true);
    expect(chunks[0]).not.toHaveProperty('usage_metadata');
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ content: { parts: [] }, finish_reason: 'STOP' }],
      usage_metadata: { total_token_count: 23 },
    });
  });

  test('reports a blocked prompt in its only event', async () => {
    const { stream } = callers(newClient());

    const chunks = await eventObjects(await stream(marked(markers.block)));

    expect(chunks).toMatchObject([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }]);
  });
});
