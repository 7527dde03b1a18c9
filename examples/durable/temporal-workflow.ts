// Videos in Temporal: a submission that is never retried, and polls that Temporal retries.
//
// Activities are retried forever by default, so a submission with a lost response or a killed worker would be
// sent and paid again. It has `maximumAttempts: 1`, and a ledger for manual restarts.
import { proxyActivities } from '@temporalio/workflow';
import type { VideoCreateParams, VideoTaskRef } from 'model-gateway';
import type * as activities from './temporal-activities.ts';

const { submitVideo } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10 minutes',
  retry: { maximumAttempts: 1 },
});
const { pollVideo } = proxyActivities<typeof activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '30 minutes',
  // Only for polls that fail; running tasks set their own delay.
  retry: { initialInterval: '5 seconds', maximumInterval: '30 seconds' },
});

/** Creates a video. The workflow id is a good `callId`. */
export async function makeVideo(callId: string, params: VideoCreateParams): Promise<VideoTaskRef> {
  const ref = await submitVideo(callId, params);
  return pollVideo(ref);
}
