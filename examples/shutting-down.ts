// A worker that is told to end while it submits a video. The ledger still gets the task, and the next start waits for
// the same video.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, type VideoTask } from 'model-gateway';
import { fileLedger } from 'model-gateway/node';

const client = new Gateway();
const ledger = fileLedger(join(tmpdir(), 'video-submissions'));
const callId = process.env['JOB_ID'] ?? `job-${process.pid}`;

const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

function makeVideo(signal?: AbortSignal): Promise<VideoTask> {
  const params = { model: 'sora-2', prompt: 'A paper boat on a quiet lake' };
  return client.videos.createAndWait(params, { ledger, callId, signal });
}

const running = makeVideo(stopping.signal);
// Stands for the host, which ends the process while the job runs.
setTimeout(() => process.kill(process.pid, 'SIGTERM'), 20);

try {
  await running;
} catch (error) {
  console.log(`Stopped: ${String(error)}`);
}
// Up to 35 s for responses that still come. Here a process would end.
console.log(`Everything is recorded: ${await client.settled()}`);

const video = await makeVideo();
console.log(`The next start has ${video.id}, which is ${video.status}.`);
