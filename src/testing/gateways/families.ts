import { shown } from '../../options/check.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { openRouter } from '../openrouter/openrouter.ts';
import type { EmulatedGateway, Family } from './family.ts';
import { liteLLM } from './litellm.ts';
import { newApi } from './new-api.ts';
import { openAICompatible } from './openai.ts';

const families: Readonly<Record<EmulatedGateway, Family>> = {
  'new-api': newApi,
  openrouter: openRouter,
  litellm: liteLLM,
  openai: openAICompatible,
};

/** Kinds of gateways that the emulator can be. */
export const emulatedGateways: readonly string[] = Object.keys(families);

/** @throws `InvalidInputError` for an unknown kind, listing the known ones */
export function findFamily(name: EmulatedGateway = 'new-api'): Family {
  if (Object.hasOwn(families, name)) return families[name];
  const known = emulatedGateways.join('", "');
  throw new InvalidInputError('gateway', `must be one of "${known}", not ${shown(name)}.`);
}
