import {
  APICallError,
  generateObject,
  generateText,
  isStepCount,
  Output,
  streamText,
  tool,
  type ModelMessage,
} from 'ai';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { modelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { InvalidInputError, RateLimitError, StreamTruncatedError } from '../../../src/index.ts';
import { markers } from '../../../src/testing/index.ts';
import { collect, eventStream, failureOf, json } from '../../helpers/clients.ts';
import { completion } from '../../helpers/transport.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';

const model = 'm-large';

/** The sent body, if it is JSON. */
function sent(emulator: ReturnType<typeof emulatedProvider>['emulator']): unknown[] {
  return emulator.requests.map(({ body }) => (body.kind === 'json' ? body.value : body));
}

const weather = () => {
  const execute = vi.fn(({ city }: { city: string }) => ({ city, sky: 'clear' }));
  return { execute, weather: tool({ inputSchema: z.object({ city: z.string() }), execute }) };
};

describe('text', () => {
  test('text has the cost that the gateway reports, whole and streamed', async () => {
    const quirks = { reportedCost: 'usage' } as const;
    const { provider, emulator } = emulatedProvider({}, { quirks });

    const whole = await generateText({ model: provider(model), prompt: 'Hello' });
    const stream = streamText({ model: provider(model), prompt: 'Hello' });
    await stream.consumeStream();

    const cost = (emulator.charges[0]?.amount ?? 0) / 500_000;
    expect(whole.providerMetadata?.['modelGateway']).toMatchObject({ cost });
    expect((await stream.providerMetadata)?.['modelGateway']).toMatchObject({ cost });
  });

  test('text is generated, with its usage', async () => {
    const { provider, emulator } = emulatedProvider();

    const result = await generateText({ model: provider(model), prompt: 'Hello' });

    expect(result.text).toBe('You said: "Hello" This is the answer of m-large.');
    expect(result).toMatchObject({ finishReason: 'stop', warnings: [] });
    expect(result.usage).toMatchObject({ inputTokens: expect.any(Number), totalTokens: 20 });
    expect(result.response).toMatchObject({
      modelId: model,
      id: expect.stringMatching(/^chatcmpl/),
    });
    expect(result.response.headers).toHaveProperty('x-oneapi-request-id');
    expect(emulator.charges).toHaveLength(1);
  });

  test('passes only the settings of the call to the client', async () => {
    const { provider, emulator } = emulatedProvider();
    const content = [{ type: 'text' as const, text: 'Hello' }];
    const prompt = [{ role: 'user' as const, content }];

    const plain = await provider(model).doGenerate({ prompt });
    const set = await provider(model).doGenerate({
      prompt,
      temperature: 0,
      providerOptions: { modelGateway: { timeout: 5_000, safe_prompt: true } },
    });

    const messages = [{ role: 'user', content: 'Hello' }];
    expect(plain.request?.body).toStrictEqual({ model, messages });
    expect(set.request?.body).toStrictEqual({ model, messages, temperature: 0 });
    expect(sent(emulator)).toStrictEqual([
      { model, messages },
      { model, messages, temperature: 0, safe_prompt: true },
    ]);
    expect(structuredClone(set.response?.headers)).toHaveProperty('content-type');
    expect({ ...set.response }).toHaveProperty('headers.content-type');
  });

  test('text is streamed', async () => {
    const { provider, emulator } = emulatedProvider();

    const result = streamText({ model: provider(model), prompt: 'Hello' });
    const texts = await collect(result.textStream);

    expect(texts.length).toBeGreaterThan(3);
    expect(texts.join('')).toBe('You said: "Hello" This is the answer of m-large.');
    expect(await result.finishReason).toBe('stop');
    expect(await result.totalUsage).toMatchObject({ totalTokens: 20 });
    expect(emulator.charges).toHaveLength(1);
  });

  test("every option is sent under its own name, provider options under the API's", async () => {
    const { provider, emulator } = emulatedProvider();

    await generateText({
      model: provider(model),
      system: 'Be brief.',
      prompt: 'Hello',
      maxOutputTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      stopSequences: ['END'],
      seed: 7,
      reasoning: 'low',
      headers: { 'x-tenant': 'one' },
      providerOptions: { modelGateway: { user: 'me', logit_bias: { 5: 1 }, maxRetries: 0 } },
    });

    expect(sent(emulator)).toEqual([
      {
        model,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
        max_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 3,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        stop: ['END'],
        seed: 7,
        reasoning_effort: 'low',
        user: 'me',
        logit_bias: { 5: 1 },
      },
    ]);
    expect(emulator.requests[0]?.headers).toMatchObject({ 'x-tenant': 'one' });
  });

  test('images are sent unchanged, and URLs are not downloaded', async () => {
    const { provider, emulator } = emulatedProvider();
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
    const image = new URL('https://pictures.example/cat.png');
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'file' as const, data: image, mediaType: 'image/*' },
      { type: 'file' as const, data: png, mediaType: 'image' },
    ];

    await generateText({ model: provider(model), messages: [{ role: 'user', content }] });

    expect(sent(emulator)).toMatchObject([
      {
        messages: [
          {
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: image.href } },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAAAN' } },
            ],
          },
        ],
      },
    ]);
  });

  test('reasoning is separate, and is sent back with the next message', async () => {
    const { provider, emulator } = emulatedProvider();
    const messages: ModelMessage[] = [{ role: 'user', content: 'Think' }];

    const first = await generateText({ model: provider('m-reasoning'), messages });
    messages.push(...first.response.messages, { role: 'user', content: 'Again' });
    const second = streamText({ model: provider('m-reasoning'), messages });

    expect(first.reasoningText).toMatch(/^The user wrote/);
    expect(await second.reasoningText).toBe(first.reasoningText);
    expect(sent(emulator)[1]).toMatchObject({
      messages: [
        {},
        { role: 'assistant', content: first.text, reasoning_content: first.reasoningText },
        {},
      ],
    });
  });

  test('a refusal is text with the finish reason content-filter', async () => {
    const { provider } = emulatedProvider();

    const result = await generateText({ model: provider(model), prompt: markers.refuse });

    expect(result.text).toBe('I cannot help with that.');
    expect(result.finishReason).toBe('content-filter');
  });

  test('cited pages are sources', async () => {
    const url_citation = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 1 };
    const annotations = [{ type: 'url_citation', url_citation }];
    const message = { role: 'assistant', content: 'See A', annotations };
    const whole = scriptedProvider([json({ choices: [{ message, finish_reason: 'stop' }] })]);
    const streamed = scriptedProvider([
      eventStream({ choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }, '[DONE]'),
    ]);
    const source = { sourceType: 'url', url: 'https://a.example/', title: 'A' };

    const first = await generateText({ model: whole.provider(model), prompt: 'x' });
    const second = streamText({ model: streamed.provider(model), prompt: 'x' });

    expect(first.sources).toMatchObject([source]);
    expect(await second.sources).toMatchObject([source]);
  });

  test('a response without choices is an error, whole and streamed', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 };
    const whole = scriptedProvider([
      json({ id: 'x', object: 'chat.completion', choices: [], usage }),
    ]);
    const streamed = scriptedProvider([eventStream({ id: 'x', choices: [], usage }, '[DONE]')]);
    const errors: unknown[] = [];

    const error = await failureOf(generateText({ model: whole.provider(model), prompt: 'x' }));
    const { finishReason } = streamText({
      model: streamed.provider(model),
      prompt: 'x',
      onError: (event) => void errors.push(event.error),
    });

    const expected = { name: 'AI_APICallError', isRetryable: false, outcome: 'unknown' };
    expect(error).toMatchObject({ ...expected, message: expect.stringMatching(/has no choices/) });
    await finishReason.then(undefined, () => undefined);
    expect(errors).toMatchObject([expected]);
    expect(whole.requests).toHaveLength(1);
  });

  test('reasoning that only the total counts is output too', async () => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 5,
      total_tokens: 18,
      completion_tokens_details: { reasoning_tokens: 10 },
    };
    const choices = [{ message: { content: 'Hi' }, finish_reason: 'stop' }];
    const { provider } = scriptedProvider([json({ choices, usage })]);

    const result = await generateText({ model: provider(model), prompt: 'x' });

    const outputTokenDetails = { textTokens: 5, reasoningTokens: 10 };
    expect(result.usage).toMatchObject({ outputTokens: 15, outputTokenDetails, totalTokens: 18 });
  });

  test('raw chunks are included on request', async () => {
    const { provider } = emulatedProvider();
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];

    const { stream } = await provider(model).doStream({ prompt, includeRawChunks: true });
    const raw = (await collect(stream)).filter(({ type }) => type === 'raw');

    expect(raw.length).toBeGreaterThan(3);
    expect(raw[0]).toMatchObject({ rawValue: { object: 'chat.completion.chunk' } });
  });
});

