import { dollars } from '../../answers/cost.ts';
import type { Outcome } from '../../errors/gateway-error.ts';
import { findId, isObject, isText, readId, toFields } from '../../answers/objects.ts';
import { readUsage } from '../../answers/usage.ts';
import { costFrom, type Ending, type Listener, usageFrom } from '../../calls/events.ts';
import type { Request } from '../../calls/request.ts';
import type { Answer } from '../../http/response-body.ts';
import { type FailedAttempt, getOutcome } from '../../http/retry.ts';
import type { Subscriber, Transport } from '../../calls/transport.ts';
import type { Budget } from '../../options/options.ts';
import { isTaskRef } from '../../tasks/ref.ts';
import { BudgetState } from './budget.ts';
import {
  type Calls,
  type CallRecord,
  createRecord,
  findCalls,
  findRecord,
  type Report,
} from './calls.ts';
import {
  addUsage,
  computeCost,
  assumedUnits,
  hasCounts,
  findModel,
  type PriceKind,
  priceKind,
  readUnits,
  type UsageSum,
} from './cost.ts';
import { PriceList, readPriceList } from './prices.ts';
import { findAsked, hasUnnamedRequest, type IsLogged } from './questions.ts';
import type { Question } from './settle.ts';
import type { Amount, CostEstimate, Prices, Spent, SpentLine } from './types.ts';

const unread = 'the price list was not read yet; call account.prices() once';

const nothing: CostEstimate = { amount: dollars(0) };

/** All calls of one operation to one model. */
class Sum {
  readonly operation: string;
  readonly model: string | undefined;
  #calls = 0;
  #unknown = 0;
  #input = 0;
  #output = 0;
  /** The calls whose responses report their cost, and that cost in US dollars. */
  #reported = 0;
  #reportedCost = 0;
  // The other calls, whose cost comes from the price list.
  #listed = 0;
  #units = 0;
  readonly #usage: UsageSum = {};
  /** The number of calls in the sum `#usage`, also those of unknown outcome. */
  #counted = 0;
  /** The number of the other calls without usage. */
  #silent = 0;
  /** The number of the other calls without readable ratios, although the price depends on them. */
  #unread = 0;
  #listedUnknown = 0;
  #unknownUnits = 0;

  constructor(operation: string, model: string | undefined) {
    this.operation = operation;
    this.model = model;
  }

