import { isObject, textOf } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import { hideRaw } from './books.ts';
import { type Routes, unsupported } from './readings.ts';
import type { Amount, ModelPrice, Prices } from './types.ts';

const path = '/api/pricing';
const what = 'its prices';

/** What a million tokens cost at the ratio 1, in US dollars, in every gateway of this family. */
const dollarsPerRatio = 2;

const isNumber = (value: unknown): value is number => Number.isFinite(value);

const dollars = (value: number | undefined): Amount | undefined =>
  value === undefined ? undefined : { value, unit: 'USD' };

function readPrice(raw: JsonObject): ModelPrice[] {
  const model = textOf(raw['model_name']);
  const { quota_type: kind, model_price: price, model_ratio: ratio } = raw;
  const { completion_ratio: output, cache_ratio: cached, enable_groups: groups } = raw;
  const paidBy: ModelPrice['paidBy'] | undefined =
    kind === 1 ? 'call' : kind === 0 ? 'token' : undefined;
  if (model === undefined || paidBy === undefined) return [];
  const perCall = paidBy === 'call' && isNumber(price) ? price : undefined;
  const input = paidBy === 'token' && isNumber(ratio) ? ratio * dollarsPerRatio : undefined;
  const times = (factor: unknown): number | undefined =>
    input === undefined || !isNumber(factor) ? undefined : input * factor;
  const entry = {
    model,
    paidBy,
    raw,
    perCall: dollars(perCall),
    input: dollars(input),
    output: dollars(times(output)),
    cachedInput: dollars(times(cached)),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
  return [hideRaw(entry)];
}

/** Reads the price list. Entries in another form than those of this family are left out. */
export async function readPrices(routes: Routes): Promise<Omit<Prices, 'asOf'>> {
  const { data: answer } = await routes.get(path, what, false);
  const { data, group_ratio: ratios } = answer;
  if (!Array.isArray(data)) throw unsupported(path, what, 'the answer holds no list');
  const named = isObject(ratios) ? Object.entries(ratios) : [];
  const groupRatios: Record<string, number> = {};
  for (const [group, ratio] of named) if (isNumber(ratio)) groupRatios[group] = ratio;
  return { models: data.filter(isObject).flatMap(readPrice), groupRatios };
}
