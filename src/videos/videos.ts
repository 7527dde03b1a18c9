import type { GatewayPromise } from '../http/promise.ts';
import { startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { download } from './downloads.ts';
import * as operations from './operations.ts';
import { creation, remixing, type SettleSubmission, type Submitter } from './submit.ts';
import { copyEach, copyItems, copyOptions } from '../snapshot.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoVendorParams,
} from './types.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoDownloadOptions,
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
 * A submission consumes credit and is never repeated on its own. Everything else only reads and can
 * be repeated at will, from any process that has the task's id or handle.
 */
export class Videos {
  /** @internal */
  readonly submitter: () => Submitter;

  /** @internal */
  constructor(transport: () => Transport, settle?: SettleSubmission) {
    // A task exists at one gateway, so a wait keeps the base URL and key that the client had at the call.
    this.submitter = () => ({ transport: transport().snapshot(), settle });
  }

  /**
   * Submits a video task: `POST /v1/videos`. Returns when the gateway has accepted it; the video is not there yet.
   *
   * Consumes credit. Sent once: it is repeated only when it provably never left or was refused before
   * any work. Sent as a form, because many gateways ignore `seconds` in JSON and charge for another
   * length; see the option `bodyFormat`.
   *
   * @throws `InvalidInputError` before anything is sent, when model or prompt are missing or the
   * reference is no usable file or text
   * @throws `VideoSubmitUnknownError` when it is not known whether the task was created
   * @throws `LedgerError` when the `ledger` cannot be asked; nothing is sent
   *
   * @example
   * const task = await client.videos.create({ model: 'sora-2', prompt: 'A paper boat', seconds: 8 });
   * await save(task.ref);
   */
  create(params: VideoCreateParams, options?: VideoSubmitOptions): GatewayPromise<VideoTask> {
    return startCall(params, () => operations.create(this.submitter(), params, options));
  }

  /**
   * Reads the status of a task once: `GET /v1/videos/{task_id}`. Free.
   *
   * A handle is read on the route that it remembers. A handle of another gateway is refused.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   */
  retrieve(task: VideoTaskLike, options?: RequestOptions): GatewayPromise<VideoTask> {
    return startCall(task, () => operations.retrieve(this.submitter().transport, task, options));
  }

  /**
   * Reads the status of a text-to-video task on a vendor's own route:
   * `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. Free.
   *
   * The handle of the task remembers the route, so `wait(task.ref)` goes on with it.
   *
   * @throws `InvalidInputError` when the prefix is not one path segment
   *
   * @example
   * const task = await client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId });
   */
  retrieveFromVendor(
    params: VideoVendorParams,
    options?: RequestOptions,
  ): GatewayPromise<VideoTask> {
    return startCall(params, () =>
      operations.retrieveFromVendor(this.submitter().transport, params, options),
    );
  }

  /**
   * Downloads the content of a completed task: `GET /v1/videos/{task_id}/content`. Free.
   *
   * The body is a stream and nothing is buffered; it fails when it is cut or stays silent for longer
   * than `idleTimeout`. Gateways spend at most about a minute on a download and often ignore `Range`,
   * so look at the status when you ask for a part. The key is never sent on to another host.
   *
   * Gateways allow so many downloads a minute (often ten) and refuse the next by an empty 429. After
   * one, all downloads of this client wait for up to a minute; then they begin 6 s apart, or as soon as
   * one has passed. Content that is answered with 404 or 502 is waited for up to 30 s when the task, or
   * the task that its handle came with, is completed. With `maxRetries: 0` nothing is waited for.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   * @param more - Options of the request, for calls that give `variant` alone before them.
   * @throws `ContentNotReadyError` when the task is not completed yet
   * @throws `ContentExpiredError` when the content is gone
   * @throws `VideoFailedError` when the task failed; `retrieve` may say why
   * @throws `UnexpectedResponseError` when the answer is no file, or on Node comes in a coding such as
   * gzip, though it is asked for without: nothing tells there when such a body is cut
   *
   * @example
   * const response = await client.videos.downloadContent(task);
   * await response.body.pipeTo(target);
   */
  downloadContent(
    task: VideoTaskLike,
    options?: VideoDownloadOptions | null,
    more?: RequestOptions,
  ): GatewayPromise<Response> {
    return startCall(options, () => download(this.submitter().transport, task, options, more));
  }

