import { check, checkInteger, checkModel, checkObject } from '../check.ts';
import type { Ending, PricedCall } from '../observing/totals.ts';
import type { Transport } from '../http/transport.ts';
import type { Budget } from '../options.ts';
import { BudgetState } from './budget.ts';
import { costOf } from './cost.ts';
import { AccountReader } from './reader.ts';
import { spentOf } from './spent.ts';
import type { AccountOptions, CostEstimate, CostQuery, Spent } from './types.ts';
import { productOf } from './units.ts';

/** What something costs by the price list. */
export async function estimate(
  transport: Transport,
  query: CostQuery,
  options: AccountOptions,
): Promise<CostEstimate> {
  checkModel(query.model);
  const { model, usage, images = 1, headers, group } = query;
  checkObject('usage', usage);
  checkInteger('images', images, 1);
  const isHeaders = headers === undefined || typeof headers?.get === 'function';
  check(isHeaders, 'headers', 'must be the headers of an answer, from withResponse().');
  const { totals } = transport.client;
  const units = images * productOf(headers?.get('x-new-api-other-ratios') ?? null);
  const prices = await AccountReader.of(transport).prices(options);
  return costOf(prices, { model, units, usage: totals.sum(usage ?? {}, {}) }, group);
}

/** What the calls of a client have come to, by the prices that were read last. */
export function spent(transport: Transport, group?: string): Spent {
  const { totals, given } = transport.client;
  const { knownPrices } = AccountReader.of(transport);
  return spentOf(totals, knownPrices, given().budget, group);
}

/** Keeps a call within a budget. */
export function keepWithin(
  budget: Budget,
  transport: Transport,
  call: PricedCall,
): Promise<(ending: Ending) => void> {
  const { signal } = call.scope.controller;
  const readPrices = () => AccountReader.of(transport).prices({ signal });
  return BudgetState.of(budget).reserve(call, readPrices, transport.client);
}
