import { check, checkInteger, checkModel, checkObject } from '../check.ts';
import type { AccountPart, Transport } from '../http/transport.ts';
import { BudgetState } from './budget.ts';
import { addUsage, costOf, productOf } from './cost.ts';
import { AccountReader } from './reader.ts';
import { fold, spentOf, sumsOf } from './spent.ts';
import type { AccountOptions, CostEstimate, CostQuery, Spent } from './types.ts';

export { fold };

/** What something costs by the price list. */
export async function estimate(
  caller: Transport,
  query: CostQuery | null,
  options: AccountOptions,
): Promise<CostEstimate> {
  checkObject('query', query);
  const { model, usage, images = 1, headers, group }: Partial<CostQuery> = query ?? {};
  checkModel(model);
  checkObject('usage', usage);
  checkInteger('images', images, 1);
  const isHeaders = headers === undefined || typeof headers?.get === 'function';
  check(isHeaders, 'headers', 'must be the headers of an answer, from withResponse().');
  const units = images * productOf(headers?.get('x-new-api-other-ratios'));
  const prices = await AccountReader.of(caller).prices(options);
  return costOf(prices, { model, units, usage: addUsage(usage ?? {}) }, group);
}

/** What the calls of a client have come to, by the prices that were read last. */
export function spent(caller: Transport, group?: string): Spent {
  const { budget } = caller.client.given();
  const { knownPrices } = AccountReader.of(caller);
  return spentOf(caller.calls, knownPrices, budget, group);
}

/** Keeps a call within the budget of its client. */
export const keepWithin: AccountPart['keepWithin'] = async (call, caller) => {
  const { client, scope } = call;
  const { budget } = client.given();
  if (!budget) return;
  // Who counts calls at their end tells the budget too.
  sumsOf(caller.calls);
  const { signal } = scope.controller;
  const readPrices = () => AccountReader.of(caller).prices({ signal });
  await BudgetState.of(budget).reserve(call, readPrices);
};

/** Settles a submission that a ledger knows. */
export const settleCall: AccountPart['settleCall'] = (caller, ...asked) =>
  AccountReader.of(caller).settleCall(...asked);