  /**
   * Submits a new version of an existing video: `POST /v1/videos/{video_id}/remix`. Returns when the gateway has accepted it.
   *
   * Consumes credit, by the length and size of the original. Sent once, as `create` is. Models that
   * cannot remix may make, and charge, a new video from the prompt alone, without an error.
   *
   * @param task - The original: its id, its handle or the task.
   * @throws `InvalidInputError` when the prompt is blank
   * @throws `VideoSubmitUnknownError` when it is not known whether the task was created
   * @throws `LedgerError` when the `ledger` cannot be asked; nothing is sent
   */
  remix(
    task: VideoTaskLike,
    params: VideoRemixParams,
    options?: VideoSubmitOptions,
  ): GatewayPromise<VideoTask> {
    return startCall(params, () => operations.remix(this.submitter(), task, params, options));
  }

  /**
   * Waits until a task is completed. Only reads, so it is free and safe to repeat, from any process.
   *
   * Polls that fail for reasons that pass do not end the wait, nor does a status word that is not
   * known. Aborting stops the waiting at once; the task itself goes on, as gateways cannot cancel.
   *
   * A failure is final when the next poll confirms it or the wait ends first, and at once where its
   * reason names moderation or bad input. An error in place of a status is a failure when 3 polls over
   * at least 30 seconds repeat it. While a task is `unknown` for 2 minutes and more, the gateway's own
   * record (`/kling/v1/videos/text2video/{task_id}`) is read as well, at most once a minute, and only
   * a failure there counts.
   *
   * @param task - The id, the handle (`task.ref`, also from another process) or the task.
   * @returns The completed task. Its content is downloaded with `downloadContent`.
   * @throws `VideoFailedError` when the task failed
   * @throws `VideoWaitTimeoutError` when `timeout` passed; the task goes on
   * @throws `VideoWaitAbortedError` when `signal` was aborted; the task goes on
   * @throws `VideoWaitError` when the status cannot be read; the task may go on
   * @throws `InvalidInputError` when an option cannot work, or the handle is of another gateway
   *
   * @example
   * const ref = parseVideoTaskRef(JSON.parse(row.ref));
   * const task = await client.videos.wait(ref, { onUpdate: ({ progress }) => show(progress) });
   */
  async wait(task: VideoTaskLike, options: VideoWaitOptions = {}): Promise<VideoTask> {
    return operations.waitFor(this.submitter().transport, task, copyOptions(options));
  }

