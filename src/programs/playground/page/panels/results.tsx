import type { ComponentChildren, JSX } from 'preact';
import type { CallView, ResultFile } from '../../protocol.ts';
import { clockTime, size, toText } from '../format.ts';
import { ChargePill, FaultPill, ProblemBox, Stats, StatusPill, useFile } from '../parts.tsx';
import { Steps, useWait } from '../calls/steps.tsx';
import { canStop, stopCalls } from '../calls/stop.ts';
import { CodeDetails } from './call-code.tsx';

/** Stops a call. */
export function StopButton({ call }: { call: CallView }): JSX.Element | null {
  if (!canStop(call)) return null;
  return (
    <button type="button" class="quiet" onClick={() => stopCalls([call])}>
      Stop
    </button>
  );
}

/** What happened in a call, and its code. */
export function CallFoot({ call }: { call: CallView }): JSX.Element {
  return (
    <div class="result-foot">
      <Steps call={call} />
      <CodeDetails label="Code" call={() => call} />
    </div>
  );
}

/** The error of a call, its status, cost and times with its buttons, what happened in it, and its code. */
export function CallEnd({
  call,
  children,
}: {
  call: CallView;
  /** The buttons. */
  children: ComponentChildren;
}): JSX.Element {
  const { problem, finishReason = 'stop' } = call;
  return (
    <>
      {problem === undefined ? null : <ProblemBox problem={problem} />}
      <div class="turn-end">
        <StatusPill call={call} />
        {finishReason === 'stop' ? null : <span class="pill">{finishReason}</span>}
        <FaultPill call={call} />
        <ChargePill call={call} />
        <Stats call={call} />
        <span class="push actions">{children}</span>
      </div>
      <CallFoot call={call} />
    </>
  );
}

/** A call in a list: its input, result and cost. */
export function Result({
  call,
  title,
  children,
  actions,
}: {
  call: CallView;
  title: string;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  const wait = useWait(call);
  return (
    <li class="card result">
      <div class="result-head">
        <h2 class="result-title" dir="auto">
          {title}
        </h2>
        <p class="small faint">
          {call.model} · {clockTime(call.startedAt)}
        </p>
      </div>
      {children}
      {call.links.map((link) => (
        <p key={link} class="small">
          This result was charged but could not be downloaded. Its address: <code>{link}</code>
        </p>
      ))}
      {wait === undefined ? null : <p class="faint">{wait}</p>}
      <CallEnd call={call}>
        <StopButton call={call} />
        {actions}
      </CallEnd>
    </li>
  );
}

/** A button that saves a file of a call once it is loaded. */
export function SaveLink(props: { call: CallView; index: number }): JSX.Element | null {
  const file = props.call.files[props.index];
  return file === undefined ? null : <Save id={props.call.id} index={props.index} file={file} />;
}

function Save({ id, index, file }: { id: string; index: number; file: ResultFile }): JSX.Element {
  const { address } = useFile(id, index);
  const label = (
    <>
      Save <span class="faint">{size(file.bytes)}</span>
    </>
  );
  // Reserve the space until the file is loaded.
  if (address === undefined) return <span class="button quiet">{label}</span>;
  return (
    <a class="button quiet" href={address} download={file.name}>
      {label}
    </a>
  );
}

/** An image of a call. Its space is reserved while it loads. */
export function Picture({ call, index }: { call: CallView; index: number }): JSX.Element {
  const { address, error } = useFile(call.id, index);
  const { prompt } = call.body;
  if (error !== undefined) return <p class="warning">This image is no longer available.</p>;
  return (
    <div class="picture">
      {address === undefined ? null : (
        <img src={address} alt={toText(prompt) || 'Generated image'} />
      )}
    </div>
  );
}

/** A file of a call: an image, or a player. */
export function FileView({ call, index }: { call: CallView; index: number }): JSX.Element | null {
  const { address } = useFile(call.id, index);
  const { type = '', name = '' } = call.files[index] ?? {};
  if (type.startsWith('image/')) return <Picture call={call} index={index} />;
  if (type.startsWith('audio/')) return <audio controls src={address} aria-label={name} />;
  if (type.startsWith('video/')) {
    return <video controls playsInline src={address} aria-label={name} />;
  }
  return <span>{name}</span>;
}
