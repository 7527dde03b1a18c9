import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { selectOperation } from '../../operation.ts';
import type { CallKind, CallView, Priced } from '../../protocol.ts';
import type { CallFiles } from '../api.ts';
import { FaultField, ModelField, modelsFor } from '../fields.tsx';
import { Empty, Heading } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import type { Preset, Settings } from '../setup/settings.ts';
import { Setup } from '../setup/setup.tsx';
import { startCall, starts, usePrice, useStart } from '../calls/start.tsx';
import { listCalls } from '../state.ts';
import { stopCalls, useEscape } from '../calls/stop.ts';
import { CodeDetails } from './call-code.tsx';

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
  priced = {},
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
  /** What the price of the call depends on besides the model; `null` if it is not known before the call. */
  priced?: Omit<Priced, 'model'> | null;
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
  const { start, onError, notice } = useStart();
  const model = recalled('model', modelsFor(kind)[0] ?? '');
  const calls = listCalls(kind);
  // The list of models may come late, or not at all.
  const canSend = isReady && model.trim() !== '';
  const price = usePrice(priced === null ? [] : [{ model, ...priced }]);
  const params = Object.entries(body).filter(([, value]) => value !== '' && value !== undefined);
  const input = { kind, body: { model, ...Object.fromEntries(params) } };
  const send = (): void => {
    if (!canSend) return;
    void start(() => startCall({ ...input, ...(fault === '' ? {} : { fault }) }, files));
  };
  useEscape(() => stopCalls(calls, onError));
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
          {...starts}
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
            <button type="submit" class="primary" {...starts} disabled={!canSend}>
              {button}
              {price}
            </button>
            {note}
          </div>
          {notice}
          <CodeDetails
            label="Code for these settings"
            call={() => ({
              ...input,
              operation: selectOperation(input, Object.keys(files)),
              sent: Object.entries(files).flatMap(([fieldName, list]) =>
                list.map(({ name }) => ({ field: fieldName, name })),
              ),
            })}
          />
        </form>
        {calls.length === 0 ? (
          <Empty title={empty[0]}>{empty[1]}</Empty>
        ) : (
          <ul class="stack">{calls.map((call) => children(call, onError))}</ul>
        )}
      </div>
    </>
  );
}
