import { effect, signal, type Signal } from '@preact/signals';

/**
 * What somebody is writing: it outlives a change of panel and a reload, as long as the tab is open.
 *
 * @param name - Where it is kept.
 */
export function draft<Value>(name: string, initial: Value): Signal<Value> {
  const key = `playground-${name}`;
  let value = initial;
  try {
    const stored = sessionStorage.getItem(key);
    if (stored !== null) value = JSON.parse(stored);
  } catch {
    // Of another version: begin anew.
  }
  const kept = signal(value);
  effect(() => sessionStorage.setItem(key, JSON.stringify(kept.value)));
  return kept;
}
