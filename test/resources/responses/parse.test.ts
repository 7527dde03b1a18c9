import { describe, expect, expectTypeOf, test } from 'vitest';
import { zodResponsesFunction as theirFunction, zodTextFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import {
  ContentFilterFinishReasonError,
  InvalidInputError,
  InvalidOutputError,
  LengthFinishReasonError,
  OutputError,
  responseFormat,
  usageOf,
} from '../../../src/index.ts';
import { standardTextFormat } from '../../../src/adapters/helpers/standard-schema.ts';
import {
  zodResponsesFunction,
  zodTextFormat as ourTextFormat,
} from '../../../src/adapters/helpers/zod.ts';
import { tool } from '../../../src/index.ts';
import { bodyOf, emulated, failureOf, json, misuse, scripted } from '../../helpers/clients.ts';

const place = z.object({ city: z.string() });
const format = responseFormat(place, 'place');
const ask = { model: 'm', input: 'Where?', text: { format } };
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };

const message = (text: string, fields = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...fields,
});
const call = { type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' };
const refusal = message('', { content: [{ type: 'refusal', refusal: 'No.' }] });
const answer = (output: unknown[], fields = {}) =>
  json({ id: 'resp_1', object: 'response', status: 'completed', output, usage, ...fields });
const lisbon = message('{"city":"Lisbon"}');

describe('parse()', () => {
  test('returns the validated value of a format of responseFormat()', async () => {
    const { client, requests } = scripted([answer([lisbon])]);

    const response = await client.responses.parse(ask);

    expectTypeOf(response.output_parsed).toEqualTypeOf<{ city: string } | null>();
    expect(response.output_parsed).toEqual({ city: 'Lisbon' });
    expect(response.output_text).toBe('{"city":"Lisbon"}');
    const { schema } = format.json_schema;
    expect(await bodyOf(requests[0])).toEqual({
      model: 'm',
      input: 'Where?',
      text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
    });
  });

  test('returns the value of zodTextFormat() of openai, whose parser is not sent', async () => {
    const { client, requests } = scripted([answer([lisbon])]);
    const textFormat = zodTextFormat(place, 'place');

    const response = await client.responses.parse({ ...ask, text: { format: textFormat } });

    expectTypeOf(response.output_parsed).toEqualTypeOf<{ city: string } | null>();
    expect(response.output_parsed).toEqual({ city: 'Lisbon' });
    const sent: unknown = JSON.parse(JSON.stringify(textFormat));
    expect(await bodyOf(requests[0])).toMatchObject({ text: { format: sent } });
  });

  test('parses text of a plain schema, and no other text', async () => {
    const { client } = scripted([answer([lisbon])]);
    const plain = { type: 'json_schema', name: 'place', schema: {} } as const;

    const parsed = await client.responses.parse({ ...ask, text: { format: plain } });
    expectTypeOf(parsed.output_parsed).toBeUnknown();
    expect(parsed.output_parsed).toEqual({ city: 'Lisbon' });
    const text = await client.responses.parse({ model: 'm', input: 'x' });
    expectTypeOf(text.output_parsed).toBeNull();
    expect(text.output_parsed).toBeNull();
  });

  test.each([
    ['our zodTextFormat()', ourTextFormat(place, 'place')],
    ['our standardTextFormat()', standardTextFormat(place, 'place')],
  ])('returns the value of %s, whose parser is not sent', async (_, textFormat) => {
    const { client, requests } = scripted([answer([lisbon])]);

    const response = await client.responses.parse({ ...ask, text: { format: textFormat } });

    expectTypeOf(response.output_parsed).toEqualTypeOf<{ city: string } | null>();
    expect(response.output_parsed).toEqual({ city: 'Lisbon' });
    const { schema } = format.json_schema;
    const sent = { type: 'json_schema', name: 'place', schema, strict: true };
    expect(await bodyOf(requests[0])).toHaveProperty('text.format', sent);
  });

  test('is validated by the emulator too', async () => {
    const { client, emulator } = emulated();

    const { output_parsed: parsed } = await client.responses.parse({ ...ask, model: 'm-chat' });

    expect(parsed).toEqual({ city: expect.any(String) });
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['after a commentary', [message('Let me see.', { phase: 'commentary' }), lisbon]],
    ['before a commentary', [lisbon, message('That was it.', { phase: 'commentary' })]],
    ['of the final answer', [message('{', { phase: null }), { ...lisbon, phase: 'final_answer' }]],
    ['after an earlier message', [message('I search.'), call, lisbon]],
    ['before an empty message', [lisbon, message('')]],
    ['in a code fence', [message('```json\n{"city":"Lisbon"}\n```')]],
    [
      'in several parts',
      [
        message('', {
          content: [
            null,
            { type: 'output_text', text: '{"city":' },
            { type: 'output_text', text: '"Lisbon"}' },
          ],
        }),
      ],
    ],
  ])('parses the final message %s', async (_, output) => {
    const { client } = scripted([answer(output)]);
    expect((await client.responses.parse(ask)).output_parsed).toEqual({ city: 'Lisbon' });
  });

  test.each([
    ['no output', []],
    ['an empty message', [message('')]],
    ['only reasoning', [{ type: 'reasoning', summary: [] }]],
    ['only a commentary', [message('Let me see.', { phase: 'commentary' })]],
  ])('throws for %s, with the response', async (_, output) => {
    const { client } = scripted([answer(output)]);

    const error = await failureOf(client.responses.parse(ask));

    expect(error).toBeInstanceOf(InvalidOutputError);
    expect(error).toMatchObject({
      message: expect.stringContaining('The answer cannot be parsed: it is not valid JSON.'),
      response: { output: { length: output.length } },
    });
  });

  test.each([
    ['a refusal', [refusal], {}],
    ['a refusal after an answer', [lisbon, refusal], {}],
    [
      'a refusal next to text',
      [message('', { content: [{ type: 'output_text', text: '{"ci' }, ...refusal.content] })],
      {},
    ],
    ['a call', [call], {}],
    ['text next to a call', [message('I search.'), call], {}],
    ['a queued response', [], { status: 'queued' }],
  ])('returns null for %s', async (_, output, fields) => {
    const { client } = scripted([answer(output, fields)]);
    expect((await client.responses.parse(ask)).output_parsed).toBeNull();
  });

  test.each([
    [
      'was cut at its limit',
      answer([message('{"ci')], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      LengthFinishReasonError,
    ],
    [
      'was filtered',
      answer([message('{"ci')], {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
      }),
      ContentFilterFinishReasonError,
    ],
    ['is not JSON', answer([message('Lisbon')]), InvalidOutputError],
    ['does not match', answer([message('{"town":1}')]), InvalidOutputError],
  ])('throws if the text %s, with the paid response', async (_, made, ErrorClass) => {
    const { client, requests } = scripted([made]);

    const failure = await failureOf(client.responses.parse(ask));

    expect(failure).toBeInstanceOf(ErrorClass);
    expect(failure).toBeInstanceOf(OutputError);
    expect(failure).toMatchObject({
      outcome: 'unknown',
      advice: expect.stringContaining('`response`'),
      evidence: { attempts: [{ phase: 'body', status: 200 }] },
      response: { id: 'resp_1', usage },
    });
    expect(failure).not.toHaveProperty('completion');
    expect(usageOf(failure)).toMatchObject({ inputTokens: 3 });
    expect(requests).toHaveLength(1);
  });

  test('names the mismatches', async () => {
    const { client } = scripted([answer([message('{"town":1}')])]);
    const failure = await failureOf(client.responses.parse(ask));
    expect(failure).toMatchObject({ issues: [{ path: 'city' }] });
  });

  test('rejects stream before anything is sent', async () => {
    const { client, requests } = scripted([answer([lisbon])]);

    const failure = await failureOf(misuse(client.responses, 'parse', { ...ask, stream: true }));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('field', 'stream');
    expect(requests).toHaveLength(0);
  });

  test('has the raw response', async () => {
    const { client } = scripted([answer([lisbon])]);
    const { data, response } = await client.responses.parse(ask).withResponse();
    expect(data.output_parsed).toEqual({ city: 'Lisbon' });
    expect(response.status).toBe(200);
  });
});

const find = (text: string, fields = {}) => ({
  ...call,
  name: 'find',
  arguments: text,
  ...fields,
});

describe('arguments of calls', () => {
  const parameters = z.object({ city: z.string() });
  const strictTool = {
    type: 'function',
    name: 'find',
    strict: true,
    parameters: { type: 'object' },
  } as const;
  const tools = {
    'zodResponsesFunction()': zodResponsesFunction({ name: 'find', parameters }),
    'zodResponsesFunction() of openai': theirFunction({ name: 'find', parameters }),
    'tool()': tool({ name: 'find', schema: parameters }),
    'a strict tool': strictTool,
    'a namespace': { type: 'namespace', name: 'places', tools: [strictTool] } as const,
  };

  test.each(Object.entries(tools))(
    'arguments of calls are parsed for %s, and can be sent back',
    async (name, used) => {
      const { client } = scripted([
        answer([find('{"city":"Rome"}', name === 'a namespace' ? { namespace: 'places' } : {})]),
      ]);

      const { output } = await client.responses.parse({ model: 'm', input: 'x', tools: [used] });

      expect(output).toMatchObject([{ parsed_arguments: { city: 'Rome' } }]);
      expect(JSON.stringify(output)).not.toContain('parsed_arguments');
    },
  );

  test.each([
    ['a tool that is not strict', [{ ...strictTool, strict: false }], 'completed'],
    ['an unknown tool', [], 'completed'],
    ['a queued response', [strictTool], 'in_progress'],
  ])('arguments of calls are null for %s', async (_, used, status) => {
    const { client } = scripted([answer([find('{"city":"Rome"}')], { status })]);
    const { output } = await client.responses.parse({ model: 'm', input: 'x', tools: used });
    expect(output).toMatchObject([{ parsed_arguments: null }]);
  });

  test.each([
    ['do not match', tools['zodResponsesFunction()'], '{"town":1}', [{ path: 'city' }]],
    ['are not JSON', strictTool, '{"city', []],
  ])('arguments that %s are an error with the paid response', async (_, used, text, issues) => {
    const { client, requests } = scripted([answer([find(text)])]);

    const failure = await failureOf(
      client.responses.parse({ model: 'm', input: 'x', tools: [used] }),
    );

    expect(failure).toBeInstanceOf(InvalidOutputError);
    expect(failure).toMatchObject({
      message: expect.stringContaining('The arguments of "find" cannot be parsed'),
      issues,
      response: { id: 'resp_1', usage },
    });
    expect(requests).toHaveLength(1);
  });
});
