/** One column of a text table. Its heading may hold several lines. */
export interface Column {
  readonly heading: string;
  readonly align: 'left' | 'right';
}

/** Lays out a table for a terminal. Cells hold one line each. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const headings = columns.map((column) => column.heading.split('\n'));
  const widths = columns.map((_, index) =>
    Math.max(
      ...(headings[index] ?? []).map((line) => line.length),
      ...rows.map((row) => (row[index] ?? '').length),
    ),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const height = Math.max(...headings.map((lines) => lines.length));
  const head = Array.from({ length: height }, (_, row) =>
    // Headings stand on the rule, so short ones start further down.
    line(headings.map((lines) => lines[row - (height - lines.length)] ?? '')),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [...head, rule, ...rows.map(line)].join('\n');
}

/** Breaks text at spaces into lines of at most `width` characters; a longer word keeps its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
