import { readValue } from '../../answers/reader.ts';
import { check, checkDuration, checkFunction, checkLimit } from '../../options/check.ts';
import { APIError } from '../../errors/api-errors.ts';
import { explained } from '../../errors/operation-errors.ts';
import type { CallScope } from '../../http/abort.ts';
import type { Follow } from '../../http/request.ts';
import { ReadFailure, unusable } from '../../http/response-body.ts';
import type { Transport } from '../../calls/transport.ts';
import { displayURL } from '../../http/url.ts';
import { handOver } from '../../tasks/ledger.ts';
import { checkTaskId, type ImageTaskRef, parseImageTaskRef } from '../../tasks/ref.ts';
import { type WaitedKind, WaitRun } from '../../tasks/run.ts';
import { WaitScope } from '../../tasks/scope.ts';
import type { WaitSettings } from '../../tasks/types.ts';
import { checkState } from '../../tasks/wait.ts';
import type { JsonObject } from '../../types.ts';
import { ImageWaitError, ImageWaitTimeoutError, imageErrors } from './errors.ts';
import { foreignResult, type ImageTask, pollImages, restateImage } from './poll.ts';
import { imagesSchema } from './schema.ts';
import { type AcceptedTask, findAcceptedTask } from './task.ts';
import type { ImagesResponse } from './types.ts';
import type {
  ImageRequestOptions,
  ImageWaitOptions,
  ImageWaitState,
  ImageWaitStep,
} from './wait-options.ts';

/** Polling intervals, in milliseconds. Images usually take seconds, or a minute. */
const interval = { first: 2_000, min: 2_000, max: 10_000, factor: 1.25, jitter: 0.2 } as const;

/** Time limit of each attempt of a poll, and time during which a new task may be missing, in milliseconds. */
const longestPoll = 30_000;

/** Time limit of a wait, in milliseconds. */
export const defaultTaskTimeout = 600_000;

/** Checks the options of a wait and applies defaults. */
function resolveWait(options: ImageWaitOptions): WaitSettings<ImageTask> {
  const { signal, headers, query, fetchOptions, maxRetries } = options;
  const { timeout = longestPoll, taskTimeout = defaultTaskTimeout } = options;
  return {
    interval,
    timeout: checkLimit('taskTimeout', taskTimeout),
    pollTimeout: Math.min(longestPoll, checkDuration('timeout', timeout)),
    notFoundGrace: longestPoll,
    maxConsecutiveErrors: 10,
    unknownStatus: 'keep-waiting',
    signal,
    request: { headers, query, fetchOptions, maxRetries },
  };
}

/** Checks the task options of a call for images before it is sent. */
export function checkTaskOptions(options: ImageRequestOptions | undefined): void {
  const { taskTimeout, onSubmitted } = options ?? {};
  checkFunction('onSubmitted', onSubmitted);
  resolveWait({ taskTimeout });
}

interface ImageTarget {
  readonly ref: ImageTaskRef;
}

/**
 * Begins the wait for a task.
 *
 * @param submittedAt - `undefined` if the time of the submission is unknown.
 */
const beginRun = (
  transport: Transport,
  scope: WaitScope<ImageTask>,
  ref: ImageTaskRef,
  submittedAt: number | undefined,
  state?: ImageWaitState,
): WaitRun<ImageTask, ImageTaskRef, ImageTarget> => {
  const kind: WaitedKind<ImageTask, ImageTaskRef, ImageTarget> = {
    reader: (target) => (options) => pollImages(transport, target.ref, options),
    restate: restateImage,
    errors: imageErrors,
  };
  return new WaitRun(scope, kind, { ref }, submittedAt, state);
};

/**
 * Returns the response of a completed task.
 *
 * @throws `ImageWaitError` if it holds no image
 */
