// Videos in pg-boss: one job for each step, and between two of them nothing but a row.
//
// What goes wrong otherwise: a handler that waits for its video is ended after 15 minutes
// (`expireInSeconds`), and its job begins again from the start: without a ledger, with a second payment.
// And "send the next step, then complete this one" as two statements leaves two jobs polling, or none,
// when the process dies in between. So both happen in one transaction.
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

/** What a job holds. */
export interface VideoStep {
  /** Your own id of the video: the same in all its jobs. */
  readonly callId: string;
  readonly params: VideoCreateParams;
  readonly ref?: VideoTaskRef;
  readonly state?: VideoWaitState;
}

export const queueName = 'videos';

/** What an engine with a database lends to a transaction of ours. */
const within = (client: PoolClient) => ({
  executeSql: (text: string, values?: unknown[]) => client.query(text, values),
});

/** Runs the next step that is due. `false` when there is none. */
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
  /** Completes this job, and puts the next one behind it, or neither. */
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
      // The ledger knows whether a job that was run before has submitted it.
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
    if (VideoSubmitUnknownError.isInstance(error) && error.isUnderWay) {
      await goOn(job.data, 5_000);
      return true;
    }
    // pg-boss tries it again; the ledger keeps that from submitting twice.
    await boss.fail(queueName, job.id, { message: String(error) });
  }
  return true;
}
