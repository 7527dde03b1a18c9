import { isObject, isText, toFields } from '../../answers/objects.ts';
import { check } from '../../options/check.ts';
import { findRequestId } from '../../http/responses/response-body.ts';
import { APIError } from '../../errors/api-errors.ts';
import { type AttemptEvidence, GatewayError } from '../../errors/gateway-error.ts';
import { VideoSubmitUnknownError } from '../../errors/operation-errors.ts';
import { isTaskRef } from '../../tasks/ref.ts';
import type { JsonObject } from '../../types.ts';
import type { Calls } from './calls.ts';
import type { CallRecord } from './record.ts';
import type { Question } from './settle.ts';

const kinds =
  'must be an error of this package, a response (await its promise), a video or image task or its handle, or a request id; without one, look for the call with charges({ model, from, to }).';

const unnamed =
  'is a response without a request id: _request_id is lost in copies and JSON, and not every gateway sends one. Pass the request id itself, or look for the call with charges({ model, from, to }).';

/** Fields of a handle that is written by hand. */
const handleFields = ['id', 'requestId', 'baseURL'];

/** Returns whether an object is a video or image task, or its handle. Other responses have an `id` too. */
function isTask(value: JsonObject): boolean {
  if (!isText(value['id'])) return false;
  const { kind, object, task_id: taskId } = value;
  if (isTaskRef(value) || object === 'video' || isText(taskId)) return true;
  if (kind === 'video' || kind === 'image') return true;
  return Object.keys(value).every((name) => handleFields.includes(name));
}

/**
 * Returns the request id of a response: of a result, of `withResponse()`, or of the headers of a `Response`.
 *
 * @param headers - The names of the headers that may contain it; default: those of all known gateways.
 */
function readResponseId(value: JsonObject, headers: readonly string[] | undefined): unknown {
  if (value instanceof Response) return findRequestId(value.headers, undefined, headers);
  return value['_request_id'] ?? value['request_id'];
}

/** Returns whether an id appears in the usage log. */
export type IsLogged = (requestId: string | undefined) => boolean;

/** Returns the ids of a call's requests that got a response. */
export function readRequestIds({ attempts, answer }: CallRecord): readonly string[] {
  return [...attempts, ...(answer ? [answer] : [])].flatMap(({ requestId }) => requestId ?? []);
}

/** Returns the calls whose last request is one of a question, or whose task is. */
export function findAsked(
  { records }: Calls,
  { requestIds, taskIds }: Question,
): readonly CallRecord[] {
  return records.filter((call) => {
    const requestId = readRequestIds(call).at(-1);
    const isAsked = requestId !== undefined && requestIds.includes(requestId);
    return isAsked || call.end?.taskIds.some((id) => taskIds.includes(id)) === true;
  });
}

/** Returns the request ids of calls whose error response was read to its end. */
export function readAnsweredIds(calls: readonly CallRecord[]): readonly string[] {
  return answeredIn(calls.flatMap(({ attempts }) => attempts));
}

/** Returns the request ids of attempts whose error response was read to its end. */
function answeredIn(attempts: readonly AttemptEvidence[]): readonly string[] {
  return attempts.flatMap(({ isErrorComplete, requestId }) => (isErrorComplete && requestId) || []);
}

/** Returns whether a request of a call may be in the usage log under an id that the client does not know. */
export function hasUnnamedRequest(
  { attempts, answer, end }: CallRecord,
  isLogged: IsLogged,
): boolean {
  if (answer ? !isLogged(answer.requestId) : !end) return true;
  return attempts.some(({ phase, requestId }) => phase !== 'connect' && !isLogged(requestId));
}

