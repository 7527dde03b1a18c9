import { readErrorValue } from '../answers/failure.ts';
import { type FileEnd, ReceivedFile } from '../answers/received-file.ts';
import {
  type Answer,
  expectedLength,
  type FileCheck,
  ReadFailure,
  unusable,
} from '../http/responses/response-body.ts';
import type { FailedAttempt } from '../http/retry.ts';

/** Returns the failure of a file that ends too early; `undefined` if it may be complete. */
function findFailure(
  answer: Answer,
  { error, isCut }: FileEnd,
  received: number,
): FailedAttempt | undefined {
  if (error !== undefined) {
    const problem = `after ${received} bytes, the file ends with an error instead of its other bytes.`;
    // `error` would repeat the text.
    const body = { ...readErrorValue(error.value), error: undefined };
    const requestId = answer.requestId ?? body.requestId;
    return { ...unusable(answer, problem, error.text), body, requestId };
  }
  if (!isCut) return undefined;
  return unusable(answer, `the body ended after ${received} bytes, although the file is longer.`);
}

/** Returns a check for the file in a response. Its container is the proof of its end if its length is not known. */
export function checkEnd(answer: Answer): FileCheck {
  const { status, headers } = answer.response;
  const file = new ReceivedFile(expectedLength(headers) === 0 && status !== 206);
  return {
    add: (chunk) => file.add(chunk),
    end(received) {
      const end = file.end();
      return { rest: end.rest, failure: findFailure(answer, end, received) };
    },
  };
}

/** @throws `ReadFailure` if a file that was received at once ends too early */
export function requireWhole(answer: Answer, bytes: Uint8Array): void {
  const file = checkEnd(answer);
  file.add(bytes);
  const { failure } = file.end(bytes.byteLength);
  if (failure !== undefined) throw new ReadFailure(failure);
}
