// Videos in pg-boss: one job per step, with the state in a row.
//
// A handler that waits for its video expires after 15 minutes (`expireInSeconds`), and its job restarts:
// without a ledger, the video is paid for twice. If sending the next job and completing this one were two
// statements, a crash in between would leave two jobs polling, or none. So both are in one transaction.
import type {
  Gateway,
  SubmitLedger,
  VideoCreateParams,
  VideoTaskRef,
  VideoWaitState,
} from 'model-gateway';
import { VideoSubmitUnknownError } from 'model-gateway';
import type { Pool, PoolClient } from 'pg';
import type { PgBoss } from 'pg-boss';

/** The data of a job. */
export interface VideoStep {
  /** Your id of the video, the same in all its jobs. */
  readonly callId: string;
  readonly params: VideoCreateParams;
  readonly ref?: VideoTaskRef;
  readonly state?: VideoWaitState;
}

export const queueName = 'videos';

/** The connection of the engine that a transaction uses. */
const within = (client: PoolClient) => ({
  executeSql: (text: string, values?: unknown[]) => client.query(text, values),
});

/** Runs the next due step. Returns `false` if there is none. */
export async function runStep(
  boss: PgBoss,
  pool: Pool,
  client: Gateway,
  ledger: SubmitLedger,
  onVideo: (ref: VideoTaskRef) => Promise<void>,
): Promise<boolean> {
  const [job] = await boss.fetch<VideoStep>(queueName);
  if (job === undefined) return false;
  const { callId, params, ref, state } = job.data;
  /** Completes this job and sends the next one in one transaction. */
  const goOn = async (data: VideoStep, delayMs: number): Promise<void> => {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      const db = within(connection);
      const startAfter = new Date(Date.now() + delayMs);
      await boss.send(queueName, data, { startAfter, db });
      await boss.complete(queueName, job.id, {}, { db });
      await connection.query('COMMIT');
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  };
  try {
    if (ref === undefined) {
      // If an earlier run of the job has submitted the video, the ledger returns its task.
      const task = await client.videos.create(params, { ledger, callId });
      await goOn({ callId, params, ref: task.ref }, 5_000);
      return true;
    }
    const step = await client.videos.step(ref, state);
    if ('delayMs' in step.next) {
      await goOn({ callId, params, ref, state: step.state }, step.next.delayMs);
    } else if ('video' in step.next) {
      await onVideo(ref);
      await ledger.finish(callId, 'completed');
      await boss.complete(queueName, job.id, { ref });
    } else throw step.next.error;
  } catch (error) {
    if (VideoSubmitUnknownError.isInstance(error) && error.isInProgress) {
      await goOn(job.data, 5_000);
      return true;
    }
    // pg-boss retries the job; the ledger prevents a second submission.
    await boss.fail(queueName, job.id, { message: String(error) });
  }
  return true;
}
