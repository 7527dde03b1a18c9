import { formatCost, isCall } from './format.ts';
import type { DoctorReport, ReportRow } from './report-schema.ts';
import { summarize, withoutKind } from './summary.ts';

/** Text that is HTML already. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = string | number | undefined | Markup | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Formats content as HTML. Only markup is not escaped. Control characters would be invalid in a page. */
function toText(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(toText).join('');
  return String(content)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A template of HTML that escapes its values. */
const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup =>
  new Markup(String.raw({ raw: parts }, ...values.map(toText)));

type Tone = 'good' | 'mild' | 'bad' | 'plain';

const tones: Readonly<Record<ReportRow['status'], Tone>> = {
  ok: 'good',
  yes: 'good',
  pass: 'good',
  warn: 'mild',
  unsupported: 'mild',
  fail: 'bad',
  timeout: 'bad',
  no: 'plain',
  unknown: 'plain',
  skip: 'plain',
};

const style = `
:root{color-scheme:light dark;--text:#1c1e21;--faint:#5b616a;--page:#fff;--card:#f5f6f8;--line:#dcdfe4;--good:#0f6b38;--mild:#8a4b00;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--text:#e6e8eb;--faint:#a2a9b3;--page:#15171a;--card:#1e2125;--line:#33383f;--good:#6fd398;--mild:#f0b45e;--bad:#ff8f85}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2rem 1rem 4rem;color:var(--text);background:var(--page);font:1rem/1.5 system-ui,sans-serif}
h1{margin:0;font-size:1.5rem}
h2{margin:2.5rem 0 .5rem;font-size:1.125rem}
p{margin:.25rem 0}
.faint{color:var(--faint)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.25rem;margin:1.5rem 0;padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere}
div{overflow-x:auto}
table{width:100%;border-collapse:collapse}
th,td{padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
thead th{color:var(--faint);font-weight:400}
tbody th{min-width:8.5rem;max-width:16rem;font:.875rem/1.7 ui-monospace,monospace}
td:nth-child(2){white-space:nowrap}
.good,.mild,.bad{font-weight:600}
.good{color:var(--good)}
.mild{color:var(--mild)}
.bad{color:var(--bad)}
.plain{color:var(--faint)}
pre{overflow-x:auto;padding:1rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;font:.875rem/1.5 ui-monospace,monospace}
@media(max-width:40rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.75rem}thead{display:none}tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}tbody th,td{display:block;max-width:none;padding:0;border:0}}
@media print{body{max-width:none;padding:0}tr{break-inside:avoid}}
`;

const isRoute = ({ id }: ReportRow): boolean => id.startsWith('route.');

const toStatus = ({ status }: ReportRow): Markup =>
  html`<span class="${tones[status]}">${status}</span>`;

const toDetail = ({ detail, fix }: ReportRow): Markup =>
  fix === undefined
    ? html`${detail}`
    : html`${detail}
        <p>→ ${fix}</p>`;

type Column = readonly [name: string, toCell: (row: ReportRow) => Content];

const checkColumns: readonly Column[] = [
  ['Result', toStatus],
  ['Detail', toDetail],
];

const callColumns: readonly Column[] = [
  ['Result', toStatus],
  ['Model', ({ call }) => call?.model],
  ['Evidence', toDetail],
  ['Cost', formatCost],
];

/** Formats a section of rows. */
function toSection(
  title: string,
  columns: readonly Column[],
  rows: readonly ReportRow[],
): Markup | undefined {
  if (rows.length === 0) return undefined;
  const lines = rows.map(
    (row) =>
      html`<tr>
        <th scope="row">${withoutKind(row)}</th>
        ${columns.map(([, toCell]) => html`<td>${toCell(row)}</td>`)}
      </tr>`,
  );
  return html`<h2>${title}</h2>
    <div>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            ${columns.map(([name]) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${lines}
        </tbody>
      </table>
    </div>`;
}

function toSettings(settings: DoctorReport['settings']): Markup | undefined {
  if (settings === undefined) return undefined;
  const reasons = settings.reasons.map((reason) => html`<p>${reason}</p>`);
  return html`<h2>Set these options</h2>
    ${reasons}
    <pre tabindex="0"><code>${settings.code}</code></pre>`;
}

/** Formats a report as one page without scripts, which loads nothing. */
export function formatPage(report: DoctorReport): string {
  const { client, runtime, createdAt, rows, settings, removed } = report;
  const checks = rows.filter((row) => !isCall(row) && !isRoute(row));
  const counts = removed.map(({ name, times }) => `${name} (${times})`).join(', ');
  const lines = summarize(report).map(({ name, text, problem }) => {
    const first = problem === undefined ? undefined : html`<p class="bad">${problem}</p>`;
    return html`<dt>${name}</dt>
      <dd>${text}${first}</dd>`;
  });
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <meta name="viewport" content="width=device-width" />
        <title>model-gateway doctor</title>
        <style>
          ${new Markup(style)}
        </style>
      </head>
      <body>
        <h1>model-gateway doctor</h1>
        <p class="faint">
          model-gateway ${client}, ${runtime}, <time datetime="${createdAt}">${createdAt}</time>
        </p>
        <dl>${lines}</dl>
        ${toSettings(settings)} ${toSection('Checks', checkColumns, checks)}
        ${toSection('Calls', callColumns, rows.filter(isCall))}
        ${toSection('Routes', checkColumns, rows.filter(isRoute))}
        <p class="faint">Removed: ${counts || 'nothing'}.</p>
      </body>
    </html>`.text;
}
