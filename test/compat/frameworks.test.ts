// The recipes of the guide "Frameworks": one program each, with one request and one charge for each model call.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import createInstructor from '@instructor-ai/instructor';
import { createOpenAI } from '@ai-sdk/openai';
import { defineCompatOpenAIModel, openAICompatible } from '@genkit-ai/compat-oai';
import { StructuredOutputParser } from '@langchain/core/output_parsers';
import { ChatOpenAI, ChatOpenAICompletions, ChatOpenAIResponses } from '@langchain/openai';
import { DEFAULT_API_CONNECT_OPTIONS, initializeLogger, llm, voice } from '@livekit/agents';
import { LLM as LiveKitLLM } from '@livekit/agents-plugin-openai';
import { OpenAI as LlamaIndexOpenAI } from '@llamaindex/openai';
import { Agent as MastraAgent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
} from '@openai/agents';
import { Factuality } from 'autoevals';
import { genkit, z } from 'genkit';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import * as z3 from 'zod-3';
import { createModelGateway } from '../../dist/ai-sdk/index.js';
import { asOpenAI, Gateway } from '../../dist/index.js';
import { settle } from '../helpers/fake-time.ts';
import { untyped } from '../helpers/untyped.ts';
import { setUp } from './emulator.ts';

const question = 'What is the weather in Lisbon?';

const createGenkit = (client: Gateway) => {
  const pluginOptions = { name: 'gateway' };
  const plugin = openAICompatible({
    ...pluginOptions,
    apiKey: false,
    resolver: (_client, _type, name) =>
      defineCompatOpenAIModel({ name, client: asOpenAI(client), pluginOptions }),
  });
  const ai = genkit({ plugins: [plugin], model: 'gateway/m-large' });
  return ai;
};

/** Runs a program of each framework. Returns the text of the answer. */
const programs: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  async 'agents on chat completions'(client) {
    const model = new OpenAIChatCompletionsModel(asOpenAI(client), 'm-large');
    return (await run(new Agent({ name: 'Forecaster', model }), question)).finalOutput;
  },
  async 'agents on the Responses API'(client) {
    const model = new OpenAIResponsesModel(asOpenAI(client), 'm-large');
    return (await run(new Agent({ name: 'Forecaster', model }), question)).finalOutput;
  },
  async 'LangChain on chat completions'(client) {
    const options = { model: 'm-large', apiKey: 'not used', maxRetries: 0 };
    const completions = new ChatOpenAICompletions(options);
    completions.client = asOpenAI(client);
    const model = new ChatOpenAI({ ...options, completions });
    return (await model.invoke(question)).text;
  },
  async 'LangChain on the Responses API'(client) {
    const options = { model: 'm-large', apiKey: 'not used', maxRetries: 0 };
    const responses = new ChatOpenAIResponses(options);
    responses.client = asOpenAI(client);
    const model = new ChatOpenAI({ ...options, useResponsesApi: true, responses });
    return (await model.invoke(question)).text;
  },
  async LlamaIndex(client) {
    const model = new LlamaIndexOpenAI({
      model: 'm-large',
      apiKey: 'not used',
      session: asOpenAI(client),
    });
    const { message } = await model.chat({ messages: [{ role: 'user', content: question }] });
    return message.content;
  },
  async Mastra(client) {
    const model = createModelGateway({ client })('m-large');
    const instructions = 'Be brief.';
    const options = { id: 'f', name: 'F', instructions, maxRetries: 0 };
    const agent = new MastraAgent({ ...options, model: untyped<MastraModelConfig>(model) });
    return (await agent.generate(question)).text;
  },
  async genkit(client) {
    const ai = createGenkit(client);
    return (await ai.generate(question)).text;
  },
  async 'genkit, streamed'(client) {
    const { stream, response } = createGenkit(client).generateStream(question);
    let text = '';
    for await (const chunk of stream) text += chunk.text;
    expect((await response).text).toBe(text);
    return text;
  },
  async LiveKit(client) {
    const model = new LiveKitLLM({ client: asOpenAI(client), model: 'm-large' });
    const chatCtx = llm.ChatContext.empty();
    chatCtx.addMessage({ role: 'user', content: question });
    const connOptions = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 60_000 };
    let text = '';
    for await (const chunk of model.chat({ chatCtx, connOptions })) {
      text += chunk.delta?.content ?? '';
    }
    return text;
  },
  async instructor(client) {
    const instructor = createInstructor({ client: asOpenAI<OpenAI>(client), mode: 'TOOLS' });
    const schema = z3.object({ city: z3.string() });
    const place = await instructor.chat.completions.create({
      model: 'm-large',
      max_retries: 0,
      messages: [{ role: 'user', content: question }],
      response_model: { schema, name: 'Place' },
    });
    return `Lisbon: ${JSON.stringify(place)}`;
  },
};

