import { Gateway } from '../../dist/index.js';
import { createEmulator, type Emulator } from '../../dist/testing/index.js';

export const messages = [{ role: 'user' as const, content: 'What is the weather in Lisbon?' }];
export const ask = { model: 'm-large', messages };

/** A client on an emulator of its own, which counts what is asked for and charged. */
export function setUp(): { readonly client: Gateway; readonly emulator: Emulator } {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, client: new Gateway({ apiKey, baseURL, fetch, logLevel: 'off' }) };
}

/** Requests and charges of an emulator. */
export function spentAt({ requests, charges }: Emulator): {
  readonly requests: readonly string[];
  readonly charges: readonly (readonly [string, number])[];
} {
  return {
    requests: requests.map(({ method, path }) => `${method} ${path}`),
    charges: charges.map(({ operation, amount }) => [operation, amount]),
  };
}

/** An answer that breaks off, once. */
export function cutNextStream(emulator: Emulator): void {
  emulator.fail({ fault: { type: 'cut-events', after: 1 }, times: 1 });
}