describe('tools', () => {
  test.each(['generateText', 'streamText'])('run over several steps in %s', async (name) => {
    const { provider, emulator } = emulatedProvider();
    const { execute, ...tools } = weather();
    const call = {
      model: provider(model),
      prompt: 'Weather in Rome?',
      tools,
      stopWhen: isStepCount(5),
    };

    const result = name === 'generateText' ? await generateText(call) : streamText(call);

    expect(await result.text).toBe('weather says: {"city":"Rome","sky":"clear"}');
    expect(await result.steps).toHaveLength(2);
    expect(execute).toHaveBeenCalledOnce();
    expect(emulator.charges).toHaveLength(2);
    expect(sent(emulator)[1]).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
          ],
        },
        { role: 'tool', content: '{"city":"Rome","sky":"clear"}' },
      ],
      tools: [{ type: 'function', function: { name: 'weather' } }],
      tool_choice: 'auto',
    });
  });

  test('the required tool is named', async () => {
    const { provider, emulator } = emulatedProvider();
    const { weather: rain } = weather();

    await generateText({
      model: provider(model),
      prompt: 'Hello',
      tools: { rain },
      toolChoice: { type: 'tool', toolName: 'rain' },
    });

    const choice = { type: 'function', function: { name: 'rain' } };
    expect(sent(emulator)[0]).toMatchObject({ tool_choice: choice });
  });

  test.each(['generateText', 'streamText'])('tools keep Gemini’s signature in %s', async (name) => {
    const called = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
      extra_content: { google: { thought_signature: 'c2ln' } },
    };
    const message = { role: 'assistant', content: null, tool_calls: [called] };
    const end = { index: 0, finish_reason: 'tool_calls' };
    const said = { index: 0, message: { content: 'Sunny' }, finish_reason: 'stop' };
    const { provider, requests } = scriptedProvider(
      name === 'generateText'
        ? [json({ choices: [{ ...end, message }] }), json({ choices: [said] })]
        : [
            eventStream({ choices: [{ ...end, delta: message }] }, '[DONE]'),
            eventStream({ choices: [{ ...said, delta: said.message }] }, '[DONE]'),
          ],
    );
    const { execute: _, ...tools } = weather();
    const call = { model: provider(model), prompt: 'Weather?', tools, stopWhen: isStepCount(3) };

    const result = name === 'generateText' ? await generateText(call) : streamText(call);

    expect(await result.text).toBe('Sunny');
    const { extra_content } = called;
    expect(await requests[1]?.clone().json()).toMatchObject({
      messages: [{}, { tool_calls: [{ id: 'call_1', extra_content }] }, { tool_call_id: 'call_1' }],
    });
    expect(await requests[1]?.clone().text()).not.toContain('thoughtSignature');
  });

  const weatherCall = { name: 'weather', arguments: '{"city":"Rome"}' };
  const called = { index: 0, id: 'call_1', type: 'function', function: weatherCall };
  const thought = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
  const encrypted = { type: 'reasoning.encrypted', data: 'b3Blbg==', id: 'call_1', index: 1 };

  test.each([
    {
      name: 'generateText',
      title: 'text and encrypted',
      deltas: [
        {
          reasoning: 'It rains.',
          reasoning_details: [{ ...thought, text: 'It rains.', signature: 'c2ln' }, encrypted],
        },
      ],
    },
    {
      name: 'streamText',
      title: 'text and encrypted',
      deltas: [
        { reasoning: 'It ', reasoning_details: [{ ...thought, text: 'It ' }] },
        { reasoning: 'rains.', reasoning_details: [{ ...thought, text: 'rains.' }] },
        { reasoning_details: [{ ...thought, signature: 'c2ln' }] },
        { content: 'A moment.' },
        { reasoning_details: [encrypted] },
      ],
    },
    { name: 'generateText', title: 'only encrypted', deltas: [{ reasoning_details: [encrypted] }] },
    { name: 'streamText', title: 'only encrypted', deltas: [{ reasoning_details: [encrypted] }] },
  ] as const)(
    'tools keep the reasoning details of OpenRouter in $name: $title',
    async ({ name, deltas }) => {
      const calling = { role: 'assistant', content: null, tool_calls: [called] };
      const end = { index: 0, finish_reason: 'tool_calls' };
      const said = { index: 0, message: { content: 'Sunny' }, finish_reason: 'stop' };
      const events = deltas.map((delta) => ({ choices: [{ index: 0, delta }] }));
      const { provider, requests } = scriptedProvider(
        name === 'generateText'
          ? [
              json({ choices: [{ ...end, message: { ...calling, ...deltas[0] } }] }),
              json({ choices: [said] }),
            ]
          : [
              eventStream(...events, { choices: [{ ...end, delta: calling }] }, '[DONE]'),
              eventStream({ choices: [{ ...said, delta: said.message }] }, '[DONE]'),
            ],
      );
      const { execute: __, ...tools } = weather();
      const call = { model: provider(model), prompt: 'Weather?', tools, stopWhen: isStepCount(3) };

      const result = name === 'generateText' ? await generateText(call) : streamText(call);

      expect(await result.text).toBe('Sunny');
      const body = await requests[1]?.clone().json();
      const signed = { ...thought, text: 'It rains.', signature: 'c2ln' };
      const details = deltas.length === 1 && !('reasoning' in deltas[0]) ? [] : [signed];
      expect(body.messages[1].reasoning_details).toEqual([...details, encrypted]);
      expect(body.messages[1]).not.toHaveProperty('reasoning_content');
      expect(JSON.stringify(body)).not.toContain('reasoningDetails');
    },
  );
});

