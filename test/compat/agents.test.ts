// Frameworks that are handed a client: they are content with this one.
import createInstructor from '@instructor-ai/instructor';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ChatOpenAICompletions } from '@langchain/openai';
import { tool as llamaIndexTool } from '@llamaindex/core/tools';
import { OpenAI as LlamaIndexOpenAI } from '@llamaindex/openai';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents';
import { asOpenAI, type Gateway, StreamTruncatedError } from '../../dist/index.js';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod-3';
import { cutNextStream, setUp, spentAt } from './emulator.ts';

const question = 'What is the weather in Lisbon?';
const place = z.object({ city: z.string() });
const sunny = (): string => 'Sunny, 24 degrees';

const createAgent = (client: Gateway): Agent =>
  new Agent({
    name: 'Forecaster',
    model: new OpenAIChatCompletionsModel(asOpenAI(client), 'm-large'),
  });

const withTool = (client: Gateway): Agent =>
  createAgent(client).clone({
    tools: [
      tool({
        name: 'get_weather',
        description: 'The weather of a place',
        parameters: place,
        execute: sunny,
      }),
    ],
  });

const langChainModel = (client: Gateway): ChatOpenAICompletions => {
  const model = new ChatOpenAICompletions({ apiKey: 'not used', model: 'm-large', maxRetries: 0 });
  model.client = asOpenAI(client);
  return model;
};

const llamaIndexModel = (client: Gateway): LlamaIndexOpenAI =>
  new LlamaIndexOpenAI({ model: 'm-large', apiKey: 'not used', session: asOpenAI(client) });

const wrapWithInstructor = (client: Gateway) =>
  createInstructor({ client: asOpenAI<OpenAI>(client), mode: 'TOOLS' });

