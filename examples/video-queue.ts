// Waits for a video in a job queue: each step is a job of its own, and between two of them there is
// nothing but JSON. The queue here is a list; any that can run a job later will do.
import { setTimeout as pause } from 'node:timers/promises';
import { Gateway, parseVideoTaskRef, type VideoWaitState } from 'model-gateway';

const client = new Gateway();
const queue: { readonly job: string; readonly at: number }[] = [];

/** What a job holds: the handle of a task, and what the last step has left. */
interface Job {
  readonly ref: unknown;
  readonly state?: VideoWaitState;
}

function runLater(job: Job, milliseconds: number): void {
  queue.push({ job: JSON.stringify(job), at: Date.now() + milliseconds });
}

/** One job. It could run in another process, on another machine, on another day. */
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
