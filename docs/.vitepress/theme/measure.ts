import { Gateway, GatewayError } from '../../../src/index.ts';
import { runRivals } from '../../../src/programs/playground/rival.ts';
import { findFault } from '../../../src/programs/playground/scenarios.ts';
import { createEmulator } from '../../../src/testing/index.ts';

/** The charges of one image call, and what its caller receives. */
export interface Measured {
  readonly client: string;
  readonly requests: number;
  readonly charges: number;
  readonly result: string;
}

const names: Readonly<Record<string, string>> = {
  openai: 'openai',
  ai: 'AI SDK',
  replicate: 'replicate',
  '@fal-ai/client': 'fal',
};

const params = { model: 'm-image', prompt: 'A lighthouse at dusk', size: '64x64' };

/** Makes one call with this client and with the retry rules of others, each on an emulator of its own. */
export async function measureCharges(scenario: string): Promise<readonly Measured[]> {
  const fault = findFault(scenario);
  const emulator = createEmulator();
  const times = 10;
  if (fault !== undefined) emulator.fail({ operation: 'images.generate', fault, times });
  const client = new Gateway({
    baseURL: emulator.baseURL,
    apiKey: () => emulator.apiKey,
    fetch: emulator.fetch,
    logLevel: 'off',
  });
  const result = await client.images.generate(params).then(
    () => 'receives the image',
    (error: unknown) =>
      GatewayError.isInstance(error)
        ? `receives ${error.name} with the outcome "${error.outcome}"`
        : `receives ${String(error)}`,
  );
  const { length: requests } = emulator.requests.filter(({ method }) => method === 'POST');
  const own = { client: 'model-gateway', requests, charges: emulator.charges.length, result };
  const rivals = await runRivals('image', 'images.generate', params, fault, times);
  return [own, ...rivals.map((rival) => ({ ...rival, client: names[rival.name] ?? rival.name }))];
}
