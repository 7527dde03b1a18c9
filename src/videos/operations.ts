import { checkObject, checkText } from '../check.ts';
import { ContentNotReadyError } from '../errors/api-errors.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { Download, DownloadLine } from './downloads.ts';
import { failedError } from './errors.ts';
import {
  checkTaskId,
  checkVendorPrefix,
  isCompleted,
  makeRef,
  type NamedTask,
  ownTask,
} from './ref.ts';
import { readStatusWord } from './status.ts';
import { readTask } from './step.ts';
import { creation, remixFields, submit, type Submission } from './submit.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
  VideoVendorParams,
} from './types.ts';
import type { VideoDownloadOptions, VideoSubmitOptions } from './wait-options.ts';
import { fileAnswer } from '../uploads/file-answer.ts';

export { stepTask, submitAndWait, waitFor, watch } from './loops.ts';
export { creation } from './submit.ts';
export { createAndWaitAll, waitAll } from './many.ts';

/** A new version of a task, to be submitted. */
export function remixing(
  transport: Transport,
  task: VideoTaskLike,
  params: VideoRemixParams,
): Submission {
  return {
    operation: 'videos.remix',
    read: () => {
      const fields = remixFields(params);
      const { id, ref } = ownTask(transport, task);
      return { fields, remixOf: id, model: ref?.model, origin: ref?.trace };
    },
  };
}

export function create(
  transport: Transport,
  params: VideoCreateParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(transport, creation(params), options);
}

export function remix(
  transport: Transport,
  task: VideoTaskLike,
  params: VideoRemixParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(transport, remixing(transport, task, params), options);
}

export function retrieve(
  transport: Transport,
  task: VideoTaskLike,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  return readTask(transport, ownTask(transport, task), options);
}

export function retrieveFromVendor(
  transport: Transport,
  params: VideoVendorParams,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  const vendorPrefix = checkVendorPrefix('vendorPrefix', params?.vendorPrefix);
  const id = checkTaskId('taskId', params.taskId);
  const named: NamedTask = { id, route: { type: 'vendor', vendorPrefix }, ref: undefined };
  return readTask(transport, named, options);
}

/** The line of each client's downloads, or of several clients, by what they have in common. */
const lines = new WeakMap<object, DownloadLine>();

export function download(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoDownloadOptions | null | undefined,
  more: RequestOptions | undefined,
): GatewayPromise<Response> {
  const line = lines.get(transport.calls) ?? new DownloadLine();
  lines.set(transport.calls, line);
  const { variant, ...own } = options ?? {};
  const { baseURL } = transport;
  return transport.call(
    'videos.downloadContent',
    () => {
      for (const given of [options, more]) {
        checkObject('options', given);
        transport.checkOptions(given ?? {});
      }
      if (variant !== undefined && variant !== null) {
        checkText('variant', variant, 'the name of an asset such as "thumbnail", or leave it out');
      }
      const { id, route, ref } = ownTask(transport, task);
      const known = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
      const explain = (error: Error): Error | undefined => explainDownload(error, known);
      const rules = new Download(line, isCompleted(task), explain);
      return { params: { task_id: id }, trace: ref?.trace, download: rules };
    },
    fileAnswer(),
    { ...own, ...more, query: { ...own.query, ...more?.query, variant } },
  );
}

/** The error of the task, when the answer to a download says that it failed. */
function explainDownload(error: Error, ref: VideoTaskRef): Error | undefined {
  if (!ContentNotReadyError.isInstance(error)) return undefined;
  const [, word] = /current status: *(\w+)/i.exec(error.message) ?? [];
  if (readStatusWord(word).status !== 'failed') return undefined;
  const message = 'The download does not say why; videos.retrieve() may.';
  return failedError(ref, { message }, error.error, error);
}
