// Videos in Inngest: it calls this function again for each step, with the results of the steps before.
import { eventType, Inngest, NonRetriableError, staticSchema } from 'inngest';
import type { VideoCreateParams } from 'model-gateway';
import { continueVideo, saveVideo, submitVideo } from './video-steps.ts';

const inngest = new Inngest({ id: 'studio' });

const ordered = eventType('video/ordered', {
  schema: staticSchema<{ orderId: string; params: VideoCreateParams; path: string }>(),
});

export const makeVideo = inngest.createFunction(
  // Four retries of each step are the default. The ledger prevents a second submission.
  { id: 'make-video', retries: 4, idempotency: 'event.data.orderId', triggers: [ordered] },
  async ({ event, step }) => {
    const { orderId, params, path } = event.data;
    const callId = `${orderId}/submit`;
    let video = await step.run('submit', () => submitVideo(callId, params));
    // A function may have 1,000 steps. Two for each poll are enough for 40 minutes.
    for (let poll = 1; video.delayMs !== undefined; poll += 1) {
      await step.sleep(`pause ${poll}`, video.delayMs);
      const before = video;
      video = await step.run(`poll ${poll}`, () => continueVideo(callId, params, before));
    }
    if (video.failure !== undefined) throw new NonRetriableError(video.failure);
    const done = video;
    return step.run('download', () => saveVideo(done, path));
  },
);
