import type { WaitScope } from './wait-scope.ts';

/** Gives the turns to poll, one after the other, so that no more than so many begin in a second. */
export function pacer(perSecond: number, scope: WaitScope): () => Promise<void> {
  let free = 0;
  return () => {
    const { now } = scope;
    const turn = Math.max(now, free);
    free = turn + 1_000 / perSecond;
    return scope.pause(turn - now);
  };
}

/** The values of promises that never reject, in the order in which they are fulfilled. */
export async function* inOrderOfEnd<T>(
  promises: Iterable<Promise<T>>,
): AsyncGenerator<T, void, undefined> {
  const ended: T[] = [];
  let left = 0;
  let wake: (() => void) | undefined;
  const note = (value: T): void => {
    ended.push(value);
    wake?.();
  };
  for (const promise of promises) {
    left += 1;
    void promise.then(note);
  }
  while (left > 0) {
    if (ended.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const batch = ended.splice(0);
    left -= batch.length;
    yield* batch;
  }
}
