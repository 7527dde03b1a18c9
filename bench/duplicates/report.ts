import type { MeasuredCharges } from '../report/readme.ts';
import type { Environment } from '../lib/results.ts';
import { gridPicture, type Grid, type GridCell } from '../lib/svg-grid.ts';
import { formatTable } from '../lib/table.ts';
import { groupColumns, show, type Column } from './columns.ts';
import type { Fault } from './faults.ts';
import type { Cell } from './measure.ts';
import { type SettledCall, listVerdicts } from './settle.ts';
import type { Subject } from './subject.ts';

/** The subjects of the two tables. */
export const tables: readonly {
  readonly pays: Subject['pays'];
  readonly title: string;
  /** The finding about this client, for the picture. */
  readonly finding: string;
  readonly file: string;
}[] = [
  {
    pays: 'job',
    title: 'Charges for one image or video call that goes wrong',
    finding:
      'model-gateway charges once at most, also with fallbacks, and still tries again where nothing was done.',
    file: 'duplicates.svg',
  },
  {
    pays: 'metered',
    title: 'Charges for one chat, embedding or audio call that goes wrong',
    finding:
      'By default model-gateway repeats such a call until the first byte of its answer, as all clients here do (after a 499 it alone), and each attempt may be billed. It does not repeat it after a time-out of its own. ' +
      'With retryUnknownOutcome: false it charges once at most, also with fallbacks.',
    file: 'duplicates-metered.svg',
  },
];

/** The table for a terminal: for each fault, requests received and charges made. */
export function textTable(
  faults: readonly Fault[],
  cells: readonly Cell[],
  pays: Subject['pays'],
): string {
  const columns = groupColumns(cells).filter((column) => column.pays === pays);
  return formatTable(
    [
      { heading: 'requests / charges', align: 'left' },
      ...columns.map((column) => ({
        heading: [column.package, ...optionLines(column), ...column.calls].join('\n'),
        align: 'right' as const,
      })),
    ],
    faults.map((fault) => [
      fault.label,
      ...columns.map((column) => {
        const cell = column.cells.get(fault);
        if (cell === undefined) return '–';
        const counts = `${show(cell.requests, cell)} / ${show(cell.charges, cell)}`;
        return fault.at === 'request' ? counts : `${show(cell.attempts, cell)} tried, ${counts}`;
      }),
    ]),
  );
}

/** Draws the picture of the charges. */
export function drawPicture(
  faults: readonly Fault[],
  cells: readonly Cell[],
  settled: readonly SettledCall[],
  { pays, title, finding }: (typeof tables)[number],
  environment: Environment,
): string {
  const isSettled = pays === 'job';
  const columns = groupColumns(cells).filter((column) => column.pays === pays);
  const rows = (
    list: readonly Fault[],
    value: (cell: Cell) => GridCell,
  ): Grid['sections'][number]['rows'] =>
    list.map((fault) => ({
      label: fault.label,
      cells: [
        ...columns.map((column) => {
          const cell = column.cells.get(fault);
          return cell && value(cell);
        }),
        ...(isSettled ? [settledCell(fault, settled)] : []),
      ],
    }));
  const failing = faults.filter((fault) => fault.verdict !== 'answered');
  return gridPicture({
    title,
    subtitle:
      `${finding} ` +
      'One call, one fault, every client on its default options unless a column says otherwise. ' +
      'The service counts a charge when it has a whole request, as services do that start to work before they answer.',
    columns: [
      ...columns.map((column) => ({
        heading: column.package,
        notes: [
          environment.packages[column.package] ?? '',
          ...shortCalls(column),
          ...(isVaried(column, columns) ? ['defaults'] : optionLines(column)),
        ],
        own: column.package === 'model-gateway',
      })),
      ...(isSettled ? [settledColumn] : []),
    ],
    sections: [
      {
        heading: 'The service did the work, then this happened: number of charges',
        rows: rows(
          failing.filter((fault) => fault.charged),
          (cell) => ({ value: show(cell.charges, cell), tone: chooseTone(cell.charges) }),
        ),
      },
      {
        heading: 'Nothing was charged: number of tries',
        rows: rows(
          failing.filter((fault) => !fault.charged),
          (cell) => ({ value: show(cell.attempts, cell), tone: 'plain' }),
        ),
      },
    ],
    footnote:
      `Measured on Node ${environment.node} against a local server (bench/duplicates). ` +
      'Clients without an option for a time-out were given an AbortSignal. A refused connection and a 429 prove that nothing was done, so trying again is right; ' +
      'a connection that is reset when it opens looks to a client like one that is reset after the request.' +
      (isSettled
        ? ' settle() reads the usage log of the service; a missing entry proves nothing.'
        : ''),
  });
}

/** The verdicts of `settle()`, which no other client has. */
const settledColumn = {
  heading: 'settle()',
  notes: ['model-gateway', 'asked', 'afterwards'],
  own: true,
};

function settledCell(fault: Fault, settled: readonly SettledCall[]): GridCell | undefined {
  const verdicts = listVerdicts(settled.filter((call) => call.fault === fault));
  if (verdicts.length === 0) return undefined;
  const isTold = !verdicts.includes('unknowable');
  return { value: verdicts.join(', '), tone: isTold ? 'good' : 'plain' };
}

function chooseTone(charges: number): GridCell['tone'] {
  if (charges <= 1) return 'good';
  return charges <= 3 ? 'fair' : 'poor';
}

function optionLines({ options }: Column): string[] {
  return options === undefined ? [] : options.split(' ');
}

/** Returns `true` for the defaults of a package that also has a column with options. */
function isVaried(column: Column, columns: readonly Column[]): boolean {
  return (
    column.options === undefined &&
    columns.some((other) => other.package === column.package && other.options !== undefined)
  );
}

/** Shortens names of calls to their first part. */
function shortCalls({ calls }: Column): string[] {
  return [...new Set(calls.map((call) => call.replace(/\..*$/, '')))];
}

/** Returns all measurements for the result file. */
export function createResult(
  faults: readonly Fault[],
  cells: readonly Cell[],
  settled: readonly SettledCall[],
  environment: Environment,
): MeasuredCharges & Readonly<Record<string, unknown>> {
  const subjects = [...new Set(cells.map(({ subject }) => subject))];
  return {
    benchmark: 'duplicates',
    environment,
    faults: faults.map(({ id, label, verdict, charged }) => ({ id, label, verdict, charged })),
    settled: settled.map(({ fault, call, namesRequests, isNamed, charges, verdict }) => ({
      fault: fault.id,
      call,
      namesRequests,
      isNamed,
      charges,
      verdict,
    })),
    calls: subjects.map((subject) => ({
      package: subject.package,
      call: subject.call,
      options: subject.options ?? 'defaults',
      pays: subject.pays,
      faults: Object.fromEntries(
        cells
          .filter((cell) => cell.subject === subject)
          .map(({ fault, attempts, requests, charges, ended, error, outcome }) => [
            fault.id,
            { attempts, requests, charges, ended, error, outcome },
          ]),
      ),
    })),
  };
}
