import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { ReadOptions } from '../../options/options.ts';
import { download } from './downloads.ts';
import { VideoFailedError } from './errors.ts';
import * as operations from './operations.ts';
import { checkTaskId, checkVendorPrefix, makeRef } from '../../tasks/ref.ts';
import { WaitScope } from '../../tasks/scope.ts';
import { stepTask, waitFor, watchTask } from '../../tasks/wait.ts';
import { createSubmission, remixSubmission, submit } from './submit.ts';
import { readTask, videoTasks } from './kind.ts';
import { resolveOwnTask } from './ref.ts';
import { copyEach, copyOptions, copyTasks } from '../../options/snapshot.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
  VideoVendorParams,
} from './types.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoDownloadOptions,
  VideoRemixAndWaitOptions,
  VideoRemixOptions,
  VideoSubmitOptions,
  VideoWaitAllOptions,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './wait-options.ts';

/**
 * Video tasks: submit, wait, download, remix.
 *
 * A submission consumes credit, and is repeated only if it provably was not sent or was rejected before any work. All
 * other methods only read: repeat them at will, from any process that has the task's id or handle.
 */
export class Videos {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    // A task exists at one gateway only, so a wait keeps the base URL and key that the client has now.
    this.transport = () => transport().snapshot();
  }

  /**
   * Submits a video task: `POST /v1/videos`. Returns when the gateway has accepted it, before the video is made.
   *
   * Consumes credit. Sent once: it is repeated only if it was provably not sent, or rejected before any
   * work. Sent as a form, because many gateways ignore `seconds` in JSON and charge for another length;
   * see the option `bodyFormat`.
   *
   * @throws `InvalidInputError` before anything is sent, if model or prompt is missing or the reference is
   * not a usable file or text
   * @throws `VideoSubmitUnknownError` if it is unknown whether the task was created
   * @throws `LedgerError` if the `ledger` cannot be accessed; nothing is sent
   *
   * @example
   * const task = await client.videos.create({ model: 'sora-2', prompt: 'A paper boat', seconds: 8 });
   * await save(task.ref);
   */
  create(params: VideoCreateParams, options?: VideoSubmitOptions): GatewayPromise<VideoTask> {
    return startCall(params, () => {
      const transport = this.transport();
      return submit(transport, createSubmission(transport, params), options);
    });
  }

  /**
   * Reads the status of a task once: `GET /v1/videos/{task_id}`. Free.
   *
   * A handle is read on the route that it holds. A handle from another gateway is rejected.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   */
  retrieve(task: VideoTaskLike, options?: ReadOptions): GatewayPromise<VideoTask> {
    return startCall(task, () => {
      const transport = this.transport();
      return readTask(transport, resolveOwnTask(transport, task), options);
    });
  }

  /**
   * Reads the status of a text-to-video task on a vendor's own route:
   * `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. Free.
   *
   * The handle of the task holds the route, so `wait(task.ref)` uses it as well.
   *
   * @throws `InvalidInputError` if the prefix is not one path segment
   *
   * @example
   * const task = await client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId });
   */
  retrieveFromVendor(params: VideoVendorParams, options?: ReadOptions): GatewayPromise<VideoTask> {
    return startCall(params, () => {
      const transport = this.transport();
      const vendorPrefix = checkVendorPrefix('vendorPrefix', params?.vendorPrefix);
      const id = checkTaskId('taskId', params.taskId);
      const route = { type: 'vendor', vendorPrefix } as const;
      const ref = makeRef({ id, route, baseURL: transport.baseURL, createdAt: 0 });
      return readTask(transport, { ref }, options);
    });
  }

  /**
   * Downloads the content of a completed task: `GET /v1/videos/{task_id}/content`. Free.
   *
   * The body is a stream and is not buffered. It fails if it is truncated or idle for longer than
   * `idleTimeout`. Gateways spend at most about a minute on a download and often ignore `Range`, so check
   * the response status when you request a range. The key is never forwarded to another host.
   *
   * Gateways limit downloads per minute (often to ten) and reject further ones with an empty 429. After
   * such a response, all downloads of this client wait for up to a minute; then they start 6 s apart, or as
   * soon as one succeeds. `maxRetries: 0` turns these waits off.
   *
   * If the route fails for good (403, 404, 405, 410, 501, a page instead of a file) or its retries are used up, the
   * video is fetched from the URL in its task, without the key; `resultURL: false` turns that off. The URL must be a
   * public https URL or on the gateway's origin. If `task` is an id or a handle that was not read before, the task is
   * read for it. A completed task without such a URL is retried after a 404 or 502 for up to 30 s.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   * @param more - Options for the request, for calls whose second argument has only `variant`.
   * @throws `ContentNotReadyError` if the task is not completed yet
   * @throws `ContentUnavailableError` if the URL in the task fails too, or a completed task has none; `error.url` is
   * that URL
   * @throws `ContentExpiredError` if the content is gone, as its subclass
   * @throws `VideoFailedError` if the task failed; `retrieve` may return the reason
   * @throws `UnexpectedResponseError` if the response is not a file, or on Node has a content coding such as
   * gzip although none was requested: Node does not report when such a body is truncated
   *
   * @example
   * const response = await client.videos.downloadContent(task);
   * await response.body.pipeTo(target);
   */
  downloadContent(
    task: VideoTaskLike,
    options?: VideoDownloadOptions | null,
    more?: ReadOptions,
  ): GatewayPromise<Response> {
    return startCall(options, () => download(this.transport(), task, options, more));
  }

  /**
   * Submits a new version of an existing video: `POST /v1/videos/{video_id}/remix`. Returns when the gateway has accepted it.
   *
   * Consumes credit, depending on the length and size of the original. Sent once, like `create`. Models
   * that cannot remix may make, and charge for, a new video from the prompt alone, without an error.
   *
   * @param task - The original: its id, its handle or the task.
   * @throws `InvalidInputError` if the prompt is blank
   * @throws `VideoSubmitUnknownError` if it is unknown whether the task was created
   * @throws `LedgerError` if the `ledger` cannot be accessed; nothing is sent
   */
  remix(
    task: VideoTaskLike,
    params: VideoRemixParams,
    options?: VideoRemixOptions,
  ): GatewayPromise<VideoTask> {
    return startCall(params, () => {
      const transport = this.transport();
      return submit(transport, remixSubmission(transport, task, params), options);
    });
  }

  /**
   * Waits until a task is completed. Only reads, so it is free and safe to repeat, from any process.
   *
   * Temporary failures of polls do not end the wait, and neither does an unknown status. Aborting stops the
   * wait immediately; the task itself continues, because gateways cannot cancel it.
   *
   * A failure is final once the next poll confirms it or the wait ends first, and immediately if its reason
   * is moderation or bad input. An error in place of a status is a failure if 3 polls over at least 30
   * seconds repeat it. While a task has been `unknown` for 2 minutes or more, the gateway's own record
   * (`/kling/v1/videos/text2video/{task_id}`) is read as well, at most once a minute, unless its profile excludes
   * `videos.retrieveFromVendor`; only a failure in it counts.
   *
   * @param task - The id, the handle (`task.ref`, also from another process) or the task.
   * @returns The completed task. Download its content with `downloadContent`.
   * @throws `VideoFailedError` if the task failed
   * @throws `VideoWaitTimeoutError` if `timeout` passed; the task continues
   * @throws `VideoWaitAbortedError` if `signal` was aborted; the task continues
   * @throws `VideoWaitError` if the status cannot be read; the task may continue
   * @throws `InvalidInputError` if an option is invalid, or the handle is from another gateway
   *
   * @example
   * const ref = parseVideoTaskRef(JSON.parse(row.ref));
   * const task = await client.videos.wait(ref, { onUpdate: ({ progress }) => show(progress) });
   */
  async wait(task: VideoTaskLike, options: VideoWaitOptions = {}): Promise<VideoTask> {
    const scope = openScope(this.transport(), 'videos.wait', copyOptions(options));
    return (await waitFor(scope, task)).task;
  }

  /**
   * Watches a task until it has ended: the same as `wait`, as a sequence of events.
   *
   * Begins with `submitted`, which holds the handle, and ends after `completed` or `failed`. Leaving the
   * loop stops the wait immediately; the task continues.
   *
   * @param task - The id, the handle (`task.ref`, also from another process) or the task.
   * @throws the same errors as `wait`, except that a failed task is an event instead of an error
   *
   * @example
   * for await (const event of client.videos.watch(task)) {
   *   if (event.type === 'update') show(event.progress);
   * }
   */
  watch(
    task: VideoTaskLike,
    options: VideoWaitOptions = {},
  ): AsyncGenerator<VideoWatchEvent, void, undefined> {
    const transport = this.transport();
    const copied = copyOptions(options);
    return endOnReturn((leaveSignal) =>
      watchTask(openScope(transport, 'videos.watch', copied, leaveSignal), task, hasFailed),
    );
  }

  /**
   * Waits for many tasks at once, and yields each result as soon as its wait has ended or failed. Only reads.
   *
   * All waits share a limit of polls per second and one abort listener; each wait has one timer and takes a
   * few kilobytes. Leaving the loop stops all waits. An error of one task is its result, and an abort is the
   * result of every unfinished task; an abort before the first wait has begun is thrown.
   *
   * @param tasks - Ids, handles or tasks. All waits start at once, so the list must be finite.
   * @throws `InvalidInputError` if an option is invalid
   *
   * @example
   * for await (const { task, video, error } of client.videos.waitAll(refs)) {
   *   if (video !== undefined) await save(video);
   *   else console.error(task, error);
   * }
   */
  waitAll(
    tasks: Iterable<VideoTaskLike>,
    options: VideoWaitAllOptions = {},
  ): AsyncGenerator<VideoWaitResult, void, undefined> {
    const transport = this.transport();
    const takeTasks = copyTasks(tasks);
    const copied = copyOptions(options);
    return endOnReturn((leaveSignal) =>
      operations.waitAll(transport, takeTasks, copied, leaveSignal),
    );
  }

  /**
   * Polls once, or also reads the gateway's own record as described for `wait`, and returns what follows: a
   * pause, the completed task, or the error that ends the wait. `wait` and similar methods are loops around
   * it.
   *
   * The state is plain JSON, so that a job queue or a workflow engine can do the waiting: store it and pass
   * it to the next step, in any process. The timeout starts at the first step and uses the system clock.
   * Wait about five seconds before the first step of a new task.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   * @param state - The state that the previous step returned; omit it at the first step.
   * @throws `VideoWaitAbortedError` if `signal` was aborted; the step can be repeated
   * @throws `InvalidInputError` if an option is invalid, or the handle is from another gateway
   *
   * @example
   * const { state, next } = await client.videos.step(job.ref, job.state);
   * if ('delayMs' in next) await queue.runAgain({ ...job, state }, next.delayMs);
   * else if ('video' in next) await save(next.video);
   * else throw next.error;
   */
  async step(
    task: VideoTaskLike,
    state?: VideoWaitState,
    options: VideoWaitOptions = {},
  ): Promise<VideoWaitStep> {
    const scope = openScope(this.transport(), 'videos.step', copyOptions(options));
    const { next, state: after, task: found, pollError } = await stepTask(scope, task, state);
    const result = 'result' in next ? { video: next.result } : next;
    return { state: after, next: result, task: found, pollError };
  }

  /**
   * Submits a video task and waits until it is completed.
   *
   * Consumes credit, and submits once: see `create` and `wait` for details and errors. Save the handle in
   * `onSubmitted`, so that a crash cannot lose a paid video. With a `ledger`, calling it again with the
   * same `callId` continues with the existing task.
   *
   * @example
   * const task = await client.videos.createAndWait(
   *   { model: 'sora-2', prompt: 'A paper boat' },
   *   { onSubmitted: (ref) => database.save(ref) },
   * );
   */
  async createAndWait(
    params: VideoCreateParams,
    options: VideoCreateAndWaitOptions = {},
  ): Promise<VideoTask> {
    const transport = this.transport();
    const submission = createSubmission(transport, params);
    const method = 'videos.createAndWait';
    return operations.submitAndWait(transport, method, submission, copyOptions(options));
  }

  /**
   * Submits a task for each item of a list and waits for all of them. Yields each result as soon as the
   * task has ended or failed.
   *
   * Consumes credit for each task, and submits each once: see `createAndWait`. Tasks start in order,
   * `concurrency` at a time: the next is submitted once one has ended and its result was consumed. All
   * share a limit of polls per second. An error of one task is its result, and the others continue.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * affect submissions that are still to be sent.
   *
   * Aborting `signal` or leaving the loop ends all waits and prevents further submissions. Tasks that were
   * already submitted continue; `onSubmitted` has received their handles.
   *
   * @param params - A list with the parameters of each task. All are checked before the first is submitted.
   * @param options - `concurrency` (4) and `onProgress`, and the options for `createAndWait` and `waitAll`.
   * @throws `InvalidInputError` if an option is invalid, or parameters are, naming their position in the
   * list, such as `params[3].prompt`; nothing is sent
   *
   * @example
   * for await (const { index, video, error } of client.videos.createAndWaitAll(params)) {
   *   if (video !== undefined) await save(video);
   *   else console.error(params[index], error);
   * }
   */
  createAndWaitAll(
    params: Iterable<VideoCreateParams>,
    options: VideoCreateAndWaitAllOptions = {},
  ): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
    const transport = this.transport();
    const takeParams = copyEach(params);
    const copied = copyOptions(options);
    return endOnReturn((leaveSignal) =>
      operations.createAndWaitAll(transport, takeParams, copied, leaveSignal),
    );
  }

  /** Submits a new version of an existing video and waits until it is completed. See `remix`. */
  async remixAndWait(
    task: VideoTaskLike,
    params: VideoRemixParams,
    options: VideoRemixAndWaitOptions = {},
  ): Promise<VideoTask> {
    const transport = this.transport();
    const submission = remixSubmission(transport, task, params);
    const method = 'videos.remixAndWait';
    return operations.submitAndWait(transport, method, submission, copyOptions(options));
  }
}

