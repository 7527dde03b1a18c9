import type { JSX, ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallKind } from '../protocol.ts';
import { hello, models } from './state.ts';

/** A field with its label above. */
export function Field({
  label,
  hint,
  keys,
  button,
  children,
}: {
  label: string;
  hint?: string;
  /** A hint about keys, which is hidden on touch screens. */
  keys?: string;
  /** A button beside the label. */
  button?: ComponentChildren;
  children: (id: string) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>
          {label}
          {hint === undefined ? null : <span class="hint"> {hint}</span>}
          {keys === undefined ? null : <span class="hint keys"> {keys}</span>}
        </label>
        {button}
      </div>
      {children(id)}
    </div>
  );
}

/**
 * A text field. Ctrl+Enter or ⌘Enter sends it; with `sendsOnEnter` also Enter, and Shift+Enter breaks the
 * line. While it is empty, a button fills in the example.
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
  /** A placeholder that a button fills in. */
  example?: string;
  hint?: string;
  keys?: string;
  sendsOnEnter?: boolean;
}): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  return (
    <Field
      label={label}
      {...(hint === undefined ? {} : { hint })}
      {...(keys === undefined ? {} : { keys })}
      button={
        example === undefined || value !== '' ? null : (
          <button
            type="button"
            class="quiet example"
            onClick={() => {
              onInput(example);
              area.current?.focus();
            }}
          >
            Use the example
          </button>
        )
      }
    >
      {(id) => (
        <textarea
          id={id}
          ref={area}
          dir="auto"
          rows={rows}
          value={value}
          placeholder={example ?? placeholder}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={(event) => {
            const { key, shiftKey, ctrlKey, metaKey, isComposing, repeat } = event;
            const isSent = ctrlKey || metaKey || (sendsOnEnter && !shiftKey);
            // Enter also confirms the choice of an input method.
            if (key === 'Enter' && isSent && !isComposing) {
              event.preventDefault();
              // A held key is one press.
              if (!repeat) onSend?.();
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
            dir="auto"
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

/** Returns whether a file has one of the types of an `accept` attribute. */
const isAccepted = ({ type, name }: File, accept: string): boolean =>
  accept.split(',').some((item) => {
    if (item.startsWith('.')) return name.toLowerCase().endsWith(item);
    return item.endsWith('/*') ? type.startsWith(item.slice(0, -1)) : type === item;
  });

// A file that is dropped beside a form would replace the page.
for (const name of ['dragover', 'drop'] as const) {
  addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
  });
}

/** Calls `onFiles` with files that are dropped on the form around an element, or pasted into it. */
function useDroppedFiles(
  element: { readonly current: HTMLElement | null },
  onFiles: (files: readonly File[]) => void,
): void {
  const current = useRef(onFiles);
  current.current = onFiles;
  useLayoutEffect(() => {
    const form = element.current?.closest('form');
    if (form == null) return undefined;
    const receive = (event: Event, data: DataTransfer | null): void => {
      const dropped = [...(data?.files ?? [])];
      // Text that is copied from an office program comes with its picture.
      const isText = ['text/plain', 'text/html'].every((type) => data?.types.includes(type));
      if (dropped.length === 0 || isText) return;
      event.preventDefault();
      current.current(dropped);
    };
    const onDrop = (event: DragEvent): void => receive(event, event.dataTransfer);
    const onPaste = (event: ClipboardEvent): void => receive(event, event.clipboardData);
    form.addEventListener('drop', onDrop);
    form.addEventListener('paste', onPaste);
    return () => {
      form.removeEventListener('drop', onDrop);
      form.removeEventListener('paste', onPaste);
    };
  }, []);
}

/** A small picture of a file. */
function Thumbnail({ file }: { file: File }): JSX.Element | null {
  const [address, setAddress] = useState<string | undefined>();
  useEffect(() => {
    if (!file.type.startsWith('image/')) return undefined;
    const url = URL.createObjectURL(file);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  return address === undefined ? null : <img class="thumbnail" src={address} alt="" />;
}

/** A field for files: chosen, dropped anywhere on the form, or pasted into it. */
export function FileField({
  label,
  noun,
  accept,
  files,
  multiple = false,
  onChange,
}: {
  label: string;
  /** The kind of file, such as `image`. */
  noun: string;
  accept: string;
  files: readonly File[];
  /** Adds files to those that are chosen already. */
  multiple?: boolean;
  onChange: (files: readonly File[]) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const limit = hello.value?.uploadLimit ?? Infinity;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  // Two drops may come before the first is rendered.
  const latest = useRef(files);
  latest.current = files;
  const change = (next: readonly File[]): void => {
    latest.current = next;
    onChange(next);
  };
  const add = (chosen: readonly File[]): void => {
    const accepted = chosen.filter((file) => isAccepted(file, accept));
    setRefused(chosen.filter((file) => !accepted.includes(file)).map(({ name }) => name));
    if (accepted.length > 0) {
      change(multiple ? [...latest.current, ...accepted] : accepted.slice(0, 1));
    }
    // Otherwise the same file could not be chosen again.
    if (input.current !== null) input.current.value = '';
  };
  useDroppedFiles(input, add);
  return (
    <Field label={label}>
      {(id) => (
        <div class="drop">
          <input
            id={id}
            ref={input}
            class="hidden"
            type="file"
            accept={accept}
            multiple={multiple}
            onChange={({ currentTarget }) => add([...(currentTarget.files ?? [])])}
          />
          <label for={id} class="button" aria-hidden="true">
            Choose
          </label>
          {files.length === 0 ? <span class="faint">none, or drop or paste here</span> : null}
          {files.map((file, index) => (
            <span key={`${file.name} ${index}`} class="chosen-file">
              <Thumbnail file={file} />
              <bdi>{file.name}</bdi>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${file.name}`}
                onClick={() => {
                  input.current?.focus();
                  change(latest.current.filter((item) => item !== file));
                }}
              >
                Remove
              </button>
            </span>
          ))}
          {refused.length === 0 ? null : (
            <p class="warning" role="alert">
              <bdi>{refused.join(', ')}</bdi>: not {/^[aeiou]/.test(noun) ? 'an' : 'a'} {noun} file.
              Choose another file.
            </p>
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
