/** A promise that nobody has to look at: its rejection is never an unhandled one. */
export function quiet<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
