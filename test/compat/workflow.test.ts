// Models of the AI SDK provider in durable steps, stored by `@workflow/core` itself.
import { registerSerializationClass } from '@workflow/core/class-serialization';
import { dehydrateStepArguments, hydrateStepArguments } from '@workflow/core/serialization';
import { generateText } from 'ai';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createModelGateway } from '../../dist/ai-sdk/index.js';
import { createEmulator } from '../../dist/testing/index.js';

afterEach(() => vi.unstubAllEnvs());

test('a model passes a step as its argument, without the key', async () => {
  const emulator = createEmulator();
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const apiKey = 'sk-secret-key-0123456789';
  const provider = createModelGateway({ apiKey, baseURL: server.url });
  const chat = provider('m-chat');
  const models = [
    chat,
    provider.embeddingModel('m-embedding'),
    provider.imageModel('m-image'),
    provider.videoModel('m-video'),
  ];
  // The compiler of workflows writes this for the classes of a bundle.
  registerSerializationClass('GatewayModel', chat.constructor);

  const stored = await dehydrateStepArguments(models, 'run', undefined);
  if (!(stored instanceof Uint8Array)) throw new Error('Nothing was stored.');
  vi.stubEnv('GATEWAY_API_KEY', emulator.apiKey);
  const restored = await hydrateStepArguments(stored, 'run', undefined);

  expect(new TextDecoder().decode(stored)).not.toContain(apiKey);
  expect(restored).toHaveLength(models.length);
  for (const [index, model] of models.entries()) {
    const { modelId, specificationVersion } = model;
    expect(restored[index]).toMatchObject({ modelId, specificationVersion });
  }
  const { text } = await generateText({ model: restored[0], prompt: 'Hello' });
  expect(text).not.toBe('');
  expect(emulator.charges).toHaveLength(1);
});
