import type { JSX, ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { CallKind } from '../protocol.ts';
import { hello, models } from './state.ts';

/** A field with its label above. */
export function Field({
  label,
  hint,
  keys,
  children,
}: {
  label: string;
  hint?: string;
  /** A hint about keys, which is hidden on touch screens. */
  keys?: string;
  children: (id: string) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {hint === undefined ? null : <span class="hint"> {hint}</span>}
        {keys === undefined ? null : <span class="hint keys"> {keys}</span>}
      </label>
      {children(id)}
    </div>
  );
}

/**
 * A text field. Ctrl+Enter or ⌘Enter sends it; with `sendsOnEnter` also Enter, and Shift+Enter breaks the
 * line. While it is empty, Tab fills in the example.
 */
export function TextField({
  label,
  value,
  onInput,
  onSend,
  rows = 3,
  placeholder = '',
  example,
  hint,
  keys,
  sendsOnEnter = false,
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  onSend?: () => void;
  rows?: number;
  placeholder?: string;
  /** A placeholder that Tab fills in. */
  example?: string;
  hint?: string;
  keys?: string;
  sendsOnEnter?: boolean;
}): JSX.Element {
  const tab = example === undefined || value !== '' ? [] : ['Tab fills in the example'];
  const allKeys = [...(keys === undefined ? [] : [keys]), ...tab];
  return (
    <Field
      label={label}
      {...(hint === undefined ? {} : { hint })}
      {...(allKeys.length === 0 ? {} : { keys: allKeys.join(', ') })}
    >
      {(id) => (
        <textarea
          id={id}
          rows={rows}
          value={value}
          placeholder={example ?? placeholder}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={(event) => {
            const { key, shiftKey, ctrlKey, metaKey, isComposing } = event;
            const isSent = ctrlKey || metaKey || (sendsOnEnter && !shiftKey);
            // Enter also confirms the choice of an input method.
            if (key === 'Enter' && isSent && !isComposing) {
              event.preventDefault();
              onSend?.();
            }
            if (key === 'Tab' && !shiftKey && value === '' && example !== undefined) {
              event.preventDefault();
              onInput(example);
            }
          }}
        />
      )}
    </Field>
  );
}

/** A choice between a few options. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, label: string])[];
  onChange: (value: Value) => void;
}): JSX.Element {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      <div class="segments">
        {options.map(([option, text]) => (
          <label key={option}>
            <input
              type="radio"
              name={name}
              checked={option === value}
              onChange={() => onChange(option)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** A choice from a list. An empty value is shown as "default". */
export function Select({
  label,
  hint,
  value,
  options,
  onInput,
}: {
  label: string;
  hint?: string;
  value: string;
  options: readonly (string | readonly [value: string, label: string])[];
  onInput: (value: string) => void;
}): JSX.Element {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(id) => (
        <select
          id={id}
          value={value}
          onChange={({ currentTarget }) => onInput(currentTarget.value)}
        >
          {options.map((option) => {
            const [key, name] = typeof option === 'string' ? [option, option] : option;
            return (
              <option key={key} value={key}>
                {name === '' ? 'default' : name}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

/** A field for a number. Its value is the text of the input. */
export function NumberField({
  label,
  hint,
  value,
  onInput,
  ...range
}: {
  label: string;
  hint: string;
  value: string;
  onInput: (value: string) => void;
  min: string;
  max?: string;
  step?: string;
}): JSX.Element {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <input
          id={id}
          type="number"
          {...range}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Patterns for the names of the models of each panel. */
const modelPatterns = {
  image: /image|dall-e|imagen|flux|diffusion|seedream/i,
  speech: /speech|tts/i,
  transcription: /transcri|whisper|translat/i,
  translation: /translat|whisper/i,
  embeddings: /embed/i,
  video: /video|sora|veo|kling|vidu|hailuo|jimeng|wan|seedance/i,
} as const;

/** Returns the suggested models of a panel. Chat suggests all models that match no other panel. */
export function modelsFor(kind: CallKind): string[] {
  const others = Object.values(modelPatterns);
  const fits = (id: string): boolean =>
    kind === 'chat' ? !others.some((other) => other.test(id)) : modelPatterns[kind].test(id);
  return models.value.map(({ id }) => id).filter(fits);
}

/** A field for a model: one of the list, or any other name. */
export function ModelField({
  kind,
  value,
  onInput,
  label = 'Model',
}: {
  kind: CallKind;
  value: string;
  onInput: (model: string) => void;
  label?: string;
}): JSX.Element {
  const list = useId();
  return (
    <Field label={label}>
      {(id) => (
        <>
          <input
            id={id}
            list={list}
            value={value}
            placeholder={modelsFor(kind)[0] ?? 'the name of a model'}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <datalist id={list}>
            {modelsFor(kind).map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** A field for files, with a button and drag and drop. */
export function FileField({
  label,
  accept,
  files,
  multiple = false,
  onChange,
}: {
  label: string;
  accept: string;
  files: readonly File[];
  multiple?: boolean;
  onChange: (files: readonly File[]) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const limit = hello.value?.uploadLimit ?? Infinity;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  return (
    <Field label={label}>
      {(id) => (
        <div
          class="drop"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            const dropped = [...(event.dataTransfer?.files ?? [])];
            if (dropped.length > 0) onChange(multiple ? dropped : dropped.slice(0, 1));
          }}
        >
          <input
            id={id}
            ref={input}
            class="hidden"
            type="file"
            accept={accept}
            multiple={multiple}
            onChange={({ currentTarget }) => onChange([...(currentTarget.files ?? [])])}
          />
          <label for={id} class="button" aria-hidden="true">
            Choose
          </label>
          <span class={files.length === 0 ? 'faint' : ''}>
            {files.length === 0
              ? 'none, or drop files here'
              : files.map(({ name }) => name).join(', ')}
          </span>
          {files.length === 0 ? null : (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                if (input.current !== null) input.current.value = '';
                onChange([]);
              }}
            >
              Remove
            </button>
          )}
          {total > limit ? (
            <p class="warning" role="alert">
              Larger than the {Math.round(limit / 1024 / 1024)} MiB that the playground accepts.
              Choose a smaller file.
            </p>
          ) : null}
        </div>
      )}
    </Field>
  );
}

/** The fault of the next call. Emulator only. */
export function FaultField({
  kind,
  value,
  onInput,
}: {
  kind: CallKind;
  value: string;
  onInput: (fault: string) => void;
}): JSX.Element | null {
  const { isEmulator = false, scenarios = [] } = hello.value ?? {};
  if (!isEmulator) return null;
  const faults = scenarios
    .filter(({ kinds }) => kinds.includes(kind))
    .map(({ name, label }) => [name, label] as const);
  const options = [['', 'no fault'] as const, ...faults];
  return <Select label="Fault" hint="emulator" value={value} options={options} onInput={onInput} />;
}
