// Videos in Inngest: the submission is a separate step, and the engine sleeps between polls.
//
// Inngest runs the whole function again for each step, so a submission outside of `step.run` would be sent at
// every poll. Failed steps are retried four times by default, so the ledger must prevent that a submission
// with a lost response is sent again.
import { eventType, Inngest, NonRetriableError, staticSchema } from 'inngest';
import {
  Gateway,
  GatewayError,
  parseVideoTaskRef,
  type VideoCreateParams,
  type VideoWaitState,
} from 'model-gateway';
import { postgresLedger } from 'model-gateway/postgres';
import { Pool } from 'pg';

const client = new Gateway();
const ledger = postgresLedger(new Pool());
const inngest = new Inngest({ id: 'studio' });

const ordered = eventType('video/ordered', {
  schema: staticSchema<{ orderId: string; params: VideoCreateParams }>(),
});

export const makeVideo = inngest.createFunction(
  { id: 'make-video', triggers: [ordered] },
  async ({ event, step }) => {
    const { orderId, params } = event.data;
    const submitted = await step.run('submit', async () => {
      try {
        const task = await client.videos.create(params, { ledger, callId: orderId });
        return task.ref;
      } catch (error) {
        // Rejected submissions may be retried. Those with an unknown outcome must be checked by a person.
        const isUnknown = GatewayError.isInstance(error) && error.outcome === 'unknown';
        throw isUnknown ? new NonRetriableError(error.message, { cause: error }) : error;
      }
    });
    const ref = parseVideoTaskRef(submitted);
    await step.sleep('first pause', 5_000);
    let state: VideoWaitState | undefined;
    for (let poll = 1; ; poll += 1) {
      const before = state;
      const answer = await step.run(`poll ${poll}`, async () => {
        const { state: after, next } = await client.videos.step(ref, before);
        if ('error' in next) throw new NonRetriableError(next.error.message, { cause: next.error });
        return { after, delayMs: 'delayMs' in next ? next.delayMs : undefined };
      });
      if (answer.delayMs === undefined) return ref;
      state = answer.after;
      await step.sleep(`pause ${poll}`, answer.delayMs);
    }
  },
);
