import { messageOf, readErrorValue, type ErrorBody } from '../answers/error-body.ts';
import { holdsSomething, isObject } from '../answers/objects.ts';
import { findId } from '../videos/fields.ts';

/** Fields that only an answer with something usable in it carries. */
const contentFields = ['choices', 'candidates', 'data', 'models', 'text', 'promptFeedback'];

/** Words that stand for success where others put a code. */
const successCodes = new Set(['', '0', '200', 'ok', 'success', 'succeed', 'succeeded']);

/** A list or an object that holds something, or the text of a transcript. */
function isContent(field: string, value: unknown): boolean {
  return (typeof value === 'object' || field === 'text') && holdsSomething(value);
}

/** Whether an operation makes a task, which its answer names. */
export function isSubmission(operation: string): boolean {
  return operation === 'videos.create' || operation === 'videos.remix';
}

/** Whether an operation, or any undocumented route, may answer with a failed task. */
function answersWithTasks(operation: string): boolean {
  return operation.startsWith('videos.') || operation.includes(' ');
}

/**
 * Reads a parsed 2xx body as an error, or gives `undefined` when it is an answer.
 *
 * The gateway answers 200 with `{error}`, with a task error, with `success: false` and with a bare
 * message. A failed video task also has an `error`, next to its id or its status, and is an answer; a
 * submission that names a task has made it, whatever else it says.
 */
export function readErrorInSuccess(value: unknown, operation: string): ErrorBody | undefined {
  const body: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(body)) return undefined;
  const hasId = findId(body) !== undefined;
  if (hasId && isSubmission(operation)) return undefined;
  if (body['success'] === false) return readErrorValue(value);
  if (contentFields.some((field) => isContent(field, body[field]))) return undefined;
  const isTask = hasId || (typeof body['status'] === 'string' && body['status'] !== '');
  if (isTask && answersWithTasks(operation)) return undefined;
  const isError = holdsSomething(body['error']) || (!hasId && hasErrorCode(body));
  return isError ? readErrorValue(value) : undefined;
}

function hasErrorCode(body: Readonly<Record<string, unknown>>): boolean {
  const { code } = body;
  if (messageOf(body) === undefined && body['data'] !== null) return false;
  if (typeof code === 'string' && !successCodes.has(code.toLowerCase())) return true;
  if (typeof code === 'number' && code !== 0 && code !== 200) return true;
  return 'code' in body && 'type' in body && typeof body['message'] === 'string';
}
