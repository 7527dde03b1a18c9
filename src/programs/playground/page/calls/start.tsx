import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallInput, Priced } from '../../protocol.ts';
import { fetchEstimate, sendCall, ServerError, type CallFiles } from '../api.ts';
import { StartProblem } from '../parts.tsx';
import { calls } from '../state.ts';

/**
 * The ids of calls without a result, by what they send. Until its result arrives, another press with the same
 * form is the same call, which the server makes once.
 */
const openCalls = new Map<string, string>();

effect(() => {
  const known = calls.value;
  for (const [key, id] of openCalls) {
    const call = known.get(id);
    if (call !== undefined && call.status !== 'running') openCalls.delete(key);
  }
});

function describeInput(input: CallInput, files: CallFiles): string {
  const described = Object.entries(files).map(([field, list]) => [
    field,
    ...list.map(({ name, size, lastModified }) => [name, size, lastModified]),
  ]);
  return JSON.stringify([input, described]);
}

/** Starts a call. @returns `false` if the same call is running already */
export async function startCall(input: CallInput, files: CallFiles = {}): Promise<boolean> {
  const key = describeInput(input, files);
  const open = openCalls.get(key);
  const id = open ?? crypto.randomUUID();
  openCalls.set(key, id);
  try {
    await sendCall(id, input, files);
  } catch (error) {
    // Without a response the call may have been started, so its id is kept.
    if (error instanceof ServerError && error.status > 0) openCalls.delete(key);
    throw error;
  }
  return open === undefined;
}

/**
 * Marks buttons and forms that start calls: they ignore repeats of a held key and the second click of a double
 * click.
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
  /** Runs `work`, unless earlier work is still starting a call. @returns `false` if nothing was started */
  start: (work: () => Promise<boolean | void>) => Promise<boolean>;
  onError: (error: unknown) => void;
  notice: JSX.Element;
} {
  const [error, onError] = useState<unknown>();
  const [message, setMessage] = useState('');
  const isStarting = useRef(false);
  const start = async (work: () => Promise<boolean | void>): Promise<boolean> => {
    if (isStarting.current) {
      setMessage('The call is being started. This press sent nothing.');
      return false;
    }
    isStarting.current = true;
    onError(undefined);
    setMessage('');
    try {
      const isNew = await work();
      if (isNew === false) {
        setMessage(
          'This call is running, so this press sent nothing. Press again after its result.',
        );
      }
      return true;
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

/** Returns the price of a call for its button, such as `, about $0.04`; an empty string if it is unknown. */
export function usePrice(priced: Priced | undefined): string {
  const [price, setPrice] = useState('');
  const key = JSON.stringify(priced);
  useEffect(() => {
    let isCurrent = true;
    if (priced === undefined || priced.model === '') {
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
