// Videos in DBOS: a workflow in your own process, with its state in PostgreSQL.
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { VideoCreateParams } from 'model-gateway';
import { continueVideo, saveVideo, submitVideo } from './video-steps.ts';

// Only for errors: a running video is no error. The ledger prevents a second submission.
const retries = { retriesAllowed: true, maxAttempts: 5, intervalSeconds: 2 };

async function run(params: VideoCreateParams, path: string): Promise<string> {
  const callId = `${DBOS.workflowID}/submit`;
  let video = await DBOS.runStep(() => submitVideo(callId, params), { name: 'submit', ...retries });
  while (video.delayMs !== undefined) {
    // Survives a restart: the workflow wakes up when the first sleep would have ended.
    await DBOS.sleep(video.delayMs);
    const before = video;
    const poll = () => continueVideo(callId, params, before);
    video = await DBOS.runStep(poll, { name: 'poll', ...retries });
  }
  if (video.failure !== undefined) throw new Error(video.failure);
  return DBOS.runStep(() => saveVideo(video, path), { name: 'download', ...retries });
}

/** Makes a video. Choose the id of the workflow, such as the order's: a second one is the same video. */
export const makeVideo = DBOS.registerWorkflow(run, { name: 'makeVideo' });

DBOS.setConfig({
  name: 'studio',
  systemDatabaseUrl: process.env['DATABASE_URL'] ?? 'postgres://localhost/studio',
});
// Continues the workflows of the process before.
await DBOS.launch();