describe('structured output', () => {
  const schema = z.object({ city: z.string(), days: z.number() });

  test('generateObject() and Output return structured output', async () => {
    const { provider, emulator } = emulatedProvider();
    const call = { model: provider(model), prompt: 'Three days in Lisbon' };

    const { object } = await generateObject({ ...call, schema });
    const { output } = await generateText({ ...call, output: Output.object({ schema }) });
    const streamed = streamText({ ...call, output: Output.object({ schema }) });
    const pieces = await collect(streamed.partialOutputStream);

    expect(schema.parse(object)).toEqual(object);
    expect(output).toEqual(object);
    expect(await streamed.output).toEqual(object);
    expect(pieces.at(-1)).toEqual(object);
    expect(emulator.charges).toHaveLength(3);
    for (const body of sent(emulator)) {
      expect(body).toMatchObject({
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'response', strict: true, schema: { required: ['city', 'days'] } },
        },
      });
    }
  });

  test('strict is an option, because some models reject it', async () => {
    const { provider, emulator } = emulatedProvider();
    const providerOptions = { modelGateway: { strictJsonSchema: false } };

    await generateObject({ model: provider(model), prompt: 'Hello', schema, providerOptions });

    const format = { json_schema: { strict: false } };
    expect(sent(emulator)[0]).toMatchObject({ response_format: format });
    expect(sent(emulator)[0]).not.toHaveProperty('strictJsonSchema');
  });
});

