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

/** A field of a draft as a component takes it: its value, and what writes it. */
export function field<Value, Name extends keyof Value>(
  form: Signal<Value>,
  name: Name,
): { value: Value[Name]; onInput: (value: Value[Name]) => void } {
  return {
    value: form.value[name],
    onInput(value) {
      form.value = { ...form.value, [name]: value };
    },
  };
}
