import { zodResponseFormat as theirFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  BadRequestError,
  type ChatCompletionMessageParam,
  type Gateway,
  InvalidInputError,
  InvalidOutputError,
  responseFormat,
  tool,
} from '../../src/index.ts';
import type { StructuredOutput } from '../../src/options/options.ts';
import { type EmulatorModel, type StructuredOutputDialect } from '../../src/testing/index.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const model = 'm-plain';
const messages: ChatCompletionMessageParam[] = [
  { role: 'user', content: 'Seven days in "Rome": 7' },
];
const Place = z.object({ city: z.string(), days: z.int() });
const response_format = responseFormat(Place, 'place');
const rome = { city: 'Rome', days: 7 };
const ask = { model, messages, response_format };
const look = tool({ name: 'look', execute: () => 'nothing' });

/** A client whose models support structured output only so far. */
function limited(supported: EmulatorModel['structuredOutput'], options = {}) {
  const models = ['m-plain', 'm-other'].map((id) => ({ id, structuredOutput: supported }));
  return emulated({ maxRetries: 0, ...options }, { models });
}

/** How each request asked for JSON. */
function formats({ emulator }: Pick<ReturnType<typeof emulated>, 'emulator'>): string[] {
  return emulator.requests.map(({ body }) => {
    const {
      response_format: format,
      messages: sent,
      ...rest
    } = untyped<{
      response_format?: { type: string };
      messages?: unknown;
      generationConfig?: Record<string, unknown>;
      systemInstruction?: unknown;
    }>(body.kind === 'json' ? body.value : {});
    const { generationConfig: config, systemInstruction } = rest;
    const isPrompted = JSON.stringify(sent ?? systemInstruction ?? '').includes('JSON Schema:');
    const type =
      format?.type ??
      (config?.['responseSchema'] || config?.['responseJsonSchema']
        ? 'json_schema'
        : config?.['responseMimeType']
          ? 'json_object'
          : 'none');
    return isPrompted ? `${type}, prompt` : type;
  });
}

const calls: readonly {
  readonly name: string;
  readonly run: (client: Gateway) => Promise<unknown>;
}[] = [
  {
    name: 'parse()',
    run: async (client) => (await client.chat.completions.parse(ask)).choices[0]?.message.parsed,
  },
  {
    name: 'stream()',
    run: async (client) => (await client.chat.completions.stream(ask).finalMessage()).parsed,
  },
  {
    name: 'runTools()',
    run: async (client) =>
      (await client.chat.completions.runTools({ ...ask, tools: [] }).finalMessage()).parsed,
  },
  {
    name: 'runTools() as a stream',
    run: async (client) => {
      const runner = client.chat.completions.runTools({ ...ask, tools: [], stream: true });
      return (await runner.finalMessage()).parsed;
    },
  },
];

const steps = [
  { supported: 'json_schema', sent: ['json_schema'] },
  { supported: 'json_object', sent: ['json_schema', 'json_object, prompt'] },
  { supported: 'none', sent: ['json_schema', 'json_object, prompt', 'none, prompt'] },
] as const;