/** A tool call without arguments, as a stream or whole. */
function emptyCall(finish: string | null, text = '', isStream = true): () => Response {
  const call = {
    index: 0,
    id: 'c',
    type: 'function',
    function: { name: 'purge', arguments: text },
  };
  const choice = { index: 0, finish_reason: finish };
  const message = { role: 'assistant', tool_calls: [call] };
  return isStream
    ? eventStream({ choices: [{ ...choice, delta: message }] }, '[DONE]')
    : json({ choices: [{ ...choice, message }] });
}

/** Counts runs of a tool called with these arguments, and returns the finish reason. */
const steps = async (isStream: boolean, ...given: Parameters<typeof emptyCall>) => {
  const execute = vi.fn(() => 'done');
  const purge = tool({ inputSchema: z.object({}), execute });
  const { provider } = scriptedProvider([emptyCall(given[0], given[1], isStream)]);
  const call = { model: provider(model), prompt: 'Purge', tools: { purge } };
  const result = isStream ? streamText(call) : await generateText(call);
  return { finishReason: await result.finishReason, runs: execute.mock.calls.length };
};

describe('a truncated tool call', () => {
  test.each([true, false])(
    'a tool call that is cut at the token limit is not run, streamed: %s',
    async (isStream) => {
      expect(await steps(isStream, 'length')).toEqual({ finishReason: 'length', runs: 0 });
      expect(await steps(isStream, 'length', '{"a')).toEqual({ finishReason: 'length', runs: 0 });
    },
  );

  test.each([true, false])(
    'a truncated tool call differs from one without arguments, streamed: %s',
    async (isStream) => {
      expect(await steps(isStream, 'tool_calls')).toEqual({ finishReason: 'tool-calls', runs: 1 });
      expect(await steps(isStream, 'tool_use')).toEqual({ finishReason: 'tool-calls', runs: 1 });
    },
  );

  test('a truncated tool call differs from one of a stream without a finish reason', async () => {
    expect(await steps(true, null, '{}')).toEqual({ finishReason: 'tool-calls', runs: 1 });
  });
});

