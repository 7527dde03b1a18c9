// Videos in Temporal: a submission that is never repeated, and polls that Temporal repeats.
//
// What goes wrong otherwise: activities are retried for ever by default. A submission whose answer is
// lost, or whose worker is killed, is then sent again, and paid again. So it gets `maximumAttempts: 1`,
// and a ledger for the runs that people start again.
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
  // For polls that fail by themselves; a task that goes on says when to ask again.
  retry: { initialInterval: '5 seconds', maximumInterval: '30 seconds' },
});

/** Makes a video. Its workflow id is a good `callId`. */
export async function makeVideo(callId: string, params: VideoCreateParams): Promise<VideoTaskRef> {
  const ref = await submitVideo(callId, params);
  return pollVideo(ref);
}