function getAnswer(ref: ImageTaskRef, task: ImageTask): JsonObject {
  if (task.images !== undefined) return task.images;
  const resultURL = foreignResult(task);
  const problem =
    resultURL === undefined
      ? 'and its response contains no image'
      : `and its result is at ${resultURL}, to which the key is not sent`;
  const { status, raw_status: rawStatus } = task;
  throw imageErrors.withoutResult(
    `Image task ${ref.id} is completed, ${problem}.`,
    'It is paid for: fetch the result from the gateway with error.ref.id.',
    { ref, state: { polls: 1, status, rawStatus } },
  );
}

/** Converts the response to a poll to the result of an image call. */
function toImages(transport: Transport, answer: JsonObject): ImagesResponse {
  const { drift } = transport.client;
  return readValue(answer, imagesSchema, {
    validation: 'tolerant',
    onIssue: (issue) => drift.report('images.wait', issue),
  });
}

/** Reads the handle or the id of a task that the caller passed, and checks that it is for this gateway. */
function readRef(transport: Transport, task: ImageTaskRef | string): ImageTaskRef {
  const { baseURL } = transport;
  if (typeof task === 'string') {
    return { v: 1, kind: 'image', id: checkTaskId('ref', task), baseURL, createdAt: Date.now() };
  }
  const ref = parseImageTaskRef(task);
  const problem = `is ${ref.baseURL}, but this client calls ${baseURL}. Use a client of that gateway.`;
  check(ref.baseURL === baseURL, 'ref.baseURL', problem);
  check(ref.hasImages !== true, 'ref', 'is a handle of images that were returned without a task.');
  return ref;
}

/** Returns when a task was submitted; `undefined` if only its id is known. */
const getSubmittedAt = (task: ImageTaskRef | string): number | undefined =>
  typeof task === 'string' ? undefined : task.createdAt;

function createScope(transport: Transport, options: ImageWaitOptions): WaitScope<ImageTask> {
  transport.checkNames(options);
  // Plain JavaScript callers may pass `null`.
  const settings = resolveWait(options ?? {});
  transport.checkOptions({ ...settings.request, signal: settings.signal });
  return new WaitScope(settings);
}

/** Waits for images that are generated by a task. */
export async function waitForImages(
  transport: Transport,
  task: ImageTaskRef | string,
  options: ImageWaitOptions,
): Promise<ImagesResponse> {
  const scope = createScope(transport, options);
  try {
    const ref = readRef(transport, task);
    return toImages(
      transport,
      getAnswer(ref, await beginRun(transport, scope, ref, getSubmittedAt(task)).untilDone()),
    );
  } finally {
    scope.close();
  }
}

/** Polls once and returns the next action. */
export async function stepImages(
  transport: Transport,
  task: ImageTaskRef | string,
  before: ImageWaitState | undefined,
  options: ImageWaitOptions,
): Promise<ImageWaitStep> {
  const scope = createScope(transport, options);
  try {
    const ref = readRef(transport, task);
    const run = beginRun(
      transport,
      scope,
      ref,
      getSubmittedAt(task),
      checkState(before, scope.now),
    );
    const { state, next, pollError } = await run.step();
    if (!('result' in next)) return { state, next, pollError };
    try {
      return { state, next: { images: toImages(transport, getAnswer(ref, next.result)) } };
    } catch (error) {
      if (!ImageWaitError.isInstance(error)) throw error;
      return { state, next: { error } };
    }
  } finally {
    scope.close();
  }
}

/** Query parameters that are secrets. They are removed: handles hold no secrets, and polls use the key. */
const secretName = /key|token|secret|sig|credential|auth|password/i;

/** Returns the status path of a task below the gateway origin; `undefined` if the key may not be sent there. */
function toPollPath(
  { address, ids }: AcceptedTask,
  calledURL: string,
  baseURL: string,
): string | undefined {
  if (address === undefined || !URL.canParse(address, calledURL)) return undefined;
  const { origin, pathname, searchParams } = new URL(address, calledURL);
  if (origin !== new URL(baseURL).origin) return undefined;
  const shown = [...searchParams].filter(([name]) => !secretName.test(name));
  const query = new URLSearchParams(shown).toString();
  const whole = query === '' ? pathname : `${pathname}?${query}`;
  const [id = ''] = ids;
  const path = whole.split(encodeURIComponent(id)).join('{id}');
  return path.includes('{id}') || ids.length === 1 ? path : undefined;
}