describe('a truncated stream', () => {
  test.each([
    ['cut', { type: 'cut-events', after: 5 }],
    ['ended without a reason', { type: 'no-finish', done: true }],
  ] as const)(
    'a stream that was %s emits an error, then its end as interrupted',
    async (_, fault) => {
      const { provider, emulator } = emulatedProvider();
      emulator.fail({ fault });
      const onError = vi.fn();

      const result = streamText({ model: provider(model), prompt: markers.long, onError });
      const parts = await collect(result.fullStream);

      const types = parts.map(({ type }) => type).filter((type) => type !== 'text-delta');
      expect(types).toEqual([
        'start',
        'start-step',
        'text-start',
        'text-end',
        'error',
        'finish-step',
        'finish',
      ]);
      expect(parts.at(-1)).toMatchObject({ finishReason: 'interrupted' });
      const [{ error }] = onError.mock.lastCall ?? [{}];
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ isRetryable: false, outcome: 'unknown' });
      expect(StreamTruncatedError.isInstance(error.cause)).toBe(true);
      expect(emulator.requests).toHaveLength(1);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a truncated stream calls no tool with truncated input, and makes no further step', async () => {
    const { provider, emulator } = emulatedProvider();
    const { execute, ...tools } = weather();
    emulator.fail({ fault: { type: 'cut-events', after: 5 } });

    const result = streamText({
      model: provider(model),
      prompt: 'Weather in Rome?',
      tools,
      stopWhen: isStepCount(5),
      onError: () => {},
    });
    const parts = await collect(result.fullStream);

    expect(parts.map(({ type }) => type)).toContain('tool-input-delta');
    expect(parts.map(({ type }) => type)).not.toContain('tool-call');
    expect(execute).not.toHaveBeenCalled();
    expect(emulator.charges).toHaveLength(1);
  });

  test('a stream that an error of the gateway cuts ends as an error', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'stream-error', after: 3, shape: 'error-data' } });

    const result = streamText({ model: provider(model), prompt: 'Hello', onError: () => {} });
    const parts = await collect(result.fullStream);

    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a truncated stream is interrupted if it stalls, and is charged once', async () => {
    const { provider, emulator } = emulatedProvider({ idleTimeout: 100 });
    emulator.fail({ fault: { type: 'stall-events', after: 4 } });

    const result = streamText({ model: provider(model), prompt: 'Hello', onError: () => {} });
    const parts = await collect(result.fullStream);

    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: 'interrupted' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a truncated stream does not fail if onTruncated allows it, and still ends a run of tools', async () => {
    const { provider, emulator } = emulatedProvider({ onTruncated: 'allow' });
    emulator.fail({ fault: { type: 'no-finish', done: true } });

    const result = streamText({ model: provider(model), prompt: 'Hello' });

    expect(await result.text).toContain('Hello');
    expect(await result.finishReason).toBe('interrupted');
  });
});

