/** Unhandled rejections, as the runtime reports them. */
export interface Unhandled {
  readonly reasons: readonly unknown[];
  stop(): void;
}

/** Listens for unhandled rejections, and keeps them from ending the program. */
export function listenForUnhandled(): Unhandled {
  const reasons: unknown[] = [];
  const onEvent = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    reasons.push(event.reason);
  };
  const onReason = (reason: unknown): void => void reasons.push(reason);
  // Pages, workers and Deno have the event of the web; Node and Bun have that of Node.
  const hasProcess = typeof process !== 'undefined' && typeof process.on === 'function';
  if (hasProcess) process.on('unhandledRejection', onReason);
  if (typeof addEventListener === 'function') addEventListener('unhandledrejection', onEvent);
  return {
    reasons,
    stop() {
      if (hasProcess) process.off('unhandledRejection', onReason);
      if (typeof removeEventListener === 'function') {
        removeEventListener('unhandledrejection', onEvent);
      }
    },
  };
}
