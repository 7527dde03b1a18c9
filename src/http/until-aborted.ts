/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it is aborted.
 *
 * Not every `fetch` listens to its signal (a test's, an emulator's, one that wraps another), and time
 * limits have to hold all the same.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    // Two handlers, not `finally`, which makes three promises more for every wait of every call.
    promise.then(
      // oxlint-disable-next-line promise/always-return -- the promise of `then` is not used
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}
