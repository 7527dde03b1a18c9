import { isText } from '../../answers/objects.ts';
import { check } from '../../options/check.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { ImageSubmitUnknownError } from '../../errors/operation-errors.ts';
import { GatewayPromise, type OpenAnswer, readChange } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { copyOptions } from '../../options/snapshot.ts';
import { handOver, type LedgerCall, type TaskKind } from '../../tasks/ledger.ts';
import { type ImageTaskRef, parseImageTaskRef } from '../../tasks/ref.ts';
import {
  comparable,
  createLedgerCall,
  onlyRequest,
  settleCall,
  type Submitter,
} from '../../tasks/submit.ts';
import { shorter } from '../../tasks/wait-options.ts';
import type { JsonObject } from '../../types.ts';
import { ImageFailedError, imageErrors } from './errors.ts';
import type { ImagesResponse } from './types.ts';
import type { ImageRequestOptions } from './wait-options.ts';
import { type OnAccepted, toWaitOptions, waitWith } from './wait.ts';

/** The task kind of images, for ledgers. */
const imageTasks: TaskKind<ImageTaskRef> = {
  parse: parseImageTaskRef,
  errors: imageErrors,
  SubmitUnknown: ImageSubmitUnknownError,
};

/** A validated call for images. */
export interface Submission {
  readonly operation: 'images.generate' | 'images.edit';
  readonly params: object;
  readonly model: string | null | undefined;
}

/** Sends a call for images. `onAccepted` is awaited as soon as the gateway returns a task. */
type Send = (
  options: ImageRequestOptions | undefined,
  onAccepted?: OnAccepted,
) => GatewayPromise<ImagesResponse>;

/** Submits a call for images. With a ledger, each call id is submitted once, even if the process crashes. */
export function submitImages(
  submitter: Submitter,
  submission: Submission,
  given: ImageRequestOptions | undefined,
  send: Send,
): GatewayPromise<ImagesResponse> {
  // The ledger is read before the request is sent; the caller may change its options meanwhile.
  const options = copyOptions(given) ?? {};
  if (options.ledger === undefined) return send(given);
  submitter.transport.checkOptions(submission.operation, options);
  const call = createLedgerCall(imageTasks, submitter.transport, options);
  if (call === undefined) return send(given);
  return new GatewayPromise(submitOnce(submitter, submission, options, call, send));
}

function createRef(
  { baseURL }: Transport,
  { model }: Submission,
  id: string,
  by: { readonly callId: string; readonly requestId: string | undefined },
): ImageTaskRef {
  const ref: ImageTaskRef = { v: 1, kind: 'image', id, baseURL, createdAt: Date.now() };
  const { callId, requestId } = by;
  return Object.assign(ref, model && { model }, { callId }, requestId && { requestId });
}

async function submitOnce(
  submitter: Submitter,
  submission: Submission,
  options: ImageRequestOptions,
  call: LedgerCall<ImageTaskRef>,
  send: Send,
): Promise<OpenAnswer<ImagesResponse>> {
  const { transport } = submitter;
  const { callId = '', onUnknown, extraBody } = options;
  const fields: JsonObject = { ...submission.params };
  const content = [[submission.operation, undefined, ...comparable(fields)], extraBody];
  const known = await call.claim(content, onUnknown, (before, signal) =>
    settleCall(
      submitter,
      { callId: options.callId, signal },
      before,
      submission.model ?? undefined,
      (id, { model, ...by }) => createRef(transport, { ...submission, model }, id, by),
    ),
  );
  try {
    if (known !== undefined) {
      const limits = { totalTimeout: call.remaining };
      const images = await resumeTask(transport, known, { ...options, ...limits });
      await call.finish('completed');
      return opened(images, Response.json(images), known.requestId);
    }
    let isRecorded = false;
    const onAccepted: OnAccepted = (ref) => {
      isRecorded = true;
      return call.accept(ref);
    };
    const sending = send({ ...options, totalTimeout: call.remaining }, onAccepted);
    const answer = await sending.withResponse().catch(async (error: unknown) => {
      if (isRecorded) throw error;
      const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
      await call.finish(isUnknown ? 'unknown' : 'not_submitted', onlyRequest(error));
      throw error;
    });
    const { data, response } = answer;
    const requestId = answer.request_id ?? undefined;
    // These images can't be fetched again, so return them even if the ledger fails.
    if (!isRecorded) {
      const { params } = await readChange(sending);
      const model = isText(params['model']) ? params['model'] : submission.model;
      const made = createRef(transport, { ...submission, model }, callId, { callId, requestId });
      const ref = { ...made, hasImages: true } as const;
      await call.accept(ref).catch(() => {});
    }
    call.reportFailure(transport.client, data);
    await call.finish('completed');
    return opened(data, Response.json(data, response), requestId);
  } catch (error) {
    if (ImageFailedError.isInstance(error)) await call.finish('failed');
    throw error;
  }
}

/** Returns a response whose body was already read for the ledger; `response` has a copy of the body. */
function opened(
  images: ImagesResponse,
  response: Response,
  requestId: string | undefined,
): OpenAnswer<ImagesResponse> {
  return { response, requestId, parse: () => Promise.resolve(images), raw: () => response };
}

/** Waits for a task from a ledger. */
async function resumeTask(
  transport: Transport,
  ref: ImageTaskRef,
  { onSubmitted, ...options }: ImageRequestOptions,
): Promise<ImagesResponse> {
  if (ref.hasImages === true) {
    throw imageErrors.withoutResult(
      `Call ${ref.callId} already returned its images.`,
      'They are paid for, but the ledger does not store images. A new callId creates new ones and is charged again.',
      { ref, state: { polls: 0, status: 'completed' } },
    );
  }
  if (onSubmitted !== undefined) {
    await handOver(ref, onSubmitted, options.signal, imageErrors);
  }
  const wait = toWaitOptions(options);
  const limit = shorter(wait.timeout, options.totalTimeout);
  return waitWith(transport, ref, { ...wait, timeout: limit });
}

/** Rejects a ledger for a stream, because a ledger does not store images. */
export function rejectLedger(options: ImageRequestOptions | undefined): void {
  const problem = 'cannot be combined with stream: true; omit one of them.';
  check(options?.ledger === undefined, 'ledger', problem);
}
