import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { closeOnEscape } from '../calls/stop.ts';
import { CopyButton } from '../parts.tsx';
import { recalled, remember, route } from '../route.ts';
import { changedSettings, mergeSettings, type Preset, type Settings } from './settings.ts';

const storageName = (): string => `playground-presets-${route.value.panel}`;

/** Returns the saved presets of the current panel. */
function readSaved(): readonly Preset[] {
  try {
    return JSON.parse(localStorage.getItem(storageName()) ?? '[]');
  } catch {
    return [];
  }
}

/** Applies the settings of an opened link, and removes them from the address. */
function useLinkedSettings<Value extends Settings>(form: Signal<Value>, initial: Value): void {
  const linked = recalled('settings', '');
  useEffect(() => {
    if (linked === '') return;
    try {
      form.value = mergeSettings(initial, JSON.parse(linked));
    } catch {
      // The link was shortened on its way: keep the current settings.
    }
    remember('settings', '');
  }, [linked]);
}

/** Presets, and a link with the current settings. Neither contains the key. */
export function Setup<Value extends Settings>({
  form,
  initial,
  modelName,
  presets,
}: {
  form: Signal<Value>;
  initial: Value;
  /** The name of the models in the address. */
  modelName: 'model' | 'models';
  presets: readonly Preset[];
}): JSX.Element {
  useLinkedSettings(form, initial);
  const [saved, setSaved] = useState(readSaved);
  const [chosen, setChosen] = useState('');
  const [name, setName] = useState<string | undefined>();
  const store = (next: readonly Preset[]): void => {
    localStorage.setItem(storageName(), JSON.stringify(next));
    setSaved(next);
  };
  const apply = (key: string): void => {
    setChosen(key);
    const preset = [...presets, ...saved].find((item) => item.name === key);
    if (preset === undefined) return;
    form.value = mergeSettings(initial, preset.settings);
    if (preset.model !== undefined) remember(modelName, preset.model);
  };
  const save = (): void => {
    const title = (name ?? '').trim();
    if (title === '') return;
    const model = recalled(modelName, '');
    const settings = changedSettings(initial, form.value);
    const preset = { name: title, settings, ...(model === '' ? {} : { model }) };
    store([...saved.filter((item) => item.name !== title), preset]);
    setChosen(title);
    setName(undefined);
  };
  const link = (): string => {
    const { panel, query } = route.value;
    const model = query.get(modelName);
    const parameters = new URLSearchParams(model === undefined ? {} : { [modelName]: model });
    parameters.set('settings', JSON.stringify(changedSettings(initial, form.value)));
    return `${location.origin}/#/${panel}?${parameters.toString()}`;
  };
  const isSaved = saved.some((item) => item.name === chosen);
  if (name !== undefined) {
    return (
      <form
        class="row tight setup"
        onKeyDown={closeOnEscape(() => setName(undefined))}
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input
          aria-label="Name of the preset"
          placeholder="Name of the preset"
          dir="auto"
          value={name}
          ref={(input) => input?.focus()}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button type="submit" class="quiet">
          Save
        </button>
        <button type="button" class="quiet" onClick={() => setName(undefined)}>
          Cancel
        </button>
      </form>
    );
  }
  return (
    <div class="row tight setup">
      <select
        aria-label="Preset"
        value={chosen}
        onChange={({ currentTarget }) => apply(currentTarget.value)}
      >
        <option value="">Presets…</option>
        {[...presets, ...saved].map((preset) => (
          <option key={preset.name} value={preset.name}>
            {preset.name}
          </option>
        ))}
      </select>
      {isSaved ? (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            store(saved.filter((item) => item.name !== chosen));
            setChosen('');
          }}
        >
          Delete preset
        </button>
      ) : (
        <button type="button" class="quiet" onClick={() => setName('')}>
          Save preset
        </button>
      )}
      <CopyButton label="Copy link" text={link} />
    </div>
  );
}
