// The emulator as OpenRouter. Its answers are judged by OpenRouter's client, in test/compat.
import { setupServer } from 'msw/node';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { gatewayHandlers } from '../../src/testing/msw.ts';
import { newClient } from '../helpers/emulator-client.ts';

const gateway = 'openrouter';
const chat = { model: 'm-large', messages: [{ role: 'user', content: 'Hello' }] };

// @ts-expect-error The kind is misspelled.
const createMisspelled = () => createEmulator({ gateway: 'openruter' });

describe('an emulator of OpenRouter', () => {
  test("serves only OpenRouter's routes", async () => {
    const { post } = newClient({ gateway });

    expect((await post('/api/v1/chat/completions', chat)).status).toBe(200);
    expect((await post('/v1/chat/completions', chat)).status).toBe(404);
    expect((await post('/api/v1/images/generations', chat)).status).toBe(404);
  });

  test('uses a generation id for each response', async () => {
    const { post, emulator } = newClient({ gateway });

    const response = await post('/api/v1/chat/completions', chat);

    const [charge] = emulator.charges;
    expect(response.headers.get('x-generation-id')).toBe(charge?.requestId);
    expect(response.headers.has('x-oneapi-request-id')).toBe(false);
    expect(await response.json()).toMatchObject({ id: charge?.requestId });
  });

  test('shows a generation after the delay of its log', async () => {
    const { get, post, emulator } = newClient({ gateway, quirks: { usageLogDelay: 5_000 } });
    emulator.clock.hold();
    const { headers } = await post('/api/v1/chat/completions', chat);
    const path = `/api/v1/generation?id=${headers.get('x-generation-id')}`;

    const early = await get(path);
    emulator.clock.advance(5_000);

    expect(await early.json()).toMatchObject({ error: { code: 404 } });
    expect((await get(path)).status).toBe(200);
  });

  test('serves content only with its key', async () => {
    const { ask, get, emulator } = newClient({ gateway, videoDuration: 0 });
    await ask('/api/v1/videos', { model: 'm-video', prompt: 'A fox' });
    const [video] = emulator.videos.list;
    const path = `/api/v1/videos/${video?.id}/content?index=0`;

    const keyless = await emulator.fetch(emulator.baseURL + path);

    expect(keyless.status).toBe(401);
    expect((await get(path)).headers.get('content-type')).toBe('video/mp4');
  });

  test.each([
    ['seconds', { seconds: 4 }],
    ['duration', { duration: '4' }],
    ['frame_images', { frame_images: [{ type: 'image_url', image_url: { url: 'https://a' } }] }],
    ['resolution', { resolution: 'tall' }],
  ])('rejects a video with an invalid %s without a charge', async (field, fields) => {
    const { post, emulator } = newClient({ gateway });

    const response = await post('/api/v1/videos', { model: 'm-video', prompt: 'A fox', ...fields });

    expect(response.status).toBe(400);
    expect(await response.text()).toContain(field);
    expect(emulator.charges).toHaveLength(0);
  });

  test('keeps its behaviour after a reset', async () => {
    const { emulator } = newClient({ gateway, quirks: { eventDelay: 1 } });
    emulator.quirks.chatReasoning = 'think-tags';

    emulator.reset();

    expect(emulator.quirks).toMatchObject({ chatReasoning: 'reasoning', eventDelay: 1 });
  });

  test('works with msw', async () => {
    const emulator = createEmulator({ gateway });
    const server = setupServer(...gatewayHandlers({ emulator }));
    server.listen();

    const models = await fetch('https://openrouter.ai/api/v1/videos/models', {
      headers: { authorization: `Bearer ${emulator.apiKey}` },
    });
    const body: unknown = await models.json();
    server.close();

    expect(body).toMatchObject({ data: [{ id: 'm-video' }] });
  });

  test('an emulator of OpenRouter is one of the known kinds', () => {
    expect(createMisspelled).toThrow(InvalidInputError);
    expect(createMisspelled).toThrow(
      'gateway: must be one of "new-api", "openrouter", "litellm", "openai", not "openruter".',
    );
  });
});
