import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { groups } from '../contents.ts';

const docs = path.join(import.meta.dirname, '..');

/** What a page calls itself in its first line. */
function titleOf(page: string): string {
  const [, title = page] =
    /^# (.*)$/m.exec(readFileSync(path.join(docs, `${page}.md`), 'utf8')) ?? [];
  return title.replaceAll('`', '');
}

/** What users import, of the folder that its source stands in. */
function moduleName(folder: string): string {
  const name = folder.replace(/(^|\/)index$/, '');
  return name === '' ? 'model-gateway' : `model-gateway/${name}`;
}

const guides: DefaultTheme.SidebarItem[] = groups.map(({ text, pages }) => ({
  text,
  items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
}));

/** The modules of the reference. Each lists what is in it: hundreds of links here would be in every page. */
const modules: DefaultTheme.SidebarItem[] = readdirSync(path.join(docs, 'api'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((file) => path.basename(file) === 'index.md' && file !== 'index.md')
  .map((file) => path.dirname(file).split(path.sep).join('/'))
  .filter((name) => !name.includes('/namespaces/'))
  .toSorted()
  .map((name) => ({ text: moduleName(name), link: `/api/${name}/` }));

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
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guides', link: '/guides/getting-started' },
      { text: 'API', link: '/api/' },
      { text: 'Figures', link: '/bench' },
    ],
    sidebar: { '/api/': [{ text: 'Modules', items: modules }], '/': guides },
  },
});
