import { parseJSON } from '../schemas/parse-json.ts';
import { typeOfBytes } from './files/file-type.ts';
import { guardBody, promisedLength, withBody, type BodyProblem } from './guard-body.ts';
import type { LogicalCall } from './logical-call.ts';
import { beginningOf, peekBody, peekFurther, reopenBody, type OpenBody } from './peek.ts';
import type { Answer } from './promise.ts';
import { errorInSuccess, isPage, notAnswer, notJSON, readText, unusable } from './read-answer.ts';
import { errorBodyLimit } from './read-text.ts';
import { isNode } from './send.ts';
import type { FailedAttempt } from './to-error.ts';

function describe(problem: BodyProblem): string {
  switch (problem.type) {
    case 'broken':
      return 'the body broke off before its end.';
    case 'silent':
      return `the body was silent for longer than ${problem.timeout} ms (idleTimeout).`;
    case 'short':
      return `the body ended after ${problem.received} of ${problem.expected} bytes.`;
  }
}

function guard(call: LogicalCall, answer: Answer, body: OpenBody): Response {
  const { response } = answer;
  call.scope.endAttempt();
  call.scope.keepAlive(false);
  const guarded = guardBody(body, {
    idleTimeout: call.settings.idleTimeout,
    expectedBytes: promisedLength(response.headers),
    controller: call.scope.controller,
    keepAlive: (isWanted) => call.scope.keepAlive(isWanted),
    release: () => call.release(),
    toError(problem) {
      const cause = problem.type === 'broken' ? problem.error : undefined;
      const failed = call.explain({ ...unusable(answer, describe(problem)), cause });
      return call.toError(failed, 'unknown');
    },
  });
  return withBody(response, guarded);
}

/**
 * Hands a body on unread, as a stream that fails when it is cut or stalls and that lets go of the
 * call when it has ended. Nothing is buffered.
 */
export function rawAnswer(call: LogicalCall, answer: Answer): Response {
  const { body } = answer.response;
  if (body !== null) return guard(call, answer, { first: undefined, reader: body.getReader() });
  call.release();
  return answer.response;
}

/**
 * Says what is wrong with an answer that begins like JSON or like a page, or `undefined` when it is a
 * file after all: raw sound may begin with any bytes.
 */
function problemOf(text: string, answer: Answer): FailedAttempt | undefined {
  const value = parseJSON(text.replace(/^\uFEFF/, '').trim());
  if (value === undefined) return isPage(text) ? notJSON(text, answer) : undefined;
  const problem = 'the answer is JSON instead of a file.';
  return errorInSuccess(value, answer) ?? notAnswer(value, answer, problem, text);
}

/** Finds the file that an answer in JSON holds in base64. */
export type FileInJSON = (value: unknown) => string | undefined;

/** The file of an answer that holds it in base64; `undefined` when that is none. */
function fromBase64({ response }: Answer, base64: string): Response | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    if (bytes.length === 0) return undefined;
    const headers = new Headers(response.headers);
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    headers.set('content-type', typeOfBytes(bytes) ?? 'application/octet-stream');
    return new Response(bytes, { status: response.status, headers });
  } catch {
    return undefined;
  }
}

/** Reads what begins like JSON or a page: the file that it holds, or what is wrong with it. */
async function readLabelled(
  call: LogicalCall,
  answer: Answer,
  open: OpenBody,
  fileIn: FileInJSON | undefined,
): Promise<{ value: Response } | { failed: FailedAttempt }> {
  const again = { ...answer, response: withBody(answer.response, reopenBody(open)) };
  const reading = await readText(again, call.settings.maxResponseBytes);
  if ('failed' in reading) return reading;
  const base64 = fileIn?.(parseJSON(reading.text));
  const value = base64 === undefined ? undefined : fromBase64(answer, base64);
  if (value !== undefined) return { value };
  return { failed: problemOf(reading.text, answer) ?? notJSON(reading.text, answer) };
}

/** Node's `fetch` takes a coded body that ends too early for a whole one, and nothing tells of it. */
function problemOfCoding({ spec }: LogicalCall, answer: Answer): FailedAttempt | undefined {
  const { headers, status } = answer.response;
  const coding = headers.get('content-encoding') ?? 'identity';
  if (!isNode || spec.download === undefined || coding === 'identity' || status !== 200) {
    return undefined;
  }
  const problem = `the file comes with content-encoding ${coding}, though it was asked for without; Node does not tell whether it is whole. asResponse() gives it as it comes.`;
  return unusable(answer, problem);
}

/** Checks the beginning of a file answer and hands the rest on as a stream. */
export async function binaryAnswer(
  call: LogicalCall,
  answer: Answer,
  fileIn?: FileInJSON,
): Promise<{ value: Response; stays?: true } | { failed: FailedAttempt }> {
  const { body } = answer.response;
  if (body === null) return { failed: unusable(answer, 'the file is empty.') };
  try {
    let open = await peekBody(body, answer.signal);
    if (open.first === undefined) return { failed: unusable(answer, 'the file is empty.') };
    let failed = problemOfCoding(call, answer);
    if (/^[<{[]/.test(beginningOf(open.first))) {
      const type = answer.response.headers.get('content-type') ?? '';
      if (/\b(json|html)\b/i.test(type)) {
        return await readLabelled(call, answer, open, fileIn);
      }
      open = await peekFurther(open, errorBodyLimit, answer.signal);
      failed = problemOf(new TextDecoder().decode(open.first), answer) ?? failed;
    }
    if (failed === undefined) return { value: guard(call, answer, open), stays: true };
    open.reader.cancel().catch(() => {});
    return { failed };
  } catch (cause) {
    return { failed: { ...unusable(answer, 'the body broke off.'), cause } };
  }
}
