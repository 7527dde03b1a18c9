import type { DoctorReport, ReportRow } from './report-schema.ts';
import { dollars } from './calls/estimate.ts';
import { summarize, type SummaryLine, withoutKind } from './summary.ts';

/** Characters with a meaning in Markdown. GitHub also links mentions, issues and addresses. */
const markdown = /[\\`*_~<>[\]&@#|]|:\/\/|www\./i;

/** Formats a text for a cell: as code if Markdown would change it, because it may be the gateway's. */
function toCell(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if (!markdown.test(line)) return line;
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  // Spaces are needed around a backtick. A backslash before an escaped pipe would end the cell.
  const [last = '', ...cells] = line.split('|').toReversed();
  const parts = [...cells.toReversed().map(withoutBackslashes), last];
  return `${fence} ${parts.join(String.raw`\|`)} ${fence}`;
}

/** Removes backslashes from the end of a text. */
function withoutBackslashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\\') end -= 1;
  return text.slice(0, end);
}

export const isCall = ({ id }: ReportRow): boolean => id.startsWith('call.');

function summaryLine({ name, text, problem }: SummaryLine): string {
  const first = problem === undefined ? '' : `. First, ${toCell(problem)}`;
  return `- ${name}: ${toCell(text)}${first}`;
}

function checkLine({ id, status, detail, fix }: ReportRow): string {
  return `| ${id} | ${status} | ${toCell(fix === undefined ? detail : `${detail}. ${fix}`)} |`;
}

export function formatCost({ call }: ReportRow): string {
  if (call === undefined || (call.usd === undefined && call.atMostUSD === 0)) return '–';
  const { usd, source, atMostUSD } = call;
  if (usd === undefined) return `unknown, at most ${dollars(atMostUSD)}`;
  return source === 'response' ? `${dollars(usd)} by the response` : dollars(usd);
}

function callLine(row: ReportRow): string {
  const name = withoutKind(row);
  const model = row.call?.model ?? '';
  const status = row.status === 'skip' ? 'skipped' : row.status.toUpperCase();
  const cells = [name, toCell(model), status, toCell(row.detail), formatCost(row)];
  return `| ${cells.join(' | ')} |`;
}

function formatCalls(rows: readonly ReportRow[], spend: DoctorReport['spend']): string[] {
  if (spend === undefined) return [];
  const { limitUSD, chargedUSD, unknownUSD } = spend;
  const unknown =
    unknownUSD > 0 ? `, and at most ${dollars(unknownUSD)} that the gateway does not report` : '';
  return [
    '#### Calls',
    '',
    '| Call | Model | Result | Evidence | Cost |',
    '| --- | --- | --- | --- | --- |',
    ...rows.filter(isCall).map(callLine),
    '',
    `Cost of the calls: ${dollars(chargedUSD)}${unknown}. The limit was ${dollars(limitUSD)}.`,
    '',
  ];
}

function formatSettings(settings: DoctorReport['settings']): string[] {
  if (settings === undefined) return [];
  const reasons = settings.reasons.map((reason) => `- ${reason}`);
  return [
    '#### Set these options',
    '',
    '```ts',
    settings.code,
    '```',
    '',
    ...(reasons.length > 0 ? [...reasons, ''] : []),
  ];
}

/** Formats a report as Markdown for an issue. */
export function formatReport(report: DoctorReport): string {
  const { client, runtime, createdAt, rows, spend, settings, removed } = report;
  const counts = removed.map(({ name, times }) => `${name} (${times})`).join(', ');
  return [
    '### model-gateway doctor',
    '',
    ...summarize(report).map(summaryLine),
    '',
    `model-gateway ${client}, ${runtime}, ${createdAt}`,
    '',
    '| Check | Result | Detail |',
    '| --- | --- | --- |',
    ...rows.filter((row) => !isCall(row)).map(checkLine),
    '',
    ...formatCalls(rows, spend),
    ...formatSettings(settings),
    `Removed: ${counts || 'nothing'}.`,
  ].join('\n');
}
