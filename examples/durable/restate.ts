// Videos in Restate: the server holds the state of the workflow, and calls this process for each part of it.
import * as restate from '@restatedev/restate-sdk';
import type { VideoCreateParams } from 'model-gateway';
import { continueVideo, saveVideo, submitVideo } from './video-steps.ts';

interface Order {
  readonly params: VideoCreateParams;
  readonly path: string;
}

// Only for errors: a running video is no error. By default, Restate retries forever.
const retries = { maxRetryAttempts: 5, initialRetryInterval: { seconds: 2 } };

async function run(ctx: restate.WorkflowContext, { params, path }: Order): Promise<string> {
  const callId = `${ctx.key}/submit`;
  let video = await ctx.run('submit', () => submitVideo(callId, params), retries);
  while (video.delayMs !== undefined) {
    // Meanwhile nothing runs here: the server calls this process again.
    await ctx.sleep(video.delayMs);
    const before = video;
    video = await ctx.run('poll', () => continueVideo(callId, params, before), retries);
  }
  const done = video;
  // Any other error would be retried.
  if (done.failure !== undefined) throw new restate.TerminalError(done.failure);
  return ctx.run('download', () => saveVideo(done, path), retries);
}

export const videos = restate.workflow({ name: 'videos', handlers: { run } });

await restate.serve({ services: [videos], port: Number(process.env['PORT'] ?? 9080) });