  /**
   * Watches a task until it has ended: the same as `wait`, told event by event.
   *
   * Begins with `submitted`, which holds the handle, and ends after `completed` or `failed`. Leaving
   * the loop stops the waiting at once, and nothing else.
   *
   * @param task - The id, the handle (`task.ref`, also from another process) or the task.
   * @throws what `wait` throws, except that a task that failed is an event and not an error
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
    const [transport, own] = [this.submitter().transport, copyOptions(options)];
    return endOnReturn((left) => operations.watch(transport, task, own, left));
  }

  /**
   * Waits for many tasks at once, and gives each as soon as its wait has ended, well or not. Only reads.
   *
   * All of them share one limit of polls per second, one listener and one timer each; a wait takes a
   * few kilobytes. Leaving the loop stops all waits. An error of one task is its result, and an abort
   * is the result of every task that has not ended; one before the first wait has begun is thrown.
   *
   * @param tasks - Ids, handles or tasks. All waits begin at once, so the list has to end.
   * @throws `InvalidInputError` when an option cannot work
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
    const [transport, takeTasks, own] = [
      this.submitter().transport,
      copyItems(tasks),
      copyOptions(options),
    ];
    return endOnReturn((left) => operations.waitAll(transport, takeTasks, own, left));
  }

  /**
   * Makes one poll, or reads twice as `wait` says, and tells what follows: a pause, the completed task,
   * or the error that ends the wait. `wait` and its like are loops around it.
   *
   * The state is plain JSON, so that a job queue or a workflow engine can do the pausing: store it, and
   * give it to the next step, in any process. The time limit counts from the first step, by the clock
   * on the wall. A new task is best given five seconds before its first step.
   *
   * @param task - The id, the handle (`task.ref`) or the task.
   * @param state - What the last step gave; leave it out at the first.
   * @throws `VideoWaitAbortedError` when `signal` was aborted; the step
   * can be repeated
   * @throws `InvalidInputError` when an option cannot work, or the handle is of another gateway
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
    return operations.stepTask(this.submitter().transport, task, state, copyOptions(options));
  }

  /**
   * Submits a video task and waits until it is completed.
   *
   * Consumes credit, and submits once: see `create` and `wait` for what each part does and throws.
   * Save the handle in `onSubmitted`, so that a crash cannot lose a video that is paid for. With a
   * `ledger`, calling it again with the same `callId` goes on with the task that there is.
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
    return operations.submitAndWait(this.submitter(), creation(params), copyOptions(options));
  }

  /**
   * Submits a task for each of many parameters and waits for them, and gives each as soon as it has ended,
   * well or not.
   *
   * Consumes credit for each, and submits each once: see `createAndWait`. They are begun in their order,
   * `concurrency` at a time: the next is submitted when one has ended and was taken. All of them share one
   * limit of polls per second. An error of one is its result, and the others go on.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * reach submissions that are yet to be sent.
   *
   * An abort of `signal` ends all waits and submits no other; leaving the loop does so, too. Tasks that
   * were submitted go on: their handles were given to `onSubmitted`.
   *
   * @param params - A list with the parameters of each task. All are checked before the first is submitted.
   * @param options - `concurrency` (4) and `onProgress`, and what `createAndWait` and `waitAll` take.
   * @throws `InvalidInputError` when an option cannot work, or naming the place in the list, such as
   * `params[3].prompt`; nothing is sent
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
    const [submitter, takeParams, own] = [this.submitter(), copyEach(params), copyOptions(options)];
    return endOnReturn((left) => operations.createAndWaitAll(submitter, takeParams, own, left));
  }

  /** Submits a new version of an existing video and waits until it is completed. See `remix`. */
  async remixAndWait(
    task: VideoTaskLike,
    params: VideoRemixParams,
    options: VideoCreateAndWaitOptions = {},
  ): Promise<VideoTask> {
    const submitter = this.submitter();
    return operations.submitAndWait(
      submitter,
      remixing(submitter.transport, task, params),
      copyOptions(options),
    );
  }
}

/**
 * Runs a generator so that its pending wait ends as soon as the caller leaves the loop: a generator by
 * itself only sees `return()` at its next `yield`.
 *
 * @param start - Receives a signal that is aborted when the caller leaves.
 */
function endOnReturn<Event>(
  start: (left: AbortSignal) => AsyncGenerator<Event, void, undefined>,
): AsyncGenerator<Event, void, undefined> {
  const leaving = new AbortController();
  const { signal: left } = leaving;
  const run = async function* (): AsyncGenerator<Event, void, undefined> {
    try {
      for await (const event of start(left)) {
        if (left.aborted) return;
        yield event;
      }
    } catch (error) {
      // Leaving aborts the pending poll, which is not a failure.
      if (!left.aborted) throw error;
    }
  };
  const events = run();
  const end = events.return.bind(events);
  events.return = (value) => {
    leaving.abort();
    return end(value);
  };
  return events;
}
