// Waits for a video in a job queue. Each step is a separate job, and its state is JSON. The queue here is a
// list; any queue with delayed jobs works.
import { setTimeout as pause } from 'node:timers/promises';
import { Gateway, parseVideoTaskRef, type VideoWaitState } from 'model-gateway';

const client = new Gateway();
const queue: { readonly job: string; readonly at: number }[] = [];

/** The data of a job: the handle of a task, and the state of the last step. */
interface Job {
  readonly ref: unknown;
  readonly state?: VideoWaitState;
}

function runLater(job: Job, milliseconds: number): void {
  queue.push({ job: JSON.stringify(job), at: Date.now() + milliseconds });
}

/** Runs one job, which could be in another process or on another machine. */
async function runJob(text: string): Promise<void> {
  const job: Job = JSON.parse(text);
  const ref = parseVideoTaskRef(job.ref);
  const { state, next } = await client.videos.step(ref, job.state, { interval: 500 });
  if ('delayMs' in next) {
    console.log(`Poll ${state.polls}: ${state.status ?? 'no answer'}, again in ${next.delayMs} ms`);
    runLater({ ref, state }, next.delayMs);
  } else if ('video' in next) {
    console.log(`${next.video.id} is ${next.video.status} after ${state.polls} polls`);
  } else {
    console.log(`Over: ${next.error.message}`);
  }
}

const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A paper boat' });
runLater({ ref }, 500);
for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
  await pause(Math.max(0, next.at - Date.now()));
  await runJob(next.job);
}
