import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineConfig, type DefaultTheme, type MarkdownRenderer } from 'vitepress';
import packageJson from '../../package.json' with { type: 'json' };
import { groups, moved } from '../contents.ts';
import { readSummary, renderTexts } from '../llms.ts';

const docs = path.join(import.meta.dirname, '..');

/** Returns the title of a page, its first line. */
function readTitle(page: string): string {
  const [, title = page] =
    /^# (.*)$/m.exec(readFileSync(path.join(docs, `${page}.md`), 'utf8')) ?? [];
  return title.replaceAll('`', '');
}

/** Returns the first sentence of a page as plain text, for previews of links to it. */
function readDescription(page: string): string {
  const text = readFileSync(path.join(docs, `${page}.md`), 'utf8');
  return readSummary(text).replaceAll(/[`*]/g, '');
}

const guides: DefaultTheme.SidebarItem[] = groups.map(({ text, pages }) => ({
  text,
  items: pages.map((page) => ({ text: readTitle(page), link: `/${page}` })),
}));

/** The modules of the reference. Links to all of their contents would make every page large. */
const modules: DefaultTheme.SidebarItem[] = readdirSync(path.join(docs, 'api'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((file) => path.basename(file) === 'index.md' && file !== 'index.md')
  .map((file) => path.dirname(file).split(path.sep).join('/'))
  .filter((name) => !name.includes('/namespaces/'))
  .toSorted()
  // Without the name of the package, each entry has room on one line.
  .map((name) => ({ text: name.replace(/^model-gateway\//, ''), link: `/api/${name}/` }));

const search: DefaultTheme.LocalSearchOptions = {
  // The index holds guides whole, and of a page of the reference only what it is about: it is loaded
  // before the first result.
  _render(source, env, markdown) {
    const isReference = env.relativePath.startsWith('api/');
    const text = isReference ? source.replace(/^## [\s\S]*/m, '').slice(0, 400) : source;
    // The name of a block's language would be glued to the first word of its code.
    return markdown.render(text, env).replaceAll(/<span class="lang">[^<]*<\/span>/g, ' ');
  },
  // These functions are copied into the page as text, so they can use nothing outside of themselves.
  miniSearch: {
    // "retry" finds "Retries".
    options: { processTerm: (term: string) => term.toLowerCase().replace(/ies$/, 'y') },
    searchOptions: {
      boost: { title: 4, titles: 2, text: 1 },
      fuzzy: (term: string) => (term.length > 5 ? 0.2 : false),
      // Pages come before the reference, and first the page that is named like the term.
      boostDocument(id: string, term: string) {
        if (id.includes('/api/')) return 0.05;
        const isGuide = !/\/(CONTRIBUTING|promises|wire|compatibility-evidence)\b/.test(id);
        const stem = term.slice(0, Math.max(4, term.length - 2));
        const page = /([^/.#]*)(?:\.html)?(?:#.*)?$/.exec(id)?.[1]?.toLowerCase() ?? '';
        // The names of the pages that were merged into others.
        const merged: Readonly<Record<string, string>> = {
          operations: 'embeddings-gemini-speech-transcription',
          runtimes: 'browser-cloudflare',
          'rate-limits': 'fallbacks',
          'structured-output': 'tools-json-function',
          debugging: 'tracing-traces-opentelemetry',
          'command-line': 'playground-exit',
          frameworks: 'ai-sdk',
          // Words that are on many pages, and explained on this one.
          'getting-started': 'install',
          'options-time': 'timeout',
          'options-connection': 'api-key',
          'your-own-server': 'next',
          'what-you-may-be-charged': 'image',
          costs: 'was-price-usage',
          'environment-and-files': 'variables',
          'what-is-stored': 'logged',
          video: 'sora-crash',
          testing: 'vitest-mock',
          errors: 'outcome',
        };
        const words = `${page}-${merged[page] ?? ''}`.split('-');
        // "js" does not mean JSON.
        const isNamed = stem.length > 2 && words.some((word) => word.startsWith(stem));
        // The fewer words its name has, the more it is about each.
        return isNamed ? 5 / page.split('-').length ** 0.25 : isGuide ? 1 : 0.25;
      },
    },
  },
};

/** The longest names, in characters, that are not broken in the narrowest and in wider tables. */
const shortName = 12;
const mediumName = 24;

/** Adds the name of its column to each cell of a table, for narrow pages, and marks names that need not be broken. */
function labelCells(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('cell-labels', ({ tokens }) => {
    let column = 0;
    let names: string[] = [];
    for (const [index, token] of tokens.entries()) {
      const text = tokens[index + 1]?.content ?? '';
      if (token.type === 'table_open') names = [];
      else if (token.type === 'tr_open') column = 0;
      else if (token.type === 'th_open')
        names.push(text.replaceAll('`', '').replace(/(?<![?:])$/, ':'));
      else if (token.type === 'td_open') {
        token.attrSet('data-label', names[column++] ?? '');
        for (const code of tokens[index + 1]?.children ?? []) {
          const { type, content } = code;
          if (type !== 'code_inline' || content.length > mediumName || /\s/.test(content)) continue;
          code.attrSet('class', content.length > shortName ? 'medium-name' : 'short-name');
        }
      }
    }
  });
}

