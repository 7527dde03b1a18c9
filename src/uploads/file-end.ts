import { readErrorValue } from '../answers/failure.ts';
import { type FileEnd, ReceivedFile } from '../answers/received-file.ts';
import {
  type IncomingResponse,
  expectedLength,
  type FileCheck,
  ReadFailure,
  unusable,
} from '../http/responses/response-body.ts';
import type { FailedAttempt } from '../http/retry.ts';

/** Returns the failure of a file that ends too early; `undefined` if it may be complete. */
function findFailure(
  incoming: IncomingResponse,
  { error, isCut }: FileEnd,
  received: number,
): FailedAttempt | undefined {
  if (error !== undefined) {
    const problem = `after ${received} bytes, the file ends with an error instead of its other bytes.`;
    // `error` would repeat the text.
    const body = { ...readErrorValue(error.value), error: undefined };
    const requestId = incoming.requestId ?? body.requestId;
    return { ...unusable(incoming, problem, error.text), body, requestId };
  }
  if (!isCut) return undefined;
  return unusable(incoming, `the body ended after ${received} bytes, although the file is longer.`);
}

/** Returns a check for the file in a response. Its container is the proof of its end if its length is not known. */
export function checkEnd(incoming: IncomingResponse): FileCheck {
  const { status, headers } = incoming.response;
  const file = new ReceivedFile(expectedLength(headers) === 0 && status !== 206);
  return {
    add: (chunk) => file.add(chunk),
    end(received) {
      const end = file.end();
      return { rest: end.rest, failure: findFailure(incoming, end, received) };
    },
  };
}

/** @throws `ReadFailure` if a file that was received at once ends too early */
export function requireWhole(incoming: IncomingResponse, bytes: Uint8Array): void {
  const file = checkEnd(incoming);
  file.add(bytes);
  const { failure } = file.end(bytes.byteLength);
  if (failure !== undefined) throw new ReadFailure(failure);
}
