import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallKind, CallView } from '../../protocol.ts';
import { order, type OrderFiles } from '../api.ts';
import { FaultField, ModelField, modelsFor } from '../fields.tsx';
import { Empty, Heading, OrderProblem } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { callsOf } from '../state.ts';

/** A panel that makes calls of one kind: a form, and below it what came of each call. */
export function CallPanel({
  kind,
  title,
  about,
  aside,
  body,
  files = {},
  isReady,
  button,
  note,
  top,
  options,
  below,
  empty,
  children,
}: {
  kind: CallKind;
  title: string;
  /** What the panel does, in a sentence or two. */
  about: ComponentChildren;
  aside?: ComponentChildren;
  /** What the call is made with, besides the model. What is empty is left out. */
  body: Readonly<Record<string, unknown>>;
  files?: OrderFiles;
  /** Whether there is all that the call needs. */
  isReady: boolean;
  /** What stands on the button that makes the call. */
  button: ComponentChildren;
  /** What stands beside it. */
  note?: ComponentChildren;
  /** The fields that come first. */
  top: (send: () => void) => ComponentChildren;
  /** The fields between model and fault. */
  options?: ComponentChildren;
  /** The fields below these. */
  below?: ComponentChildren;
  /** What stands in place of the list: a title, and what to do. */
  empty: readonly [title: string, text: string];
  /** A call of the list. */
  children: (call: CallView, onError: (error: unknown) => void) => ComponentChildren;
}): JSX.Element {
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  const model = recalled('model', modelsFor(kind)[0] ?? '');
  const calls = callsOf(kind);
  const send = (): void => {
    setError(undefined);
    if (!isReady) return;
    const given = Object.entries(body).filter(([, value]) => value !== '' && value !== undefined);
    const input = { kind, body: { model, ...Object.fromEntries(given) } };
    void order({ ...input, ...(fault === '' ? {} : { fault }) }, files).catch(setError);
  };
  return (
    <>
      <Heading title={title} aside={aside}>
        {about}
      </Heading>
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
          <button type="submit" class="primary" disabled={!isReady}>
            {button}
          </button>
          {note}
        </div>
        <OrderProblem error={error} />
      </form>
      {calls.length === 0 ? (
        <Empty title={empty[0]}>{empty[1]}</Empty>
      ) : (
        <ul class="stack">{calls.map((call) => children(call, setError))}</ul>
      )}
    </>
  );
}
