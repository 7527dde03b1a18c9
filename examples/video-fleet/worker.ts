// Makes the videos of the queue. Start as many as you like, on as many machines; end them as you like.
import { join } from 'node:path';
import { Gateway } from 'model-gateway';
import { videoProcessor } from 'model-gateway/bullmq';
import { films, lockDuration, openLedger, openWorker } from './settings.ts';

const client = new Gateway();
const { ledger, close } = openLedger();
const worker = openWorker(
  videoProcessor(client, {
    ledger,
    lockDuration,
    saveTo: ({ id }) => join(films, `${id}.mp4`),
    // Shorter than the defaults, 5 to 10 seconds: these videos take only some.
    interval: { first: 1_000, min: 1_000, max: 2_000 },
  }),
);
worker.on('completed', (job) => process.send?.({ done: job.id }));
worker.on('failed', (job, error) => process.send?.({ failed: job?.id, why: error.message }));
worker.on('error', (error) => process.send?.({ trouble: error.message }));

// Lets the steps that are under way end; a signal that is not heard loses nothing either.
async function stop(): Promise<void> {
  await worker.close();
  await close();
  process.exit();
}
process.once('SIGTERM', () => void stop());
// Ctrl-C in a terminal reaches all its processes; the demo ends its workers by itself.
if (process.send !== undefined) process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());
