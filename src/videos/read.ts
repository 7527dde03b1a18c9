import { ContentNotReadyError } from '../errors/api-errors.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { checkObject, checkText } from '../check.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { videoSchema } from './schema.ts';
import { readStatusWord } from './status.ts';
import { checkBaseURL, isCompleted, makeRef, nameTask, type NamedTask } from './task-ref.ts';
import { failedError } from './wait-errors.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import { pollAnswer } from './answers.ts';

/**
 * What a caller gave for a task of this gateway.
 *
 * @throws `InvalidInputError` when it is no task, or one of another gateway
 */
export function ownTask(transport: Transport, task: VideoTaskLike): NamedTask {
  const named = nameTask(task);
  checkBaseURL(named.ref, transport.baseURL, 'Or give the id alone.');
  return named;
}

/**
 * Checks the options of a download, which are put together before they are sent.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function checkDownload(
  transport: Transport,
  options: (RequestOptions & { readonly variant?: unknown }) | null | undefined,
  more: RequestOptions | undefined,
): void {
  for (const given of [options, more]) {
    checkObject('options', given);
    if (given !== undefined && given !== null) transport.checkOptions(given);
  }
  const variant = options?.variant;
  if (variant === undefined || variant === null) return;
  checkText('variant', variant, 'the name of an asset such as "thumbnail", or leave it out');
}

/** The error of a download, or that of the task when the gateway says in it that this has failed. */
function explainDownload(error: Error, ref: VideoTaskRef): Error | undefined {
  if (!ContentNotReadyError.isInstance(error)) return undefined;
  const [, word] = /current status: *(\w+)/i.exec(error.message) ?? [];
  if (readStatusWord(word).status !== 'failed') return undefined;
  const message = 'The download does not say why; videos.retrieve() may.';
  return failedError(ref, { message }, error.error, error);
}

/**
 * The request for the content of a task.
 *
 * @throws `InvalidInputError` when it is no task, or one of another gateway
 */
export function downloadOf(
  transport: Transport,
  task: VideoTaskLike,
): OperationRequest<'videos.downloadContent'> {
  const { id, route, ref } = ownTask(transport, task);
  const { baseURL } = transport;
  const known = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
  const explain = (error: Error): Error | undefined => explainDownload(error, known);
  return { params: { task_id: id }, download: { isCompleted: isCompleted(task), explain } };
}

/** Reads the status of a task once, on its own route. What `find` throws rejects the promise. */
export function readTask(
  transport: Transport,
  find: () => NamedTask,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  let named: NamedTask;
  try {
    named = find();
  } catch (error) {
    const request = (): never => {
      throw error;
    };
    return transport.call('videos.retrieve', request, jsonAnswer({ schema: videoSchema }), options);
  }
  const { id, route } = named;
  const answer = pollAnswer(named);
  if (route.type === 'openai') {
    return transport.call('videos.retrieve', { params: { task_id: id } }, answer, options);
  }
  const params = { vendor_prefix: route.vendorPrefix, task_id: id };
  return transport.call('videos.retrieveFromVendor', { params }, answer, options);
}
