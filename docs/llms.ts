/**
 * Writes the guides as `llms.txt`, a list with a line for each, and `llms-full.txt`, all of them in one
 * file, for programs that read documentation (https://llmstxt.org). Both are in the package.
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

/** The first sentence of a page that is neither code nor a table. */
function summaryOf(text: string): string {
  const paragraphs = text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n\n')
    .slice(1);
  const first = paragraphs.map((part) => part.trim()).find((part) => /^[A-Z`]/.test(part)) ?? '';
  return first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/(?<=[.])\s.*$/s, '');
}

const readme = await readFile(path.join(root, 'README.md'), 'utf8');
const [, about = ''] = /^# .*\n\n(.*)$/m.exec(readme) ?? [];
const list = ['# model-gateway', '', `> ${about}`, '', 'All of it in one file: llms-full.txt'];
const whole = [readme.trim()];
for (const { text, pages } of groups) {
  list.push('', `## ${text}`, '');
  for (const page of pages) {
    const { title, text: body } = await read(page);
    list.push(`- [${title}](docs/${page}.md): ${summaryOf(body)}`);
    if (page.startsWith('guides/')) whole.push(body.trim());
  }
}
await writeFile(path.join(root, 'dist', 'llms.txt'), `${list.join('\n')}\n`);
await writeFile(path.join(root, 'dist', 'llms-full.txt'), `${whole.join('\n\n---\n\n')}\n`);
