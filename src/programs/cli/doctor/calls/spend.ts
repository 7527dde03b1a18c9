import type { GatewayProfile } from '../../../../index.ts';
import { type MadeCall, logRow, readLog, findRequestIds, withCost } from './costs.ts';
import { locate, type Target } from '../probe.ts';
import { dollars, type Estimate, estimateCall } from './estimate.ts';
import { type CallHooks, type CallResult, makeCall } from './make-call.ts';
import { type KnownModel, rankModels } from './models.ts';
import type { ExtraRow, ReportCall, Shared } from './call.ts';
import { reportCalls } from './operations.ts';
import type { ReportRow } from '../report-schema.ts';

/** The limit of a report and the amount spent. The reports of `--watch` share it. */
interface Wallet {
  /** In US dollars. */
  readonly limit: number;
  spent: number;
}

/** Options of the paid calls. */
export interface SpendOptions {
  readonly wallet: Wallet;
  /** `true` to create a video. */
  readonly video: boolean;
  /** The calls to make; all by default. */
  readonly only: readonly string[] | undefined;
  /** Models to prefer. */
  readonly models: readonly string[];
  /** Called with the plan before the first call that costs something. Throws to make none. */
  readonly confirm: (plan: Plan) => Promise<void>;
  /** Called with the id of a task that continues if the report ends. */
  readonly onTask: (id: string) => void;
}

/** A model for a call, and the most that the call can cost with it. */
interface Candidate {
  readonly model: KnownModel;
  readonly estimate: Estimate;
}

/** A call with its model, or the reason why it is not made. */
interface PlannedCall {
  readonly call: ReportCall;
  readonly model: KnownModel | undefined;
  readonly estimate: Estimate;
  /** The models to try if this one does not serve the call. */
  readonly others: readonly Candidate[];
  readonly skip: string | undefined;
  /** `true` if the gateway does not serve the operation. */
  readonly isUnsupported: boolean;
}

/** The calls of a report, before any of them is made. */
export interface Plan {
  readonly calls: readonly PlannedCall[];
  /** The most that the calls can cost together, in US dollars. At most the limit. */
  readonly usd: number;
  readonly limit: number;
}

const rowId = ({ id }: ReportCall): string => `call.${id}`;

/** Tolerance for rounding errors in sums of small amounts. */
const tolerance = 1e-12;

/** The number of models that are tried for a call. */
const mostModels = 4;

function planCall(
  call: ReportCall,
  { video, models: named }: SpendOptions,
  known: readonly KnownModel[],
  profile: GatewayProfile | undefined,
  groupRatios: Readonly<Record<string, number>>,
): PlannedCall {
  const { kind, work, operation } = call;
  const [model, ...rest] = rankModels(known, kind, named).slice(0, mostModels);
  const none: Estimate = { usd: 0, isKnown: true };
  const plan = { call, model, estimate: none, others: [], skip: undefined, isUnsupported: false };
  const advice = profile?.unsupported?.[operation];
  if (advice !== undefined) return { ...plan, skip: advice, isUnsupported: true };
  if (model === undefined) return { ...plan, skip: 'no model for it is known; name one with -m' };
  if (kind === 'video' && !video) return { ...plan, skip: 'requires --video' };
  const estimate = ({ id, price }: KnownModel): Estimate =>
    estimateCall(id, kind, work, price, groupRatios);
  const others = rest.map((other) => ({ model: other, estimate: estimate(other) }));
  return { ...plan, estimate: estimate(model), others };
}

/** Plans the calls of a report: each with its model and the most that it can cost. */
function planCalls(
  options: SpendOptions,
  known: readonly KnownModel[],
  profile: GatewayProfile | undefined,
  groupRatios: Readonly<Record<string, number>>,
): Plan {
  const { wallet, only } = options;
  const wanted = reportCalls.filter(({ id }) => only === undefined || only.includes(id));
  const planned = wanted.map((call) => planCall(call, options, known, profile, groupRatios));
  let usd = 0;
  const left = wallet.limit - wallet.spent;
  const calls = planned.map((plan): PlannedCall => {
    if (plan.skip !== undefined) return plan;
    if (usd + plan.estimate.usd > left + tolerance)
      return { ...plan, skip: tooExpensive(plan.estimate, left - usd) };
    usd += plan.estimate.usd;
    return plan;
  });
  return { calls, usd, limit: wallet.limit };
}

function tooExpensive({ usd, isKnown }: Estimate, left: number): string {
  const rest = `${dollars(Math.max(0, left))} of the limit is left`;
  if (isKnown) return `costs up to ${dollars(usd)}, but ${rest}`;
  return `the gateway publishes no price; it may cost up to ${dollars(usd)}, but ${rest}`;
}

/** The rows and the cost of the paid calls. */
export interface SpendResult {
  readonly rows: readonly ReportRow[];
  /** In US dollars, like the others: by the usage log and by responses. */
  readonly charged: number;
  /** The most that calls without a known cost were charged. */
  readonly unknown: number;
  readonly results: ReadonlyMap<string, CallResult>;
}

