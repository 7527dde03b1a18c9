import { parseJSON } from './error-body.ts';
import { guardBody, promisedLength, withBody, type BodyProblem } from './guard-body.ts';
import type { LogicalCall } from './logical-call.ts';
import { firstCharacter, peekBody, reopenBody, type OpenBody } from './peek.ts';
import type { Answer } from './promise.ts';
import { errorInSuccess, notJSON, unusable } from './read-answer.ts';
import { errorBodyLimit, readBounded } from './read-text.ts';
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
  const guarded = guardBody(body, {
    idleTimeout: call.settings.idleTimeout,
    expectedBytes: promisedLength(response.headers),
    controller: call.scope.controller,
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

/** Reads the body of an answer that should have been a file, to say what it is. */
async function notBinary(answer: Answer, body: OpenBody): Promise<FailedAttempt> {
  const { text } = await readBounded(new Response(reopenBody(body)), errorBodyLimit);
  const value = parseJSON(text);
  if (value === undefined) return notJSON(text, answer);
  return (
    errorInSuccess(value, answer) ?? unusable(answer, 'the answer is JSON instead of a file.', text)
  );
}

/** Checks the beginning of a file answer and hands the rest on as a stream. */
export async function binaryAnswer(
  call: LogicalCall,
  answer: Answer,
): Promise<{ value: Response; stays: true } | { failed: FailedAttempt }> {
  const { body, headers } = answer.response;
  if (body === null) return { failed: unusable(answer, 'the file is empty.') };
  let open: OpenBody;
  try {
    open = await peekBody(body);
  } catch (cause) {
    return { failed: call.explain({ ...unusable(answer, 'the body broke off.'), cause }) };
  }
  if (open.first === undefined) return { failed: unusable(answer, 'the file is empty.') };
  const type = headers.get('content-type') ?? '';
  const first = firstCharacter(open.first);
  // Some vendors label every file as text, so the label alone proves nothing.
  const isJSON = /\bjson\b/i.test(type) && (first === '{' || first === '[');
  const isHTML = /\bhtml\b/i.test(type) && first === '<';
  if (isJSON || isHTML) return { failed: await notBinary(answer, open) };
  return { value: guard(call, answer, open), stays: true };
}
