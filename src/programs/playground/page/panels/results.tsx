import type { ComponentChildren, JSX } from 'preact';
import type { CallView, ResultFile } from '../../protocol.ts';
import { stopCall } from '../api.ts';
import { clockTime, size, toText } from '../format.ts';
import { ChargePill, FaultPill, ProblemBox, Stats, StatusPill, useFile } from '../parts.tsx';
import { Steps, useWait } from '../calls/steps.tsx';
import { CodeDetails } from './call-code.tsx';

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
  const { problem, status, links } = call;
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
      {links.map((link) => (
        <p key={link} class="small">
          This result was charged but could not be downloaded. Its address: <code>{link}</code>
        </p>
      ))}
      {wait === undefined ? null : <p class="faint">{wait}</p>}
      {problem === undefined ? null : (
        <ProblemBox problem={problem} isQuiet={status === 'stopped'} />
      )}
      <div class="turn-end">
        <StatusPill call={call} />
        <FaultPill call={call} />
        <ChargePill call={call} />
        <Stats call={call} />
        <span class="push">
          {status === 'running' && call.kind !== 'video' ? (
            <button
              type="button"
              class="quiet"
              onClick={() => void stopCall(call.id).catch(() => {})}
            >
              Stop
            </button>
          ) : null}
          {actions}
        </span>
      </div>
      <div class="result-foot">
        <Steps call={call} />
        <CodeDetails label="Code" call={() => call} />
      </div>
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
