import { withBody } from './peek.ts';
import type { Answer } from './promise.ts';
import type { Outcome } from '../errors/gateway-error.ts';
import type { CallScope } from './call-scope.ts';
import { unusable } from './read-answer.ts';
import type { CallSettings } from './settings.ts';
import type { FailedAttempt } from './retry.ts';

/** What a body that is handed out needs of its call. */
interface BodyOwner {
  readonly scope: CallScope;
  readonly settings: CallSettings;
  explain(failed: FailedAttempt): FailedAttempt;
  toError(failed: FailedAttempt, outcome: Outcome): Error;
  release(): void;
}

/** Hands an answer on with its body unread. */
export function rawAnswer(call: BodyOwner, answer: Answer): Response {
  const { body } = answer.response;
  if (body !== null) return guardBody(call, answer, body);
  call.release();
  return answer.response;
}

/**
 * Passes the body of an answer on chunk by chunk, as fast as it is read, as a stream that fails when it
 * is cut or stalls and that lets go of the call when it has ended. Nothing is buffered.
 */
function guardBody(call: BodyOwner, answer: Answer, body: ReadableStream<Uint8Array>): Response {
  const { response } = answer;
  const { scope, settings } = call;
  const request = scope.controller;
  const { signal } = request;
  const { idleTimeout } = settings;
  const expected = promisedLength(response.headers);
  const reader = body.getReader();
  let received = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isSilent = false;

  scope.endAttempt();
  scope.keepAlive(false);
  // A body that ignores the abort (a test's, an emulator's) still has to end.
  const onAbort = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  const end = (): void => {
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    call.release();
  };
  const readWithLimit = async (): Promise<ReadableStreamReadResult<Uint8Array>> => {
    scope.keepAlive(true);
    if (idleTimeout !== null) {
      silence = setTimeout(() => {
        isSilent = true;
        request.abort();
      }, idleTimeout);
    }
    try {
      return await reader.read();
    } finally {
      clearTimeout(silence);
      scope.keepAlive(false);
    }
  };

  const guarded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let problem: string | undefined;
        let cause: unknown;
        try {
          const { done, value } = await readWithLimit();
          signal.throwIfAborted();
          if (!done) {
            received += value.byteLength;
            controller.enqueue(value);
            return;
          }
          if (expected !== undefined && received < expected) {
            problem = `the body ended after ${received} of ${expected} bytes.`;
          }
        } catch (error) {
          problem = 'the body broke off before its end.';
          cause = error;
        }
        if (isSilent) {
          problem = `the body was silent for longer than ${idleTimeout} ms (idleTimeout).`;
          cause = undefined;
        }
        end();
        if (problem === undefined) {
          controller.close();
          return;
        }
        const failed = call.explain({ ...unusable(answer, problem), cause });
        controller.error(call.toError(failed, 'unknown'));
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason).catch(() => {});
      },
    },
    // Nothing is read ahead: a slow reader slows the gateway down instead of filling memory.
    { highWaterMark: 0 },
  );
  return withBody(response, guarded);
}

/** The length that a response promises, unless a content coding makes it another number. */
function promisedLength(headers: Headers): number | undefined {
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return undefined;
  const text = headers.get('content-length');
  if (text === null || !/^\d+$/.test(text.trim())) return undefined;
  return Number(text);
}