describe('aborts', () => {
  test('aborts end generateText with an error of the right name', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'hang', charged: true } });
    const controller = new AbortController();

    const failure = failureOf(
      generateText({ model: provider(model), prompt: 'x', abortSignal: controller.signal }),
    );
    await expect.poll(() => emulator.requests).toHaveLength(1);
    controller.abort();

    expect(await failure).toMatchObject({ name: 'AbortError', outcome: 'unknown' });
    expect(emulator.requests).toHaveLength(1);
  });

  test('aborts by the time limit of the AI SDK have its name', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'hang', charged: true }, times: 3 });

    const error = await failureOf(
      generateText({ model: provider(model), prompt: 'x', timeout: 1_000, maxRetries: 5 }),
    );

    expect(error).toMatchObject({ name: 'TimeoutError', outcome: 'unknown' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('aborts end a stream as the AI SDK ends one', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'stall-events', after: 4 } });
    const controller = new AbortController();

    const result = streamText({
      model: provider(model),
      prompt: 'Hello',
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const { type } of result.fullStream) {
      types.push(type);
      if (type === 'text-delta') controller.abort();
    }

    expect(types.at(-1)).toBe('abort');
    expect(types).not.toContain('error');
  });

  test('aborts of the reader close the connection', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const chunk = { choices: [{ index: 0, delta: { content: 'Hi' } }] };
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
      },
      cancel() {
        isCancelled = true;
      },
    });
    const headers = { 'content-type': 'text/event-stream' };
    const { provider } = scriptedProvider([() => new Response(body, { headers })]);
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];

    const { stream } = await provider(model).doStream({ prompt });
    const reader = stream.getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();

    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe('unsupported input', () => {
  test('an error describes what happened, without the request', async () => {
    const { provider, emulator } = emulatedProvider({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 30 } });

    const error = await failureOf(generateText({ model: provider(model), prompt: 'A secret' }));

    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      name: 'AI_APICallError',
      statusCode: 429,
      url: `${emulator.baseURL}/v1/chat/completions`,
      responseHeaders: { 'retry-after': '30' },
      responseBody: expect.any(String),
      isRetryable: false,
      outcome: 'rejected',
      callId: expect.any(String),
    });
    expect(error).toHaveProperty('requestBodyValues', undefined);
    expect(RateLimitError.isInstance(Object(error).cause)).toBe(true);
    expect(JSON.stringify(error)).not.toMatch(/secret|sk-/);
    expect(Object.keys(Object(error))).not.toContain('responseBody');
    expect(emulator.requests).toHaveLength(1);
  });

  test('unsupported options become warnings', async () => {
    const { provider } = emulatedProvider();
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
    const tools = [
      { type: 'provider' as const, id: 'x.search' as const, name: 'search', args: {} },
    ];

    const { warnings } = await provider(model).doGenerate({ prompt, tools });

    expect(warnings).toEqual([{ type: 'unsupported', feature: 'provider-defined tool x.search' }]);
  });

  test.each(['budget', 'limits', 'ledger', 'headers', 'maxretries', 'fetch', 'fallbackon'])(
    'the option %s of the client does nothing in provider options, which is a warning',
    async (name) => {
      const { provider, requests } = scriptedProvider([json(completion)]);
      const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
      const values = { [name]: { limit: 0 }, top_a: 1 };

      for (const transformRequestBody of [
        undefined,
        (body: object): Record<string, unknown> => ({ ...body }),
      ]) {
        const { warnings } = await provider(model, { transformRequestBody }).doGenerate({
          prompt,
          providerOptions: { modelGateway: values },
        });

        expect(warnings).toEqual([
          expect.objectContaining({ feature: `providerOptions.modelGateway.${name}` }),
        ]);
      }

      const bodies = await Promise.all(requests.map((request) => request.json()));
      for (const body of bodies) expect(body).toHaveProperty('top_a', 1);
      for (const body of bodies) expect(body).not.toHaveProperty(name);
    },
  );

  test('unreadable files are rejected before anything is sent', async () => {
    const { provider, emulator } = emulatedProvider();
    const data = new Uint8Array([1]);
    const content = [{ type: 'file' as const, data, mediaType: 'audio/flac' }];

    const error = await failureOf(
      generateText({ model: provider(model), messages: [{ role: 'user', content }] }),
    );

    expect(error).toMatchObject({ name: 'AI_UnsupportedFunctionalityError' });
    expect(emulator.requests).toEqual([]);
  });

  test.each([
    [{ maxRetries: '0' }, 'providerOptions.modelGateway.maxRetries'],
    [{ callId: 17 }, 'providerOptions.modelGateway.callId'],
    [{ timeout: -1 }, 'providerOptions.modelGateway.timeout'],
  ])('invalid options are named: %j', async (options, field) => {
    const { provider, emulator } = emulatedProvider();
    const providerOptions = { modelGateway: options };

    const error = await failureOf(
      generateText({ model: provider(model), prompt: 'Hello', providerOptions }),
    );

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
    expect(emulator.requests).toEqual([]);
  });

  test('the provider has no models for completions of plain prompts', () => {
    expect(() => emulatedProvider().provider.completionModel('any')).toThrow(
      /No such completionModel/,
    );
  });
});

describe('the provider without settings', () => {
  test('reads the environment with its first call', async () => {
    vi.stubEnv('GATEWAY_BASE_URL', undefined);
    const error = await failureOf(generateText({ model: modelGateway('any'), prompt: 'Hello' }));
    expect(error).toMatchObject({ field: 'baseURL' });

    vi.stubEnv('GATEWAY_BASE_URL', 'https://gateway.test');
    vi.stubEnv('GATEWAY_API_KEY', 'sk-test');
    const said = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] };
    vi.stubGlobal('fetch', async () => Response.json(said));

    const { text } = await generateText({ model: modelGateway('any'), prompt: 'Hello' });
    expect(text).toBe('Hi');
  });
});
