import { checkSignal } from '../check.ts';

/**
 * Aborts `controller` when `signal` is aborted, until the function that it returns is called.
 *
 * Not `AbortSignal.any`: what that makes of a signal that lives long piles up.
 */
export function followSignal(
  signal: AbortSignal | null | undefined,
  controller: AbortController,
): () => void {
  if (!signal) return () => undefined;
  checkSignal(signal);
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
