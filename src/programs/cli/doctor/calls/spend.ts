import type { GatewayProfile } from '../../../../index.ts';
import { type MadeCall, logRow, readLog, findRequestIds, withCost } from './costs.ts';
import { locate, type Target } from '../probe.ts';
import { dollars, type Estimate, estimateCall } from './estimate.ts';
import { type CallHooks, type CallResult, makeCall } from './make-call.ts';
import { chooseModel, type KnownModel } from './models.ts';
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

/** A call with its model, or the reason why it is not made. */
interface PlannedCall {
  readonly call: ReportCall;
  readonly model: KnownModel | undefined;
  readonly estimate: Estimate;
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

function planCall(
  call: ReportCall,
  { video, models: named }: SpendOptions,
  known: readonly KnownModel[],
  profile: GatewayProfile | undefined,
  groupRatios: Readonly<Record<string, number>>,
): PlannedCall {
  const { kind, work, operation } = call;
  const model = chooseModel(known, kind, named);
  const none: Estimate = { usd: 0, isKnown: true };
  const plan = { call, model, estimate: none, skip: undefined, isUnsupported: false };
  const advice = profile?.unsupported?.[operation];
  if (advice !== undefined) return { ...plan, skip: advice, isUnsupported: true };
  if (model === undefined) return { ...plan, skip: 'no model for it is known; name one with -m' };
  if (kind === 'video' && !video) return { ...plan, skip: 'requires --video' };
  return { ...plan, estimate: estimateCall(model.id, kind, work, model.price, groupRatios) };
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
  for (const { call, model, estimate, skip, isUnsupported } of plan.calls) {
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
    const result = await makeCall(target, call, model.id, shared, hooks);
    const { status, detail, exchanges, milliseconds, mayBeCharged, reported } = result;
    // Costs that only a vendor reports may be too low.
    const isTrusted = profile?.readCost !== undefined && reported !== undefined && reported > 0;
    if (mayBeCharged) wallet.spent += isTrusted ? reported : Math.max(estimate.usd, reported ?? 0);
    const paid = { model: model.id, atMostUSD: mayBeCharged ? estimate.usd : 0, milliseconds };
    made.push({
      row: { id, status, detail, call: paid },
      result,
      requestIds: findRequestIds(exchanges, profile),
    });
    extra.set(id, result.extra);
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
