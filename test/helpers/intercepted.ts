import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { Gateway } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { gatewayHandlers } from '../../src/testing/msw.ts';

/** A client with the runtime's `fetch`, whose requests msw intercepts. Use it in a `describe`. */
export function intercepted() {
  const baseURL = 'https://gateway.example.com';
  const emulator = createEmulator();
  const server = setupServer(...gatewayHandlers({ baseURL, emulator }));
  const client = new Gateway({ apiKey: emulator.apiKey, baseURL, logLevel: 'off' });
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
  afterEach(() => {
    server.resetHandlers();
    emulator.reset();
  });
  afterAll(() => server.close());
  return { client, emulator };
}
