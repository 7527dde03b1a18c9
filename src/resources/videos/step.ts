import { defineHidden } from '../../answers/objects.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { pollAnswer } from '../../tasks/poll-answer.ts';
import { type WaitedKind, WaitRun } from '../../tasks/run.ts';
import { WaitScope } from '../../tasks/scope.ts';
import { toWaitSettings } from '../../tasks/wait-options.ts';
import { videoErrors } from './errors.ts';
import { gatewayFor, makeRef } from '../../tasks/ref.ts';
import { resolveTask, rememberCompleted, resolveOwnTask, type ResolvedTask } from './ref.ts';
import { restateVideo, videoSchema } from './schema.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import type { VideoWaitState } from './wait-options.ts';

/** Reads the status of a task once, on its own route or the given one. */
export function readTask(
  transport: Transport,
  { ref, handle }: ResolvedTask,
  options: RequestOptions | undefined,
  route = ref.route,
): GatewayPromise<VideoTask> {
  const { id, trace } = ref;
  const answer = pollAnswer(videoSchema, (task) => {
    // Some gateways forward their provider's body, which contains the provider's id.
    task.id = id;
    task.task_id = id;
    const { model, created_at: created } = task;
    const createdAt = created === undefined ? Date.now() : Math.round(created * 1_000);
    defineHidden(task, 'ref', handle === undefined ? makeRef({ ...ref, createdAt, model }) : ref);
    if (task.status === 'completed') rememberCompleted(task.url, task.ref, handle);
    return task;
  });
  const gateway = gatewayFor(transport, ref);
  if (route.type === 'openai') {
    const write = (params: { readonly task_id: string }) => ({ params, trace });
    const parts = { kind: 'json', write, format: () => answer } as const;
    return transport.operate('videos.retrieve', { task_id: id }, parts, options, gateway);
  }
  const { vendorPrefix } = route;
  return transport.operate(
    'videos.retrieveFromVendor',
    { vendor_prefix: vendorPrefix, task_id: id },
    { kind: 'json', write: (params) => ({ params, trace }), format: () => answer },
    options,
    gateway,
  );
}

/** The route that returns the gateway's own record of a task, for any vendor. */
const vendorRoute = { type: 'vendor', vendorPrefix: 'kling' } as const;

/** State shared by the waits of one call. */
export class VideoScope extends WaitScope<VideoTask> {
  readonly #transport: Transport;
  readonly #allowsOthers: boolean;
  readonly #kind: WaitedKind<VideoTask, VideoTaskRef, ResolvedTask> = {
    reader: (task) => (options) => readTask(this.#transport, task, options).withResponse(),
    recordReader: (task) =>
      task.ref.route.type === 'openai'
        ? (options) => readTask(this.#transport, task, options, vendorRoute).withResponse()
        : undefined,
    restate: restateVideo,
    errors: videoErrors,
  };

  /**
   * @param options - The checked options of the method.
   * @param leaveSignal - Aborted when the caller leaves the loop.
   */
  constructor(
    transport: Transport,
    options: Parameters<typeof toWaitSettings<VideoTask>>[0] & {
      readonly allowOtherBaseURL: boolean;
    },
    leaveSignal?: AbortSignal,
  ) {
    super(toWaitSettings(options), leaveSignal);
    this.#transport = transport;
    this.#allowsOthers = options.allowOtherBaseURL;
  }

  /** Resolves the caller's task. Rejects a handle from another gateway, unless it is allowed. */
  resolveTask(task: VideoTaskLike): ResolvedTask {
    if (this.#allowsOthers) return resolveTask(task, this.#transport.baseURL);
    return resolveOwnTask(this.#transport, task, 'Or set allowOtherBaseURL: true.');
  }

  /**
   * Creates the wait for a task.
   *
   * @param stored - The state of a wait to continue; it polls immediately.
   * @param isNew - `true` if the task may just have been submitted, at the time in its handle.
   * @param since - See `WaitRun`.
   */
  run(
    task: ResolvedTask,
    stored?: VideoWaitState,
    isNew = task.handle !== undefined,
    since?: number,
  ): WaitRun<VideoTask, VideoTaskRef, ResolvedTask> {
    const submittedAt = isNew ? task.ref.createdAt : undefined;
    return new WaitRun(this, this.#kind, task, submittedAt, stored, since);
  }
}
