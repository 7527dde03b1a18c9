import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallInput, Priced } from '../../protocol.ts';
import { fetchEstimate, sendCall, ServerError, type CallFiles } from '../api.ts';
import { draft } from '../draft.ts';
import { StartProblem } from '../parts.tsx';
import { calls } from '../state.ts';
import { hasJustMoved, pressTime } from './stop.ts';

/**
 * The ids of calls without a result, by what they send. Until its result arrives, another press with the same
 * form is the same call, which the server makes once, also after a reload of the tab.
 */
const openCalls = draft<Readonly<Record<string, string>>>('open-calls', {});

/** The last press. A press right after it counts as the same one, even if its result has arrived. */
const lastPress = { key: '', at: -pressTime };

/** The ids of calls whose start had no response. The next press repeats the lost one, even if the result has arrived. */
const lostCalls = new Map<string, string>();

const setOpen = (key: string, id: string | undefined): void => {
  const { [key]: _, ...others } = openCalls.peek();
  openCalls.value = id === undefined ? others : { ...others, [key]: id };
};

/** Removes the calls that have ended. */
function closeEnded(): void {
  const known = calls.value;
  for (const [key, id] of Object.entries(openCalls.peek())) {
    const call = known.get(id);
    if (call === undefined || call.status === 'running') continue;
    setOpen(key, undefined);
    // A press after a stop is a new call.
    if (call.status === 'stopped') lastPress.key = '';
  }
}
effect(closeEnded);

const repeated =
  'This press sent nothing: it came right after the one before. Press again for a new call.';

/** Returns a digest of what a call sends. */
async function digest(input: CallInput, files: CallFiles): Promise<string> {
  const described = Object.entries(files).map(([field, list]) => [
    field,
    ...list.map(({ name, size, lastModified }) => [name, size, lastModified]),
  ]);
  const bytes = new TextEncoder().encode(JSON.stringify([input, described]));
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))));
}

/** Starts a call. @returns why the press sent nothing; an empty string if it started the call */
export async function startCall(input: CallInput, files: CallFiles = {}): Promise<string> {
  const key = await digest(input, files);
  const open = openCalls.peek()[key] ?? lostCalls.get(key);
  const isRepeat = lastPress.key === key && performance.now() - lastPress.at < pressTime;
  Object.assign(lastPress, { key, at: performance.now() });
  if (open === undefined && isRepeat) return repeated;
  const id = open ?? crypto.randomUUID();
  setOpen(key, id);
  lostCalls.delete(key);
  let isNew: boolean;
  try {
    isNew = await sendCall(id, input, files);
  } catch (error) {
    // Without a response the call may have been started, so its id is kept.
    if (error instanceof ServerError && error.status > 0) setOpen(key, undefined);
    else lostCalls.set(key, id);
    lastPress.key = '';
    throw error;
  }
  closeEnded();
  return isNew
    ? ''
    : 'This press sent nothing: its call was made already. Press again after the result.';
}

/**
 * Marks buttons and forms whose press counts once: they ignore repeats of a held key and the second click of a
 * double click.
 */
export const starts = { 'data-starts': '' };

function ignoreRepeat(event: Event): void {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const isRepeat =
    (event instanceof KeyboardEvent &&
      event.repeat &&
      event.key === 'Enter' &&
      // A held Enter breaks lines in a text area, which handles its own keys.
      !(target instanceof HTMLTextAreaElement)) ||
    (event instanceof MouseEvent && event.detail > 1);
  const within = event instanceof MouseEvent ? 'button[data-starts]' : '[data-starts]';
  if (!isRepeat || target.closest(within) === null) return;
  event.preventDefault();
  event.stopPropagation();
}
addEventListener('keydown', ignoreRepeat, true);
addEventListener('click', ignoreRepeat, true);

/** Starts the calls of a form one after the other, and shows why one is not started. */
export function useStart(): {
  /**
   * Runs `work`, unless earlier work is still starting a call. `work` may return why it sent nothing.
   *
   * @returns `false` if nothing was started
   */
  start: (work: () => Promise<string | void>) => Promise<boolean>;
  onError: (error: unknown) => void;
  notice: JSX.Element;
} {
  const [error, onError] = useState<unknown>();
  const [message, setMessage] = useState('');
  const isStarting = useRef(false);
  const start = async (work: () => Promise<string | void>): Promise<boolean> => {
    if (isStarting.current) {
      setMessage('The call is being started. This press sent nothing.');
      return false;
    }
    if (hasJustMoved()) {
      setMessage(repeated);
      return false;
    }
    isStarting.current = true;
    onError(undefined);
    setMessage('');
    try {
      const reason = (await work()) ?? '';
      setMessage(reason);
      return reason === '';
    } catch (problem) {
      onError(problem);
      return false;
    } finally {
      isStarting.current = false;
    }
  };
  const notice = (
    <>
      <p class="small faint start-message" role="status">
        {message}
      </p>
      <StartProblem error={error} />
    </>
  );
  return { start, onError, notice };
}

/** Pause after a change before its price is read, in milliseconds. */
const pause = 150;

/** Returns the price of calls for their button, such as `, about $0.04`; an empty string if it is unknown. */
export function usePrice(priced: readonly Priced[]): string {
  const [price, setPrice] = useState('');
  const key = JSON.stringify(priced);
  useEffect(() => {
    let isCurrent = true;
    if (priced.length === 0 || priced.some(({ model }) => model.trim() === '')) {
      setPrice('');
      return undefined;
    }
    const read = (): void =>
      void fetchEstimate(priced).then(
        (estimate) => isCurrent && setPrice(estimate.price ?? ''),
        () => isCurrent && setPrice(''),
      );
    const timer = setTimeout(read, pause);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return price === '' ? '' : `, about ${price}`;
}