describe.each(calls)('$name with a schema', ({ run }) => {
  test.each(steps)(
    'requests a model that supports $supported by $sent, with one charge',
    async ({ supported, sent }) => {
      const { client, emulator } = limited(supported);

      expect(await run(client)).toEqual(rome);

      expect(formats({ emulator })).toEqual(sent);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  // As the server of llama.cpp rejects it; without a retry of the rejected request.
  test('requests the next mode after a 500 that rejects the first one', async () => {
    const message =
      'response_format type must be one of "text" or "json_object", but got: json_schema';
    const content = JSON.stringify(rome);
    const { client, requests } = scripted([
      json({ error: { code: 500, message, type: 'server_error' } }, 500),
      json({
        id: 'c',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      }),
    ]);

    expect(await run(client)).toEqual(rome);

    expect(requests).toHaveLength(2);
    expect(await bodyOf(requests[1])).toMatchObject({ response_format: { type: 'json_object' } });
  });

  test("remembers the model's mode, also in copies of the client", async () => {
    const { client, emulator } = limited('none');
    await run(client);
    emulator.reset();

    await run(client);
    await run(client.withOptions({ timeout: 5_000 }));

    expect(formats({ emulator })).toEqual(['none, prompt', 'none, prompt']);
  });
});

describe('the mode of structured output', () => {
  test('the mode of structured output is remembered for each model', async () => {
    const { client, emulator } = limited('json_object');
    await client.chat.completions.parse(ask);
    emulator.reset();

    await client.chat.completions.parse({ ...ask, model: 'm-other' });

    expect(formats({ emulator })).toEqual(['json_schema', 'json_object, prompt']);
  });

  test('the mode of structured output is remembered for parse(), stream() and runTools() together', async () => {
    const { client, emulator } = limited('json_object');
    await client.chat.completions.stream(ask).done();
    await client.chat.completions.parse(ask);
    await client.chat.completions.stream({ ...ask, model: 'm-other' }).done();
    emulator.reset();

    await client.chat.completions.stream(ask).done();
    await client.chat.completions.parse({ ...ask, model: 'm-other' });

    expect(formats({ emulator })).toEqual(Array(2).fill('json_object, prompt'));
  });

  test('the mode of structured output is remembered separately for requests with tools', async () => {
    const { client, emulator } = limited('json_object');
    await client.chat.completions.runTools({ ...ask, tools: [look] }).done();
    emulator.reset();

    await client.chat.completions.parse(ask);

    expect(formats({ emulator })).toEqual(['json_schema', 'json_object, prompt']);
  });

  test('the mode of structured output is that of the first completion in a run of tools', async () => {
    const { client, emulator } = limited('none');

    await client.chat.completions.runTools({ ...ask, tools: [look] }).done();

    expect(formats({ emulator })).toEqual([
      'json_schema',
      'json_object, prompt',
      'none, prompt',
      'none, prompt',
    ]);
    expect(emulator.charges).toHaveLength(2);
  });

  test('the mode of structured output is not changed by create()', async () => {
    const { client, emulator } = limited('none');

    const error = await failureOf(client.chat.completions.create(ask));

    expect(error).toBeInstanceOf(BadRequestError);
    expect(formats({ emulator })).toEqual(['json_schema']);
  });

  test.each([
    { structuredOutput: 'json_schema', sent: 'json_schema' },
    { structuredOutput: 'json_object', sent: 'json_object, prompt' },
    { structuredOutput: 'prompt', sent: 'none, prompt' },
  ] as const)(
    'the mode of structured output is $structuredOutput if the option of a call or client sets it',
    async ({ structuredOutput, sent }) => {
      const { client, emulator } = limited('json_schema');

      await client.chat.completions.parse(ask, { structuredOutput });
      await client.withOptions({ structuredOutput }).chat.completions.parse(ask);
      await client.chat.completions.parse(ask);

      expect(formats({ emulator })).toEqual([sent, sent, 'json_schema']);
    },
  );

  test('the mode of structured output is fixed if the option sets it', async () => {
    const { client, emulator } = limited('none');

    const error = await failureOf(
      client.chat.completions.parse(ask, { structuredOutput: 'json_object' }),
    );

    expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
    expect(emulator.requests).toHaveLength(1);
  });

  test.each(['json', '', 1, true])('the mode of structured output cannot be %j', async (value) => {
    const { client, emulator } = limited('json_schema');
    const structuredOutput = untyped<StructuredOutput>(value);

    const error = await failureOf(client.chat.completions.parse(ask, { structuredOutput }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', 'structuredOutput');
    expect(() => client.withOptions({ structuredOutput })).toThrow(InvalidInputError);
    expect(emulator.requests).toHaveLength(0);
  });

  test.each<StructuredOutputDialect>([
    'openai',
    'azure',
    'cloudflare',
    'deepseek',
    'fastapi',
    'google',
    'groq',
    'siliconflow',
    'volcengine',
    'xai',
  ])(
    'the mode of structured output changes after a rejection by %s',
    async (structuredOutputError) => {
      const { client, emulator } = limited('none');
      emulator.quirks.structuredOutputError = structuredOutputError;

      const { choices } = await client.chat.completions.parse(ask);

      expect(choices[0]?.message.parsed).toEqual(rome);
      expect(emulator.requests).toHaveLength(3);
    },
  );

  test('the mode of structured output skips JSON mode, which returns objects only, for a schema of a list', async () => {
    const { client, emulator } = limited('none');

    await client.chat.completions.parse({
      ...ask,
      response_format: responseFormat(z.array(Place)),
    });

    expect(formats({ emulator })).toEqual(['json_schema', 'none, prompt']);
  });

  test('the mode of structured output is that of each model of a fallback', async () => {
    const { client, emulator } = limited('json_object', { fallback: ['m-other'] });
    // Skips the first request to the model, which is rejected for its format.
    emulator.fail({
      fault: { type: 'rate-limit', retryAfter: 0 },
      when: ({ body }) => JSON.stringify(body).includes('"m-plain"'),
      after: 1,
    });

    const { choices } = await client.chat.completions.parse(ask);

    expect(choices[0]?.message.parsed).toEqual(rome);
    expect(formats({ emulator })).toEqual([
      'json_schema',
      'json_object, prompt',
      'json_schema',
      'json_object, prompt',
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('the mode of structured output does not change after another error, such as a rate limit', async () => {
    const { client, emulator } = limited('json_schema');
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 1 } });

    await failureOf(client.chat.completions.parse(ask));
    await client.chat.completions.parse(ask);

    expect(formats({ emulator })).toEqual(['json_schema', 'json_schema']);
  });

  test('the mode of structured output does not change after a rejection of the schema itself', async () => {
    const message = "Invalid schema for response_format 'place': 'city' is missing.";
    const { client, requests } = scripted([
      json({ error: { message, param: 'response_format', type: 'invalid_request_error' } }, 400),
    ]);

    const error = await failureOf(client.chat.completions.parse(ask));

    expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
    expect(requests).toHaveLength(1);
  });

  test('the mode of structured output is not remembered if no mode worked, and the error has every attempt', async () => {
    const refused = json({ error: { message: 'No response_format today' } }, 400);
    const { client, requests } = scripted([refused]);

    const error = await failureOf(client.chat.completions.parse(ask));
    await failureOf(client.chat.completions.parse(ask));

    expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
    expect(error).toHaveProperty('evidence.attempts.length', 3);
    expect(requests).toHaveLength(6);
  });
});

/** A chunk of a streamed completion. */
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model,
  choices: [{ index: 0, delta, finish_reason }],
});

describe('a stream whose first event rejects the mode', () => {
  const rejection = { error: { message: 'This response_format type is unavailable now' } };
  const answer = eventStream(chunk({ content: JSON.stringify(rome) }), chunk({}, 'stop'), '[DONE]');

  test.each([
    { name: 'stream()', run: calls[1]?.run },
    { name: 'runTools() as a stream', run: calls[3]?.run },
  ])(
    'a stream whose first event rejects the mode is followed by the next mode: $name',
    async ({ run }) => {
      const { client, requests } = scripted([eventStream(rejection), answer]);

      expect(await run?.(client)).toEqual(rome);

      expect(requests).toHaveLength(2);
      expect(await bodyOf(requests[1])).toHaveProperty('response_format', { type: 'json_object' });
    },
  );

  test.each([
    { name: 'content came first', answers: [eventStream(chunk({ content: '{' }), rejection)] },
    {
      name: 'the option forbids it',
      answers: [eventStream(rejection)],
      options: { retryUnknownOutcome: false },
    },
    { name: 'it is another error', answers: [eventStream({ error: { message: 'Overloaded' } })] },
  ])(
    'a stream whose first event rejects the mode is not followed, if $name',
    async ({ answers, options = {} }) => {
      const { client, requests } = scripted(answers, options);

      const error = await failureOf(client.chat.completions.stream(ask).done());

      expect(error).toHaveProperty('outcome', 'unknown');
      expect(requests).toHaveLength(1);
    },
  );

  const google = {
    model,
    contents: 'Seven days in Rome',
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: {} },
  };
  const googleAnswer = {
    candidates: [{ content: { parts: [{ text: '{}' }] }, finishReason: 'STOP' }],
  };

  test('a stream whose first event rejects the mode is followed by the next mode: generate.contentStream()', async () => {
    const { client, requests } = scripted([eventStream(rejection), eventStream(googleAnswer)]);

    const chunks = await collect(await client.generate.contentStream(google));

    expect(chunks).toHaveLength(1);
    expect(requests).toHaveLength(2);
    expect(await bodyOf(requests[1])).toHaveProperty('generationConfig', {
      responseMimeType: 'application/json',
    });
  });

  test('a stream whose first event rejects the mode is one call: one time limit, an idempotency key for each request, all attempts', async () => {
    const { client, requests } = scripted([eventStream(rejection)], {
      idempotency: { header: 'idempotency-key' },
      maxRetries: 0,
    });

    const error = await failureOf(client.chat.completions.stream(ask).done());

    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(3);
    expect(error).toMatchObject({ outcome: 'unknown', evidence: { attempts: { length: 3 } } });
  });

  test('a stream whose first event rejects the mode requests the same model in the next mode before a fallback', async () => {
    const asked: string[] = [];
    const { client, requests } = scripted([eventStream(rejection), answer], {
      fallback: ['m-other'],
      onFallback: ({ to }: { to: string }) => asked.push(to),
    });

    const { parsed } = await client.chat.completions.stream(ask).finalMessage();

    expect(parsed).toEqual(rome);
    expect(asked).toEqual([]);
    expect(await bodyOf(requests[1])).toHaveProperty('model', model);
    expect(requests).toHaveLength(2);
  });

  test('a stream whose first event rejects the mode is not remembered as a mode that works', async () => {
    const { client, requests } = scripted([
      eventStream(rejection),
      eventStream(rejection),
      answer,
      answer,
    ]);
    await client.chat.completions.stream(ask).done();

    await client.chat.completions.stream(ask).done();

    expect(requests).toHaveLength(4);
    expect(await bodyOf(requests[3])).not.toHaveProperty('response_format');
  });

  test('a stream whose first event rejects the mode is forgotten as a mode that works, also if the next request fails', async () => {
    const { client, requests } = scripted([
      eventStream(rejection),
      eventStream(rejection),
      json({ error: { message: 'No' } }, 400),
      answer,
    ]);
    await failureOf(client.chat.completions.stream(ask).done());

    await client.chat.completions.stream(ask).done();

    expect(requests).toHaveLength(4);
    expect(await bodyOf(requests[3])).toHaveProperty('response_format.type', 'json_schema');
  });

  test('a stream whose first event rejects the mode is followed within the total time limit', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client, requests } = scripted([eventStream(rejection), () => new Promise(() => {})], {
      totalTimeout: 10_000,
      timeout: 60_000,
    });
    const failing = failureOf(client.chat.completions.stream(ask).done());
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await failing).toHaveProperty('outcome', 'unknown');
    expect(requests).toHaveLength(2);
  });

  test('a stream whose first event rejects the mode is not followed as a whole response, if the option forbids it', async () => {
    const { client, requests } = scripted([json(rejection)], { retryUnknownOutcome: false });

    const error = await failureOf(client.chat.completions.parse(ask));

    expect(error).toHaveProperty('outcome', 'unknown');
    expect(requests).toHaveLength(1);
  });

  test('a whole response that rejects the mode is followed by the next mode too', async () => {
    const { client, requests } = scripted([json(rejection), completion(JSON.stringify(rome))]);

    const { choices } = await client.chat.completions.parse(ask);

    expect(choices[0]?.message.parsed).toEqual(rome);
    expect(requests).toHaveLength(2);
  });
});

