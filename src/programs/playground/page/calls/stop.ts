import { useEffect, useRef } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { stopCall } from '../api.ts';

/** Returns whether a call can be stopped. Once a video is submitted, only checking it can be stopped. */
export const canStop = ({ status, video }: CallView): boolean =>
  status === 'running' && video === undefined;

/** Presses that follow each other faster are one press, in milliseconds. */
export const pressTime = 600;

let movedAt = -pressTime;
addEventListener(
  'input',
  () => {
    movedAt = -pressTime;
  },
  true,
);

/** Returns whether a press may still be meant for the button that had the focus before. */
export const hasJustMoved = (): boolean => performance.now() - movedAt < pressTime;

/** Moves the focus from a button that goes away to the first text field of the panel, or to its heading. */
export function focusForm(): void {
  movedAt = performance.now();
  const field = document.querySelector<HTMLElement>('main form.card textarea');
  (field ?? document.querySelector<HTMLElement>('main h1'))?.focus();
}

/** Does the same if the button was pressed by a key. On a phone, the focus would open the keyboard. */
export function keepFocus(): void {
  if (document.activeElement?.matches(':focus-visible') === true) focusForm();
}

/** Stops those of the calls that can be stopped. */
export function stopCalls(
  calls: readonly CallView[],
  onError: (error: unknown) => void = () => {},
): void {
  const running = calls.filter(canStop);
  if (running.length === 0) return;
  for (const { id } of running) void stopCall(id).catch(onError);
  focusForm();
}

/** Calls `stop` when the user presses Escape, unless an input method, a menu or a list uses the key. */
export function useEscape(stop: () => void): void {
  const current = useRef(stop);
  current.current = stop;
  useEffect(() => {
    const onKeyDown = ({ key, isComposing, defaultPrevented, target }: KeyboardEvent): void => {
      const isUsed = isComposing || defaultPrevented || target instanceof HTMLSelectElement;
      if (key === 'Escape' && !isUsed) current.current();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Returns a handler that calls `close` on Escape, which then stops no call. */
export const closeOnEscape =
  (close: () => void) =>
  (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    close();
  };
