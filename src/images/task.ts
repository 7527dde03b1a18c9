import { firstOf, isObject, levelsOf, parseJSON, readId, textOf } from '../answers/objects.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import type { JsonObject } from '../types.ts';
import { ImageTaskError } from './errors.ts';

/** A task that a gateway accepted in place of returning pictures. */
interface AcceptedTask {
  readonly id: string | undefined;
  readonly status: string | undefined;
}

/** Fields that hold a picture, in whatever form. */
const pictureFields = /^(b64_json|b64|base64|(image_?)?(base64|url)|url|images?|svg)$/i;

/** Fields that repeat the request or hold addresses of the task; a URL in them is not a picture. */
const otherFields =
  /prompt|^(inputs?|params|parameters|request|payload|urls|links|error|message)$|^(status|poll(ing)?|response|cancel|callback|webhook|fetch|get|query|task)_?url$/i;

/** A URL or a data URL. */
const pictureAddress = /^(https?:|data:image\/)/i;

/** Bytes in base64. */
const base64Text = /^[\w+/-]+=*$/;

/** Shorter texts in base64 may be ids or signatures. */
const shortestPicture = 256;

/** Deeper than any gateway nests pictures. */
const deepestPicture = 6;

/** Whether a value holds a picture, in whatever form and place. */
function holdsPicture(value: unknown, name = '', levels = deepestPicture): boolean {
  if (typeof value === 'string') {
    if (value === '') return false;
    if (pictureFields.test(name) || pictureAddress.test(value)) return true;
    return value.length >= shortestPicture && base64Text.test(value);
  }
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.some((item) => holdsPicture(item, name, levels - 1));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => !otherFields.test(key) && holdsPicture(inner, key, levels - 1),
  );
}

const pendingWords =
  /^(submitted|pending|queue(d|ing)|in_?queue|processing|in_?progress|running|generating|starting|created|waiting|accepted|not_?start(ed)?)$/i;
const finalWords = /^(complete(d)?|succe(ss|ed|eded)|done|finished)$/i;

function findStatus(levels: readonly JsonObject[]): string | undefined {
  return firstOf(levels, ({ status, task_status, state }) =>
    firstOf([task_status, status, state], textOf),
  );
}

/** Returns the id that can only be that of a task. */
function findTaskId(levels: readonly JsonObject[]): string | undefined {
  return firstOf(levels, ({ task_id, taskId, job_id, jobId }) =>
    firstOf([task_id, taskId, job_id, jobId], readId),
  );
}

/** Returns an id that other objects have as well. */
function findAnyId(levels: readonly JsonObject[]): string | undefined {
  return firstOf(levels, ({ id }) => readId(id)) ?? readId(levels[0]?.['request_id']);
}

/**
 * Returns the task that an answer names, if there is no picture in the answer.
 *
 * @param status - The HTTP status. A 202 without a picture is a task, even if it is not named.
 */
function findAcceptedTask(answer: unknown, status: number | undefined): AcceptedTask | undefined {
  if (!isObject(answer) || holdsPicture(answer)) return undefined;
  const levels = levelsOf(answer);
  const word = findStatus(levels);
  const taskId = findTaskId(levels);
  if (status === 202) return { id: taskId ?? findAnyId(levels), status: word };
  const { data } = answer;
  // A filter may take every picture out of the answer of a task that has ended.
  const isFiltered = Array.isArray(data) && data.length === 0 && finalWords.test(word ?? '');
  if (isFiltered) return undefined;
  const isTask = levels.some(({ object }) => /task|job/i.test(textOf(object) ?? ''));
  const isPending = pendingWords.test(word ?? '');
  const id = taskId ?? (isTask || isPending ? findAnyId(levels) : undefined);
  return id === undefined ? undefined : { id, status: word };
}

/** Rejects answers that name a task and hold no picture: the task exists, so nothing is sent again. */
export function refuseTask(answer: unknown, status: number): string | undefined {
  const task = findAcceptedTask(answer, status);
  if (task === undefined) return undefined;
  const name = task.id === undefined ? 'a task without an id' : `task ${task.id}`;
  const word = task.status === undefined ? '' : ` with status "${task.status}"`;
  return `the answer names ${name}${word} and holds no picture. The task is paid for.`;
}

/** Turns the error for such an answer into one that carries the task. */
export function explainTask(error: Error): Error | undefined {
  if (!UnexpectedResponseError.isInstance(error)) return undefined;
  const { status, body = '', data, cause } = error;
  const task = findAcceptedTask(parseJSON(body), status);
  if (task === undefined) return undefined;
  const message = error.message.replace(` ${error.advice}`, '');
  const advice =
    'Fetch the result from the gateway with taskId. A new request pays for another task.';
  const { id: taskId, status: taskStatus } = task;
  const init = Object.assign({}, error, { body, data, cause, advice, taskId, taskStatus });
  return new ImageTaskError(message, init);
}