/** A completion with a text. */
const completion = (content: string) =>
  json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });

describe('the prompt', () => {
  const instruction = expect.stringContaining('JSON Schema:\n{"type":"object"');

  test.each([
    { name: 'no system message', before: [], after: { role: 'system', content: instruction } },
    {
      name: 'a system message',
      before: [{ role: 'system', content: 'Be brief.' }],
      after: { role: 'system', content: expect.stringMatching(/^Be brief\.\n\n.*JSON Schema/s) },
    },
    {
      name: 'a message of the developer in parts',
      before: [{ role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] }],
      after: {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: instruction },
        ],
      },
    },
  ])('the prompt with $name has the schema once, at its start', async ({ before, after }) => {
    const { client, requests } = scripted([completion(JSON.stringify(rome))]);
    const all = untyped<ChatCompletionMessageParam[]>([...before, ...messages]);

    await client.chat.completions.parse(
      { ...ask, messages: all },
      { structuredOutput: 'json_object' },
    );

    expect(await bodyOf(requests[0])).toEqual({
      model,
      messages: [after, ...messages],
      response_format: { type: 'json_object' },
    });
    expect(all).toHaveLength(before.length + 1);
  });
});

describe('the response', () => {
  const prose = `Here is [1] the plan:\n\n${JSON.stringify(rome)}\n\nHave a nice {trip}!`;

  test.each([
    { structuredOutput: 'json_schema', content: JSON.stringify(rome), isRead: true },
    {
      structuredOutput: 'json_schema',
      content: `\`\`\`json\n${JSON.stringify(rome)}\n\`\`\``,
      isRead: true,
    },
    { structuredOutput: 'json_schema', content: prose, isRead: true },
    { structuredOutput: 'json_object', content: prose, isRead: true },
    { structuredOutput: 'prompt', content: prose, isRead: true },
    { structuredOutput: 'prompt', content: `${prose}${JSON.stringify(rome)}`, isRead: false },
    { structuredOutput: 'prompt', content: 'I cannot do that.', isRead: false },
    { structuredOutput: 'prompt', content: 'The plan: {"city":"Rome"}', isRead: false },
  ] as const)(
    'a response in the mode $structuredOutput is read: $isRead ($content)',
    async ({ structuredOutput, content, isRead }) => {
      const { client, requests } = scripted([completion(content)]);

      const call = client.chat.completions.parse(ask, { structuredOutput });

      if (isRead) expect((await call).choices[0]?.message.parsed).toEqual(rome);
      else expect(await failureOf(call)).toBeInstanceOf(InvalidOutputError);
      expect(requests).toHaveLength(1);
    },
  );

  test('a response with prose is read by the parser of another package too', async () => {
    const { client } = scripted([completion(prose)]);

    const { choices } = await client.chat.completions.parse(
      { ...ask, response_format: theirFormat(Place, 'place') },
      { structuredOutput: 'prompt' },
    );

    expect(choices[0]?.message.parsed).toEqual(rome);
  });

  test('a response that does not match after a rejection is an error without another request, and the mode is remembered', async () => {
    const refused = json({ error: { message: 'Json mode is not enabled' } }, 400);
    const { client, requests } = scripted([refused, completion('{"city":7}')]);

    const error = await failureOf(client.chat.completions.parse(ask));
    const again = await failureOf(client.chat.completions.parse(ask));

    expect([error, again].map((one) => InvalidOutputError.isInstance(one))).toEqual([true, true]);
    expect(error).toMatchObject({ evidence: { attempts: [{ status: 400 }, { status: 200 }] } });
    expect(requests).toHaveLength(3);
  });
});

