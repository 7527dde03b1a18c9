import { listURLs, rememberSent } from '../../answers/result-places.ts';
import type { Transport } from '../../calls/transport.ts';
import { checkEach, mapWithProgress, optionsForCall } from '../../tasks/many.ts';
import { changeOptions, optionsFor, type ResolvedOptions } from '../../options/resolve.ts';
import { WaitScope } from '../../tasks/scope.ts';
import { shorter } from '../../tasks/limits.ts';
import { followTask, notify, waitForAll } from '../../tasks/wait.ts';
import type { Copied } from '../../options/snapshot.ts';
import { VideoSubmitResponseError } from './errors.ts';
import { videoTasks } from './kind.ts';
import { submitOnce } from '../../tasks/submit.ts';
import { createSubmission, toTaskSubmission, type VideoSubmission } from './submit.ts';
import type { VideoCreateParams, VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoWaitAllOptions,
  VideoWaitResult,
} from './wait-options.ts';

/** Waits for many tasks and yields one result for each. */
export async function* waitAll(
  transport: Transport,
  takeTasks: () => Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  const checked = transport.checkOptions('videos.waitAll', options);
  const scope = new WaitScope(videoTasks, transport, checked, leaveSignal);
  scope.limit(checked.maxPollsPerSecond);
  for await (const { index, given: task, task: video, error } of waitForAll(scope, takeTasks)) {
    yield video === undefined ? { index, task, error } : { index, task, video };
  }
}

/** Submits a task once, passes its handle to `onSubmitted`, and waits for it. */
export async function submitAndWait(
  transport: Transport,
  method: 'videos.createAndWait' | 'videos.remixAndWait',
  submission: VideoSubmission,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  const checked = transport.checkOptions(method, options);
  const scope = new WaitScope(videoTasks, transport, checked);
  try {
    return await submitWithin(scope, transport, submission, checked);
  } finally {
    scope.close();
  }
}

/**
 * Submits a task and waits for it within the time limit of the scope.
 *
 * @param options - The checked options of the caller. The submission gets all that it has too.
 */
async function submitWithin(
  scope: WaitScope<VideoTaskRef, VideoTask>,
  transport: Transport,
  submission: VideoSubmission,
  options: ResolvedOptions<'videos.createAndWait', VideoCreateAndWaitOptions>,
): Promise<VideoTask> {
  const since = scope.now;
  const { onSubmitted, totalTimeout = transport.client.call.totalTimeout } = options;
  const submitOptions = changeOptions(optionsFor(options, submission.operation), {
    timeout: undefined,
    totalTimeout: shorter(options.timeout, totalTimeout),
  });
  try {
    const task = toTaskSubmission(transport, submission, submitOptions);
    const submitted = await submitOnce(transport, task, submitOptions);
    rememberSent(listURLs([submission.fields, submitOptions.extraBody]), submitted.ref);
    const following = { onSubmitted, since, statusOf: ({ status }: VideoTask) => status };
    return await followTask(scope, submitted, following, (done) => done.task);
  } catch (error) {
    if (VideoSubmitResponseError.isInstance(error)) {
      await notify(scope, error.ref, onSubmitted, since);
    }
    throw error;
  }
}

/** Submits many tasks, waits for them, and yields one result for each. */
export async function* createAndWaitAll(
  transport: Transport,
  takeParams: () => readonly Copied<VideoCreateParams>[],
  options: VideoCreateAndWaitAllOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
  const checked = transport.checkOptions('videos.createAndWaitAll', options);
  const { concurrency, onProgress, onSubmitted } = checked;
  const scope = new WaitScope(videoTasks, transport, checked, leaveSignal);
  try {
    const list = takeParams();
    checkEach(list, (params) => createSubmission(transport, params));
    scope.limit(checked.maxPollsPerSecond);
    yield* mapWithProgress<Copied<VideoCreateParams>, VideoCreateAndWaitResult>(
      list,
      { concurrency, onProgress },
      async ({ original, copy }, index) => {
        let accepted: { ref?: VideoTaskRef } = {};
        const callOptions = changeOptions(optionsForCall(checked, index), {
          onSubmitted: (ref: VideoTaskRef) => {
            accepted = { ref };
            return onSubmitted?.(ref, index);
          },
        });
        const item = { index, params: original };
        try {
          const submission = createSubmission(transport, copy);
          const video = await submitWithin(scope, transport, submission, callOptions);
          return { ...item, ...accepted, video };
        } catch (error) {
          return { ...item, ...accepted, error };
        }
      },
    );
  } finally {
    scope.close();
  }
}
