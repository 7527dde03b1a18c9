// Anthropic's client on `/v1/messages` of the emulator.
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { createEmulator, type EmulatorOptions } from '../../dist/testing/index.js';

function setUp(options: EmulatorOptions) {
  const emulator = createEmulator(options);
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, client: new Anthropic({ apiKey, baseURL, fetch, maxRetries: 0 }) };
}

const request = {
  model: 'claude-sonnet-4-5',
  max_tokens: 200,
  messages: [{ role: 'user' as const, content: 'What is the weather in Lisbon?' }],
};
const weather = {
  name: 'weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

describe.each<EmulatorOptions>([{ edition: '2025' }, { edition: '2026' }])('%j', (options) => {
  test('reads a whole and a streamed message alike', async () => {
    const { client } = setUp(options);

    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();

    expect(streamed.content).toMatchObject(whole.content);
    expect(streamed.stop_reason).toBe('end_turn');
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  test('calls a tool in a stream, with thoughts before it', async () => {
    const { client } = setUp(options);
    const params = { ...request, model: 'm-reasoning', tools: [weather] };

    const { content, stop_reason: reason } = await client.messages.stream(params).finalMessage();

    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    expect(content[1]).toMatchObject({ name: 'weather', input: { city: expect.any(String) } });
    expect(reason).toBe('tool_use');
  });

  test('reads the errors', async () => {
    const { client, emulator } = setUp(options);
    emulator.fail({ operation: 'messages.create', fault: { type: 'error', status: 429 } });

    const error: unknown = await client.messages.create(request).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 429, type: 'new_api_error' });
    expect(emulator.charges).toEqual([]);
  });
});