/** Highlights each block of code once: the search reads the guides again, and pages of classes repeat what they inherit. */
function highlightOnce(markdown: MarkdownRenderer): void {
  const { highlight } = markdown.options;
  if (typeof highlight !== 'function') return;
  const known = new Map<string, string>();
  markdown.set({
    highlight(...block) {
      const key = block.join('\0');
      const html = known.get(key) ?? highlight(...block);
      known.set(key, html);
      return html;
    },
  });
}

/** Returns a page that leads to another one, and keeps the section of the address if there is one. */
function toRedirect(target: string): string {
  const [file = ''] = target.split('#');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="/${file}">
<script>location.replace(location.hash === '' ? '/${target}' : '/${file}' + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url=/${target}"></noscript>
<p>This page is now <a href="/${target}">a section of another one</a>.</p>
</html>
`;
}

export default defineConfig({
  title: 'model-gateway',
  description: 'A charge-safe TypeScript client for AI gateways.',
  lang: 'en',
  cleanUrls: true,
  outDir: '.vitepress/dist',
  srcExclude: ['node_modules/**', 'README.md'],
  transformPageData({ relativePath, frontmatter }) {
    const page = relativePath.replace(/\.md$/, '');
    const isPage = groups.some(({ pages }) => pages.includes(page));
    // The tables of these pages need the place of the outline.
    const [, name] =
      /^guides\/(options|operations|what-you-may-be-charged)\.md$/.exec(relativePath) ?? [];
    if (name !== undefined) Object.assign(frontmatter, { aside: false, pageClass: name });
    return isPage ? { description: readDescription(page) } : undefined;
  },
  async buildEnd({ outDir }) {
    const { list, whole } = await renderTexts();
    await writeFile(path.join(outDir, 'llms.txt'), list);
    await writeFile(path.join(outDir, 'llms-full.txt'), whole);
    for (const [from, to] of Object.entries(moved)) {
      const file = path.join(outDir, `${from}.html`);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, toRedirect(to));
    }
  },
  // For the comparison on the first page, which runs the client and the emulator.
  vite: {
    define: { __VERSION__: JSON.stringify(packageJson.version) },
    resolve: { alias: { 'form-data': path.join(docs, '.vitepress/theme/no-form-data.ts') } },
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      labelCells(markdown);
      highlightOnce(markdown);
    },
  },
  // The theme's home page has no landmark for its content.
  transformHtml: (html) =>
    html.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"'),
  transformHead: ({ title, description }) => [
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'model-gateway' }],
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
  ],
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }]],
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local', options: search },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guides', link: '/guides/getting-started' },
      { text: 'API', link: '/api/' },
      { text: 'Figures', link: '/bench' },
      { text: `Version ${packageJson.version}`, link: '/VERSIONS' },
    ],
    sidebar: { '/api/': [{ text: 'Modules', items: modules }], '/': guides },
  },
});
