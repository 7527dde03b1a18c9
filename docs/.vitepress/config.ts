import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { groups } from '../contents.ts';

const docs = path.join(import.meta.dirname, '..');

/** Returns the title of a page, its first line. */
function readTitle(page: string): string {
  const [, title = page] =
    /^# (.*)$/m.exec(readFileSync(path.join(docs, `${page}.md`), 'utf8')) ?? [];
  return title.replaceAll('`', '');
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
  .map((name) => ({ text: name, link: `/api/${name}/` }));

const search: DefaultTheme.LocalSearchOptions = {
  // The index holds guides whole, and of a page of the reference only what it is about: it is loaded
  // before the first result.
  _render(source, env, markdown) {
    const isReference = env.relativePath.startsWith('api/');
    const text = isReference ? source.replace(/^## [\s\S]*/m, '').slice(0, 400) : source;
    return markdown.render(text, env);
  },
  miniSearch: {
    searchOptions: {
      boost: { title: 4, titles: 2, text: 1 },
      boostDocument: (id: string) => (id.includes('/api/') ? 0.05 : 1),
    },
  },
};

export default defineConfig({
  title: 'model-gateway',
  description: 'A charge-safe TypeScript client for AI gateways.',
  lang: 'en',
  cleanUrls: true,
  outDir: '.vitepress/dist',
  srcExclude: ['node_modules/**', 'README.md'],
  markdown: { theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  // The theme's home page has no landmark for its content.
  transformHtml: (html) =>
    html.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"'),
  themeConfig: {
    search: { provider: 'local', options: search },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guides', link: '/guides/getting-started' },
      { text: 'API', link: '/api/' },
      { text: 'Figures', link: '/bench' },
    ],
    sidebar: { '/api/': [{ text: 'Modules', items: modules }], '/': guides },
  },
});
