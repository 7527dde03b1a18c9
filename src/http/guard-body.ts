import type { OpenBody } from './peek.ts';

/** What can be wrong with a body that is handed on as a stream. */
export interface BodyGuard {
  /** How long the body may be silent, in milliseconds; `null` for no limit. */
  readonly idleTimeout: number | null;
  /** Expected length in bytes, or `undefined` when the answer does not say. */
  readonly expectedBytes: number | undefined;
  /** Aborts the request. */
  readonly controller: AbortController;
  /** Makes the error for a body that broke, fell silent or ended early. */
  toError(problem: BodyProblem): unknown;
  /** Says whether somebody waits for bytes now. */
  keepAlive(isWanted: boolean): void;
  /** Called once when the body has ended in any way. */
  release(): void;
}

/** How a body ended when it did not end well. */
export type BodyProblem =
  | { readonly type: 'broken'; readonly error: unknown }
  | { readonly type: 'silent'; readonly timeout: number }
  | { readonly type: 'short'; readonly expected: number; readonly received: number };

/** Passes a body on chunk by chunk, as fast as it is read, and fails when it is not whole. */
export function guardBody(
  { first, reader }: OpenBody,
  guard: BodyGuard,
): ReadableStream<Uint8Array> {
  let pending = first;
  let received = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isSilent = false;

  const { signal } = guard.controller;
  // A body that ignores the abort (a test's, an emulator's) still has to end.
  const onAbort = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  const end = (): void => {
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    guard.release();
  };
  const readWithLimit = async (): Promise<ReadableStreamReadResult<Uint8Array>> => {
    guard.keepAlive(true);
    if (guard.idleTimeout !== null) {
      silence = setTimeout(() => {
        isSilent = true;
        guard.controller.abort();
      }, guard.idleTimeout);
    }
    try {
      return await reader.read();
    } finally {
      clearTimeout(silence);
      guard.keepAlive(false);
    }
  };

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending !== undefined) {
          received += pending.byteLength;
          controller.enqueue(pending);
          pending = undefined;
          return;
        }
        let problem: BodyProblem | undefined;
        try {
          const { done, value } = await readWithLimit();
          signal.throwIfAborted();
          if (!done) {
            received += value.byteLength;
            controller.enqueue(value);
            return;
          }
          if (guard.expectedBytes !== undefined && received < guard.expectedBytes) {
            problem = { type: 'short', expected: guard.expectedBytes, received };
          }
        } catch (error) {
          problem = { type: 'broken', error };
        }
        if (isSilent) problem = { type: 'silent', timeout: guard.idleTimeout ?? 0 };
        end();
        if (problem === undefined) controller.close();
        else controller.error(guard.toError(problem));
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason).catch(() => {});
      },
    },
    // Nothing is read ahead: a slow reader slows the gateway down instead of filling memory.
    { highWaterMark: 0 },
  );
}

/** The length that a response promises, unless a content coding makes it another number. */
export function promisedLength(headers: Headers): number | undefined {
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return undefined;
  const text = headers.get('content-length');
  if (text === null || !/^\d+$/.test(text.trim())) return undefined;
  return Number(text);
}

/** A response with another body and everything else the same. */
export function withBody(response: Response, body: ReadableStream<Uint8Array> | null): Response {
  const copy = new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
  // The constructor has no way to set these two.
  Object.defineProperty(copy, 'url', { value: response.url });
  Object.defineProperty(copy, 'redirected', { value: response.redirected });
  return copy;
}
