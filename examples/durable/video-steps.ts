// The steps of a video for any durable engine. Each may run again after a crash.
import {
  Gateway,
  parseVideoTaskRef,
  VideoFailedError,
  VideoSubmitUnknownError,
  type VideoCreateParams,
  type VideoTaskRef,
  type VideoWaitState,
} from 'model-gateway';
import { downloadVideo } from 'model-gateway/node';
import { postgresLedger } from 'model-gateway/postgres';
import { Pool } from 'pg';

const client = new Gateway();
/** Call `ledger.migrate()` when you deploy. */
export const ledger = postgresLedger(
  new Pool({ connectionString: process.env['DATABASE_URL'], max: 4 }),
);

/** The pause between two polls, in milliseconds. */
const interval = Number(process.env['VIDEO_INTERVAL'] ?? 5_000);

/** The progress of a video as plain JSON: the engine waits for `delayMs`, or the video has ended. */
export interface VideoProgress {
  readonly ref?: VideoTaskRef;
  readonly state?: VideoWaitState;
  readonly delayMs?: number;
  /** Set if there will be no video. */
  readonly failure?: string;
}

/**
 * Submits the video, or finds the task that an earlier run has paid for.
 *
 * @param callId - The id of the step, the same in every run.
 */
export async function submitVideo(
  callId: string,
  params: VideoCreateParams,
): Promise<VideoProgress> {
  try {
    const { ref } = await client.videos.create(params, { ledger, callId });
    return { ref, delayMs: interval };
  } catch (error) {
    if (!VideoSubmitUnknownError.isInstance(error)) throw error;
    // A worker died with its request under way. Never submit again: a person has to check the account, and
    // calls ledger.accept(callId, ref) if the task exists, or ledger.finish(callId, 'not_submitted').
    if (!error.isInProgress)
      console.error(`Check call ${callId} (${params.model}): ${error.message}`);
    return { delayMs: interval };
  }
}

/** Polls the task once, or submits the video if that is still to be done. */
export async function continueVideo(
  callId: string,
  params: VideoCreateParams,
  before: VideoProgress,
): Promise<VideoProgress> {
  if (before.ref === undefined) return submitVideo(callId, params);
  const ref = parseVideoTaskRef(before.ref);
  const { state, next } = await client.videos.step(ref, before.state, { interval });
  if ('delayMs' in next) return { ref, state, delayMs: next.delayMs };
  if ('video' in next) {
    await ledger.finish(callId, 'completed');
    return { ref };
  }
  if (VideoFailedError.isInstance(next.error)) await ledger.finish(callId, 'failed');
  return { ref, failure: next.error.message };
}

/** Downloads the video to a file. After a crash, the download continues where it stopped. */
export async function saveVideo({ ref }: VideoProgress, path: string): Promise<string> {
  await downloadVideo(client, parseVideoTaskRef(ref), { to: path, resume: true });
  return path;
}