/** Called with the handle of a task before it is polled. */
export type OnAccepted = (ref: ImageTaskRef) => Promise<void>;

/**
 * Waits for a task that is returned instead of images.
 *
 * @param model - The requested model.
 * @param onAccepted - Records the task in a ledger.
 */
export function followTask(
  transport: Transport,
  model: string | null | undefined,
  options: ImageRequestOptions | undefined,
  onAccepted: OnAccepted | undefined,
): Follow {
  return (value, call, { response, requestId, text }) => {
    const task = findAcceptedTask(value, response);
    if (task === undefined) return undefined;
    const [id] = task.ids;
    if (id === undefined) {
      const problem =
        'the response contains neither a task nor an image. The images may be paid for.';
      const failed = unusable({ response, requestId }, problem, text);
      throw new ReadFailure({ ...failed, kind: 'undecided' });
    }
    const { baseURL, gateway } = transport;
    const name = gateway?.profile.name;
    const path = toPollPath(task, call.url, baseURL);
    const ref: ImageTaskRef = { v: 1, kind: 'image', id, baseURL, createdAt: Date.now() };
    Object.assign(ref, {
      ...(task.ids.length > 1 && { ids: task.ids }),
      ...(path !== undefined && { path }),
      ...(model && { model }),
      callId: call.id,
      ...(requestId !== undefined && { requestId }),
      ...(name !== undefined && name !== 'new-api' && { gateway: name }),
      ...(call.trace !== undefined && { trace: call.trace }),
    });
    // The time limit of the attempt applies to the submission, not to the wait.
    call.scope.endAttempt();
    return waitWithin(transport, ref, options ?? {}, call.scope, onAccepted).catch(
      (error: unknown) => {
        throw withPlace(error, task, path);
      },
    );
  };
}

/** Adds the status URL, to which no request was sent, to the error of a task that no route knows. */
function withPlace(error: unknown, { address }: AcceptedTask, path: string | undefined): unknown {
  if (!ImageWaitError.isInstance(error) || address === undefined || path !== undefined) {
    return error;
  }
  const sentence = `Its response contains the URL ${displayURL(address)}, to which the key is not sent.`;
  error.message = error.message.replace(error.advice, `${sentence} ${error.advice}`);
  return error;
}

/** Waits for a task within the time limit and the signal of the call that submitted it. */
async function waitWithin(
  transport: Transport,
  ref: ImageTaskRef,
  options: ImageRequestOptions,
  call: CallScope,
  onAccepted: OnAccepted | undefined,
): Promise<JsonObject> {
  const { onSubmitted } = options;
  const { signal } = call.controller;
  const scope = new WaitScope({ ...resolveWait(options), signal: undefined }, signal);
  try {
    await onAccepted?.(ref);
    if (onSubmitted !== undefined) {
      await handOver('onSubmitted', ref, onSubmitted, signal, imageErrors);
    }
    return getAnswer(ref, await beginRun(transport, scope, ref, ref.createdAt).untilDone());
  } catch (error) {
    if (call.stopped !== 'total' || !ImageWaitError.isInstance(error)) throw error;
    const message = `Image task ${ref.id} did not finish within the totalTimeout of its call.`;
    throw new ImageWaitTimeoutError(message, Object.assign({}, error, { cause: undefined }));
  } finally {
    scope.close();
  }
}

/** Adds advice to errors of calls that exceeded the timeout of a proxy. */
export function explainImages(error: Error): Error | undefined {
  if (!APIError.isInstance(error) || (error.status !== 504 && error.status !== 524)) {
    return undefined;
  }
  const advice = `For slow images behind a proxy, use stream: true, or a model or route that returns a task. ${error.advice}`;
  return explained(error, /^/, advice);
}
