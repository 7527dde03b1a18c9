/**
 * Settles as the work does. When it has not ended a while after the signal was aborted, because something
 * in it does not listen, rejects with what `makeReason` gives.
 *
 * @param patience - How long it is waited for after an abort, in milliseconds.
 */
export function giveUpAfterAbort<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  patience: number,
  makeReason: () => unknown,
): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => reject(makeReason()), patience);
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
