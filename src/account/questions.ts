import { isObject, textOf } from '../answers/objects.ts';
import { check, checkModel } from '../check.ts';
import { APIError } from '../errors/api-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { CallRecord, Calls } from '../observing/calls.ts';
import { isGatewayId, isOpen } from './requests.ts';
import type { Question } from './settle.ts';

const kinds =
  'must be an error of this package, a video task or its handle, a request id, or { since, model }.';

const isText = (value: unknown): value is string => textOf(value) !== undefined;

/** A point in time, in milliseconds since 1970. */
export function timeOf(field: string, value: unknown): number {
  const isTime = value instanceof Date || typeof value === 'number';
  const time = isTime ? Number(value) : Number.NaN;
  check(Number.isFinite(time), field, 'must be a date or milliseconds since 1970.');
  check(time > 1e11, field, 'is in seconds; give milliseconds since 1970, or a date.');
  return time;
}

/** The only one of some calls, or why it is not told. */
function onlyOf(found: readonly CallRecord[]): CallRecord | string {
  const [call, ...others] = found;
  if (call === undefined) {
    return 'This client remembers no such call, so nothing is concluded by model and time.';
  }
  return others.length === 0 ? call : 'More than one call of this client may be meant.';
}

/** What an error knows of its requests. */
function ofError(error: GatewayError, calls: Calls): Question {
  const { evidence, callId } = error;
  const own = APIError.isInstance(error) ? error.requestID : undefined;
  // An attempt that did not get through to the gateway was not charged.
  const sent = evidence.attempts.filter(({ phase }) => phase !== 'connect' && phase !== 'local');
  const ids = [own, ...sent.map(({ requestId }) => requestId)].filter(isText);
  // Of the errors that tell of a task each has its handle.
  const ofTask = ofRef(Reflect.get(error, 'ref'));
  return {
    requestIds: [...new Set([...ids, ...ofTask.requestIds])],
    taskIds: ofTask.taskIds,
    isWhole: sent.every(({ requestId }) => isGatewayId(requestId)) && sent.length > 0,
    call: callId === undefined ? onlyOf([]) : callOf(callId, calls),
    heardAt: heardAtOf(calls.records.filter(({ end }) => end?.callId === callId)),
  };
}

/** When something was last heard of calls: books that were read before cannot tell. */
export const heardAtOf = (calls: readonly CallRecord[]): number =>
  Math.max(0, ...calls.map(({ end }) => end?.at ?? 0));

/** The call of an id. Callers may give several calls one id. */
export function callOf(callId: string, { records }: Calls): CallRecord | string {
  return onlyOf(records.filter((call) => call.end?.callId === callId && isOpen(call)));
}

function ofRef(ref: unknown): Pick<Question, 'requestIds' | 'taskIds'> {
  const { id, requestId } = isObject(ref) ? ref : {};
  return { taskIds: [id].filter(isText), requestIds: [requestId].filter(isText) };
}

/**
 * What a caller wants to be settled.
 *
 * @returns text when the answer is known without the books
 * @throws `InvalidInputError` when it is nothing of the kind
 */
export function readQuestion(given: unknown, baseURL: string, calls: Calls): Question | string {
  if (isText(given)) {
    return { requestIds: [given], taskIds: [given], isWhole: true, call: '', heardAt: 0 };
  }
  if (GatewayError.isInstance(given)) {
    if (given.outcome === 'not_sent') {
      return 'It was never sent (outcome "not_sent"), so the books can have no line of it.';
    }
    return ofError(given, calls);
  }
  check(isObject(given) && !(given instanceof Error), 'question', kinds);
  if ('since' in given) {
    const since = timeOf('since', given['since']);
    checkModel(given['model']);
    const found = calls.records.filter(
      (call) =>
        isOpen(call) &&
        (call.sentAt ?? 0) >= since &&
        (call.model ?? given['model']) === given['model'],
    );
    const call = onlyOf(found);
    return { requestIds: [], taskIds: [], isWhole: false, call, heardAt: heardAtOf(found) };
  }
  const ref = isObject(given['ref']) ? given['ref'] : given;
  check(isText(ref['id']), 'question', kinds);
  const root = ref['baseURL'] ?? baseURL;
  const problem = 'is another gateway, whose books this client cannot read.';
  check(root === baseURL, 'ref.baseURL', problem);
  return { ...ofRef(ref), isWhole: true, call: '', heardAt: 0 };
}
