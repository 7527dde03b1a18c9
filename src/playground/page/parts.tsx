import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { CallKind, CallView, Problem } from '../protocol.ts';
import { fileOf, ServerError } from './api.ts';
import { hello, models } from './state.ts';
import { chargesOf, count, duration } from './format.ts';

/** A drawing of one line, for a button or the menu. Decoration only. */
export function Icon({ path }: { path: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The head of a panel. */
export function Heading({
  title,
  children,
  aside,
}: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        <p>{children}</p>
      </div>
      {aside === undefined ? null : <div class="heading-aside">{aside}</div>}
    </header>
  );
}

/** A field with its name above it. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string;
  children: (id: string) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {hint === undefined ? null : <span class="hint"> {hint}</span>}
      </label>
      {children(id)}
    </div>
  );
}

/** A text that grows with what is written. Ctrl+Enter or ⌘Enter sends it. */
export function TextField({
  label,
  value,
  onInput,
  onSend,
  rows = 3,
  placeholder = '',
  hint,
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  onSend?: () => void;
  rows?: number;
  placeholder?: string;
  hint?: string;
}): JSX.Element {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(id) => (
        <textarea
          id={id}
          rows={rows}
          value={value}
          placeholder={placeholder}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              onSend?.();
            }
          }}
        />
      )}
    </Field>
  );
}

/** Chooses one of a few. */
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