describe.each(Object.entries(programs))('%s', (_, program) => {
  beforeAll(() => {
    setTracingDisabled(true);
    initializeLogger({ pretty: false, level: 'silent' });
  });

  test('answers, with one charge', async () => {
    const { client, emulator } = setUp();

    expect(await program(client)).toContain('Lisbon');
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a rejected key fails after one request', async () => {
    const { client, emulator } = setUp();
    emulator.fail({ fault: { type: 'error', status: 401 }, times: 9 });
    vi.spyOn(console, 'error').mockReturnValue();

    // LiveKit reports errors by an event, and ends the stream.
    const ended = await program(client).catch(() => '');

    expect(ended).toBe('');
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('JSON by a schema in the prompt', () => {
  const modes = ['JSON', 'JSON_SCHEMA', 'MD_JSON', 'THINKING_MD_JSON'] as const;

  test.each(modes)('instructor in mode %s', async (mode) => {
    const { client, emulator } = setUp();
    const instructor = createInstructor({ client: asOpenAI<OpenAI>(client), mode });
    const schema = z3.object({ city: z3.string(), days: z3.array(z3.number()) });

    const place = await instructor.chat.completions.create({
      model: 'm-large',
      max_retries: 0,
      messages: [{ role: 'user', content: question }],
      response_model: { schema, name: 'Place' },
    });

    expect(place).toMatchObject({ city: 'Lisbon', days: [1] });
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(['json', 'array', 'jsonl'])(
    "genkit's instructions for the format %s",
    async (format) => {
      const { client, emulator } = setUp();
      const place = z.object({ city: z.string() });
      const schema = format === 'json' ? place : z.array(place);
      const output = { format, schema, constrained: false, instructions: true };

      const answer = await createGenkit(client).generate({ prompt: question, output });

      const found = { city: 'Lisbon' };
      expect(answer.output).toEqual(format === 'json' ? found : [found]);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test("LangChain's StructuredOutputParser", async () => {
    const { client, emulator } = setUp();
    const parser = StructuredOutputParser.fromNamesAndDescriptions({ city: 'The city' });
    const options = { model: 'm-large', apiKey: 'not used', maxRetries: 0 };
    const completions = new ChatOpenAICompletions(options);
    completions.client = asOpenAI(client);
    const model = new ChatOpenAI({ ...options, completions });

    const prompt = `${question}\n${parser.getFormatInstructions()}`;

    expect(await model.pipe(parser).invoke(prompt)).toEqual({ city: 'Lisbon' });
    expect(emulator.charges).toHaveLength(1);
  });
});

/** A client with the path of the API in its URL, of which CopilotKit builds its own. */
const setUpWithPath = () => {
  const { emulator } = setUp();
  const { apiKey, fetch } = emulator;
  const client = new Gateway({ apiKey, fetch, baseURL: `${emulator.baseURL}/v1` });
  return { openai: asOpenAI<OpenAI>(client), emulator };
};

describe("CopilotKit's OpenAIAdapter, which is too large to install here", () => {
  test("CopilotKit's OpenAIAdapter streams through beta.chat.completions, with one charge", async () => {
    const { openai, emulator } = setUpWithPath();
    const messages = [{ role: 'user' as const, content: question }];

    // Older versions of `openai` have it here, and CopilotKit looks here first.
    const { completions }: OpenAI['chat'] = Reflect.get(openai.beta, 'chat');
    let text = '';
    for await (const chunk of completions.stream({ model: 'm-large', stream: true, messages })) {
      text += chunk.choices[0]?.delta.content ?? '';
    }

    expect(text).toContain('Lisbon');
    expect(emulator.charges).toHaveLength(1);
  });

  test("CopilotKit's OpenAIAdapter makes a model of @ai-sdk/openai from the URL, the key and the options", async () => {
    const { openai, emulator } = setUpWithPath();
    const options: { fetch: typeof fetch; defaultHeaders: Record<string, string> } = Reflect.get(
      openai,
      '_options',
    );
    const { baseURL, apiKey } = openai;
    const model = createOpenAI({
      baseURL,
      apiKey: apiKey ?? '',
      headers: options.defaultHeaders,
      fetch: options.fetch,
      ...(openai.organization !== null && { organization: openai.organization }),
      ...(openai.project !== null && { project: openai.project }),
    })('m-large');

    const prompt = [
      { role: 'user' as const, content: [{ type: 'text' as const, text: question }] },
    ];
    const { content } = await model.doGenerate({ prompt });

    expect(JSON.stringify(content)).toContain('Lisbon');
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });
});

test('autoevals grades, with one charge', async () => {
  const { client, emulator } = setUp();
  emulator.respondOnce('chat.completions.create', {
    toolCalls: [{ name: 'select_choice', arguments: { choice: 'C', reasons: 'Same.' } }],
  });

  const score = await Factuality({
    input: question,
    output: 'Sunny',
    expected: 'Sunny',
    model: 'm-large',
    client: asOpenAI(client),
  });

  expect(score.score).toBe(1);
  expect(emulator.charges).toHaveLength(1);
});

/** A client that does not retry, so that each request is one of the framework. */
async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const withoutRetries = () => {
  const { client, emulator } = setUp();
  return { client: client.withOptions({ maxRetries: 0 }), emulator };
};

describe('with retries of its own', () => {
  test('LangChain pays for each of its attempts', async () => {
    const { client, emulator } = withoutRetries();
    emulator.fail({ fault: { type: 'error', status: 503, charged: true }, times: 9 });
    const completions = new ChatOpenAICompletions({
      model: 'm-large',
      apiKey: 'no',
      maxRetries: 1,
    });
    completions.client = asOpenAI(client);

    vi.useFakeTimers();
    const { error } = await settle(completions.invoke(question));
    vi.useRealTimers();

    expect(error).toBeDefined();
    expect(emulator.charges).toHaveLength(2);
  });

  test('LiveKit sends a request with a wrong key four times', async () => {
    const { client, emulator } = withoutRetries();
    emulator.fail({ fault: { type: 'error', status: 401 }, times: 9 });
    const model = new LiveKitLLM({ client: asOpenAI(client), model: 'm-large' });
    const chatCtx = llm.ChatContext.empty();
    chatCtx.addMessage({ role: 'user', content: question });
    const connOptions = { maxRetry: 3, retryIntervalMs: 0, timeoutMs: 60_000 };
    initializeLogger({ pretty: false, level: 'silent' });

    // As an AgentSession listens.
    model.on('error', () => {});
    vi.useFakeTimers();
    await settle(readAll(model.chat({ chatCtx, connOptions })));
    vi.useRealTimers();

    expect(emulator.requests).toHaveLength(4);
    expect(DEFAULT_API_CONNECT_OPTIONS.maxRetry).toBe(3);
    const ownRetries: voice.AgentSessionOptions = {
      connOptions: { llmConnOptions: { maxRetry: 0 } },
    };
    expect(new voice.AgentSession(ownRetries)).toMatchObject({
      connOptions: { llmConnOptions: { maxRetry: 0 } },
    });
  });
});

test('several frameworks bring a copy of openai of their own', () => {
  const owners = ['@llamaindex/openai', '@genkit-ai/compat-oai', '@livekit/agents-plugin-openai'];
  const folder = join(import.meta.dirname, 'node_modules');
  const copies = ['.', ...owners].map((owner) =>
    createRequire(join(folder, owner, 'any.js')).resolve('openai'),
  );

  expect(new Set(copies).size).toBe(copies.length);
});

test('LangChain ignores ChatOpenAI.client', async () => {
  const { client, emulator } = setUp();
  const fetches: string[] = [];
  const model = new ChatOpenAI({
    model: 'm-large',
    apiKey: 'not used',
    maxRetries: 0,
    configuration: {
      fetch: async (input) => {
        fetches.push(String(input instanceof Request ? input.url : input));
        return Response.json({ error: { message: 'Not here.' } }, { status: 404 });
      },
    },
  });
  Object.assign(model, { client: asOpenAI<OpenAI>(client) });

  await expect(model.invoke(question)).rejects.toThrow();
  expect(fetches[0]).toContain('https://api.openai.com/');
  expect(emulator.requests).toEqual([]);
});

const toLines = (text: string): string[] => text.split('\n').map((line) => line.trim());

test('the guide shows these programs', async () => {
  const root = join(import.meta.dirname, '../..');
  const guide = await readFile(join(root, 'docs/guides/frameworks.md'), 'utf8');
  const source = (await readFile(import.meta.filename, 'utf8')).replace(
    'model: untyped<MastraModelConfig>(model)',
    'model',
  );
  const known = new Set(toLines(source));
  const blocks = [...guide.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)].map(
    ([, code = '']) => code,
  );

  expect(blocks.length).toBeGreaterThan(8);
  const unknown = blocks.flatMap(toLines).filter((line) => line !== '' && !known.has(line));
  expect(unknown).toEqual([]);
});