describe('@openai/agents', () => {
  beforeAll(() => setTracingDisabled(true));

  test('answers', async () => {
    const { client, emulator } = setUp();

    const { finalOutput } = await run(createAgent(client), question);

    expect(finalOutput).toContain('Lisbon');
    expect(spentAt(emulator)).toMatchObject({ requests: ['POST /v1/chat/completions'] });
  });

  test('calls tools', async () => {
    const { client, emulator } = setUp();

    const { finalOutput } = await run(withTool(client), question);

    expect(finalOutput).toContain('Sunny');
    expect(emulator.requests).toHaveLength(2);
    expect(emulator.charges).toHaveLength(2);
  });

  test('streams, with usage', async () => {
    const { client, emulator } = setUp();

    const stream = await run(createAgent(client), question, { stream: true });
    let text = '';
    for await (const event of stream.toTextStream()) text += event;
    await stream.completed;

    expect(text).toContain('Lisbon');
    expect(stream.state.usage.totalTokens).toBeGreaterThan(0);
    expect(emulator.requests).toHaveLength(1);
  });

  test('a truncated stream throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const stream = await run(createAgent(client), question, { stream: true });
    const reading = (async () => {
      for await (const _ of stream.toTextStream());
      await stream.completed;
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });

  test('a request that may have been charged is not repeated', async () => {
    const { client, emulator } = setUp();
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
    const safe = client.withOptions({ retryUnknownOutcome: false });

    await expect(run(createAgent(safe), question)).rejects.toMatchObject({ outcome: 'unknown' });
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('LangChain', () => {
  test('answers, with usage', async () => {
    const { client, emulator } = setUp();

    const answer = await langChainModel(client).invoke(question);

    expect(answer.text).toContain('Lisbon');
    expect(answer.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) });
    expect(emulator.requests).toHaveLength(1);
  });

  test('streams, with usage', async () => {
    const { client, emulator } = setUp();
    let text = '';
    let usage: unknown;

    for await (const chunk of await langChainModel(client).stream(question)) {
      text += chunk.text;
      usage = chunk.usage_metadata ?? usage;
    }

    expect(text).toContain('Lisbon');
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) });
    expect(emulator.charges).toHaveLength(1);
  });

  test('calls tools', async () => {
    const { client, emulator } = setUp();
    const weather = langChainTool(sunny, { name: 'get_weather', schema: place });

    const asked = new HumanMessage(question);
    const answer = await langChainModel(client).bindTools([weather]).invoke([asked]);
    const [call] = answer.tool_calls ?? [];
    const result = await weather.invoke(call ?? { city: '' });
    const last = await langChainModel(client).invoke([asked, answer, result]);

    expect(call).toMatchObject({ name: 'get_weather' });
    expect(last.text).toContain('Sunny');
    expect(emulator.charges).toHaveLength(2);
  });

  test('streams with tools, and events with a stop word', async () => {
    const { client, emulator } = setUp();
    const weather = langChainTool(sunny, { name: 'get_weather', schema: place });
    const model = langChainModel(client).bindTools([weather], { tool_choice: 'auto' });
    const names: (string | undefined)[] = [];
    const events: string[] = [];

    for await (const { tool_call_chunks: calls } of await model.stream(question)) {
      names.push(...(calls ?? []).map(({ name }) => name));
    }
    const options = { version: 'v2' as const, stop: ['.'] };
    for await (const { event } of langChainModel(client).streamEvents(question, options)) {
      events.push(event);
    }

    expect(names).toContain('get_weather');
    expect(events.at(-1)).toBe('on_chat_model_end');
    expect(emulator.charges).toHaveLength(2);
  });

  test('streams structured output', async () => {
    const { client, emulator } = setUp();
    const options = { method: 'jsonSchema', name: 'place' } as const;
    const model = langChainModel(client).withStructuredOutput(place, options);
    let last: unknown;

    for await (const part of await model.stream(question)) last = part;

    expect(last).toEqual({ city: expect.any(String) });
    expect(emulator.charges).toHaveLength(1);
  });

  test('structured output', async () => {
    const { client } = setUp();

    const model = langChainModel(client).withStructuredOutput(place, {
      method: 'jsonSchema',
      name: 'place',
    });

    expect(await model.invoke(question)).toEqual({ city: expect.any(String) });
  });

  test('a truncated stream throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const reading = (async () => {
      for await (const _ of await langChainModel(client).stream(question));
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('LlamaIndex', () => {
  const messages = [{ role: 'user' as const, content: question }];

  test('answers', async () => {
    const { client, emulator } = setUp();

    const { message } = await llamaIndexModel(client).chat({ messages });

    expect(message.content).toContain('Lisbon');
    expect(emulator.charges).toHaveLength(1);
  });

  test('calls tools', async () => {
    const { client, emulator } = setUp();
    const weather = llamaIndexTool({
      name: 'get_weather',
      description: 'The weather of a place',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      execute: sunny,
    });

    const { message, raw } = await llamaIndexModel(client).chat({ messages, tools: [weather] });

    expect(message.options).toMatchObject({ toolCall: [{ name: 'get_weather' }] });
    expect(raw).toMatchObject({ usage: { total_tokens: expect.any(Number) } });
    expect(emulator.charges).toHaveLength(1);
  });

  test('streams', async () => {
    const { client, emulator } = setUp();
    let text = '';

    for await (const { delta } of await llamaIndexModel(client).chat({ messages, stream: true }))
      text += delta;

    expect(text).toContain('Lisbon');
    expect(emulator.charges).toHaveLength(1);
  });

  test('a truncated stream throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const reading = (async () => {
      for await (const _ of await llamaIndexModel(client).chat({ messages, stream: true }));
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('instructor', () => {
  const schema = z3.object({ city: z3.string() });
  const asked = { model: 'm-large', messages: [{ role: 'user' as const, content: question }] };

  test('returns a value of the schema', async () => {
    const { client, emulator } = setUp();

    const answer = await wrapWithInstructor(client).chat.completions.create({
      ...asked,
      response_model: { schema, name: 'Place' },
      max_retries: 0,
    });

    expect(answer).toMatchObject({ city: expect.any(String) });
    expect(emulator.charges).toHaveLength(1);
  });

  test('streams partial values', async () => {
    const { client, emulator } = setUp();
    let last: unknown;

    const stream = await wrapWithInstructor(client).chat.completions.create({
      ...asked,
      response_model: { schema, name: 'Place' },
      stream: true,
    });
    for await (const piece of stream) last = piece;

    expect(last).toMatchObject({ city: expect.any(String) });
    expect(emulator.charges).toHaveLength(1);
  });

  // With a model for the answer, instructor splits the stream itself and loses what it throws.
  test('a truncated plain stream throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const reading = (async () => {
      const params = { ...asked, stream: true } as const;
      for await (const _ of await wrapWithInstructor(client).chat.completions.create(params));
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });
});
