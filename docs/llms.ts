/**
 * Writes the guides for programs that read documentation (https://llmstxt.org): all of them in
 * `llms-full.txt`, and a list of links into it in `llms.txt`. Both are in the package and on the site.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { groups } from './contents.ts';

const root = path.join(import.meta.dirname, '..');
const docs = (page: string): string => path.join(root, 'docs', `${page}.md`);

interface Page {
  readonly title: string;
  readonly text: string;
}

async function read(page: string): Promise<Page> {
  const text = await readFile(docs(page), 'utf8');
  const [, title = page] = /^# (.*)$/m.exec(text) ?? [];
  return { title, text };
}

/** Returns the first sentence of a page that is neither code nor a table. */
export function readSummary(text: string): string {
  const paragraphs = text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n\n')
    .slice(1);
  const first = paragraphs.map((part) => part.trim()).find((part) => /^[A-Z`]/.test(part)) ?? '';
  return first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/(?<=[.])\s.*$/s, '');
}

/** Returns the anchor of a heading, as renderers of Markdown make it. */
function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
}

/** The texts for programs: a list of the guides, and all of them. */
export async function renderTexts(): Promise<{ list: string; whole: string }> {
  const guides = new Map<string, Page>();
  for (const page of groups.flatMap(({ pages }) => pages)) {
    if (page.startsWith('guides/')) guides.set(`${path.basename(page)}.md`, await read(page));
  }
  const readme = withLocalLinks(await readFile(path.join(root, 'README.md'), 'utf8'), guides);
  const [, about = ''] = /^# .*\n\n(.*)$/m.exec(readme) ?? [];
  const list = ['# model-gateway', '', `> ${about}`];
  const whole = [readme];
  for (const { text, pages } of groups) {
    const listed = pages.flatMap((page) => guides.get(`${path.basename(page)}.md`) ?? []);
    if (listed.length > 0) list.push('', `## ${text}`, '');
    for (const { title, text: body } of listed) {
      list.push(`- [${title}](llms-full.txt#${toAnchor(title)}): ${readSummary(body)}`);
      whole.push(withLocalLinks(body, guides));
    }
  }
  const full = whole
    .map((page) => withNarrowTables(withoutComments(page).trim()))
    .join('\n\n---\n\n');
  return { list: `${list.join('\n')}\n`, whole: `${full}\n` };
}

/** Replaces links to files, which the package does not have, by links to headings. Images are left out. */
function withLocalLinks(text: string, guides: ReadonlyMap<string, Page>): string {
  return text
    .replaceAll(/\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)[ \n]*|!\[[^\]]*\]\([^)]*\)[ \n]*/g, '')
    .replaceAll(
      /\[((?:`[^`]*`|[^\]`])*)\]\(((?!https?:)[^)#]*)(#[^)]*)?\)/g,
      (_, label, file, anchor) => {
        if (file === '') return `[${label}](${anchor})`;
        const guide = guides.get(path.basename(file));
        return guide === undefined ? label : `[${label}](${anchor ?? `#${toAnchor(guide.title)}`})`;
      },
    );
}

/** Leaves out the markers of generated parts. */
const withoutComments = (text: string): string =>
  text.replaceAll(/^<!-- [\w-]+:(?:start|end) -->\n+|<!-- [\w-]+:(?:start|end) -->/gm, '');

/** Leaves out the spaces and dashes that align the columns of tables. */
const withNarrowTables = (text: string): string =>
  text.replaceAll(/^\|.*\|$/gm, (row) => row.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---'));

if (import.meta.main) {
  const { list, whole } = await renderTexts();
  await writeFile(path.join(root, 'dist', 'llms.txt'), list);
  await writeFile(path.join(root, 'dist', 'llms-full.txt'), whole);
}
