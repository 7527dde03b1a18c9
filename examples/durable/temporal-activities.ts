// The activities of the workflow in temporal-workflow.ts, run by its worker.
import { ApplicationFailure } from '@temporalio/activity';
import { Gateway, type VideoCreateParams, type VideoTaskRef } from 'model-gateway';
import { postgresLedger } from 'model-gateway/postgres';
import { Pool } from 'pg';

const client = new Gateway();
const ledger = postgresLedger(new Pool());

/** Submits a video. Runs once; see the workflow. */
export async function submitVideo(
  callId: string,
  params: VideoCreateParams,
): Promise<VideoTaskRef> {
  // A person may run the activity again; the ledger then returns the submitted task.
  const task = await client.videos.create(params, { ledger, callId });
  return task.ref;
}

/**
 * Polls once. A running task is thrown as a failure with a retry delay, so that Temporal waits: an attempt
 * that sleeps would block a worker, and each activity adds to the history.
 */
export async function pollVideo(ref: VideoTaskRef): Promise<VideoTaskRef> {
  // No state: polls are independent, and the workflow's time-out ends the wait.
  const { next } = await client.videos.step(ref, undefined, { timeout: null });
  if ('delayMs' in next) {
    throw ApplicationFailure.create({
      message: `Video task ${ref.id} goes on.`,
      nextRetryDelay: next.delayMs,
    });
  }
  if ('error' in next) {
    throw ApplicationFailure.create({
      message: next.error.message,
      type: next.error.name,
      nonRetryable: true,
    });
  }
  return ref;
}
