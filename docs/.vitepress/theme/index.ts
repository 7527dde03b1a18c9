import type { EnhanceAppContext } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import LiveCharges from './charges.ts';
import './style.css';

/** The page for unknown addresses. That of the theme has no landmark. */
const notFound = () =>
  h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'Page not found'),
    h('p', [
      'The address may be of an earlier version. ',
      h('a', { href: '/guides/getting-started' }, 'Guides'),
      ' lists all pages, and the search finds their words.',
    ]),
  ]);

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: EnhanceAppContext) => app.component('LiveCharges', LiveCharges),
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': notFound }),
};
