import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { gatewayHandlers } from '../../src/testing/msw.ts';
import { eventData, plainClient } from '../helpers/emulator-client.ts';

const address = 'https://gateway.example.com';
const emulator = createEmulator();
const { get, post, chat } = plainClient(emulator, address);
const server = setupServer(...gatewayHandlers({ baseURL: address, emulator }));

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  server.resetHandlers();
  emulator.reset();
});
afterAll(() => server.close());

describe('msw handlers', () => {
  test('msw handlers cover every endpoint and account route, files and other paths', () => {
    const ofAccount = 9;
    const count = Object.keys(endpoints).length + ofAccount;

    expect(gatewayHandlers()).toHaveLength(count + 1);
    expect(gatewayHandlers({ baseURL: address })).toHaveLength(count + 2);
  });

  test('msw handlers are created for each call, so that no state is shared', () => {
    expect(gatewayHandlers()[0]).not.toBe(gatewayHandlers()[0]);
  });

  test.each(Object.entries(endpoints))(
    'msw handlers respond to %s',
    async (operation, { method, path }) => {
      const filled = path.replace('{vendor_prefix}', 'kling').replaceAll(/\{\w+\}/g, 'm-flash');

      await fetch(address + filled, { method });

      expect(emulator.requests).toMatchObject([{ operation }]);
    },
  );

  test('msw handlers respond from the emulator, with its charges', async () => {
    const response = await chat('Hi');
    const streamed = await chat('Hi', { stream: true });

    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect((await eventData(streamed)).at(-1)).toBe('[DONE]');
    expect(emulator.charges).toHaveLength(2);
  });

  test('msw handlers serve the files of responses', async () => {
    const order = { model: 'm-image', prompt: 'x', size: '16x16' };
    const addresses: string[] = [];
    for (const fileOrigin of ['same', 'other'] as const) {
      emulator.quirks.fileOrigin = fileOrigin;
      const { data } = await (await post('/v1/images/generations', order)).json();
      addresses.push(data[0].url);
      expect((await fetch(data[0].url)).headers.get('content-type')).toBe('image/png');
    }

    expect(addresses.map((url) => new URL(url).host)).toEqual([
      'gateway.example.com',
      'files.gateway.example.com',
    ]);
  });

  test('msw handlers accept uploads', async () => {
    const form = new FormData();
    form.set('model', 'm-translation');
    form.set('file', new File(['OggS'], 'talk.ogg'));

    const response = await post('/v1/audio/translations', form);

    expect(await response.json()).toMatchObject({ text: expect.stringContaining('talk.ogg') });
  });

  test('msw handlers lose the connection with a fault', async () => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });
    await expect(chat('Hi')).rejects.toThrow(TypeError);

    emulator.fail({ fault: { type: 'cut-events', after: 1 } });
    const response = await chat('Hi', { stream: true });
    await expect(response.text()).rejects.toThrow();

    expect(emulator.charges).toHaveLength(2);
  });

  test('msw handlers respond to unknown paths like the gateway', async () => {
    expect((await get('/v1/nothing')).status).toBe(404);
    expect((await get('/nothing')).headers.get('content-type')).toMatch('text/html');
  });

  test('msw handlers respond for any host without a base URL', async () => {
    const anywhere = createEmulator();
    server.use(...gatewayHandlers({ emulator: anywhere }));

    const other = plainClient(anywhere, 'http://localhost:9999');

    expect((await other.get('/v1/models')).status).toBe(200);
  });
});
