import { wrap } from './table.ts';
import { box, picture, rule, text } from './svg.ts';

/** The rating of a value, which sets its colour. The value is readable without it. */
export type Tone = 'good' | 'fair' | 'poor' | 'plain';

export interface GridCell {
  readonly value: string;
  readonly tone: Tone;
}

export interface GridColumn {
  readonly heading: string;
  /** Smaller lines under the heading. */
  readonly notes: readonly string[];
  /** `true` for the column of this client. */
  readonly own: boolean;
}

export interface GridSection {
  readonly heading: string;
  readonly rows: readonly {
    readonly label: string;
    /** One cell per column; `undefined` where there is nothing to measure. */
    readonly cells: readonly (GridCell | undefined)[];
  }[];
}

export interface Grid {
  readonly title: string;
  readonly subtitle: string;
  readonly columns: readonly GridColumn[];
  readonly sections: readonly GridSection[];
  readonly footnote: string;
}

const margin = 24;
const labelWidth = 236;
const rowHeight = 28;
const lineHeight = 15;

const fills = {
  good: 'goodFill',
  fair: 'fairFill',
  poor: 'poorFill',
  plain: 'plainFill',
} as const;

/** Wide enough for the longest heading or note; letters are about 0.57 of their size wide. */
function computeColumnWidth(columns: readonly GridColumn[]): number {
  const widths = columns.flatMap(({ heading, notes }) => [
    heading.length * 7.4,
    ...notes.map((note) => note.length * 6.1),
  ]);
  return Math.ceil(Math.max(72, ...widths)) + 10;
}

/** Draws a grid of tinted values: columns to compare, rows in sections. */
export function gridPicture(grid: Grid): string {
  const columnWidth = computeColumnWidth(grid.columns);
  const inner = labelWidth + grid.columns.length * columnWidth;
  const width = inner + 2 * margin;
  const center = (index: number): number =>
    margin + labelWidth + index * columnWidth + columnWidth / 2;
  const body: string[] = [];
  let y = margin + 14;
  const paragraph = (content: string, size: number): void => {
    for (const line of wrap(content, Math.floor(inner / (size * 0.51)))) {
      body.push(text(margin, y, line, { role: 'muted', size }));
      y += size + 4;
    }
  };

  body.push(text(margin, y, grid.title, { size: 18, bold: true }));
  y += 23;
  paragraph(grid.subtitle, 13);
  y += 14;

  const notes = Math.max(...grid.columns.map((column) => column.notes.length));
  for (const [index, column] of grid.columns.entries()) {
    const x = center(index);
    body.push(text(x, y, column.heading, { size: 12.5, bold: column.own, anchor: 'middle' }));
    for (const [line, note] of column.notes.entries()) {
      const below = y + (line + 1) * lineHeight;
      body.push(text(x, below, note, { size: 11, role: 'muted', anchor: 'middle' }));
    }
  }
  y += notes * lineHeight + 10;

  for (const section of grid.sections) {
    body.push(rule(margin, y, inner));
    y += 20;
    body.push(text(margin, y, section.heading, { bold: true, size: 12 }));
    y += 8;
    for (const row of section.rows) {
      body.push(text(margin, y + 18, row.label));
      for (const [index, cell] of row.cells.entries()) {
        const x = center(index);
        if (cell === undefined) {
          body.push(text(x, y + 18, '–', { role: 'muted', anchor: 'middle' }));
          continue;
        }
        body.push(
          box(x - columnWidth / 2 + 3, y + 2, columnWidth - 6, rowHeight - 4, fills[cell.tone]),
          text(x, y + 19, cell.value, { role: cell.tone, bold: true, anchor: 'middle' }),
        );
      }
      y += rowHeight;
    }
    y += 10;
  }

  body.push(rule(margin, y, inner));
  y += 20;
  paragraph(grid.footnote, 11);
  return picture({
    width,
    height: y + margin - 15,
    title: grid.title,
    description: grid.subtitle,
    body,
  });
}
