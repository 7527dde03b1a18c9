import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ServerResponse } from 'node:http';
import { createEmulator, type EmulatedGateway, type Fault } from '../../src/testing/index.ts';
import type { Behaviour, FaultyServer } from './faulty-server.ts';

/** Faults in streams, by the requested model. */
const faults = {
  cut: { type: 'cut-events', after: 1 },
  ended: { type: 'no-finish', after: 1, done: false },
  'error-event': { type: 'stream-error', shape: 'error-data', after: 1 },
  garbled: { type: 'garbled-event', after: 1 },
  silent: { type: 'stall-events', after: 1 },
} satisfies Partial<Record<Behaviour, Fault>>;

interface FaultyEmulator extends FaultyServer {
  readonly apiKey: string;
  /** Models whose fault has never been used. */
  readonly unused: () => readonly string[];
}

/** Starts an emulator whose streams fail with the fault named by the model. */
export async function startFaultyEmulator(gateway: EmulatedGateway): Promise<FaultyEmulator> {
  const emulator = createEmulator({ gateway });
  const active = Object.entries(faults).map(([model, fault]) => {
    const when = ({ body }: { readonly body: object }): boolean =>
      Object(Reflect.get(body, 'value')).model === model;
    return { model, rule: emulator.fail({ fault, when, times: Infinity }) };
  });
  let open = 0;
  const count = (message: unknown): void => {
    const { response } = Object(message);
    if (!(response instanceof ServerResponse)) return;
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
  };
  subscribe('http.server.request.start', count);
  const { url } = await emulator.listen();
  return {
    url,
    apiKey: emulator.apiKey,
    requests: () => emulator.requests.length,
    open: () => open,
    unused: () => active.filter(({ rule }) => rule.hits === 0).map(({ model }) => model),
    async [Symbol.asyncDispose]() {
      unsubscribe('http.server.request.start', count);
      await emulator[Symbol.asyncDispose]();
    },
  };
}
