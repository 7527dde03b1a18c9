// Creates the videos of the queue. Start and stop any number of workers, on any number of machines.
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
    // Shorter than the default of 5 to 10 seconds, because these videos take only seconds.
    interval: { first: 1_000, min: 1_000, max: 2_000 },
  }),
);
worker.on('completed', (job) => process.send?.({ done: job.id }));
worker.on('failed', (job, error) => process.send?.({ failed: job?.id, why: error.message }));
worker.on('error', (error) => process.send?.({ trouble: error.message }));

// Finishes the current steps. Killing the worker is safe as well.
async function stop(): Promise<void> {
  await worker.close();
  await close();
  process.exit();
}
process.once('SIGTERM', () => void stop());
// Ctrl-C reaches all processes of a terminal, but the demo stops its workers itself.
if (process.send !== undefined) process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());
