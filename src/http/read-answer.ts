import { readErrorInSuccess, readErrorText, readErrorValue } from '../answers/error-body.ts';
import { parseJSON } from '../answers/objects.ts';
import { classifyErrorInSuccess } from './classify.ts';
import type { Answer } from './promise.ts';
import { errorBodyLimit, readBody } from './read-text.ts';
import { attachRequestId, requestIdOf } from './request-id.ts';
import type { FailedAttempt } from './retry.ts';

/** Thrown by whatever reads a success answer, when it is no answer. */
export class ReadFailure extends Error {
  readonly failed: FailedAttempt;

  constructor(failed: FailedAttempt) {
    super();
    this.failed = failed;
  }
}

/** The failure of an answer whose body broke off while it was read, unless it had failed before. */
export function brokenOff(cause: unknown, answer: Answer): ReadFailure {
  if (cause instanceof ReadFailure) return cause;
  return new ReadFailure({ ...unusable(answer, 'the body broke off.'), cause });
}

/** A success answer that is not usable. The status line was read, so a charge is likely. */
export function unusable(
  { response: { status, headers }, requestId }: Pick<Answer, 'response' | 'requestId'>,
  problem: string,
  text?: string,
): FailedAttempt {
  return { kind: 'unusable_answer', phase: 'body', status, headers, requestId, problem, text };
}

/** Reads a whole success body as text. A body that breaks off or does not end is a failure. */
export async function readText(answer: Answer, limit: number): Promise<string> {
  const { text, end, cause } = await readBody(answer.response, limit, answer.signal);
  if (end === 'whole') return text;
  if (end === 'limit') {
    // It would be as large the next time.
    const problem = `the answer is larger than ${limit} bytes (maxResponseBytes).`;
    throw new ReadFailure({ ...unusable(answer, problem, text), kind: 'undecided' });
  }
  const problem = 'the answer broke off before its end.';
  throw new ReadFailure({ ...unusable(answer, problem, text), cause });
}

/** @throws what a parsed answer says when it is an error that came with a success status */
export function throwIfError(value: unknown, answer: Answer, text: string): void {
  const { charge, task } = answer;
  const body = readErrorInSuccess(value, task);
  if (body === undefined) return;
  const { status, headers } = answer.response;
  const requestId = requestIdOf(headers, body.requestId);
  const kind = classifyErrorInSuccess(body, charge, task === 'creates');
  throw new ReadFailure({ kind, phase: 'body', status, headers, body, text, requestId });
}

/** Says what came as JSON and is no answer; others than OpenAI put errors anywhere. */
export function notAnswer(
  value: unknown,
  answer: Answer,
  problem: string,
  text: string,
): ReadFailure {
  // The value itself is in the text.
  const body = { ...readErrorValue(value), error: undefined };
  const failed = unusable(answer, problem, text);
  return new ReadFailure({ ...failed, body, requestId: answer.requestId ?? body.requestId });
}

/** Says why text is not the JSON that was promised. */
export function notJSON(text: string, answer: Answer): ReadFailure {
  const { envelope } = readErrorText(text.slice(0, errorBodyLimit));
  if (envelope === 'empty') return new ReadFailure(unusable(answer, 'the answer is empty.'));
  const problem =
    envelope === 'html'
      ? 'the answer is an HTML page instead of JSON. The gateway answers so on paths that it does not know: check baseURL, and the vendor prefix if there is one.'
      : 'the answer is not JSON.';
  return new ReadFailure(unusable(answer, problem, text));
}

/** Parses text by its content, whatever its content type says. */
export function readJSON(text: string, answer: Answer, parse?: (text: string) => unknown): unknown {
  const value = parseAnswer(text, parse);
  if (typeof value !== 'object' || value === null) throw notJSON(text, answer);
  throwIfError(value, answer, text);
  return value;
}

/** Whether text is a page, as the gateway and proxies answer on paths that they do not know. */
export function isPage(text: string): boolean {
  return /^\uFEFF?\s*<(!doctype html|html)[\s>]/i.test(text);
}

/** Reads an answer of which nothing is promised: JSON of any kind, or text. */
export function readAnything(text: string, answer: Answer): unknown {
  if (isPage(text)) throw notJSON(text, answer);
  const isLabelled = /\bjson\b/i.test(answer.response.headers.get('content-type') ?? '');
  const looksLikeJSON = /^\uFEFF?\s*[{[]/.test(text);
  if (!isLabelled && !looksLikeJSON) return text;
  const value = parseAnswer(text);
  if (value === undefined) {
    if (isLabelled && looksLikeJSON) throw notJSON(text, answer);
    return text;
  }
  throwIfError(value, answer, text);
  attachRequestId(value, answer.requestId);
  return value;
}

/** The JSON of an answer, which may begin with a byte order mark; `undefined` when it is none. */
export function parseAnswer(text: string, parse?: (text: string) => unknown): unknown {
  return parseJSON(text.replace(/^\uFEFF/, ''), parse);
}
