/** Whether a timer keeps the process alive, in runtimes where it does so at all. */
export function keepAlive(
  timer: ReturnType<typeof setTimeout> | undefined,
  isWanted: boolean,
): void {
  if (typeof timer !== 'object') return;
  if (isWanted) timer.ref();
  else timer.unref();
}
