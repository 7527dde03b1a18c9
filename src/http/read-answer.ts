import { readErrorText, readErrorValue } from '../schemas/error-body.ts';
import { isObject } from '../schemas/objects.ts';
import { parseJSON } from '../schemas/parse-json.ts';
import { holdsId } from './classify-status.ts';
import { isSubmission, readErrorInSuccess } from './error-in-success.ts';
import type { Answer } from './promise.ts';
import { errorBodyLimit, readBody } from './read-text.ts';
import { attachRequestId, requestIdOf } from './request-id.ts';
import type { FailedAttempt } from './to-error.ts';

/** What the text of a success answer turned out to be. */
export type TextReading = { readonly text: string } | { readonly failed: FailedAttempt };

/** A success answer that is not usable. The status line was read, so a charge is likely. */
export function unusable(answer: Answer, problem: string, text?: string): FailedAttempt {
  return {
    kind: 'unusable_answer',
    phase: 'body',
    status: answer.response.status,
    headers: answer.response.headers,
    requestId: answer.requestId,
    problem,
    text,
  };
}

/** An answer that is larger than a caller wants. It would be as large the next time. */
function tooLarge(answer: Answer, limit: number, text: string): FailedAttempt {
  const problem = `the answer is larger than ${limit} bytes (maxResponseBytes).`;
  return { ...unusable(answer, problem, text), kind: 'undecided' };
}

/** Reads a whole success body as text. A body that breaks off or does not end is a failure. */
export async function readText(answer: Answer, limit: number): Promise<TextReading> {
  const { text, end, cause } = await readBody(answer.response, limit, answer.signal);
  if (end === 'whole') return { text };
  if (end === 'limit') return { failed: tooLarge(answer, limit, text) };
  return { failed: { ...unusable(answer, 'the answer broke off before its end.', text), cause } };
}

/** Reads an error answer that came with a success status. */
export function errorInSuccess(value: unknown, answer: Answer): FailedAttempt | undefined {
  const { operation, charge } = answer;
  const body = readErrorInSuccess(value, operation);
  if (body === undefined) return undefined;
  const { status, headers } = answer.response;
  const requestId = requestIdOf(headers, body.requestId);
  // Gateways charge for most errors that come so. They give back what a task cost that was not made;
  // but this code repeats a success of the provider, who has made it.
  const isMade = body.code === 'fail_to_fetch_task' || holdsId(body);
  const isTaskError = isSubmission(operation) && body.envelope === 'task' && !isMade;
  const kind = charge === 'free' || isTaskError ? 'refused' : 'undecided';
  return { kind, phase: 'body', status, headers, body, requestId };
}

/** Says what came as JSON and is no answer; others than OpenAI put errors anywhere. */
export function notAnswer(
  value: unknown,
  answer: Answer,
  problem: string,
  text: string,
): FailedAttempt {
  // The value itself is in the text.
  const body = { ...readErrorValue(value), error: undefined };
  const failed = unusable(answer, problem, text);
  return { ...failed, body, requestId: answer.requestId ?? body.requestId };
}

/** Says why text is not the JSON that was promised. */
export function notJSON(text: string, answer: Answer): FailedAttempt {
  const body = readErrorText(text.slice(0, errorBodyLimit));
  if (body.envelope === 'empty') return unusable(answer, 'the answer is empty.');
  if (body.envelope === 'html') {
    return unusable(
      answer,
      'the answer is an HTML page instead of JSON. The gateway answers so on paths that it does not know: check baseURL, and the vendor prefix if there is one.',
      text,
    );
  }
  return unusable(answer, 'the answer is not JSON.', text);
}

type JSONReading = { readonly value: unknown } | { readonly failed: FailedAttempt };

/** Parses text by its content, whatever its content type says. */
export function readJSON(
  text: string,
  answer: Answer,
  parse?: (text: string) => unknown,
): JSONReading {
  const value = parseJSON(withoutMark(text), parse);
  if (value === undefined || (!isObject(value) && !Array.isArray(value))) {
    return { failed: notJSON(text, answer) };
  }
  const failed = errorInSuccess(value, answer);
  return failed === undefined ? { value } : { failed };
}

/** Whether text is a page, as the gateway and proxies answer on paths that they do not know. */
export function isPage(text: string): boolean {
  return /^\uFEFF?\s*<(!doctype html|html)[\s>]/i.test(text);
}

/** Reads an answer of which nothing is promised: JSON of any kind, or text. */
export function readAnything(text: string, answer: Answer): JSONReading {
  if (isPage(text)) return { failed: notJSON(text, answer) };
  const isLabelled = /\bjson\b/i.test(answer.response.headers.get('content-type') ?? '');
  const looksLikeJSON = /^\uFEFF?\s*[{[]/.test(text);
  if (!isLabelled && !looksLikeJSON) return { value: text };
  const value = parseJSON(withoutMark(text));
  if (value === undefined) {
    return isLabelled && looksLikeJSON ? { failed: notJSON(text, answer) } : { value: text };
  }
  const failed = errorInSuccess(value, answer);
  if (failed !== undefined) return { failed };
  attachRequestId(value, answer.requestId);
  return { value };
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
