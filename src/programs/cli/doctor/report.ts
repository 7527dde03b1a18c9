import { findFirst } from '../../../answers/objects.ts';
import { defineGateway } from '../../../index.ts';
import { bufferingFinding, examine, servesWithoutVersion, type Finding } from './checks.ts';
import { locate, type Target } from './probe.ts';
import { chatDeltas } from './calls/facts.ts';
import type { CallResult } from './calls/make-call.ts';
import { knownModels } from './calls/models.ts';
import { probeFree, type FreeFacts, versionInHeaders } from './probes.ts';
import type { DoctorReport, ReportRow, ReportSettings } from './report-schema.ts';
import { createScrubber, type Scrubber } from './scrub.ts';
import { adviseSettings } from './settings-advice.ts';
import { makeCalls, type SpendOptions, type SpendResult } from './calls/spend.ts';

declare const __VERSION__: string;

/** Options of a report. */
export interface ReportOptions {
  /** Paid calls to make; none by default. */
  readonly spend?: SpendOptions | undefined;
}

const toRow = ({ id, status, detail, fix }: Finding): ReportRow => ({
  id,
  status,
  detail,
  ...(fix === undefined ? {} : { fix }),
});

/** A gateway that was found at an address, and how its routes differ from the profile. */
interface Reached {
  readonly target: Target;
  readonly basePath: string | undefined;
}

/** Runs the checks. If the routes are not below `/v1`, runs them again where they are. */
async function runChecks(original: Target, rows: ReportRow[]): Promise<Reached | undefined> {
  const isReached = (): boolean =>
    rows.some(({ id, status }) => id === 'base-url' && status === 'ok');
  for await (const finding of examine(original)) rows.push(toRow(finding));
  if (isReached()) return { target: original, basePath: undefined };
  const isAnswered = rows.some(({ id, status }) => id === 'connection' && status === 'ok');
  if (!isAnswered || !(await servesWithoutVersion(original))) return undefined;
  const profile = locate(original)?.gateway?.profile;
  const gateway = defineGateway({ name: 'openai', ...profile, basePath: '' });
  const target = { ...original, findGateway: () => gateway, isAuto: false };
  rows.length = 0;
  for await (const finding of examine(target)) rows.push(toRow(finding));
  return isReached() ? { target, basePath: '' } : undefined;
}

/** Describes whether a stream arrives while it is generated. */
function streamingRow(results: ReadonlyMap<string, CallResult> | undefined): ReportRow {
  const id = 'streaming';
  if (results === undefined)
    return { id, status: 'skip', detail: 'requires a paid call: --spend <USD>' };
  const stream = results.get('call.chat-stream')?.exchanges.at(-1);
  if (stream === undefined) return { id, status: 'skip', detail: 'requires a streamed chat' };
  return { ...toRow(bufferingFinding(stream.arrivals, chatDeltas(stream))), id };
}

/** Adds the version of the software, if only responses of calls state it. */
function addVersion(rows: ReportRow[], results: ReadonlyMap<string, CallResult>): void {
  const index = rows.findIndex(({ id, status }) => id === 'software' && status === 'unknown');
  const exchanges = [...results.values()].flatMap((result) => result.exchanges);
  const version = findFirst(exchanges, ({ headers }) => versionInHeaders(headers));
  if (index >= 0 && version !== undefined) {
    rows[index] = { id: 'software', status: 'ok', detail: version };
  }
}

async function spendOn(
  free: FreeFacts,
  spend: SpendOptions,
  clean: Scrubber['clean'],
): Promise<SpendResult> {
  const { target, models, prices, quotaPerDollar } = free;
  const known = knownModels(models, prices?.models ?? [], spend.models);
  const groupRatios = prices?.groupRatios ?? {};
  return makeCalls(target, spend, { known, groupRatios, quotaPerDollar, clean });
}

/**
 * Examines a gateway for a report. Free without `spend`.
 *
 * @throws the error of `spend.confirm`, before any paid call
 */
export async function createReport(
  original: Target,
  { spend }: ReportOptions = {},
): Promise<DoctorReport> {
  const scrubber = createScrubber(original);
  const found: ReportRow[] = [];
  const reached = await runChecks(original, found);
  let spent: SpendResult | undefined;
  let settings: ReportSettings | undefined;
  if (reached !== undefined) {
    const free = await probeFree(reached.target, found).catch((error: unknown) => {
      if (original.signal.aborted) throw error;
      found.push({ id: 'probes', status: 'fail', detail: 'the gateway stopped responding' });
    });
    const hasKey = !found.some(({ id, status }) => id === 'key' && status === 'fail');
    if (free !== undefined && hasKey) {
      spent = spend && (await spendOn(free, spend, scrubber.clean));
      if (spent !== undefined) addVersion(found, spent.results);
      found.push(streamingRow(spent?.results), ...(spent?.rows ?? []));
      settings = adviseSettings(free, reached.basePath, found, spent?.results ?? new Map());
    }
  }
  return toReport(scrubber, found, spend && spent ? { spend, spent } : undefined, settings);
}

/** Puts a report together, without the key, the host and the account. */
function toReport(
  { clean, removed }: Scrubber,
  found: readonly ReportRow[],
  paid: { readonly spend: SpendOptions; readonly spent: SpendResult } | undefined,
  settings: ReportSettings | undefined,
): DoctorReport {
  const isReplaced = ({ id, status }: ReportRow): boolean =>
    paid !== undefined && id === 'chat' && status === 'skip';
  const rows = found
    .filter((row) => !isReplaced(row))
    .map(({ fix, call, ...row }): ReportRow => ({
      ...row,
      detail: clean(row.detail),
      ...(fix === undefined ? {} : { fix: clean(fix) }),
      ...(call === undefined ? {} : { call: { ...call, model: clean(call.model) } }),
    }));
  return {
    version: 1,
    createdAt: new Date().toISOString(),
    client: __VERSION__,
    runtime: `Node ${process.version}, ${process.platform} ${process.arch}`,
    rows,
    ...(paid === undefined
      ? {}
      : {
          spend: {
            limitUSD: paid.spend.wallet.limit,
            chargedUSD: paid.spent.charged,
            unknownUSD: paid.spent.unknown,
          },
        }),
    ...(settings === undefined ? {} : { settings }),
    removed: removed(),
  };
}
