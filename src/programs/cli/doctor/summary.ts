import { dollars } from './calls/estimate.ts';
import type { DoctorReport, ReportRow } from './report-schema.ts';

/** A row that a program should fail for. */
export const isProblem = ({ status }: ReportRow): boolean =>
  status === 'fail' || status === 'timeout';

/** One line of a summary. */
export interface SummaryLine {
  readonly name: string;
  readonly text: string;
  /** The first problem and its fix. */
  readonly problem?: string | undefined;
}

/** The most rows that a line names. */
const mostNamed = 8;

/** Returns the name of a row without its kind: `images.edit` of `route.images.edit`. */
export const withoutKind = ({ id }: ReportRow): string => id.slice(id.indexOf('.') + 1);

function listNames(rows: readonly ReportRow[]): string {
  const names = rows.slice(0, mostNamed).map(withoutKind);
  const more = rows.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Counts and names rows: `2 warnings: cors, credit`. */
function counted(noun: string, rows: readonly ReportRow[]): string {
  if (rows.length === 0) return `no ${noun}s`;
  return `${rows.length} ${noun}${rows.length === 1 ? '' : 's'}: ${listNames(rows)}`;
}

/** Names rows after a label: `; missing: images.edit`. */
const named = (label: string, rows: readonly ReportRow[]): string =>
  rows.length === 0 ? '' : `; ${label}: ${listNames(rows)}`;

function describeResult(rows: readonly ReportRow[]): SummaryLine {
  const problems = rows.filter(isProblem);
  const warnings = rows.filter(({ status }) => status === 'warn');
  const [{ detail, fix } = { detail: undefined }] = problems;
  return {
    name: 'Result',
    text: `${counted('problem', problems)}; ${counted('warning', warnings)}`,
    problem: fix === undefined ? detail : `${detail}. ${fix}`,
  };
}

function describeRoutes(routes: readonly ReportRow[]): string {
  if (routes.length === 0) return 'not probed';
  const having = (wanted: ReportRow['status']): ReportRow[] =>
    routes.filter(({ status }) => status === wanted);
  const lacking = named('missing', having('no')) + named('not proven', having('unknown'));
  return `${having('yes').length} of ${routes.length} exist${lacking}`;
}

function describeCalls(calls: readonly ReportRow[], spend: DoctorReport['spend']): string {
  if (spend === undefined) return 'none; --spend <USD> makes a tiny call of each operation';
  const made = calls.filter(({ status }) => status !== 'skip');
  const passed = made.filter(({ status }) => status === 'pass');
  const unsupported = made.filter(({ status }) => status === 'unsupported');
  const lacking = named('failed', made.filter(isProblem)) + named('unsupported', unsupported);
  const unknown =
    spend.unknownUSD > 0
      ? `, and at most ${dollars(spend.unknownUSD)} that the gateway does not report`
      : '';
  return `${passed.length} of ${made.length} passed for ${dollars(spend.chargedUSD)}${unknown}${lacking}`;
}

/** Summarizes a report in five lines: what to do first, and what the gateway is and has. */
export function summarize({ rows, spend }: DoctorReport): readonly SummaryLine[] {
  const details = (...ids: readonly string[]): string => {
    const found = rows.filter(({ id, status }) => ids.includes(id) && status !== 'skip');
    return found.map(({ detail }) => detail).join('; ') || 'not examined';
  };
  const within = (prefix: string): ReportRow[] => rows.filter(({ id }) => id.startsWith(prefix));
  return [
    describeResult(rows),
    { name: 'Gateway', text: details('family', 'software') },
    { name: 'Models', text: details('model-kinds') },
    { name: 'Routes', text: describeRoutes(within('route.')) },
    { name: 'Calls', text: describeCalls(within('call.'), spend) },
  ];
}
