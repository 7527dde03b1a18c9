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
 * each quarter of a video. Errors are alerts of their own.
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
  if (call.status === 'failed') return undefined;
  const tokens = call.usage?.output ?? 0;
  return `${name} complete${tokens > 0 ? `, ${count(tokens, 'token')}` : ''}`;
}

/** The live region of the page. */
export function Announcements(): JSX.Element {
  const known = useRef<ReadonlyMap<string, CallView>>(new Map());
  const [{ number, message }, setLatest] = useState({ number: 0, message: '' });
  const current = calls.value;
  useEffect(() => {
    const messages = [...current.values()].flatMap((call) => {
      const before = known.current.get(call.id);
      return before === call ? [] : (announce(call, before) ?? []);
    });
    known.current = current;
    if (messages.length > 0) {
      setLatest((latest) => ({ number: latest.number + 1, message: messages.join('. ') }));
    }
  }, [current]);
  return (
    <p class="hidden" role="status" aria-live="polite">
      {/* A new element, because the same text twice in a row is read out twice. */}
      <span key={number}>{message}</span>
    </p>
  );
}
