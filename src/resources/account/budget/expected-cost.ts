import { errorMessage } from '../../../answers/objects.ts';
import { assumedTokens } from '../../../answers/token-estimate.ts';
import type { GatewayRequest } from '../../../calls/gateway-request.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Budget } from '../../../options/options.ts';
import type { Learned } from '../../../calls/budget-ledger.ts';
import {
  assumedUnits,
  assumedVideoUnits,
  computeCost,
  imageCount,
  type PriceKind,
  type Work,
} from '../cost.ts';
import type { CallRecord } from '../record.ts';
import { expectUsage, requestedSeconds } from './request-cost.ts';
import type { CostEstimate, Prices } from '../types.ts';

/** The price list, or the error of reading it. */
export type PricesRead = { readonly list: Prices } | { readonly error: unknown };

/** The expected cost of a call that is not sent yet, in US dollars. */
interface Expected {
  /** The part that the parameters determine. */
  readonly base: number;
  /** Added for each unit: the bound of the response, or a guess until the cost of a call to the model is known. */
  readonly perUnit: number;
  /** `true` if the request bounds its response, so that no more is expected for a unit. */
  readonly isBound: boolean;
  /** The number of units that may each cost more than expected. */
  readonly count: number;
  /** The part of `base` that is certain. Default: all of it. */
  readonly certain?: number;
  /** `true` if only the response shows the cost. */
  readonly isGuess: boolean;
}

/** The expected cost of a call, or the reason why it is unknown. */
export type Expectation = Expected | { readonly reason: string };

/** The facts of a call that determine its cost. */
export interface Facts {
  readonly budget: Budget;
  readonly params: GatewayRequest['params'];
  readonly record: CallRecord;
  readonly kind: PriceKind;
  readonly model: string | undefined;
  readonly prices: PricesRead;
  readonly learned: Learned;
}

/** A call that a budget counts. */
export interface Planned extends Facts {
  readonly call: GatewayRequest;
  /** Equal for calls that are expected to have the same price. */
  readonly key: string;
  /** Returns the expected cost, from the facts known at that time. */
  readonly expect: () => Expectation;
}

/** Returns the cost of some work by the price list. */
export function priceWork(
  { prices, budget, model }: Pick<Facts, 'prices' | 'budget' | 'model'>,
  work: Omit<Work, 'model'>,
): CostEstimate {
  if ('list' in prices) return computeCost(prices.list, { model, ...work }, budget.group);
  const { error } = prices;
  const message = GatewayError.isInstance(error) ? error.summary : errorMessage(error);
  return { reason: `its price list cannot be read: ${message.replace(/\.$/, '')}` };
}

/** Returns the least that a call counts as, by `budget.perCall`; `undefined` if that has no such model. */
export function leastCost({ budget, model, record }: Omit<Facts, 'params'>): number | undefined {
  const { perCall = {} } = budget;
  if (model === undefined || !Object.hasOwn(perCall, model)) return undefined;
  return (perCall[model] ?? 0) * imageCount(record);
}

/** Estimates the cost of a call before it is sent. */
export function expectCost(facts: Facts): Expectation {
  const least = leastCost(facts);
  const listed = expectListed(facts);
  if (least === undefined) return listed;
  const count = imageCount(facts.record);
  return 'base' in listed
    ? { ...listed, isGuess: false }
    : { base: least, perUnit: 0, isBound: false, count, isGuess: false };
}

/** Estimates the cost of a call by the price list. */
function expectListed(facts: Facts): Expectation {
  const { params, record, kind, model, learned } = facts;
  const isVideo = kind === 'video';
  const units = isVideo ? videoUnits(learned, model, params) : assumedUnits(record);
  const byCall = priceWork(facts, { units, seconds: isVideo ? units : undefined });
  if (byCall.amount !== undefined) {
    const { value: base } = byCall.amount;
    return { base, perUnit: 0, isBound: false, count: imageCount(record), isGuess: isVideo };
  }
  const usage = expectUsage(kind, params);
  if (usage === undefined) return byCall;
  const characters = kind === 'speech' ? usage.input.inputTokens : undefined;
  const input = priceWork(facts, { usage: usage.input, characters });
  const whole = priceWork(facts, { usage: usage.total, characters });
  if (input.amount === undefined) return input;
  const { value: base } = input.amount;
  const { isBound, answers: count } = usage;
  if (kind === 'speech') {
    const total = whole.amount?.value ?? base;
    return { base: total, perUnit: 0, isBound, count, isGuess: false };
  }
  if (whole.amount === undefined) return whole;
  const { inputTokens: tokens = 0 } = usage.input;
  const perUnit = (whole.amount.value - base) / count;
  // The tokens of the text are estimated.
  const certain = base * Math.max(0, 1 - assumedTokens / tokens);
  return { base, perUnit, isBound, count, certain, isGuess: true };
}

/** Returns the expected multiplier of a video: at least the one that responses have reported for its model. */
function videoUnits(
  { others, longest, shortest = 0 }: Learned,
  model: string | undefined,
  params: Facts['params'],
): number {
  const requested = requestedSeconds(params);
  if (others === undefined) return assumedVideoUnits(model, requested);
  if (longest === undefined) return others;
  return others * (requested === undefined ? longest : Math.max(requested, shortest));
}

/** Returns the part of the expected cost that is known before the call, and the number of units. */
export function unitCost(
  expected: Expectation,
  record: CallRecord,
): Pick<Expected, 'base' | 'count' | 'perUnit' | 'isBound'> {
  if ('base' in expected) return expected;
  return { base: 0, count: imageCount(record), perUnit: 0, isBound: false };
}

/** Returns the amount to reserve: at least what calls of the model have cost more than expected. */
export function amountFor(planned: Planned): number {
  const { learned, record } = planned;
  const { base, perUnit, count, isBound } = unitCost(planned.expect(), record);
  const { excess = perUnit, overrun = 0 } = learned;
  const each = isBound ? perUnit + overrun : excess;
  return Math.max(leastCost(planned) ?? 0, base + each * count);
}

/**
 * Returns the amount that must remain of the limit. It is less than the reservation if that is a guess: the
 * response may be short, so the guess doesn't reject the call.
 */
export function neededRoom(planned: Planned): number {
  const expected = planned.expect();
  if (!('base' in expected)) return 0;
  const { base, certain, isBound } = expected;
  const amount = amountFor(planned);
  if (certain === undefined) return amount;
  return Math.max(leastCost(planned) ?? 0, isBound ? amount - (base - certain) : certain);
}
