// Values that code for `openai` passes, or that `as const` and readonly lists make.
import type TheirOpenAI from 'openai';
import { describe, expectTypeOf, test } from 'vitest';
import { tool, type Gateway, type OpenAI } from '../../../src/index.ts';

declare const client: Gateway;
declare const file: File;

const model = 'm';
const messages = [
  { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
  { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c.png' } }] },
  {
    role: 'assistant',
    content: [{ type: 'text', text: 'I search.' }],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x' }] },
] as const;
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
} as const;
const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
const runnable = [tool({ name: 'f', execute: () => 1 })] as const;

declare const list: readonly OpenAI.Chat.ChatCompletionMessageParam[];
declare const listed: readonly OpenAI.Chat.ChatCompletionTool[];

/** Never runs. */
async function calls(): Promise<void> {
  const { completions } = client.chat;
  await completions.create({ model, messages, tools, stop: ['a'] as const });
  await completions.create({ model, messages: list, tools: listed });
  await completions.create({ model, messages, tools, stream: true });
  completions.stream({ model, messages, tools });
  completions.stream({ model, messages: list, tools: listed });
  await completions.parse({ model, messages, tools });
  await completions.parse({ model, messages: list, tools: listed });
  completions.runTools({ model, messages, tools: runnable });
  completions.runTools({ model, messages: list, tools: runnable, stream: true });
  const input = [{ role: 'user', content: 'a' }] as const;
  await client.responses.create({
    model,
    input,
    include: ['reasoning.encrypted_content'] as const,
  });
  await client.embeddings.create({ model, input: ['a', 'b'] as const });
  await client.images.edit({ model, prompt: 'A hat', image: [file] as const });
  const [include, timestamp_granularities] = [['logprobs'] as const, ['word'] as const];
  await client.audio.transcriptions.create({ model, file, include, timestamp_granularities });
}

describe('inputs', () => {
  test('inputs may be readonly lists', () => {
    expectTypeOf(calls).toBeFunction();
  });

  test('inputs of openai are accepted with its kinds of files', () => {
    type Transcribe = TheirOpenAI.Audio.TranscriptionCreateParams<'json'>;
    expectTypeOf<TheirOpenAI.ImageEditParams>().toExtend<OpenAI.ImageEditParams>();
    expectTypeOf<Transcribe>().toExtend<OpenAI.Audio.TranscriptionCreateParams>();
    expectTypeOf<TheirOpenAI.Audio.TranslationCreateParams>().toExtend<OpenAI.Audio.TranslationCreateParams>();
  });

  test('inputs of openai take messages of this client, also with exactOptionalPropertyTypes', () => {
    expectTypeOf<OpenAI.ChatCompletionMessage>().toExtend<TheirOpenAI.ChatCompletionMessageParam>();
    expectTypeOf<
      OpenAI.Chat.ParsedChatCompletionMessage<null>
    >().toExtend<TheirOpenAI.ChatCompletionMessageParam>();
  });
});
