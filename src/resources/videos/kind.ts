import { defineHidden } from '../../answers/objects.ts';
import { rememberSent, sentBy } from '../../answers/result-places.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { VideoSubmitUnknownError } from '../../errors/operation-errors.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import { pollFormat } from '../../tasks/poll-format.ts';
import { TaskErrors } from '../../tasks/errors.ts';
import {
  VideoFailedError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from './errors.ts';
import { gatewayFor, makeRef, parseVideoTaskRef } from '../../tasks/ref.ts';
import { rememberCompleted, type ResolvedTask, resolveTask } from './ref.ts';
import { restateVideo, videoSchemaFor } from './schema.ts';
import type { VideoTask, VideoTaskRef } from './types.ts';

/** Reads the status of a task once, on its own route or the given one. */
export function readTask(
  transport: Transport,
  { ref, handle }: ResolvedTask,
  options: RequestOptions | undefined,
  route = ref.route,
): GatewayPromise<VideoTask> {
  const { id, trace } = ref;
  const sent = sentBy(handle, ref);
  const format = pollFormat(videoSchemaFor(sent), (task) => {
    // Some gateways forward their provider's body, which contains the provider's id.
    task.id = id;
    task.task_id = id;
    const { model, created_at: created } = task;
    const createdAt = created === undefined ? Date.now() : Math.round(created * 1_000);
    defineHidden(task, 'ref', handle === undefined ? makeRef({ ...ref, createdAt, model }) : ref);
    rememberSent(sent, task.ref);
    if (task.status === 'completed') rememberCompleted(task, task.ref, handle);
    return task;
  });
  const gateway = gatewayFor(transport, ref);
  if (route.type === 'openai') {
    const write = (params: { readonly task_id: string }) => ({ params, trace });
    const parts = { kind: 'json', write, format: () => format } as const;
    return transport.operate('videos.retrieve', { task_id: id }, parts, options, gateway);
  }
  const { vendorPrefix } = route;
  return transport.operate(
    'videos.retrieveFromVendor',
    { vendor_prefix: vendorPrefix, task_id: id },
    { kind: 'json', write: (params) => ({ params, trace }), format: () => format },
    options,
    gateway,
  );
}

/** The route that returns the gateway's own record of a task, for any vendor, unless its profile excludes it. */
const vendorRoute = { type: 'vendor', vendorPrefix: 'kling' } as const;

/** Returns the advice for a task that continues. */
export function adviceToWait({ id, route }: VideoTaskRef, isShown: boolean): string {
  const named = route.type === 'openai' && isShown ? JSON.stringify(id) : 'error.ref';
  return `The task was not cancelled: it may still finish and be charged. Wait for it again with videos.wait(${named}).`;
}

export const videoErrors = /* @__PURE__ */ new TaskErrors<VideoTaskRef, VideoFailedError>({
  task: 'Video task',
  advice: adviceToWait,
  missingAdvice: 'Check the id, and that baseURL is the gateway that issued it.',
  Wait: VideoWaitError,
  WaitTimeout: VideoWaitTimeoutError,
  WaitAborted: VideoWaitAbortedError,
  Failed: VideoFailedError,
});

export const videoTasks: TaskKind<VideoTaskRef, VideoTask> = {
  parse: parseVideoTaskRef,
  resolve: resolveTask,
  read: readTask,
  recordReader(transport, { ref }) {
    const { unsupported } = gatewayFor(transport, ref)?.profile ?? {};
    const isServed = unsupported?.['videos.retrieveFromVendor'] === undefined;
    if (ref.route.type !== 'openai' || !isServed) return undefined;
    return (caller, target, options) => readTask(caller, target, options, vendorRoute);
  },
  restate: restateVideo,
  errors: videoErrors,
  SubmitUnknown: VideoSubmitUnknownError,
};
