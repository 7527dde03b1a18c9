import type { Outcome } from '../errors/gateway-error.ts';
import { type CallSubscriber, type LogicalCall, usageFrom } from '../http/call.ts';
import { outcomeOf } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import type { JsonObject } from '../types.ts';
import { BudgetState } from './budget.ts';
import { type Calls, type CallRecord, createRecord, findCalls, findRecord } from './calls.ts';
import {
  addUsage,
  costOf,
  assumedUnits,
  modelOf,
  tokensIn,
  unitsOf,
  type UsageSum,
} from './cost.ts';
import { PriceList, readPriceList } from './prices.ts';
import type { Amount, CostEstimate, Prices, Spent, SpentLine } from './types.ts';

const unread = 'the price list was not read yet; call account.prices() once';

const nothing: CostEstimate = { amount: { value: 0, unit: 'USD' } };

/** All calls of one operation to one model. */
class Sum {
  readonly operation: string;
  readonly model: string | undefined;
  #calls = 0;
  #units = 0;
  /** How many answers had no usage. */
  #silent = 0;
  /** How many answers had no ratios that can be read, although the price depends on them. */
  #unread = 0;
  #unknown = 0;
  #unknownUnits = 0;
  readonly #usage: UsageSum = {};

  constructor(operation: string, model: string | undefined) {
    this.operation = operation;
    this.model = model;
  }

