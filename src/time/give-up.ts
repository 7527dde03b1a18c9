/** What listens to the signal ends at once; this is for what does not, in milliseconds. */
const patience = 500;

/**
 * Settles as the work does. When it has not ended a moment after the signal was aborted, because
 * something in it does not listen, rejects with what `makeError` gives.
 */
export function giveUpAfterAbort<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  makeError: () => Error,
): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => reject(makeError()), patience);
    };
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.finally(stop).then(resolve, reject);
  });
}
