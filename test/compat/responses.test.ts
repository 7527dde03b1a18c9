// Frameworks that use the Responses API with a client that is handed to them.
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ChatOpenAIResponses } from '@langchain/openai';
import { tool as llamaIndexTool } from '@llamaindex/core/tools';
import { OpenAIResponses as LlamaIndexResponses } from '@llamaindex/openai';
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import { generateText, isStepCount, Output, streamText, tool as aiTool } from 'ai';
import OpenAI from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { asOpenAI, type Gateway, StreamTruncatedError } from '../../dist/index.js';
import { createEmulator } from '../../dist/testing/index.js';
import { cutNextStream, setUp, spentAt } from './emulator.ts';

const question = 'What is the weather in Lisbon?';
const place = z.object({ city: z.string() });
const sunny = (): string => 'Sunny, 24 degrees';
const requests = ['POST /v1/responses'];

const createAgent = (client: Gateway) =>
  new Agent({
    name: 'Forecaster',
    model: new OpenAIResponsesModel(asOpenAI<OpenAI>(client), 'm-large'),
  });

const startAISDK = () => {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const openai = createOpenAI({ apiKey, baseURL: `${baseURL}/v1`, fetch });
  return { emulator, model: openai.responses('m-large') };
};

const langChainModel = (client: Gateway): ChatOpenAIResponses => {
  const model = new ChatOpenAIResponses({ apiKey: 'not used', model: 'm-large', maxRetries: 0 });
  model.client = asOpenAI(client);
  return model;
};

const llamaIndexModel = (client: Gateway): LlamaIndexResponses =>
  new LlamaIndexResponses({ model: 'm-large', apiKey: 'not used', session: asOpenAI(client) });

describe('@openai/agents', () => {
  beforeAll(() => setTracingDisabled(true));

  test('answers', async () => {
    const { client, emulator } = setUp();

    const { finalOutput } = await run(createAgent(client), question);

    expect(finalOutput).toContain('Lisbon');
    expect(spentAt(emulator)).toMatchObject({ requests });
  });

  test('calls tools', async () => {
    const { client, emulator } = setUp();
    const weather = tool({
      name: 'get_weather',
      description: 'The weather of a place',
      parameters: place,
      execute: sunny,
    });

    const { finalOutput } = await run(createAgent(client).clone({ tools: [weather] }), question);

    expect(finalOutput).toContain('Sunny');
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

  test('an agent of @openai/agents has an output type', async () => {
    const { client } = setUp();
    const agent = new Agent({
      name: 'Forecaster',
      model: new OpenAIResponsesModel(asOpenAI<OpenAI>(client), 'm-large'),
      outputType: place,
    });

    const { finalOutput } = await run(agent, question);

    expect(finalOutput).toEqual({ city: expect.any(String) });
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
});

describe('LangChain', () => {
  test('answers, with usage', async () => {
    const { client, emulator } = setUp();

    const answer = await langChainModel(client).invoke(question);

    expect(answer.text).toContain('Lisbon');
    expect(answer.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) });
    expect(spentAt(emulator)).toMatchObject({ requests });
  });

  test('streams', async () => {
    const { client, emulator } = setUp();
    let text = '';

    for await (const chunk of await langChainModel(client).stream(question)) text += chunk.text;

    expect(text).toContain('Lisbon');
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

    expect(JSON.stringify(message.content)).toContain('Lisbon');
    expect(spentAt(emulator)).toMatchObject({ requests });
  });

  test('calls tools', async () => {
    const { client, emulator } = setUp();
    const weather = llamaIndexTool({
      name: 'get_weather',
      description: 'The weather of a place',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      execute: sunny,
    });

    const { message } = await llamaIndexModel(client).chat({ messages, tools: [weather] });

    expect(message.options).toMatchObject({ toolCall: [{ name: 'get_weather' }] });
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

describe('the emulator and the client of openai', () => {
  const { apiKey, baseURL, fetch } = createEmulator();
  const client = new OpenAI({ apiKey, baseURL: `${baseURL}/v1`, fetch });
  const ask = { model: 'm-large', input: question };

  test('the client of openai reads a response whole, and with parse()', async () => {
    const response = await client.responses.create(ask);
    expect(response.output_text).toContain('Lisbon');
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('the client of openai reads a stream with its helper', async () => {
    const stream = client.responses.stream(ask);
    let text = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect((await stream.finalResponse()).output_text).toBe(text);
  });
});

describe('the emulator and the client of the AI SDK', () => {
  const weather = aiTool({
    description: 'The weather of a place',
    inputSchema: place,
    execute: sunny,
  });

  test('whole, with usage', async () => {
    const { emulator, model } = startAISDK();
    const { text, usage, finishReason } = await generateText({ model, prompt: question });
    expect(text).toContain('Lisbon');
    expect(finishReason).toBe('stop');
    expect(usage.totalTokens).toBeGreaterThan(0);
    expect(spentAt(emulator)).toMatchObject({ requests });
  });

  test('streamed, with tools over two turns', async () => {
    const { emulator, model } = startAISDK();
    const tools = { get_weather: weather };
    const stream = streamText({ model, prompt: question, tools, stopWhen: isStepCount(3) });
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    expect(text).toContain('Sunny');
    expect(await stream.finishReason).toBe('stop');
    expect(emulator.charges).toHaveLength(2);
  });

  test('the client of the AI SDK reads a response with a schema, and one cut at its limit', async () => {
    const { model } = startAISDK();
    const output = Output.object({ schema: place });
    const { output: parsed } = await generateText({ model, prompt: question, output });
    expect(parsed).toEqual({ city: expect.any(String) });
    const cut = await generateText({ model, prompt: question, maxOutputTokens: 2 });
    expect(cut.finishReason).toBe('length');
  });

  test('a stream that fails', async () => {
    const { emulator, model } = startAISDK();
    emulator.fail({ fault: { type: 'stream-error', after: 4, shape: 'error-event' }, times: 1 });
    const failures: unknown[] = [];
    const stream = streamText({
      model,
      prompt: question,
      onError: ({ error }) => void failures.push(error),
    });
    await stream.consumeStream();
    expect(failures).toHaveLength(1);
  });
});