describe('generate with a schema', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
  };
  const params = (field: 'responseSchema' | 'responseJsonSchema') => ({
    model,
    contents: 'Seven days in "Rome": 7',
    systemInstruction: 'Be brief.',
    generationConfig: { responseMimeType: 'application/json', [field]: schema },
  });
  const fields = ['responseSchema', 'responseJsonSchema'] as const;

  test.each(fields.flatMap((field) => steps.map((step) => ({ field, ...step }))))(
    'a schema in $field requests a model that supports $supported by $sent, with one charge',
    async ({ field, supported, sent }) => {
      const { client, emulator } = limited(supported);

      const { text } = await client.generate.content(params(field));
      const format = responseFormat(Place);

      expect(await format.$parseRaw(text ?? '')).toEqual(rome);
      expect(formats({ emulator })).toEqual(sent);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a stream with a schema, and with functions, does the same', async () => {
    const { client, emulator } = limited('json_object');

    const stream = await client.generate.contentStream(params('responseSchema'));
    let text = '';
    for await (const piece of stream) text += piece.text ?? '';
    const { response } = await client.generate.runTools({
      ...params('responseSchema'),
      functions: [look],
    });

    expect([JSON.parse(text), JSON.parse(response.text ?? '')]).toEqual([rome, rome]);
    expect(formats({ emulator })).toEqual([
      'json_schema',
      'json_object, prompt',
      'json_schema',
      'json_object, prompt',
      'json_object, prompt',
    ]);
    expect(emulator.charges).toHaveLength(3);
  });

  test("keeps the caller's instruction", async () => {
    const { client, emulator } = limited('json_object');

    await client.generate.content(params('responseSchema'));

    expect(emulator.requests[1]?.body).toHaveProperty('value.systemInstruction.parts', [
      { text: 'Be brief.' },
      { text: expect.stringContaining('JSON Schema:\n') },
    ]);
  });

  test('a schema of an enum, which is not JSON, has one mode', async () => {
    const { client, emulator } = emulated(
      {},
      { models: [{ id: model, structuredOutput: 'none' }] },
    );
    const generationConfig = {
      responseMimeType: 'text/x.enum',
      responseSchema: { type: 'STRING', enum: ['a', 'b'] },
    };

    await failureOf(client.generate.content({ model, contents: 'Which?', generationConfig }));

    expect(emulator.requests).toHaveLength(1);
  });
});
