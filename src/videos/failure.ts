import type { JsonObject } from '../types.ts';
import type { VideoTaskError } from './types.ts';
import { firstOf, isObject, parseJSON } from '../answers/objects.ts';
import { levelsOf, objectOf, textOf } from '../answers/task-id.ts';
import { readStatusWord } from './status.ts';

/** What a failed task says when the gateway gave no reason at all. */
export const noReason = 'The gateway gave no reason.';

/** Some gateways put the whole JSON answer of the vendor into a text field; one level is unwrapped. */
function unwrap(text: string): string {
  const inner = parseJSON(text);
  return (isObject(inner) ? reasonIn(inner) : undefined) ?? text;
}

/** A message about the request; it says `"SUCCEED"` when only that succeeded, and not the task. */
function notSuccess(value: unknown): string | undefined {
  const message = textOf(value);
  if (message === undefined || /^ok$/i.test(message)) return undefined;
  return readStatusWord(message).status === 'completed' ? undefined : message;
}

/** The error that an object holds; some gateways put one into another, or into a list. */
function errorIn(holder: JsonObject): JsonObject {
  const error = objectOf(holder['error']) ?? objectOf(holder['errors']) ?? {};
  return objectOf(error['error']) ?? error;
}

/** Where a body has its reason, the most telling place first. */
const reasonFields = [
  'error',
  'fail_reason',
  'failure_reason',
  'task_status_msg',
  'error_message',
  'error_msg',
  'failure',
  'reason',
  'detail',
];

/** The first of these fields that holds something. */
function fieldOf<T>(
  holder: JsonObject,
  names: readonly string[],
  read: (value: unknown) => T | undefined,
): T | undefined {
  return firstOf(names, (name) => read(holder[name]));
}

/** The reason that one object holds, apart from what is nested in it. */
function reasonIn(level: JsonObject): string | undefined {
  const output = objectOf(level['output']) ?? {};
  return (
    fieldOf(errorIn(level), ['message', 'msg', 'detail', 'reason'], textOf) ??
    fieldOf(level, reasonFields, textOf) ??
    textOf(output['error']) ??
    notSuccess(output['message']) ??
    notSuccess(objectOf(level['base_resp'])?.['status_msg'])
  );
}

/** The vendor's code that one object holds. A plain `code` is that of the request. */
function codeIn(level: JsonObject): string | undefined {
  const status = objectOf(level['base_resp'])?.['status_code'];
  return (
    codeOf(errorIn(level)['code']) ??
    fieldOf(level, ['error_code', 'err_code', 'failureCode'], codeOf) ??
    codeOf(objectOf(level['output'])?.['code']) ??
    codeOf(status === 0 ? undefined : status)
  );
}

function codeOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return textOf(value);
}

/** Why a task failed. To be asked only of failed tasks: other tasks fill these fields too. */
export function findFailure(body: JsonObject): VideoTaskError {
  const levels = levelsOf(body);
  const code = firstOf(levels, codeIn);
  const reason = firstOf(levels, reasonIn) ?? firstOf(levels, ({ message }) => notSuccess(message));
  const message = reason === undefined ? (code ?? noReason) : unwrap(reason);
  return code === undefined ? { message } : { message, code };
}

/** What stands in place of a status, where a body has neither that nor a result. */
export function findComplaint(body: JsonObject): VideoTaskError | undefined {
  const hasError = levelsOf(body).some(({ error }) => objectOf(error) ?? textOf(error));
  const failure = hasError ? findFailure(body) : undefined;
  return failure?.message === noReason ? undefined : failure;
}

const reviewWords =
  /moderat|sensitive|safety|nsfw|violat|inappropriate|prohibit|(content|risk)[\s_-]?(policy|review|filter|control|check|not[\s_-]?pass)|audit\w?submit|审核|敏感|违规/i;

/** Of a service that stumbled, be it the review: neither the content nor the request is at fault. */
const stumbleWords =
  /quota|rate[\s_-]?limit|too[\s_-]?many|per[\s_-]?minute|timed?[\s_-]?out|unavailable|upstream|connection|overloaded|\b(?:429|5\d\d)\b/i;

function reads(words: RegExp, { message, code = '' }: VideoTaskError): boolean {
  return words.test(message) || words.test(code);
}

/** Whether a failure reads like a content review. A guess: the gateway does not say. */
export function readsLikeReview(failure: VideoTaskError): boolean {
  return reads(reviewWords, failure) && !reads(stumbleWords, failure);
}

/** Not keys, tokens or answers: those are the gateway's own, and what fails on them may recover. */
const inputWords =
  /(invalid|illegal|unsupported|missing|bad)[\s_.-]?(request|param|argument|input|prompt|image|size|seconds|duration|resolution)|(prompt|image|input|size|seconds|duration|resolution) is (invalid|required|not supported)/i;

/** Whether a failure lies in what was submitted, so that the task cannot recover from it. */
export function isCausedByInput(failure: VideoTaskError): boolean {
  const isAtFault = reads(reviewWords, failure) || reads(inputWords, failure);
  return isAtFault && !reads(stumbleWords, failure);
}
