import { GatewayError } from '../errors/gateway-error.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import { VideoSubmitAnswerError } from './errors.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { checkObject, checkWord } from '../check.ts';
import { GatewayPromise, type WithResponse } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import { isObject } from '../answers/objects.ts';
import { findId } from './fields.ts';
import { makeRef } from './task-ref.ts';
import { adviceToWait } from './wait-errors.ts';
import type { VideoSubmitOptions } from './wait-options.ts';
import type { JsonObject } from '../types.ts';
import type { VideoTask, VideoTaskRef } from './types.ts';
import { submissionAnswer } from './answers.ts';
import { bodyOf, comparable } from './body.ts';
import {
  accept,
  checkLedger,
  claim,
  digestOf,
  finish,
  type LedgerCall,
} from './submit-with-ledger.ts';
import { ownTask, readTask } from './read.ts';

/** A submission, ready to be sent. */
export interface Submission {
  readonly send: (options: VideoSubmitOptions) => GatewayPromise<VideoTask>;
  /**
   * What is submitted, to be compared with what was submitted before. Of files only the field counts.
   *
   * @throws `InvalidInputError` when it cannot work
   */
  readonly content: (options: VideoSubmitOptions) => unknown;
}

/** What the caller said of a task besides what is sent. */
type About = Pick<VideoTaskRef, 'model' | 'remixOf'>;

/**
 * A submission of an operation.
 *
 * @param fields - What it says. May throw.
 * @param address - Adds the path parameters to the body. May throw.
 */
export function submissionFor<Name extends 'videos.create' | 'videos.remix'>(
  transport: Transport,
  operation: Name,
  fields: () => JsonObject,
  address: (body: OperationRequest<'videos.create'>) => OperationRequest<Name>,
  about: () => About,
): Submission {
  const requestOf = (options: VideoSubmitOptions): OperationRequest<Name> => {
    const { bodyFormat = transport.bodyFormat, extraBody } = options;
    checkWord('bodyFormat', bodyFormat, ['form', 'json']);
    checkObject('extraBody', extraBody);
    return address(bodyOf({ ...fields(), ...extraBody }, bodyFormat));
  };
  return {
    send(options) {
      const answer = submissionAnswer(about);
      const request = (): OperationRequest<Name> => {
        checkLedger(options);
        return requestOf(options);
      };
      // These fields are in the body already.
      const rest = options.extraBody === undefined ? options : { ...options, extraBody: undefined };
      const format: typeof answer = {
        kind: 'json',
        read: (call, received) =>
          answer.read(call, received).catch((error: unknown) => {
            throw withRef(error, transport.baseURL, about);
          }),
      };
      return transport.call(operation, request, format, rest);
    },
    content(options) {
      const { params } = requestOf(options);
      return [operation, params, ...comparable(fields())];
    },
  };
}

/** An answer that strict validation refuses still names the task, which is paid for. */
function withRef(error: unknown, baseURL: string, about: () => About): unknown {
  if (!UnexpectedResponseError.isInstance(error) || !isObject(error.data)) return error;
  const id = findId(error.data);
  if (id === undefined) return error;
  const { callId, body, data } = error;
  const ref = makeRef({ id, baseURL, createdAt: Date.now(), callId, ...about() });
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
  const call = checkLedger(options);
  const { ledger: _ledger, onUnknown, ...request } = options;
  if (call !== undefined) {
    const content = [submission.content(options), options.extraBody];
    const known = await claim(call, await digestOf(content), onUnknown);
    if (known !== undefined) return { ref: known, call };
  }
  const answer = await submission
    .send(request)
    .withResponse()
    .catch(async (error: unknown) => {
      if (call !== undefined) await enterFailure(call, error);
      throw error;
    });
  const { ref } = answer.data;
  if (call !== undefined) await accept(call, ref);
  return { ref, answer, call };
}

/** Enters what a submission that failed means for its call. */
async function enterFailure(call: LedgerCall, error: unknown): Promise<void> {
  if (VideoSubmitAnswerError.isInstance(error)) return accept(call, error.ref);
  const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
  return finish(call, isUnknown ? 'unknown' : 'not_submitted');
}

/** The same as a call that the ledger may answer: its task is then read instead. */
export function submit(
  transport: Transport,
  submission: Submission,
  given: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  const options = given ?? {};
  if (options.ledger === undefined) return submission.send(options);
  const { ledger: _ledger, onUnknown: _onUnknown, extraBody: _extraBody, ...request } = options;
  const done = submitOnce(transport, submission, options).then(
    ({ ref, answer }) =>
      answer ?? readTask(transport, () => ownTask(transport, ref), request).withResponse(),
  );
  const answer = done.then(({ data, response: read, request_id: requestId }) => {
    // The ledger had to know the task first, so the body was read; this is the same once more.
    const response = Response.json(data.raw, read);
    const parse = () => Promise.resolve(data);
    return { response, requestId: requestId ?? undefined, parse, raw: () => response };
  });
  return new GatewayPromise(answer);
}