  add(call: CallRecord, sign: 1 | -1): void {
    const { outcome, usage, cost } = call.end ?? {};
    if (outcome === undefined) this.#calls += sign;
    else this.#unknown += sign;
    this.#input += sign * (usage?.inputTokens ?? 0);
    this.#output += sign * (usage?.outputTokens ?? 0);
    if (cost !== undefined) {
      this.#reported += sign;
      this.#reportedCost += sign * cost;
      return;
    }
    if (usage !== undefined) addUsage(this.#usage, usage, sign);
    const hasUsage = usage !== undefined && hasCounts(usage);
    if (hasUsage) this.#counted += sign;
    const units = readUnits(call);
    if (outcome === undefined) {
      this.#listed += sign;
      this.#units += sign * (units ?? 0);
      if (units === undefined) this.#unread += sign;
      else if (!hasUsage) this.#silent += sign;
    } else {
      this.#listedUnknown += sign;
      this.#unknownUnits += sign * (units ?? assumedUnits(call));
    }
  }

  /** Returns the cost, and the number of calls that are not included in it. */
  price(
    prices: Prices | undefined,
    group: string | undefined,
  ): { readonly line: SpentLine; readonly unpriced: number } {
    const { operation, model } = this;
    const costs = (work: Partial<Parameters<typeof computeCost>[1]>): CostEstimate =>
      prices === undefined ? { reason: unread } : computeCost(prices, { model, ...work }, group);
    const isListed = this.#listed > 0 || hasCounts(this.#usage);
    const isVideo = priceKind(operation) === 'video';
    const quantity = (units: number) => ({ units, seconds: isVideo ? units : undefined });
    const listedWork = { ...quantity(this.#units), usage: this.#usage, calls: this.#counted };
    const listed = isListed ? costs(listedWork) : nothing;
    const possible = this.#listedUnknown > 0 ? costs(quantity(this.#unknownUnits)) : nothing;
    const isByToken = prices?.models.find((one) => one.model === model)?.billedPer === 'token';
    const silent = this.#unread + (isByToken ? this.#silent : 0);
    const estimate =
      this.#reported === 0
        ? listed
        : { amount: dollars(this.#reportedCost + (listed.amount?.value ?? 0)) };
    const line: SpentLine = {
      operation,
      model,
      calls: this.#calls,
      unknown: this.#unknown,
      reported: this.#reported,
      tokens: { input: this.#input, output: this.#output },
      estimate,
      possible,
    };
    return {
      line,
      unpriced:
        (listed.amount === undefined ? this.#listed : silent) +
        (possible.amount === undefined ? this.#listedUnknown : 0),
    };
  }
}

/** The sums of the calls of clients that share state, in the order of their first calls. */
class Sums {
  readonly all: Sum[] = [];
  readonly #byOperation = new Map<string, Map<string | undefined, Sum>>();

  /** Returns the sum of the calls with the same operation and model. */
  of(call: CallRecord): Sum {
    // Undocumented routes are counted by method, because ids in their paths would create countless entries.
    const methodEnd = call.operation.indexOf(' ');
    const operation = methodEnd === -1 ? call.operation : call.operation.slice(0, methodEnd);
    const model = findModel(call);
    const byModel = this.#byOperation.get(operation) ?? new Map<string | undefined, Sum>();
    const known = byModel.get(model);
    if (known !== undefined) return known;
    const sum = new Sum(operation, model);
    this.all.push(sum);
    this.#byOperation.set(operation, byModel.set(model, sum));
    return sum;
  }

  /** Adds a call that has ended, once. */
  add(call: CallRecord): void {
    if (call.isSummed || !isCounted(call)) return;
    call.isSummed = true;
    this.of(call).add(call, 1);
  }

  /** Subtracts a call. */
  remove(call: CallRecord): void {
    if (!call.isSummed) return;
    call.isSummed = false;
    this.of(call).add(call, -1);
  }
}

function isCounted({ end, isFree }: CallRecord): boolean {
  if (end === undefined || isFree) return false;
  return end.outcome !== 'not_sent' && end.outcome !== 'rejected';
}

const known = new WeakMap<Calls, Sums>();

/** Returns the sums of all calls that have ended. Calls are only added here, so that they cost little. */
function findSums(calls: Calls): Sums {
  const sums = known.get(calls) ?? new Sums();
  known.set(calls, sums);
  for (const call of calls.records) sums.add(call);
  return sums;
}

/** Adds the reports of the polls of tasks. A task without a report is assumed to cost as much as the others. */
function addReports(reports: readonly Report[], tasks: number): Report {
  const usage: UsageSum = {};
  for (const report of reports) addUsage(usage, report.usage ?? {});
  const costs = reports.flatMap(({ cost }) => cost ?? []);
  const sum = costs.reduce((total, cost) => total + cost, 0);
  return {
    usage: hasCounts(usage) ? usage : undefined,
    cost: costs.length === 0 ? undefined : (sum * tasks) / costs.length,
  };
}

/** Counts what a poll of a task reports, in place of what was counted for its submission. */
function reviseCall(calls: Calls, ids: readonly unknown[], report: Report): void {
  const call = calls.records.findLast(({ end }) => end?.taskIds.some((id) => ids.includes(id)));
  if (call?.end === undefined || !isCounted(call)) return;
  const { end } = call;
  const id = end.taskIds.find((each) => ids.includes(each)) ?? '';
  const polled = new Map(end.polled).set(id, report);
  const { usage = end.usage, cost = end.cost } = addReports(
    [...polled.values()],
    end.taskIds.length,
  );
  // It is added again, with the new numbers, when the sums are needed.
  known.get(calls)?.remove(call);
  call.end = { ...end, polled, usage, cost };
  BudgetState.revise(call);
}

/** Stops counting the calls of a question that the usage log proves to be refunded or not charged. */
export function releaseCalls(calls: Calls, question: Question): void {
  const isProved: IsLogged = (id) => id !== undefined && question.requestIds.includes(id);
  for (const call of findAsked(calls, question)) {
    // A lost attempt that the question doesn't name may still be charged.
    const isWhole = !hasUnnamedRequest(call, isProved);
    BudgetState.release(call, isWhole);
    if (!isWhole || call.isFree) continue;
    known.get(calls)?.remove(call);
    call.isFree = true;
  }
}

/** The number of call records above which the older half is dropped. */
const mostCalls = 3_000;

/**
 * The number of call records that remain. More are useless, because usage logs return only about 1,000
 * entries.
 */
const keptCalls = 1_500;

/** Stores the record of a call, and drops the oldest records once they are in the sums. */
function remember(record: CallRecord, calls: Calls): void {
  if (calls.records.push(record) < mostCalls) return;
  const sums = findSums(calls);
  for (const dropped of calls.records.splice(0, calls.records.length - keptCalls)) {
    if (dropped.end === undefined) dropped.onEnd = () => sums.add(dropped);
  }
}

/** Kinds of operations whose results may be tasks. The response to a poll may report the cost of the task. */
const hasTasks = (kind: PriceKind): boolean => kind === 'video' || kind === 'image';

const none: readonly string[] = [];

/** Returns the ids of the tasks that a response to a submission names. */
function findTaskIds(answer: unknown): readonly string[] {
  const { ref } = toFields(answer);
  if (isTaskRef(ref)) return ('ids' in ref && ref.ids) || [ref.id];
  return isObject(answer) ? [findId(answer)].filter(isText) : [];
}

/** Records what the response to a poll reports. */
const recordPoll = (call: Request): Listener | undefined => {
  if (!hasTasks(priceKind(call.spec.operation))) return undefined;
  let headers: Headers | undefined;
  return {
    answered({ response }) {
      ({ headers } = response);
    },
    ended(ending) {
      const cost = costFrom(call, ending, headers);
      const reported = usageFrom(ending);
      const usage = reported && readUsage(reported, headers);
      if (cost === undefined && !hasCounts(usage ?? {})) return;
      const { task_id: taskId, video_id: videoId } = call.params;
      const { answer } = ending;
      const ids = [taskId, videoId, isObject(answer) ? findId(answer) : undefined];
      reviseCall(findCalls(call), ids.map(readId), { usage, cost });
    },
  };
};

/** Listens to the events of a call that may be charged. */
class CallRecorder implements Listener {
  readonly #call: Request;
  readonly #record: CallRecord;
  #headers: Headers | undefined;

  constructor(call: Request) {
    this.#call = call;
    this.#record = createRecord(call);
  }

  sent(): void {
    const record = this.#record;
    record.answer = undefined;
    record.isAccepted = false;
    this.#headers = undefined;
    if (record.isSent) return;
    record.isSent = true;
    remember(record, findCalls(this.#call));
  }

  answered({ requestId, response: { headers } }: Answer): void {
    this.#headers = headers;
    this.#record.answer = { requestId, ratios: headers.get('x-new-api-other-ratios') };
    this.#record.isAccepted = true;
  }

  failed(failed: FailedAttempt): void {
    this.#record.isAccepted = false;
    if (getOutcome(failed) !== 'unknown') return;
    this.#record.lost += 1;
  }

  ended(ending: Ending): void {
    const call = this.#call;
    const record = this.#record;
    const { error, answer } = ending;
    const { outcome = 'unknown' }: { readonly outcome?: Outcome } = Object(error);
    const { model } = toFields(answer);
    const reported = usageFrom(ending);
    // Read now, because callers may change their result.
    const usage = reported && readUsage(reported, this.#headers);
    const hasReader = call.client.findBase()?.gateway?.profile.readCost !== undefined;
    record.end = {
      at: Date.now(),
      callId: call.call.knownId,
      outcome: error ? outcome : undefined,
      usage,
      cost: usage && !hasReader ? usage.cost : costFrom(call, ending, this.#headers),
      model,
      taskIds: hasTasks(record.kind) ? findTaskIds(answer) : none,
    };
    record.onEnd?.();
    if (call.client.original().budget) BudgetState.end(record);
  }
}

/** Records a call that may be charged. */
export const recordCall: Subscriber = (call) =>
  call.spec.charge === 'free' ? recordPoll(call) : new CallRecorder(call);

/**
 * Reserves the cost of each request in the budget of its client. The request fails with `BudgetError` if it may
 * not be sent.
 */
export const keepWithinBudget: Subscriber = (call, _isStream, transport) => {
  const { budget } = call.client.original();
  return budget ? { beforeRequest: () => reserve(budget, call, transport) } : undefined;
};

function reserve(budget: Budget, call: Request, transport: Transport): Promise<void> | undefined {
  const { scope, settings } = call;
  const record = findRecord(call);
  if (record === undefined) return undefined;
  const readPrices = async (): Promise<Prices> => {
    // Reading prices has the same time limit as an attempt of the call.
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

const addUp = (costs: readonly CostEstimate[]): Amount =>
  dollars(costs.reduce((sum, { amount }) => sum + (amount?.value ?? 0), 0));

/** Sums up the cost of a client's calls, with the last price list that was read. */
export function sumUp(transport: Transport, ownGroup: string | undefined): Spent {
  const { budget } = transport.client.original();
  const group = ownGroup ?? budget?.group;
  const { known: prices } = PriceList.of(transport);
  const all = findSums(findCalls(transport)).all.map((sum) => sum.price(prices, group));
  const lines = all.map(({ line }) => line);
  const { spent, reserved } = budget ? BudgetState.of(budget) : { spent: 0, reserved: 0 };
  return {
    lines,
    estimate: addUp(lines.map(({ estimate }) => estimate)),
    possible: addUp(lines.map(({ possible }) => possible)),
    unpriced: all.reduce((sum, { unpriced }) => sum + unpriced, 0),
    budget: budget ? { limit: budget.limit, spent, reserved } : undefined,
  };
}
