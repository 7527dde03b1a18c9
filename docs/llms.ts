/**
 * Writes the guides for programs that read documentation (https://llmstxt.org): all of them in
 * `llms-full.txt`, and a list of links into it in `llms.txt`. Both are in the package.
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
function readSummary(text: string): string {
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

const readme = await readFile(path.join(root, 'README.md'), 'utf8');
const [, about = ''] = /^# .*\n\n(.*)$/m.exec(readme) ?? [];
const list = ['# model-gateway', '', `> ${about}`];
const whole = [readme.trim()];
for (const { text, pages } of groups) {
  const guides = pages.filter((page) => page.startsWith('guides/'));
  if (guides.length > 0) list.push('', `## ${text}`, '');
  for (const page of guides) {
    const { title, text: body } = await read(page);
    list.push(`- [${title}](llms-full.txt#${toAnchor(title)}): ${readSummary(body)}`);
    whole.push(body.trim());
  }
}
await writeFile(path.join(root, 'dist', 'llms.txt'), `${list.join('\n')}\n`);
await writeFile(path.join(root, 'dist', 'llms-full.txt'), `${whole.join('\n\n---\n\n')}\n`);
