/** The settings of a panel. */
export type Settings = Readonly<Record<string, string | boolean>>;

/** Settings under a name. Missing settings get their initial value. */
export interface Preset {
  readonly name: string;
  readonly settings: Settings;
  /** The model, or the models of a chat with commas between them. */
  readonly model?: string;
}

/** Returns the initial settings with those that exist and have the right type. */
export function mergeSettings<Value extends Settings>(initial: Value, changes: unknown): Value {
  const merged: Record<string, string | boolean> = { ...initial };
  const found = Object.entries(typeof changes === 'object' && changes !== null ? changes : {});
  for (const [name, value] of found) {
    if (Object.hasOwn(initial, name) && typeof value === typeof initial[name]) merged[name] = value;
  }
  return { ...initial, ...merged };
}

/** Returns the settings that differ from their initial values. */
export function changedSettings<Value extends Settings>(initial: Value, value: Value): Settings {
  return Object.fromEntries(Object.entries(value).filter(([name, now]) => now !== initial[name]));
}
