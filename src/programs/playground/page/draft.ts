import { effect, signal, type Signal } from '@preact/signals';

/**
 * Creates a signal whose value survives a change of panel and a reload of the tab.
 *
 * @param name - The key in the session storage.
 */
export function draft<Value>(name: string, initial: Value): Signal<Value> {
  const key = `playground-${name}`;
  let value = initial;
  try {
    const text = sessionStorage.getItem(key);
    if (text !== null) value = JSON.parse(text);
  } catch {
    // Stored by another version: use the initial value.
  }
  const stored = signal(value);
  effect(() => sessionStorage.setItem(key, JSON.stringify(stored.value)));
  return stored;
}

/** Returns the props of a component for a field of a draft. */
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