  add(call: CallRecord): void {
    const { outcome, usage = {} } = call.end ?? {};
    addUsage(usage, this.#usage);
    const units = unitsOf(call);
    if (outcome === undefined) {
      this.#calls += 1;
      this.#units += units ?? 0;
      // Gateways fill usage with zeros where they do not know.
      const isTold = Object.values(usage).some(Boolean);
      if (units === undefined) this.#unread += 1;
      else if (!isTold) this.#silent += 1;
    } else {
      this.#unknown += 1;
      this.#unknownUnits += units ?? assumedUnits(call);
    }
  }

  /** What it costs, and how many of its calls are not in that. */
  price(
    prices: Prices | undefined,
    group: string | undefined,
  ): { readonly line: SpentLine; readonly unpriced: number } {
    const { operation, model } = this;
    const costs = (work: Partial<Parameters<typeof costOf>[1]>): CostEstimate =>
      prices === undefined ? { why: unread } : costOf(prices, { model, ...work }, group);
    const { output, audioOutput, ...before } = tokensIn(this.#usage);
    const input = Object.values(before).reduce((sum, count) => sum + count, 0);
    const tokens = { input, output: output + audioOutput };
    const isUsed = this.#calls > 0 || tokens.input + tokens.output > 0;
    const estimate = isUsed ? costs({ units: this.#units, usage: this.#usage }) : nothing;
    const possible = this.#unknown > 0 ? costs({ units: this.#unknownUnits }) : nothing;
    const isByToken = prices?.models.find((one) => one.model === model)?.paidBy === 'token';
    const silent = this.#unread + (isByToken ? this.#silent : 0);
    const [calls, unknown] = [this.#calls, this.#unknown];
    return {
      line: { operation, model, calls, unknown, tokens, estimate, possible },
      unpriced:
        (estimate.amount === undefined ? calls : silent) +
        (possible.amount === undefined ? unknown : 0),
    };
  }
}

/** What the calls of a client have come to, by operation and model. */
type Sums = Map<string, Sum>;

const known = new WeakMap<Calls, Sums>();

/** Returns the sums of all calls that have ended. From now on each call is added when it ends. */
function sumsOf(calls: Calls): Sums {
  const sums: Sums = known.get(calls) ?? new Map<string, Sum>();
  if (calls.onEnd) return sums;
  known.set(calls, sums);
  calls.onEnd = (call) => {
    BudgetState.end(call);
    const { end, sentAt } = call;
    if (!end || !sentAt || end.outcome === 'not_sent' || end.outcome === 'rejected') return;
    // A route that is not documented counts by its method: it may hold ids, and there would be no end.
    const [operation = ''] = call.operation.split(' ', 1);
    const model = modelOf(call);
    const key = `${operation} ${model}`;
    const sum = sums.get(key) ?? new Sum(operation, model);
    sums.set(key, sum);
    sum.add(call);
  };
  calls.records.forEach(calls.onEnd);
  return sums;
}

/** So many are remembered that the older half can be forgotten. */
const mostCalls = 3_000;

/** Usage logs return some 1,000 entries, so remembering many more calls gains nothing. */
const keptCalls = 1_500;

/** Remembers a call that is sent, and forgets the oldest once they are in the sums. */
function remember(record: CallRecord, calls: Calls): void {
  if (calls.records.push(record) % mostCalls > 0) return;
  sumsOf(calls);
  calls.records = calls.records.slice(-keptCalls);
}

/** Records a call that may be charged. */
export const recordCall: CallSubscriber = (call) => {
  if (call.spec.charge === 'free') return undefined;
  const record = createRecord(call);
  return {
    sent() {
      record.answer = undefined;
      if (record.sentAt) return;
      record.sentAt = Date.now();
      remember(record, findCalls(call.caller));
    },
    answered({ requestId, response }) {
      record.answer = { requestId, ratios: response.headers.get('x-new-api-other-ratios') };
    },
    failed(failed) {
      if (outcomeOf(failed) !== 'unknown' || failed.kind === 'server_error') return;
      record.lost = (record.lost ?? 0) + 1;
    },
    ended(ending) {
      const { error, answer } = ending;
      const { outcome = 'unknown' }: { readonly outcome?: Outcome } = Object(error);
      const { model }: JsonObject = Object(answer);
      const usage = usageFrom(ending);
      record.end = {
        at: Date.now(),
        callId: call.knownId,
        outcome: error ? outcome : undefined,
        // A copy, because callers may change their answers.
        usage: usage && { ...usage },
        model,
      };
      findCalls(call.caller).onEnd?.(record);
    },
  };
};

/** Reserves the cost of a call in the budget of its client. Rejects with `BudgetError` to refuse it. */
export function keepWithinBudget(
  call: LogicalCall,
  transport: Transport,
): Promise<void> | undefined {
  const { client, scope, settings } = call;
  const { budget } = client.given();
  const record = findRecord(call);
  if (!budget || record === undefined) return undefined;
  // The sums notify the budget of the end of calls.
  sumsOf(findCalls(transport));
  const readPrices = async (): Promise<Prices> => {
    // Reading prices is limited by the call's `timeout`, as each of its attempts is.
    scope.startAttempt(settings.timeout);
    try {
      return await readPriceList(transport, { signal: scope.controller.signal });
    } catch (error) {
      const { known: outdated } = PriceList.of(transport);
      if (outdated === undefined) throw error;
      return outdated;
    } finally {
      scope.endAttempt();
    }
  };
  return BudgetState.of(budget).reserve(call, record, readPrices);
}

const sumOf = (costs: readonly CostEstimate[]): Amount => ({
  value: costs.reduce((sum, { amount }) => sum + (amount?.value ?? 0), 0),
  unit: 'USD',
});

/** Returns what the calls of a client have come to, by the prices that were read last. */
export function sumUp(transport: Transport, ownGroup: string | undefined): Spent {
  const { budget } = transport.client.given();
  const group = ownGroup ?? budget?.group;
  const { known: prices } = PriceList.of(transport);
  const all = [...sumsOf(findCalls(transport)).values()].map((sum) => sum.price(prices, group));
  const lines = all.map(({ line }) => line);
  const { spent, reserved } = budget ? BudgetState.of(budget) : { spent: 0, reserved: 0 };
  return {
    lines,
    estimate: sumOf(lines.map(({ estimate }) => estimate)),
    possible: sumOf(lines.map(({ possible }) => possible)),
    unpriced: all.reduce((sum, { unpriced }) => sum + unpriced, 0),
    budget: budget ? { limit: budget.limit, spent, reserved } : undefined,
  };
}
