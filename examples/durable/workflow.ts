// Videos in the Workflow SDK: functions with directives, which its build step turns into routes of your server.
import type { VideoCreateParams } from 'model-gateway';
import { FatalError, sleep } from 'workflow';
import { continueVideo, saveVideo, submitVideo, type VideoProgress } from './video-steps.ts';

/** Makes a video. A second run for the same order finds the paid task. */
export async function makeVideo(
  orderId: string,
  params: VideoCreateParams,
  path: string,
): Promise<string> {
  'use workflow';
  const callId = `${orderId}/submit`;
  let video = await submit(callId, params);
  while (video.delayMs !== undefined) {
    // Meanwhile nothing runs: the queue calls the workflow again.
    await sleep(video.delayMs);
    video = await poll(callId, params, video);
  }
  if (video.failure !== undefined) throw new FatalError(video.failure);
  return download(video, path);
}

async function submit(callId: string, params: VideoCreateParams): Promise<VideoProgress> {
  'use step';
  return submitVideo(callId, params);
}

async function poll(
  callId: string,
  params: VideoCreateParams,
  before: VideoProgress,
): Promise<VideoProgress> {
  'use step';
  return continueVideo(callId, params, before);
}

async function download(video: VideoProgress, path: string): Promise<string> {
  'use step';
  return saveVideo(video, path);
}

// A step fails if its process dies, and by default it is retried three times. With the ledger, more do no harm.
submit.maxRetries = 20;
poll.maxRetries = 20;
download.maxRetries = 20;