/** The models and prices of a gateway. */
export interface SpendContext {
  readonly known: readonly KnownModel[];
  readonly groupRatios: Readonly<Record<string, number>>;
  readonly quotaPerDollar: number;
  readonly clean: CallHooks['clean'];
}

/** A call that was made with one model. */
interface Attempt {
  readonly model: string;
  readonly result: CallResult;
  readonly atMostUSD: number;
}

/** Describes a call. What its models do not serve says nothing about the gateway. */
function toRow(id: string, last: Attempt, refused: readonly Attempt[]): ReportRow {
  const { status, detail, milliseconds, modelProblem } = last.result;
  const all = [...refused, last];
  const atMostUSD = all.reduce((sum, attempt) => sum + attempt.atMostUSD, 0);
  const call = { model: last.model, atMostUSD, milliseconds };
  if (modelProblem !== undefined) {
    const problems = all.map(({ model, result }) => `${model}: ${result.detail}`).join('; ');
    const isUnknown = all.every(({ result }) => result.modelProblem === 'unknown');
    const shown = all.length === 1 ? detail : `no model of ${all.length} serves it: ${problems}`;
    return { id, status: isUnknown ? status : 'skip', detail: shown, call };
  }
  const names = refused.map(({ model }) => model).join(', ');
  const note = names === '' ? '' : `; not served by ${names}`;
  return { id, status, detail: `${detail}${note}`, call };
}

/** Makes the paid calls of a report one by one, within the limit, and looks up their cost. */
export async function makeCalls(
  target: Target,
  options: SpendOptions,
  { known, groupRatios, quotaPerDollar, clean }: SpendContext,
): Promise<SpendResult> {
  const { wallet, onTask } = options;
  const profile = locate(target)?.gateway?.profile;
  const plan = planCalls(options, known, profile, groupRatios);
  if (plan.usd > 0) await options.confirm(plan);
  const shared: Shared = { newLimits: new Set() };
  const taskIds: string[] = [];
  const made: MadeCall[] = [];
  const hooks: CallHooks = {
    clean,
    onTask(task) {
      taskIds.push(task);
      onTask(task);
    },
  };
  const extra = new Map<string, readonly ExtraRow[]>();
  for (const { call, model, estimate, others, skip, isUnsupported } of plan.calls) {
    const id = rowId(call);
    const left = wallet.limit - wallet.spent;
    const isOver = estimate.usd > left + tolerance;
    const reason =
      skip ??
      call.lacks?.(shared) ??
      (target.signal.aborted ? 'interrupted' : isOver ? tooExpensive(estimate, left) : undefined);
    if (reason !== undefined || model === undefined) {
      const status = isUnsupported ? 'unsupported' : 'skip';
      made.push({ row: { id, status, detail: reason ?? '' }, result: undefined, requestIds: [] });
      continue;
    }
    const attempt = async (candidate: Candidate): Promise<Attempt> => {
      const result = await makeCall(target, call, candidate.model.id, shared, hooks);
      const { mayBeCharged, reported } = result;
      const { usd } = candidate.estimate;
      // Costs that only a vendor reports may be too low.
      const isTrusted = profile?.readCost !== undefined && reported !== undefined && reported > 0;
      if (mayBeCharged) wallet.spent += isTrusted ? reported : Math.max(usd, reported ?? 0);
      return { model: candidate.model.id, result, atMostUSD: mayBeCharged ? usd : 0 };
    };
    let last = await attempt({ model, estimate });
    const refused: Attempt[] = [];
    for (const other of others) {
      const isTooMuch = other.estimate.usd > wallet.limit - wallet.spent + tolerance;
      const isServed = last.result.modelProblem === undefined;
      if (isServed || isTooMuch || target.signal.aborted) break;
      refused.push(last);
      last = await attempt(other);
    }
    const exchanges = [...refused, last].flatMap(({ result }) => result.exchanges);
    made.push({
      row: toRow(id, last, refused),
      result: last.result,
      requestIds: findRequestIds(exchanges, profile),
    });
    extra.set(id, last.result.extra);
  }
  const log = await readLog(target, made, profile);
  const rows = made.flatMap((each) => [
    withCost(each, log.entries, each.row.id === 'call.video' ? taskIds : [], quotaPerDollar),
    ...(extra.get(each.row.id) ?? []),
  ]);
  const costs = rows.flatMap((row) => ('call' in row && row.call) || []);
  return {
    rows: [...rows, logRow(made, log, taskIds)],
    charged: costs.reduce((sum, { usd = 0 }) => sum + usd, 0),
    unknown: costs.reduce(
      (sum, { usd, atMostUSD }) => sum + (usd === undefined ? atMostUSD : 0),
      0,
    ),
    results: new Map(
      made.flatMap(({ row, result }) => (result === undefined ? [] : [[row.id, result]])),
    ),
  };
}
