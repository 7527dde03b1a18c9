import { VideoSubmitUnknownError } from './errors.ts';
import { shownOf } from '../http/make-error.ts';
import type { AnswerFormat } from '../http/logical-call.ts';
import { jsonAnswer, type CallInfo } from '../http/response.ts';
import { hide, videoSchema } from './schema.ts';
import { makeRef, noteCompleted, type NamedTask } from './task-ref.ts';
import type { VideoTask, VideoTaskRef } from './types.ts';

/** What holds for a submission of which nobody knows whether it made a task. */
export const unknownAdvice =
  'It may exist and may be charged, and the gateway cannot be asked. Submitting again may pay twice.';

/** A submission that was accepted, but does not say which task it made. */
function nameless(task: VideoTask, info: CallInfo): VideoSubmitUnknownError {
  const { callId, requestId, headers } = info;
  const attempt = { phase: 'body', requestId } as const;
  return new VideoSubmitUnknownError(
    'A video task was probably created, but the answer holds no task id.',
    {
      callId,
      headers,
      requestID: requestId,
      error: shownOf(task.raw),
      body: JSON.stringify(task.raw),
      evidence: { ...attempt, attempts: [attempt] },
      advice: `${unknownAdvice} The answer is in error.body.`,
    },
  );
}

/**
 * How the answer of a submission becomes a task with a handle.
 *
 * @param about - What the caller said of the task. Asked when the task exists.
 */
export function submissionAnswer(
  about: () => Pick<VideoTaskRef, 'model' | 'remixOf'>,
): AnswerFormat<VideoTask, 'json'> {
  return jsonAnswer({ schema: videoSchema }, (task, info) => {
    if (task.id === '') throw nameless(task, info);
    const { baseURL, callId } = info;
    const { model = task.model, remixOf } = about();
    hide(
      task,
      'ref',
      makeRef({ id: task.id, baseURL, createdAt: Date.now(), model, callId, remixOf }),
    );
    return task;
  });
}

/**
 * How the answer of a poll becomes a task with a handle.
 *
 * The id is the one that was asked for, whatever the body says: some gateways pass on the body of
 * their provider, with the provider's id in it.
 */
export function pollAnswer({ id, route, ref }: NamedTask): AnswerFormat<VideoTask, 'json'> {
  return jsonAnswer({ schema: videoSchema }, (task, { baseURL }) => {
    task.id = id;
    task.task_id = id;
    const { model, created_at: created } = task;
    const createdAt = created === undefined ? Date.now() : Math.round(created * 1_000);
    hide(task, 'ref', ref ?? makeRef({ id, baseURL, createdAt, route, model }));
    if (task.status === 'completed') noteCompleted(task.ref);
    return task;
  });
}
