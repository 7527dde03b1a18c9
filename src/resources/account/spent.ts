import { dollars } from '../../answers/cost.ts';
import type { Outcome } from '../../errors/gateway-error.ts';
import { findId, isObject, isText, readId, toFields } from '../../answers/objects.ts';
import { readUsage } from '../../answers/usage.ts';
import { costFrom, type Ending, type Listener, usageFrom } from '../../calls/events.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import type { IncomingResponse } from '../../http/responses/response-body.ts';
import type { Subscriber, Transport } from '../../calls/transport.ts';
import type { Budget } from '../../options/options.ts';
import { isTaskRef } from '../../tasks/ref.ts';
import { BudgetState } from './budget/state.ts';
import { type Calls, findCalls } from './calls.ts';
import { addUsage, hasCounts, type PriceKind, type UsageSum } from './cost.ts';
import { PriceList, readPriceList } from './prices.ts';
import { type CallRecord, createRecord, isCounted, type Report } from './record.ts';
import { expectUsage } from './budget/request-cost.ts';
import { findAsked, hasUnnamedRequest, type IsLogged } from './questions.ts';
import type { Question } from './settle.ts';
import type { Amount, CostEstimate, Prices, Spent } from './types.ts';

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
  calls.sums.update(call, () => {
    call.end = { ...end, polled, usage, cost };
  });
  call.held?.update();
}

/** Stops counting the calls of a question that the usage log proves to be refunded or not charged. */
export function releaseCalls(calls: Calls, question: Question): void {
  const isProved: IsLogged = (id) => id !== undefined && question.requestIds.includes(id);
  for (const call of findAsked(calls, question)) {
    calls.sums.update(call, () => {
      call.isFree = true;
      // A lost attempt that the question doesn't name may still be charged.
      if (!hasUnnamedRequest(call, isProved)) call.lost = 0;
    });
    call.held?.update();
  }
  for (const requestId of question.requestIds) calls.releaseSuccess(requestId);
}

/** Returns the usage to assume for a response that reports none; `undefined` if it can't be estimated. */
function assumeUsage(kind: PriceKind, params: GatewayRequest['params']): UsageSum | undefined {
  if (kind !== 'text' && kind !== 'embedding') return undefined;
  try {
    return expectUsage(kind, params)?.total;
  } catch {
    // A getter in the parameters throws.
    return undefined;
  }
}

const none: readonly string[] = [];

/** Returns the ids of the tasks that a response to a submission names. */
function findTaskIds(answer: unknown): readonly string[] {
  const { ref } = toFields(answer);
  if (isTaskRef(ref)) return ('ids' in ref && ref.ids) || [ref.id];
  return isObject(answer) ? [findId(answer)].filter(isText) : [];
}

/** Records what the response to a poll reports, such as the cost of the task. */
const recordPoll = (call: GatewayRequest): Listener | undefined => {
  if (call.spec.task !== 'reads') return undefined;
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
      const { result: answer } = ending;
      const ids = [taskId, videoId, isObject(answer) ? findId(answer) : undefined];
      reviseCall(findCalls(call), ids.map(readId), { usage, cost });
    },
  };
};

/** Listens to the events of a call that may be charged. */
class CallRecorder implements Listener {
  readonly #call: GatewayRequest;
  readonly #record: CallRecord;
  #headers: Headers | undefined;
  #isAccepted = false;
  /** Reserves the cost of the request in the budget of its client. */
  readonly beforeRequest: (() => Promise<void>) | undefined;

  constructor(call: GatewayRequest, transport: Transport) {
    this.#call = call;
    const record = createRecord(call);
    this.#record = record;
    const { budget } = call.client.original();
    if (budget) this.beforeRequest = () => reserve(budget, call, record, transport);
  }

  sent(): void {
    const record = this.#record;
    record.answer = undefined;
    record.isSent = true;
    this.#isAccepted = false;
    this.#headers = undefined;
  }

  answered({ requestId, response: { headers } }: IncomingResponse): void {
    this.#headers = headers;
    this.#record.answer = { requestId, ratios: headers.get('x-new-api-other-ratios') };
    this.#isAccepted = true;
  }

  failed(): void {
    this.#isAccepted = false;
  }

  ended(ending: Ending): void {
    const call = this.#call;
    const record = this.#record;
    const { error, result: answer } = ending;
    const { outcome = 'unknown' }: { readonly outcome?: Outcome } = Object(error);
    const { model } = toFields(answer);
    const reported = usageFrom(ending);
    // Read now, because callers may change their result.
    const usage = reported && readUsage(reported, this.#headers);
    const hasReader = call.client.findBase()?.gateway?.profile.readCost !== undefined;
    const cost = usage && !hasReader ? usage.cost : costFrom(call, ending, this.#headers);
    const isSilent = cost === undefined && (usage === undefined || !hasCounts(usage));
    record.end = {
      at: Date.now(),
      callId: call.call.knownId,
      outcome: error ? outcome : undefined,
      usage,
      cost,
      model,
      expected: isSilent && record.isSent ? assumeUsage(record.kind, call.params) : undefined,
      taskIds: call.spec.charge === 'charged' ? findTaskIds(answer) : none,
    };
    const { history, settings } = call;
    // A stream that broke off was accepted and is not one of the lost attempts.
    const last = record.end.outcome === undefined ? 0 : this.#isAccepted ? 0 : 1;
    record.lost = settings.idempotency?.honored === true ? 0 : Math.max(0, history.lost - last);
    findCalls(call).add(record);
    record.held?.end();
  }
}

/** Records a call that may be charged, and keeps it within the budget of its client. */
export const recordCall: Subscriber = (call, transport) =>
  call.spec.charge === 'free' ? recordPoll(call) : new CallRecorder(call, transport);

/** @throws `BudgetError` if the request may not be sent */
function reserve(
  budget: Budget,
  call: GatewayRequest,
  record: CallRecord,
  transport: Transport,
): Promise<void> {
  const { scope, settings } = call;
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
  const all = findCalls(transport).sums.all.map((sum) => sum.price(prices, group));
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