/** Checks the options of a wait for one task, and opens its scope. */
function openScope(
  transport: Transport,
  method: 'videos.wait' | 'videos.watch' | 'videos.step',
  options: VideoWaitOptions,
  leaveSignal?: AbortSignal,
): WaitScope<VideoTaskRef, VideoTask> {
  const checked = transport.checkOptions(method, options);
  return new WaitScope(videoTasks, transport, checked, leaveSignal);
}

const hasFailed = (error: unknown): error is VideoFailedError => VideoFailedError.isInstance(error);

/**
 * Runs a generator so that its pending wait ends as soon as the caller leaves the loop: on its own, a
 * generator handles `return()` only at its next `yield`.
 *
 * @param start - Receives a signal that is aborted when the caller leaves.
 */
function endOnReturn<Event>(
  start: (leaveSignal: AbortSignal) => AsyncGenerator<Event, void, undefined>,
): AsyncGenerator<Event, void, undefined> {
  const controller = new AbortController();
  const { signal: leaveSignal } = controller;
  const run = async function* (): AsyncGenerator<Event, void, undefined> {
    try {
      for await (const event of start(leaveSignal)) {
        if (leaveSignal.aborted) return;
        yield event;
      }
    } catch (error) {
      // Leaving aborts the pending poll, which is not a failure.
      if (!leaveSignal.aborted) throw error;
    }
  };
  const events = run();
  const end = events.return.bind(events);
  events.return = (value) => {
    controller.abort();
    return end(value);
  };
  return events;
}
