import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');

/** A part of a document that a script writes, between `<!-- name:start -->` and `<!-- name:end -->`. */
export interface Section {
  /** The path of the document from the root of the repository. */
  readonly page: string;
  readonly name: string;
  /** Returns the text between the markers. */
  readonly render: () => string | Promise<string>;
  /** `true` if the text stands within a sentence. */
  readonly isInline?: boolean;
}

export type Cells = readonly (string | number)[];

/** Returns a table in Markdown. A number of dashes is left to the formatter. */
export function toTable(headings: readonly string[], rows: readonly Cells[]): string {
  const isNumber = (column: number): boolean =>
    rows.length > 0 && rows.every((cells) => typeof cells[column] === 'number');
  const ruler = headings.map((_, column) => (isNumber(column) ? '---:' : '---'));
  return [headings, ruler, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const markers = (name: string): readonly [start: string, end: string] => [
  `<!-- ${name}:start -->`,
  `<!-- ${name}:end -->`,
];

/** Returns the text between the markers of a section. */
export function shownIn(text: string, { page, name }: Section): string {
  const [start, end] = markers(name);
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${page} has no ${start} … ${end}.`);
  return text.slice(from + start.length, to).trim();
}

/** Writes a section into its document. */
export async function writeSection(section: Section): Promise<void> {
  const file = path.join(root, section.page);
  const text = await readFile(file, 'utf8');
  const [start, end] = markers(section.name);
  const space = section.isInline === true ? '' : '\n\n';
  shownIn(text, section);
  const [before = '', rest = ''] = text.split(start);
  const [, after = ''] = rest.split(end);
  const content = await section.render();
  await writeFile(file, `${before}${start}${space}${content}${space}${end}${after}`);
}

/** Removes what the formatter adds to align the columns of tables. */
export const narrow = (text: string): string =>
  text
    .trim()
    .replaceAll(/ {2,}/g, ' ')
    .replaceAll(/-{2,}(?=:? \|)/g, '--');