/** Returns the request ids in an error. */
function readError(error: GatewayError, { records }: Calls, isLogged: IsLogged): Question {
  const { evidence, callId } = error;
  const errorId = APIError.isInstance(error) ? error.requestID : undefined;
  // An attempt that did not reach the gateway was not charged.
  const sent = evidence.attempts.filter(({ phase }) => phase !== 'connect' && phase !== 'local');
  const ids = [errorId, ...sent.map(({ requestId }) => requestId)].filter(isText);
  // Errors about a task contain its handle.
  const ofTask = ofRef(Reflect.get(error, 'ref'));
  const calls = records.filter(({ end }) => callId !== undefined && end?.callId === callId);
  return {
    requestIds: [...new Set([...ids, ...ofTask.requestIds])],
    taskIds: ofTask.taskIds,
    answeredIds: answeredIn(sent),
    isWhole: sent.every(({ requestId }) => isLogged(requestId)),
    makesTask: VideoSubmitUnknownError.isInstance(error) || calls.some(isSubmission),
    endedAt: findLastEnd(calls),
  };
}

/** Returns the question about a call with a response: all its attempts. */
function readRecord(call: CallRecord, isLogged: IsLogged): Omit<Question, 'answeredIds'> {
  const { earlier, answer, end } = call;
  const ids = [...earlier, ...call.attempts, ...(answer ? [answer] : [])];
  return {
    requestIds: ids.flatMap(({ requestId }) => requestId ?? []),
    taskIds: end?.taskIds ?? [],
    isWhole: !hasUnnamedRequest({ ...call, attempts: [...earlier, ...call.attempts] }, isLogged),
    makesTask: isSubmission(call),
    endedAt: end?.at ?? 0,
  };
}

/** Returns whether a call submits a video, which may be charged only when it completes. */
const isSubmission = ({ kind }: CallRecord): boolean => kind === 'video';

/** Returns the time when the last of the calls ended; 0 if this client has no record of them. */
export const findLastEnd = (calls: readonly CallRecord[]): number =>
  Math.max(0, ...calls.map(({ end }) => end?.at ?? 0));

function ofRef(ref: unknown): Pick<Question, 'requestIds' | 'taskIds'> {
  const { id, ids, requestId } = toFields(ref);
  const taskIds = [...new Set([id, ids].flat())].filter(isText);
  return { taskIds, requestIds: [requestId].filter(isText) };
}

/**
 * Reads the question of a caller.
 *
 * @param idHeaders - The names of headers that contain request ids, if the gateway has its own.
 * @returns the reason, as text, if the verdict is known without the usage log
 * @throws `InvalidInputError` if the value cannot be settled
 */
export function readQuestion(
  given: unknown,
  baseURL: string,
  calls: Calls,
  isLogged: IsLogged,
  idHeaders?: readonly string[],
): Question | string {
  if (GatewayError.isInstance(given)) {
    if (given.outcome === 'not_sent') {
      return 'It was never sent (outcome "not_sent"), so the usage log has no entry of it.';
    }
    return readError(given, calls, isLogged);
  }
  // Ids contain no evidence, but this client may have made the request.
  const shared = { answeredIds: readAnsweredIds(calls.records), isWhole: true, endedAt: 0 };
  if (isText(given)) {
    const matches = calls.records.filter((call) => readRequestIds(call).includes(given));
    const makesTask = matches.some(isSubmission);
    return { requestIds: [given], taskIds: [given], ...shared, makesTask };
  }
  check(isObject(given) && !(given instanceof Error), 'question', kinds);
  const isHandle = isObject(given['ref']) || isTask(given);
  const requestId = readResponseId(given, idHeaders);
  if (!isHandle && isText(requestId)) {
    const record = calls.records.findLast(({ answer }) => answer?.requestId === requestId);
    return record === undefined
      ? readQuestion(requestId, baseURL, calls, isLogged)
      : { ...readRecord(record, isLogged), answeredIds: shared.answeredIds };
  }
  check(isHandle, 'question', isText(given['id']) ? unnamed : kinds);
  const ref = isObject(given['ref']) ? given['ref'] : given;
  check(isText(ref['id']), 'question', kinds);
  const root = ref['baseURL'] ?? baseURL;
  const problem = 'is another gateway, whose usage log this client cannot read.';
  check(root === baseURL, 'ref.baseURL', problem);
  return { ...ofRef(ref), ...shared, makesTask: true };
}
