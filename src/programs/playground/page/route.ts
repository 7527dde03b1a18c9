import { signal } from '@preact/signals';
import { readHash } from './setup/token.ts';

/** The panels, in display order. */
export const panels = [
  'charges',
  'chat',
  'images',
  'speech',
  'transcription',
  'translation',
  'embeddings',
  'video',
  'requests',
] as const;

export type Panel = (typeof panels)[number];

interface Route {
  readonly panel: Panel;
  readonly query: ReadonlyMap<string, string>;
}

function read(): Route {
  const [path = '', query = ''] = readHash().split('?', 2);
  const panel = panels.find((name) => `#/${name}` === path) ?? 'charges';
  return { panel, query: new Map(new URLSearchParams(query)) };
}

/** The current panel and its state in the address. */
export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

const queryText = (query: ReadonlyMap<string, string>): string => {
  const text = new URLSearchParams([...query]).toString();
  return text === '' ? '' : `?${text}`;
};

/** The last state of each panel. */
const queries = new Map<Panel, string>();
// The panel of a link or of a reload has its state in the address.
route.subscribe(({ panel, query }) => queries.set(panel, queryText(query)));

/** Returns the address of a panel with its last state. */
export const panelAddress = (panel: Panel): string => `#/${panel}${queries.get(panel) ?? ''}`;

/** Stores a choice in the address, for reloads and links. */
export function remember(name: string, value: string): void {
  const { panel } = route.value;
  const query = new Map(route.value.query);
  if (value === '') query.delete(name);
  else query.set(name, value);
  const text = queryText(query);
  queries.set(panel, text);
  // If another panel is being opened, keep its address.
  if (read().panel === panel) history.replaceState(null, '', `#/${panel}${text}`);
  route.value = read();
}

/** Reads a choice from the address. */
export const recalled = (name: string, fallback: string): string =>
  route.value.query.get(name) ?? fallback;
