import type { EmulatedGateway } from '../../src/testing/index.ts';

/** Kinds of gateways that both the client and the emulator know. */
export const modes = [
  'new-api',
  'openrouter',
  'litellm',
  'openai',
] as const satisfies readonly EmulatedGateway[];

/** Reads the option `--gateway` of a program. */
export function readMode(name: string): EmulatedGateway {
  const mode = modes.find((known) => known === name);
  if (mode === undefined) throw new Error(`--gateway must be one of ${modes.join(', ')}.`);
  return mode;
}
