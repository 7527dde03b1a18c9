import { check, checkInteger, checkModel, checkObject } from '../check.ts';
import type { AccountPart, Transport } from '../http/transport.ts';
import { BudgetState } from './budget.ts';
import { addUsage, costOf, parseRatios } from './cost.ts';
import { PriceList } from './prices.ts';
import { AccountReader, readOptions } from './reader.ts';
import { fold, spentOf, sumsOf } from './spent.ts';
import type { AccountOptions, CostEstimate, CostQuery, Prices, Spent } from './types.ts';

/** How old a price list may be that is used again, in milliseconds. */
const pricesFreshFor = 600_000;

/** Reads the price list, or returns one that is fresh. */
export async function prices(
  caller: Transport,
  _: undefined,
  options: AccountOptions,
): Promise<Prices> {
  const { notBefore, signal } = readOptions(options, pricesFreshFor);
  return PriceList.of(caller).get(caller, notBefore, signal);
}

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
  const header = headers?.get('x-new-api-other-ratios') ?? null;
  const product = header === null ? 1 : parseRatios(header)?.product;
  const counts = addUsage(usage ?? {});
  const list = await prices(caller, undefined, options);
  if (product === undefined) {
    return { why: 'the header x-new-api-other-ratios holds ratios that cannot be read' };
  }
  return costOf(list, { model, units: images * product, usage: counts }, group);
}

/** What the calls of a client have come to, by the prices that were read last. */
export function spent(caller: Transport, group?: string): Spent {
  const { budget } = caller.client.given();
  return spentOf(caller.calls, PriceList.of(caller).known, budget, group);
}

/** Keeps a call within the budget of its client. */
const keepWithin: AccountPart['keepWithin'] = async (call, caller) => {
  const { client, scope, settings } = call;
  const { budget } = client.given();
  if (!budget) return;
  // The budget learns of the end of calls from the sums.
  sumsOf(caller.calls);
  await BudgetState.of(budget).reserve(call, async () => {
    // Reading prices is limited by the call's `timeout`, as each of its attempts is.
    scope.startAttempt(settings.timeout);
    try {
      return await prices(caller, undefined, { signal: scope.controller.signal });
    } catch (error) {
      const { known } = PriceList.of(caller);
      // A list that is out of date is better than none.
      if (known === undefined) throw error;
      return known;
    } finally {
      scope.endAttempt();
    }
  });
};

/** The account's part in every call of a client. */
export const accountPart: AccountPart = {
  keepWithin,
  fold,
  settleCall: (caller, ...question) => AccountReader.of(caller).settleCall(...question),
};
