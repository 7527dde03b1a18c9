import { isObject } from '../answers/objects.ts';
import { check, checkObject, checkWord } from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import { GatewayPromise, type WithResponse } from '../http/promise.ts';
import { shownOf } from '../http/make-error.ts';
import { type CallInfo, jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { JsonObject } from '../types.ts';
import { bodyOf, comparable } from './body.ts';
import {
  adviceToWait,
  unknownAdvice,
  VideoSubmitAnswerError,
  VideoSubmitUnknownError,
} from './errors.ts';
import { findId } from '../answers/task-id.ts';
import { LedgerCall } from './ledger.ts';
import { makeRef, ownTask } from './ref.ts';
import { defineHidden, videoSchema } from './schema.ts';
import { readTask } from './step.ts';
import type { VideoTask, VideoTaskRef } from './types.ts';
import type { VideoSubmitOptions } from './wait-options.ts';

/** What a caller submits. */
export interface Submission {
  readonly operation: 'videos.create' | 'videos.remix';
  /**
   * The fields, checked, and what the handle is to remember.
   *
   * @throws `InvalidInputError` when it cannot work
   */
  readonly read: () => Order;
}

interface Order extends Pick<VideoTaskRef, 'model' | 'remixOf'> {
  readonly fields: JsonObject;
}

/**
 * What the ledger of a submission knows it by, where there is one.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
function ledgerCallOf({
  ledger,
  callId,
  onUnknown = 'fail',
  signal,
}: VideoSubmitOptions): LedgerCall | undefined {
  checkWord('onUnknown', onUnknown, ['fail', 'resubmit']);
  if (ledger === undefined) return undefined;
  for (const method of ['claim', 'accept', 'finish'] as const) {
    const hasMethod = typeof ledger?.[method] === 'function';
    check(hasMethod, 'ledger', `has no method ${method}(); give a SubmitLedger.`);
  }
  const problem = 'is needed with a ledger; give the id of your job, the same at every attempt.';
  check(callId !== undefined, 'callId', problem);
  return new LedgerCall(ledger, callId, signal);
}

function requestOf(
  transport: Transport,
  { fields, remixOf = '' }: Order,
  options: VideoSubmitOptions,
) {
  const { bodyFormat = transport.bodyFormat, extraBody } = options;
  checkWord('bodyFormat', bodyFormat, ['form', 'json']);
  checkObject('extraBody', extraBody);
  return { ...bodyOf({ ...fields, ...extraBody }, bodyFormat), params: { video_id: remixOf } };
}

/** Sends a submission, without a ledger. */
function send(
  transport: Transport,
  { operation, read }: Submission,
  options: VideoSubmitOptions,
): GatewayPromise<VideoTask> {
  let order: Order | undefined;
  const request = () => {
    ledgerCallOf(options);
    order = read();
    return requestOf(transport, order, options);
  };
  const refOf = (id: string, callId: string | undefined, named?: string): VideoTaskRef => {
    const { model = named, remixOf } = order ?? {};
    const { baseURL } = transport;
    return makeRef({ id, baseURL, createdAt: Date.now(), model, callId, remixOf });
  };
  const answer = jsonAnswer({ schema: videoSchema }, (task, info) => {
    if (task.id === '') throw nameless(task, info);
    defineHidden(task, 'ref', refOf(task.id, info.callId, task.model));
    return task;
  });
  const format: typeof answer = {
    kind: 'json',
    read: (call, received) =>
      answer.read(call, received).catch((error: unknown) => {
        throw withRef(error, refOf);
      }),
  };
  // The extra fields are in the body already.
  const rest = options.extraBody === undefined ? options : { ...options, extraBody: undefined };
  return transport.call(operation, request, format, rest);
}

/** A submission that was accepted, but does not say which task it made. */
function nameless(
  { raw }: VideoTask,
  { callId, requestId, headers }: CallInfo,
): VideoSubmitUnknownError {
  const attempt = { phase: 'body', requestId } as const;
  return new VideoSubmitUnknownError(
    'A video task was probably created, but the answer holds no task id.',
    {
      callId,
      headers,
      requestID: requestId,
      error: shownOf(raw),
      body: JSON.stringify(raw),
      evidence: { ...attempt, attempts: [attempt] },
      advice: `${unknownAdvice} The answer is in error.body.`,
    },
  );
}

/** An answer that strict validation refuses still names the task, which is paid for. */
function withRef(
  error: unknown,
  refOf: (id: string, callId: string | undefined) => VideoTaskRef,
): unknown {
  if (!UnexpectedResponseError.isInstance(error) || !isObject(error.data)) return error;
  const id = findId(error.data);
  if (id === undefined) return error;
  const { body, data } = error;
  const ref = refOf(id, error.callId);
  const message = error.message.replace(` ${error.advice}`, '');
  const init = Object.assign({}, error, { advice: adviceToWait(ref), ref, body, data });
  return new VideoSubmitAnswerError(`Video task ${id} was submitted, but ${message}`, init);
}

/** A task that was submitted: now, or before, as the ledger knows. */
interface Submitted {
  readonly ref: VideoTaskRef;
  /** The answer, when it was submitted now. */
  readonly answer?: WithResponse<VideoTask>;
  /** What it was entered under. */
  readonly call: LedgerCall | undefined;
}

/** Submits a task; with a ledger, once for each call id, whatever happens to the process. */
export async function submitOnce(
  transport: Transport,
  submission: Submission,
  options: VideoSubmitOptions,
): Promise<Submitted> {
  transport.checkOptions(options);
  const call = ledgerCallOf(options);
  const known = await call?.claim(contentOf(transport, submission, options), options.onUnknown);
  if (known !== undefined) return { ref: known, call };
  const answer = await send(transport, submission, options)
    .withResponse()
    .catch(async (error: unknown) => {
      if (VideoSubmitAnswerError.isInstance(error)) await call?.accept(error.ref);
      else {
        const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
        await call?.finish(isUnknown ? 'unknown' : 'not_submitted');
      }
      throw error;
    });
  const { ref } = answer.data;
  await call?.accept(ref);
  return { ref, answer, call };
}

/** What tells one submission from another. Ledgers hold digests of it, so its shape may not change. */
function contentOf(
  transport: Transport,
  { operation, read }: Submission,
  options: VideoSubmitOptions,
): unknown {
  const order = read();
  // What cannot be sent is not claimed either.
  requestOf(transport, order, options);
  const { fields, remixOf } = order;
  const params = remixOf === undefined ? undefined : { video_id: remixOf };
  return [[operation, params, ...comparable(fields)], options.extraBody];
}

/** Submits a task. One that the ledger knows already is read instead. */
export function submit(
  transport: Transport,
  submission: Submission,
  given: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  const options = given ?? {};
  if (options.ledger === undefined) return send(transport, submission, options);
  const done = submitOnce(transport, submission, options).then(({ ref, answer }) => {
    if (answer !== undefined) return answer;
    const rest = { ...options, extraBody: undefined };
    return readTask(transport, () => ownTask(transport, ref), rest).withResponse();
  });
  const answer = done.then(({ data, response: read, request_id: requestId }) => {
    // The ledger had to know the task first, so the body was read; this is the same once more.
    const response = Response.json(data.raw, read);
    const parse = () => Promise.resolve(data);
    return { response, requestId: requestId ?? undefined, parse, raw: () => response };
  });
  return new GatewayPromise(answer);
}