/** A list to choose from, where there are many. */
export function Select({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <Field label={label}>
      {(id) => (
        <select
          id={id}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option} value={option}>
              {option === '' ? 'default' : option}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Which models fit a panel, by their name or what the gateway says they make. */
const fitting = {
  image: /image|dall-e|imagen|flux|diffusion|seedream/i,
  speech: /speech|tts/i,
  translation: /translat|whisper|transcribe/i,
  embeddings: /embed/i,
  video: /video|sora|veo|kling|vidu|hailuo|jimeng|wan|seedance/i,
} as const;

/** The models that a panel offers first. Those that fit none of the others chat. */
export function modelsFor(kind: CallKind): string[] {
  const others = Object.values(fitting);
  const fits = (id: string): boolean =>
    kind === 'chat' ? !others.some((other) => other.test(id)) : fitting[kind].test(id);
  return models.value.map(({ id }) => id).filter(fits);
}

/** Names a model: one of the list, or any other. */
export function ModelField({
  kind,
  value,
  onChange,
  label = 'Model',
}: {
  kind: CallKind;
  value: string;
  onChange: (model: string) => void;
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
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
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

/** A button that copies, and says that it has. */
export function CopyButton({ text, label }: { text: () => string; label: string }): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      setSaid('Not allowed');
    }
    setTimeout(() => setSaid(''), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <span class="swap" data-said={said}>
        {label}
      </span>
    </button>
  );
}

/** What went wrong, and what to do. */
export function ProblemBox({ problem }: { problem: Problem }): JSX.Element {
  const { name, message, advice, outcome = '', status, answer, requestId } = problem;
  const what = message.endsWith(advice)
    ? message.slice(0, message.length - advice.length)
    : message;
  return (
    <div class={`problem ${outcome}`} role="alert">
      <p class="problem-title">
        {outcome === '' ? null : <span class={`pill ${outcome}`}>{outcome.replace('_', ' ')}</span>}
        <strong>{name}</strong>
        {status === undefined ? null : <span class="faint">HTTP {status}</span>}
      </p>
      <p>{what}</p>
      {advice === '' ? null : <p class="advice">{advice}</p>}
      {requestId === undefined ? null : <p class="faint small">Request {requestId}</p>}
      {answer === undefined ? null : (
        <details>
          <summary>What the gateway answered</summary>
          <pre tabIndex={0}>{answer}</pre>
        </details>
      )}
    </div>
  );
}

/** A problem of the page's own: an order that was not taken. */
export function OrderProblem({ error }: { error: unknown }): JSX.Element | null {
  if (error === undefined) return null;
  const message = error instanceof Error ? error.message : 'The page has stumbled.';
  const outcome = error instanceof ServerError && error.status > 0 ? 'not_sent' : undefined;
  const problem = { name: 'Not started', message, advice: '' };
  return <ProblemBox problem={outcome === undefined ? problem : { ...problem, outcome }} />;
}

/** How a call stands, in a word. */
export function StatusPill({ call }: { call: CallView }): JSX.Element {
  const { status, problem, verdict } = call;
  if (status === 'running') return <span class="pill running">running</span>;
  if (status === 'stopped') return <span class="pill">stopped</span>;
  if (status === 'failed') {
    const outcome = problem?.outcome ?? 'failed';
    return <span class={`pill ${outcome}`}>{outcome.replace('_', ' ')}</span>;
  }
  return <span class="pill done">{verdict ?? 'done'}</span>;
}

/** The fault that a call was to meet. */
export function FaultPill({ call: { fault } }: { call: CallView }): JSX.Element | null {
  if (fault === undefined) return null;
  const scenario = hello.value?.scenarios.find(({ name }) => name === fault);
  return <span class="pill">fault: {scenario?.label ?? fault}</span>;
}

/** What a call was charged. Only the emulator's books are open. */
export function ChargePill({ call }: { call: CallView }): JSX.Element | null {
  if (hello.value?.isEmulator !== true || call.attempts === undefined) return null;
  const { charges, amount, kept } = chargesOf(call);
  const text = charges === 0 ? 'not charged' : count(charges, 'charge');
  return (
    <span class="coin" title={`${amount} credit units`}>
      {text}
      {kept < amount ? ', refunded' : ''}
    </span>
  );
}

/** Times and tokens of a call. */
export function Stats({ call }: { call: CallView }): JSX.Element {
  const { startedAt, firstAt, endedAt, usage, kind, chunks } = call;
  const stats: [string, string][] = [];
  if (kind === 'chat') {
    stats.push(['first token', firstAt === undefined ? '–' : duration(firstAt - startedAt)]);
    const seconds = firstAt && endedAt ? (endedAt - firstAt) / 1_000 : 0;
    const tokens = usage?.output ?? chunks;
    const isKnown = seconds > 0.02 && tokens > 0;
    stats.push(['tokens/s', isKnown ? Math.round(tokens / seconds).toLocaleString('en') : '–']);
  }
  stats.push(['total', endedAt === undefined ? '–' : duration(endedAt - startedAt)]);
  if (usage) {
    stats.push(['tokens', `${usage.input} in${usage.output > 0 ? `, ${usage.output} out` : ''}`]);
  } else if (kind === 'chat') stats.push(['tokens', '–']);
  return (
    <dl class="stats">
      {stats.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The address of a file of a call, once it is here. */
export function useFile(id: string, index: number): { address?: string; error?: unknown } {
  const [state, setState] = useState<{ address?: string; error?: unknown }>({});
  useEffect(() => {
    let isCurrent = true;
    setState({});
    fileOf(id, index).then(
      ({ address }) => isCurrent && setState({ address }),
      (error: unknown) => isCurrent && setState({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [id, index]);
  return state;
}

/** What a panel shows before there is anything to show. */
export function Empty({
  title,
  children,
}: {
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** Chooses files: by the button, or by dropping them on it. */
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
              ? 'none, or drop it here'
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
              Larger than the {Math.round(limit / 1024 / 1024)} MiB that the playground takes.
              Choose a smaller file.
            </p>
          ) : null}
        </div>
      )}
    </Field>
  );
}

/** What is to go wrong with the next call. Only the emulator can be told. */
export function FaultField({
  kind,
  value,
  onChange,
}: {
  kind: CallKind;
  value: string;
  onChange: (fault: string) => void;
}): JSX.Element | null {
  const { isEmulator = false, scenarios = [] } = hello.value ?? {};
  if (!isEmulator) return null;
  return (
    <Field label="Fault" hint="emulator">
      {(id) => (
        <select
          id={id}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          <option value="">none</option>
          {scenarios
            .filter(({ kinds }) => kinds.includes(kind))
            .map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
        </select>
      )}
    </Field>
  );
}
