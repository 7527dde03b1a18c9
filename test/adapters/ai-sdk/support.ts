import type { ImageModelV4CallOptions } from '@ai-sdk/provider';
import {
  createModelGateway,
  type ModelGatewayProvider,
} from '../../../src/adapters/ai-sdk/index.ts';
import type { Gateway, GatewayOptions } from '../../../src/index.ts';
import type { Emulator, EmulatorOptions, Fault } from '../../../src/testing/index.ts';
import { emulated, scripted } from '../../helpers/clients.ts';

// The AI SDK writes warnings to the console otherwise; the tests look at them.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** A provider with an emulator of its own. */
export function emulatedProvider(
  options: GatewayOptions = {},
  setup: EmulatorOptions = {},
): { client: Gateway; emulator: Emulator; provider: ModelGatewayProvider } {
  const { client, emulator } = emulated(options, setup);
  return { client, emulator, provider: createModelGateway({ client }) };
}

/** A provider whose requests are answered as written. */
export function scriptedProvider(...given: Parameters<typeof scripted>) {
  const { client, ...rest } = scripted(...given);
  return { ...rest, provider: createModelGateway({ client }) };
}

/** Failures of a request, charged or not. */
export const faults: readonly Fault[] = [
  { type: 'reset', when: 'before-body' },
  { type: 'reset', when: 'before-charge' },
  { type: 'reset', when: 'after-charge' },
  { type: 'error', status: 408, charged: true },
  { type: 'error', status: 409, charged: true },
  { type: 'error', status: 429 },
  { type: 'error', status: 500, charged: true },
  { type: 'error', status: 503, charged: true },
  { type: 'bare', status: 429 },
  { type: 'bare', status: 504, charged: true },
  { type: 'rate-limit', retryAfter: 1 },
  { type: 'error-in-200' },
  { type: 'html', status: 200, charged: true },
  { type: 'html', status: 502, charged: true },
  { type: 'redirect', status: 302 },
  { type: 'cut', bytes: 10 },
  { type: 'cut', bytes: 10, how: 'end' },
  { type: 'empty' },
];

/** A call of an image model for one image. */
export const oneImage: ImageModelV4CallOptions = {
  prompt: 'A boat',
  n: 1,
  size: undefined,
  aspectRatio: undefined,
  seed: undefined,
  files: undefined,
  mask: undefined,
  providerOptions: {},
};
