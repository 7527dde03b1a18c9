import { readFile } from 'node:fs/promises';
import { isObject, parseJSON } from '../../../answers/objects.ts';
import { UsageError } from '../usage.ts';

/** A row of a report, as it is compared. */
interface Compared {
  readonly status: string;
  readonly detail: string;
}

type Rows = ReadonlyMap<string, Compared>;

/** Rows whose details differ from run to run. */
const measured = new Set(['latency', 'clock', 'credit', 'connection', 'usage-log-entries']);

/** Returns the rows of a report by their ids, without the details that are measured. */
export function toRows(
  rows: readonly { readonly id: unknown; readonly status: unknown; readonly detail: unknown }[],
): Rows {
  return new Map(
    rows.map(({ id, status, detail }) => {
      const shown = measured.has(String(id)) ? '' : String(detail);
      return [String(id), { status: String(status), detail: shown }];
    }),
  );
}

async function readRows(path: string): Promise<Rows> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`The file ${path} cannot be read.`);
  });
  const report = parseJSON(text);
  const rows = isObject(report) && report['version'] === 1 ? report['rows'] : undefined;
  if (!Array.isArray(rows)) {
    throw new UsageError(`${path} is not a report. Write one with: doctor --report ${path} --json`);
  }
  return toRows(rows.filter(isObject).map(({ id, status, detail }) => ({ id, status, detail })));
}

/** The ranks of results, the best first. Other results say nothing about the gateway. */
const ranks: Readonly<Record<string, number>> = {
  ok: 0,
  yes: 0,
  pass: 0,
  warn: 1,
  no: 2,
  unsupported: 2,
  timeout: 3,
  fail: 3,
};

/** Returns whether a result says something about the gateway, unlike `skip` and `unknown`. */
export const isResult = ({ status }: Compared): boolean => Object.hasOwn(ranks, status);

/** A row that differs between two reports. */
export interface Difference {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  /** `changed` if neither result is better. */
  readonly change: 'better' | 'worse' | 'changed';
}

const formatRow = ({ status = 'missing', detail = '' }: Partial<Compared> = {}): string =>
  `${status} ${detail}`.trimEnd();

function compareRow(
  id: string,
  before: Compared | undefined,
  after: Compared | undefined,
): Difference {
  const [from, to] = [before, after].map((row) => ranks[row?.status ?? '']);
  const isRanked = from !== undefined && to !== undefined && from !== to;
  const change = isRanked ? (to < from ? 'better' : 'worse') : 'changed';
  return { id, before: formatRow(before), after: formatRow(after), change };
}

/** Returns the rows whose result or detail differs. */
export function compareRows(before: Rows, after: Rows): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((id) => compareRow(id, before.get(id), after.get(id)))
    .filter((row) => row.before !== row.after);
}

/** Compares two reports in JSON files. */
export async function compareReports(first: string, second: string): Promise<Difference[]> {
  return compareRows(await readRows(first), await readRows(second));
}
