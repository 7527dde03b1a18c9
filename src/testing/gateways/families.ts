import { check, shown } from '../../options/check.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { openRouter } from '../openrouter/openrouter.ts';
import type { EmulatedGateway, Family, NewApiEdition } from './family.ts';
import { liteLLM } from './litellm.ts';
import { newApi } from './new-api.ts';
import { newApi2026 } from './new-api-2026.ts';
import { openAICompatible } from './openai.ts';

const families: Readonly<Record<EmulatedGateway, Family>> = {
  'new-api': newApi,
  openrouter: openRouter,
  litellm: liteLLM,
  openai: openAICompatible,
};

/** Kinds of gateways that the emulator can be. */
export const emulatedGateways: readonly string[] = Object.keys(families);

const editions: Readonly<Record<NewApiEdition, Family>> = { '2025': newApi, '2026': newApi2026 };

/** Builds of new-api that the emulator can be. */
export const newApiEditions: readonly string[] = Object.keys(editions);

/** @throws `InvalidInputError` for an unknown kind or edition, listing the known ones */
export function findFamily(name: EmulatedGateway = 'new-api', edition?: NewApiEdition): Family {
  if (edition !== undefined) {
    check(name === 'new-api', 'edition', 'is only for the gateway "new-api".');
    const isKnown = Object.hasOwn(editions, edition);
    check(isKnown, 'edition', `must be "2025" or "2026", not ${shown(edition)}.`);
    return editions[edition];
  }
  if (Object.hasOwn(families, name)) return families[name];
  const known = emulatedGateways.join('", "');
  throw new InvalidInputError('gateway', `must be one of "${known}", not ${shown(name)}.`);
}
