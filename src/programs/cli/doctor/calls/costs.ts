import { requestIdHeaders } from '../../../../gateways/signs.ts';
import { delay } from '../../../../http/abort.ts';
import {
  type ChargeEntry,
  type Gateway,
  GatewayError,
  type GatewayProfile,
} from '../../../../index.ts';
import { createClient, type Target } from '../probe.ts';
import { type Exchange, isPost } from './exchanges.ts';
import type { CallResult } from './make-call.ts';
import type { ReportRow } from '../report-schema.ts';

/** Returns the request ids of the paid requests of a call. */
export function findRequestIds(
  exchanges: readonly Exchange[],
  profile: GatewayProfile | undefined,
): string[] {
  const names = profile?.requestIdHeaders ?? requestIdHeaders;
  return exchanges.filter(isPost).flatMap(({ headers }) => {
    const id = names.map((name) => headers.get(name)).find((value) => value !== null);
    return id ?? [];
  });
}

/** A row of a call, before its charge is known. */
export interface MadeCall {
  readonly row: ReportRow;
  /** `undefined` if the call was not made. */
  readonly result: CallResult | undefined;
  readonly requestIds: readonly string[];
}

/** Pauses between readings of a usage log that does not have all calls yet, in milliseconds. */
const logPauses = [0, 1_500, 4_000];

/** The entries of the calls of a report. */
interface LogReading {
  readonly entries: readonly ChargeEntry[];
  /** The reason why the log cannot be read. */
  readonly problem: string | undefined;
}

async function readEntries(
  gateway: Gateway,
  ids: readonly string[],
  profile: GatewayProfile | undefined,
): Promise<LogReading> {
  const { charges, charge } = profile?.account ?? {};
  if (charges === undefined && charge === undefined) {
    return { entries: [], problem: 'the gateway has no usage log' };
  }
  try {
    if (charges !== undefined) {
      const { data } = await gateway.account.charges({}, { maxAge: 0 });
      return { entries: data, problem: undefined };
    }
    const found: ChargeEntry[] = [];
    for (const requestId of ids) {
      const { data } = await gateway.account.charges({ requestId }, { maxAge: 0 });
      found.push(...data);
    }
    return { entries: found, problem: undefined };
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    return { entries: [], problem: `the key cannot read it (${error.name})` };
  }
}

/** Reads the usage log until it has all charged calls, three times at most. */
export async function readLog(
  target: Target,
  calls: readonly MadeCall[],
  profile: GatewayProfile | undefined,
): Promise<LogReading> {
  const gateway = createClient(target);
  const ids = calls.flatMap(({ requestIds }) => requestIds);
  if (ids.length === 0) return { entries: [], problem: 'no call has a request id' };
  const charged = calls
    .filter(({ result }) => result?.mayBeCharged)
    .flatMap(({ requestIds }) => requestIds);
  let reading: LogReading = { entries: [], problem: undefined };
  for (const pause of logPauses) {
    if (pause > 0) await delay(pause);
    const next = await readEntries(gateway, ids, profile);
    // The log limits its readers: an earlier reading is better than none.
    if (next.problem !== undefined) return reading.entries.length > 0 ? reading : next;
    reading = next;
    if (charged.every((id) => reading.entries.some(({ requestId }) => requestId === id))) break;
  }
  return reading;
}

const toUSD = ({ amount }: ChargeEntry, quotaPerDollar: number): number =>
  amount.unit === 'USD' ? amount.value : amount.value / quotaPerDollar;

/** Adds the cost of a call: by the usage log, otherwise as its response reports it. */
export function withCost(
  { row, result, requestIds }: MadeCall,
  entries: readonly ChargeEntry[],
  taskIds: readonly string[],
  quotaPerDollar: number,
): ReportRow {
  if (row.call === undefined || result === undefined) return row;
  const charged = entries.filter(
    ({ requestId, type }) => type === 'consume' && requestIds.includes(requestId ?? ''),
  );
  const refunds = entries.filter(
    ({ type, taskId }) => type === 'refund' && taskIds.includes(taskId ?? ''),
  );
  const sum = (list: readonly ChargeEntry[]): number =>
    list.reduce((total, entry) => total + toUSD(entry, quotaPerDollar), 0);
  if (charged.length > 0) {
    const refunded = refunds.length > 0 ? '; refunded' : '';
    const usd = Math.max(0, sum(charged) - sum(refunds));
    return {
      ...row,
      detail: `${row.detail}${refunded}`,
      call: { ...row.call, usd, source: 'usage-log' },
    };
  }
  if (result.reported === undefined || !result.mayBeCharged) return row;
  return { ...row, call: { ...row.call, usd: result.reported, source: 'response' } };
}

/** Describes the completeness of the usage log. */
export function logRow(
  calls: readonly MadeCall[],
  { entries, problem }: LogReading,
  taskIds: readonly string[],
): ReportRow {
  const id = 'usage-log-entries';
  if (problem !== undefined) return { id, status: 'unknown', detail: problem };
  const has = (requestId: string): boolean =>
    entries.some((entry) => entry.requestId === requestId);
  const charged = calls
    .filter(({ result }) => result?.mayBeCharged)
    .flatMap(({ requestIds }) => requestIds);
  const unnamed = calls.filter(
    ({ result, requestIds }) => result?.mayBeCharged && requestIds.length === 0,
  ).length;
  const found = charged.filter(has).length;
  const total = charged.length + unnamed;
  const rejected = calls
    .filter(({ result }) => result?.mayBeCharged !== true)
    .flatMap(({ requestIds }) => requestIds);
  const namesTasks = entries.some(
    ({ type, taskId = '' }) => type === 'consume' && taskIds.includes(taskId),
  );
  const facts = [
    `${found} of ${total} requests are in it`,
    ...(rejected.some(has) ? ['it has failed requests too'] : []),
    ...(namesTasks ? ['charges name their video task'] : []),
  ];
  return { id, status: found === total ? 'yes' : 'no', detail: facts.join('; ') };
}
