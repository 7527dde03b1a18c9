import { readFile } from 'node:fs/promises';
import { isObject, parseJSON } from '../../answers/objects.ts';
import { UsageError } from '../usage.ts';

type Rows = ReadonlyMap<string, { readonly status: string; readonly detail: string }>;

/** Rows whose details differ from run to run. */
const measured = new Set(['latency', 'clock', 'credit', 'connection']);

async function readRows(path: string): Promise<Rows> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`The file ${path} cannot be read.`);
  });
  const report = parseJSON(text);
  const rows = isObject(report) && report['version'] === 1 ? report['rows'] : undefined;
  if (!Array.isArray(rows)) {
    throw new UsageError(`${path} is not a report. Write one with: doctor --report ${path} --json`);
  }
  return new Map(
    rows.filter(isObject).map(({ id, status, detail }) => {
      const shown = measured.has(String(id)) ? '' : String(detail);
      return [String(id), { status: String(status), detail: shown }];
    }),
  );
}

/** A row that differs between two reports. */
interface Difference {
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

function formatRow(rows: Rows, id: string): string {
  const { status = 'missing', detail = '' } = rows.get(id) ?? {};
  return `${status} ${detail}`.trimEnd();
}

/** Compares two reports in JSON. Returns the rows whose status or detail differs. */
export async function compareReports(first: string, second: string): Promise<Difference[]> {
  const [before, after] = [await readRows(first), await readRows(second)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((id) => ({ id, before: formatRow(before, id), after: formatRow(after, id) }))
    .filter((row) => row.before !== row.after);
}
