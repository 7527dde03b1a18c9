import { signal } from '@preact/signals';

/** The panels, in the order in which they are shown. */
export const panels = [
  'ledger',
  'chat',
  'images',
  'speech',
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
  const [path = '', query = ''] = location.hash.split('?', 2);
  const panel = panels.find((name) => `#/${name}` === path) ?? 'ledger';
  return { panel, query: new Map(new URLSearchParams(query)) };
}

/** The panel that is shown, and what of its state stands in the address. */
export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** What was last chosen in each panel. */
const chosen = new Map<Panel, string>();

/** The address of a panel, with what was chosen there. */
export const addressOf = (panel: Panel): string => `#/${panel}${chosen.get(panel) ?? ''}`;

/** Writes a choice into the address, so that a reload and a link find it. */
export function remember(name: string, value: string): void {
  const query = new URLSearchParams([...route.value.query]);
  if (value === '') query.delete(name);
  else query.set(name, value);
  const text = query.size === 0 ? '' : `?${query.toString()}`;
  const { panel } = route.value;
  chosen.set(panel, text);
  // Another panel may be on its way: its address stays.
  if (read().panel === panel) history.replaceState(null, '', `#/${panel}${text}`);
  route.value = read();
}

/** A choice out of the address. */
export const recalled = (name: string, otherwise: string): string =>
  route.value.query.get(name) ?? otherwise;
