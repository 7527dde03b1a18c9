import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { UnexpectedResponseError } from '../errors/response-error.ts';
import { VideoSubmitAnswerError, VideoSubmitUnknownError } from '../errors/video-error.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { GatewayPromise, type WithResponse } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { isObject } from '../schemas/objects.ts';
import { findId } from '../schemas/video-fields.ts';
import { makeRef, parseVideoTaskRef } from '../tasks/task-ref.ts';
import { adviceToWait, callbackError, summarize } from '../tasks/wait-errors.ts';
import type { VideoSubmitOptions } from '../tasks/wait-options.ts';
import type { SubmitEnd, SubmitLedger } from '../types/submit-ledger.ts';
import type { VideoTask, VideoTaskRef } from '../types/videos.ts';
import { submissionAnswer, unknownAdvice } from './videos-answers.ts';
import { readTask } from './videos-read.ts';

/** A submission, ready to be sent. */
export interface Submission {
  readonly send: (options: RequestOptions) => GatewayPromise<VideoTask>;
  /**
   * What is submitted, to be compared with what was submitted before. Of files only the field counts.
   *
   * @throws `InvalidInputError` when it cannot work
   */
  readonly content: () => unknown;
}

/** What the caller said of a task besides what is sent. */
type About = Pick<VideoTaskRef, 'model' | 'remixOf'>;

/** A submission of an operation. `makeRequest` may throw. */
export function submissionFor<Name extends 'videos.create' | 'videos.remix'>(
  transport: Transport,
  operation: Name,
  makeRequest: () => OperationRequest<Name>,
  about: () => About,
): Submission {
  return {
    send(options) {
      const answer = submissionAnswer(about);
      const call = transport.sendJSON(operation, makeRequest, answer, options);
      const parse: typeof call.reader.parse = (received) =>
        call.reader.parse(received).catch((error: unknown) => {
          throw withRef(error, transport.baseURL, about);
        });
      return new GatewayPromise(call.answer, { ...call.reader, parse });
    },
    content() {
      const { params, json, form } = makeRequest();
      const texts = form?.map(([name, value, purpose]) => [name, purpose === undefined && value]);
      return [operation, params, json, texts];
    },
  };
}

/** An answer that strict validation refuses still names the task, which is paid for. */
function withRef(error: unknown, baseURL: string, about: () => About): unknown {
  if (!UnexpectedResponseError.isInstance(error) || !isObject(error.data)) return error;
  const id = findId(error.data);
  if (id === undefined) return error;
  const { callId } = error;
  const ref = makeRef({ id, baseURL, createdAt: Date.now(), callId, ...about() });
  const message = error.message.replace(` ${error.advice}`, '');
  const init = Object.assign({}, error, { advice: adviceToWait(ref), ref });
  return new VideoSubmitAnswerError(`Video task ${id} was submitted, but ${message}`, init);
}

/** A task that was submitted: now, or before, as the ledger knows. */
interface Submitted {
  readonly ref: VideoTaskRef;
  /** The answer, when it was submitted now. */
  readonly answer?: WithResponse<VideoTask>;
}

/** Submits a task; with a ledger, once for each call id, whatever happens to the process. */
export async function submitOnce(
  submission: Submission,
  { ledger, onUnknown = 'fail', ...options }: VideoSubmitOptions,
): Promise<Submitted> {
  const { callId } = options;
  if (ledger === undefined) {
    const answer = await submission.send(options).withResponse();
    return { ref: answer.data.ref, answer };
  }
  if (callId === undefined) {
    throw new InvalidInputError(
      'callId',
      'is needed with a ledger; give the id of your job, the same at every attempt.',
    );
  }
  const content = [submission.content(), options.extraBody];
  const known = await claim(ledger, callId, await digestOf(content), onUnknown);
  if (known !== undefined) return { ref: known };
  try {
    const answer = await submission.send(options).withResponse();
    const { ref } = answer.data;
    await accept(ledger, callId, ref);
    return { ref, answer };
  } catch (error) {
    if (VideoSubmitAnswerError.isInstance(error)) await accept(ledger, callId, error.ref);
    else {
      const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
      await finish(ledger, callId, isUnknown ? 'unknown' : 'not_submitted');
    }
    throw error;
  }
}

/** The same as a call that the ledger may answer: its task is then read instead. */
export function submit(
  transport: Transport,
  operation: 'videos.create' | 'videos.remix',
  submission: Submission,
  options: VideoSubmitOptions = {},
): GatewayPromise<VideoTask> {
  if (options.ledger === undefined) return submission.send(options);
  const { ledger: _ledger, onUnknown: _onUnknown, extraBody: _extraBody, ...request } = options;
  const done = submitOnce(submission, options).then(
    ({ ref, answer }) =>
      answer ?? readTask(transport, () => ({ ...ref, ref }), request).withResponse(),
  );
  const answer = done.then(({ data, response, request_id: requestId }) => ({
    // The ledger had to know the task first, so the body was read; this is the same once more.
    response: Response.json(data.raw, response),
    requestId: requestId ?? undefined,
    operation,
    callId: options.callId ?? '',
    signal: new AbortController().signal,
  }));
  return new GatewayPromise(answer, {
    parse: async () => (await done).data,
    raw: ({ response }) => response,
  });
}

/** The task that was made of a call before; `undefined` when it may be submitted now. */
async function claim(
  ledger: SubmitLedger,
  callId: string,
  digest: string,
  onUnknown: 'fail' | 'resubmit',
): Promise<VideoTaskRef | undefined> {
  const ask = async (replaces?: string) => {
    try {
      return await ledger.claim(callId, digest, replaces);
    } catch (cause) {
      throw new InvalidInputError('ledger', 'failed to claim the call; nothing was submitted.', {
        cause,
      });
    }
  };
  let found = await ask();
  if (found.status === 'claimed') return undefined;
  if (found.inputHash !== '' && found.inputHash !== digest) {
    throw new InvalidInputError('callId', 'belongs to another submission; give each its own.');
  }
  if ('claimId' in found && found.isAlive !== true && onUnknown === 'resubmit') {
    found = await ask(found.claimId);
    if (found.status === 'claimed') return undefined;
  }
  if ('ref' in found) return parseVideoTaskRef(found.ref);
  const problem =
    found.isAlive === true
      ? 'is being submitted at this moment'
      : 'was submitted before, and it is not known whether that made a task';
  throw new VideoSubmitUnknownError(`Call ${callId} ${problem}.`, {
    callId,
    evidence: { phase: 'sent', attempts: [] },
    advice: `${unknownAdvice} onUnknown: "resubmit" does it all the same.`,
  });
}

async function accept(ledger: SubmitLedger, callId: string, ref: VideoTaskRef): Promise<void> {
  try {
    await ledger.accept(callId, ref);
  } catch (error) {
    throw callbackError('ledger.accept', summarize(ref), error);
  }
}

/** Tells the ledger how a call ended. What is lost when that fails is only told again. */
export async function finish(ledger: SubmitLedger, callId: string, end: SubmitEnd): Promise<void> {
  try {
    await ledger.finish(callId, end);
  } catch {
    // A call that stays claimed is not submitted again, and one that stays accepted is only read.
  }
}

function sortFields(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A digest that does not depend on the order of fields, which databases change. */
async function digestOf(content: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(content, sortFields));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
