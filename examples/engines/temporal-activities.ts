// What the workflow in temporal-workflow.ts does in the world. Its worker runs these.
import { ApplicationFailure } from '@temporalio/activity';
import { Gateway, type VideoCreateParams, type VideoTaskRef } from 'model-gateway';
import { postgresLedger } from 'model-gateway/postgres';
import { Pool } from 'pg';

const client = new Gateway();
const ledger = postgresLedger(new Pool());

/** Submits a video. Run once: see the workflow. */
export async function submitVideo(
  callId: string,
  params: VideoCreateParams,
): Promise<VideoTaskRef> {
  // An activity may be run again by a person too; the ledger knows what was submitted.
  const task = await client.videos.create(params, { ledger, callId });
  return task.ref;
}

/**
 * Polls once. A task that goes on is a failure with a pause of its own, so that Temporal does the
 * waiting: an attempt that slept would hold a worker, and history grows with each activity.
 */
export async function pollVideo(ref: VideoTaskRef): Promise<VideoTaskRef> {
  // Without a state: each poll stands for itself, and the workflow's time-out ends the waiting.
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
