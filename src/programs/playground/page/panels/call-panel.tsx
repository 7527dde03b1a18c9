import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallKind, CallView } from '../../protocol.ts';
import { startCall, type CallFiles } from '../api.ts';
import { FaultField, ModelField, modelsFor } from '../fields.tsx';
import { Empty, Heading, StartProblem } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import type { Preset, Settings } from '../setup/settings.ts';
import { Setup } from '../setup/setup.tsx';
import { listCalls } from '../state.ts';

/** A panel for one kind of call: a form, and the results below it. */
export function CallPanel<Form extends Settings>({
  kind,
  title,
  about,
  aside,
  form,
  initial,
  presets,
  body,
  files = {},
  isReady,
  button,
  note,
  top,
  options,
  below,
  empty,
  isBeside = false,
  children,
}: {
  kind: CallKind;
  title: string;
  /** A description of one or two sentences. */
  about: ComponentChildren;
  aside?: ComponentChildren;
  /** The settings, for presets and links. */
  form: Signal<Form>;
  initial: Form;
  presets: readonly Preset[];
  /** The parameters besides the model. Empty values are omitted. */
  body: Readonly<Record<string, unknown>>;
  files?: CallFiles;
  /** `true` if all required parameters are set. */
  isReady: boolean;
  /** The label of the submit button. */
  button: ComponentChildren;
  /** A note next to the button. */
  note?: ComponentChildren;
  /** The first fields. */
  top: (send: () => void) => ComponentChildren;
  /** The fields between model and fault. */
  options?: ComponentChildren;
  /** The fields below the options. */
  below?: ComponentChildren;
  /** Title and text of an empty list. */
  empty: readonly [title: string, text: string];
  /** Shows the results beside the form on wide screens. */
  isBeside?: boolean;
  /** Renders a call of the list. */
  children: (call: CallView, onError: (error: unknown) => void) => ComponentChildren;
}): JSX.Element {
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  const model = recalled('model', modelsFor(kind)[0] ?? '');
  const calls = listCalls(kind);
  // The list of models may come late, or not at all.
  const canSend = isReady && model.trim() !== '';
  const send = (): void => {
    setError(undefined);
    if (!canSend) return;
    const params = Object.entries(body).filter(([, value]) => value !== '' && value !== undefined);
    const input = { kind, body: { model, ...Object.fromEntries(params) } };
    void startCall({ ...input, ...(fault === '' ? {} : { fault }) }, files).catch(setError);
  };
  return (
    <>
      <Heading
        title={title}
        aside={
          <>
            {aside}
            <Setup form={form} initial={initial} modelName="model" presets={presets} />
          </>
        }
      >
        {about}
      </Heading>
      <div class={isBeside ? 'beside' : 'stack'}>
        <form
          class="card stack"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          {top(send)}
          <div class="row">
            <ModelField kind={kind} value={model} onInput={(value) => remember('model', value)} />
            {options}
            <FaultField kind={kind} value={fault} onInput={setFault} />
          </div>
          {below}
          <div class="row tight">
            <button type="submit" class="primary" disabled={!canSend}>
              {button}
            </button>
            {note}
          </div>
          <StartProblem error={error} />
        </form>
        {calls.length === 0 ? (
          <Empty title={empty[0]}>{empty[1]}</Empty>
        ) : (
          <ul class="stack">{calls.map((call) => children(call, setError))}</ul>
        )}
      </div>
    </>
  );
}
