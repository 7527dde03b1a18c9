// The workflow of temporal.ts. It runs in a sandbox, so it imports only types of its activities.
import { ApplicationFailure, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { VideoCreateParams } from 'model-gateway';
import type * as steps from './video-steps.ts';

const { submitVideo, continueVideo, saveVideo } = proxyActivities<typeof steps>({
  startToCloseTimeout: '10 minutes',
  // Without heartbeats, the activity of a dead worker would be repeated after ten minutes.
  heartbeatTimeout: '10 seconds',
  // Only for errors: a running video is no error. By default, Temporal retries forever.
  retry: { maximumAttempts: 5, initialInterval: '2 seconds' },
});

/** Makes a video. Choose the id of the workflow, such as the order's: a second one is the same video. */
export async function makeVideo(params: VideoCreateParams, path: string): Promise<string> {
  const callId = `${workflowInfo().workflowId}/submit`;
  let video = await submitVideo(callId, params);
  while (video.delayMs !== undefined) {
    await sleep(video.delayMs);
    video = await continueVideo(callId, params, video);
  }
  if (video.failure !== undefined) throw ApplicationFailure.nonRetryable(video.failure);
  return saveVideo(video, path);
}
