import { dollars } from '../answers/cost.ts';
import { isNumber, isObject, numberFrom, trimmedText, toFields } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { ModelPrice } from '../answers/account.ts';
import { createBalance, noAmount } from './new-api.ts';
import type { AccountRules } from '../options/gateway-profile.ts';

const dataIn = ({ data }: JsonObject = {}): JsonObject => toFields(data);

/** Returns the price of a million tokens. Prices are per token, as text. */
const perMillion = (price: unknown): ModelPrice['input'] => {
  const value = numberFrom(price);
  // Routers report -1, because the price depends on the model that they choose.
  return value === undefined || value < 0 ? undefined : dollars(value * 1_000_000);
};

function readPrice(raw: JsonObject): ModelPrice[] {
  const { id: model, pricing } = raw;
  if (typeof model !== 'string' || !isObject(pricing)) return [];
  const outputs = [toFields(raw['architecture'])['output_modalities']].flat();
  const entry: ModelPrice = {
    model,
    billedPer: 'token',
    perCall: undefined,
    input: perMillion(pricing['prompt']),
    output: perMillion(pricing['completion']),
    cachedInput: perMillion(pricing['input_cache_read']),
    isMedia: outputs.includes('image') || outputs.includes('video'),
    groups: [],
    raw,
  };
  return [entry];
}

/** Generations by their ids, credits, and the prices of models. */
export const openRouterAccount: AccountRules = {
  isLogged: (requestId) => requestId.startsWith('gen-'),
  charge: {
    path: '/v1/generation?id={id}',
    read(answer) {
      const data = dataIn(answer);
      const { id, total_cost: cost, created_at: created } = data;
      const at = Date.parse(trimmedText(created) ?? '');
      if (!isNumber(cost) || cost < 0 || Number.isNaN(at)) {
        return 'the generation has no cost or no time';
      }
      const { finish_reason: end, cancelled, is_byok: isOwnKey } = data;
      const hasEndedWell = cancelled !== true && (trimmedText(end) ?? 'error') !== 'error';
      const tokens = (name: string): number => numberFrom(data[`native_tokens_${name}`]) ?? 0;
      return {
        type: 'consume',
        amount: { value: cost, unit: 'USD' },
        model: trimmedText(data['model']),
        at,
        requestId: trimmedText(id),
        taskId: undefined,
        reason: undefined,
        // The vendor charges for calls with the caller's key.
        isEnded: hasEndedWell && isOwnKey !== true,
        tokens: { input: tokens('prompt'), output: tokens('completion') },
        raw: data,
      };
    },
  },
  balance: [
    {
      // The credit of the whole account, which some keys may not read.
      paths: ['/v1/credits'],
      read(answer) {
        const { total_credits: limit, total_usage: used } = dataIn(answer);
        if (!isNumber(limit) || !isNumber(used)) return noAmount;
        return createBalance('USD', used, limit, limit - used, undefined);
      },
    },
    {
      paths: ['/v1/key'],
      read(answer) {
        const { usage, limit, limit_remaining: left, expires_at: end } = dataIn(answer);
        if (!isNumber(usage)) return noAmount;
        const [most, rest] = [limit, left].map((value) => (isNumber(value) ? value : undefined));
        return createBalance('USD', usage, most, rest, Date.parse(trimmedText(end) ?? '') / 1_000);
      },
    },
  ],
  prices: {
    path: '/v1/models?output_modalities=all',
    read({ data }) {
      if (!Array.isArray(data)) return 'the response contains no list';
      return { models: data.filter(isObject).flatMap(readPrice), groupRatios: {} };
    },
  },
};
