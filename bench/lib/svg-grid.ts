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

/** The width of the text column in which pages show the picture. A wider picture is scaled down. */
const maxWidth = 760;
const margin = 16;
const labelWidth = 232;
const rowHeight = 28;
const lineHeight = 15;

const fills = {
  good: 'goodFill',
  fair: 'fairFill',
  poor: 'poorFill',
  plain: 'plainFill',
} as const;

/** Breaks a heading such as `@google/genai` after its scope. */
const headingLines = (heading: string): string[] => heading.split(/(?<=\/)/);

/** Wide enough for the longest heading or note; letters are about 0.57 of their size wide. */
function computeColumnWidth(columns: readonly GridColumn[]): number {
  const widths = columns.flatMap(({ heading, notes }) => [
    ...headingLines(heading).map((line) => line.length * 7.4),
    ...notes.map((note) => note.length * 6.1),
  ]);
  return Math.ceil(Math.max(72, ...widths)) + 8;
}

/**
 * Splits columns that are too many for one row of the picture. Each group begins with the first column of this
 * client, for comparison.
 */
export function groupColumns(
  columns: readonly Pick<GridColumn, 'own'>[],
  most: number,
): readonly (readonly number[])[] {
  const all = [...columns.keys()];
  if (all.length <= most) return [all];
  const own = Math.max(
    0,
    columns.findIndex((column) => column.own),
  );
  const others = all.filter((index) => index !== own);
  const count = Math.ceil(others.length / (most - 1));
  const size = Math.ceil(others.length / count);
  return Array.from({ length: count }, (_, group) => [
    own,
    ...others.slice(group * size, (group + 1) * size),
  ]);
}

/** Draws a grid of tinted values: columns to compare, rows in sections. */
export function gridPicture(grid: Grid): string {
  const columnWidth = computeColumnWidth(grid.columns);
  const most = Math.max(2, Math.floor((maxWidth - 2 * margin - labelWidth) / columnWidth));
  const groups = groupColumns(grid.columns, most);
  const inner = labelWidth + Math.max(...groups.map(({ length }) => length)) * columnWidth;
  const width = inner + 2 * margin;
  const center = (position: number): number =>
    margin + labelWidth + position * columnWidth + columnWidth / 2;
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

  const drawGroup = (indices: readonly number[]): void => {
    const columns = indices.flatMap((index) => grid.columns[index] ?? []);
    const headings = columns.map(({ heading }) => headingLines(heading));
    const top = Math.max(...headings.map(({ length }) => length));
    for (const [position, column] of columns.entries()) {
      const x = center(position);
      const lines = headings[position] ?? [];
      for (const [line, part] of lines.entries()) {
        const above = y + (top - lines.length + line) * lineHeight;
        body.push(text(x, above, part, { size: 12.5, bold: column.own, anchor: 'middle' }));
      }
      for (const [line, note] of column.notes.entries()) {
        const below = y + (top + line) * lineHeight;
        body.push(text(x, below, note, { size: 11, role: 'muted', anchor: 'middle' }));
      }
    }
    const notes = Math.max(...columns.map((column) => column.notes.length));
    y += (top - 1 + notes) * lineHeight + 10;

    for (const section of grid.sections) {
      body.push(rule(margin, y, inner));
      y += 20;
      body.push(text(margin, y, section.heading, { bold: true, size: 12 }));
      y += 8;
      for (const row of section.rows) {
        const cells = indices.map((index) => row.cells[index]);
        // A row without a value in this group would be a row of dashes.
        if (cells.every((cell) => cell === undefined)) continue;
        body.push(text(margin, y + 18, row.label));
        for (const [position, cell] of cells.entries()) {
          const x = center(position);
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
  };
  for (const [position, group] of groups.entries()) {
    if (position > 0) y += 24;
    drawGroup(group);
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
