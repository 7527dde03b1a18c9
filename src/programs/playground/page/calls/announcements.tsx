import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { count, mayBeCharged } from '../format.ts';
import { calls } from '../state.ts';

/** Results that arrived later are announced. */
const loadedAt = Date.now();

const results = {
  chat: 'Answer',
  image: 'Image',
  speech: 'Speech',
  transcription: 'Transcription',
  translation: 'Translation',
  embeddings: 'Comparison',
  video: 'Video',
} as const;

/** Returns the quarter of a video that is complete, from 0 to 4. */
const quarterOf = ({ video }: CallView): number => Math.floor((video?.progress ?? 0) / 25);

/**
 * Returns what a screen reader reads out about a change: the end of a call, the wait for its next attempt, and
 * each quarter of a video.
 */
function announce(call: CallView, before: CallView | undefined): string | undefined {
  const name = results[call.kind];
  if (call.status === 'running') {
    const quarter = quarterOf(call);
    if (before !== undefined && quarter > quarterOf(before) && quarter < 4) {
      return `${name} ${quarter * 25} % complete`;
    }
    const [previous, last] = call.steps?.slice(-2) ?? [];
    const hasChanged = call.steps?.length !== before?.steps?.length;
    if (last?.type !== 'waiting' || !hasChanged) return undefined;
    const seconds = Math.max(0, Math.ceil(((last.until ?? 0) - last.at) / 1_000));
    return `${previous?.status ?? 'No response'}, next attempt in ${count(seconds, 'second')}`;
  }
  // A short call can start and end between two frames.
  const isNew = before === undefined && (call.endedAt ?? 0) > loadedAt;
  if (before?.status !== 'running' && !isNew) return undefined;
  if (call.status === 'stopped') {
    return `${name} stopped${mayBeCharged(call) ? ', may be charged' : ''}`;
  }
  if (call.status === 'failed') {
    const { message = '', advice = '' } = call.problem ?? {};
    return `${name} failed: ${message} ${advice}`;
  }
  const tokens = call.usage?.output ?? 0;
  return `${name} complete${tokens > 0 ? `, ${count(tokens, 'token')}` : ''}`;
}

/** Returns the content of a live region, and a function that replaces it. */
function useMessages(): [content: JSX.Element, add: (messages: readonly string[]) => void] {
  const [{ number, message }, setLatest] = useState({ number: 0, message: '' });
  const add = (messages: readonly string[]): void => {
    if (messages.length === 0) return;
    setLatest((latest) => ({ number: latest.number + 1, message: messages.join('. ') }));
  };
  // A new element, because the same text twice in a row is read out twice.
  return [<span key={number}>{message}</span>, add];
}

/** The live regions of the page, for the calls of all panels: errors are read out at once. */
export function Announcements(): JSX.Element {
  const known = useRef<ReadonlyMap<string, CallView>>(new Map());
  const [status, addStatus] = useMessages();
  const [alert, addAlert] = useMessages();
  const current = calls.value;
  useEffect(() => {
    const changed = [...current.values()].filter((call) => known.current.get(call.id) !== call);
    const describe = (list: readonly CallView[]): string[] =>
      list.flatMap((call) => announce(call, known.current.get(call.id)) ?? []);
    addStatus(describe(changed.filter((call) => call.status !== 'failed')));
    addAlert(describe(changed.filter((call) => call.status === 'failed')));
    known.current = current;
  }, [current]);
  return (
    <>
      <p class="hidden" role="status" aria-live="polite">
        {status}
      </p>
      <p class="hidden" role="alert">
        {alert}
      </p>
    </>
  );
}
