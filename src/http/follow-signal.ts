import { InvalidInputError } from '../errors/gateway-error.ts';

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
  if (typeof signal.addEventListener !== 'function') {
    throw new InvalidInputError('signal', 'must be an AbortSignal.');
  }
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
