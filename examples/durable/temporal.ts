// Videos in Temporal: the server holds the state of the workflows, and this worker runs them and their activities.
import { heartbeat } from '@temporalio/activity';
import { type ActivityInterceptors, NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import * as steps from './video-steps.ts';

/** Reports during each activity that this worker is alive. */
const heartbeats: ActivityInterceptors = {
  inbound: {
    async execute(input, next) {
      const timer = setInterval(() => heartbeat(), 2_000);
      try {
        return await next(input);
      } finally {
        clearInterval(timer);
      }
    },
  },
};

const address = process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: 'videos',
  workflowsPath: fileURLToPath(import.meta.resolve('./temporal-workflow.ts')),
  activities: {
    submitVideo: steps.submitVideo,
    continueVideo: steps.continueVideo,
    saveVideo: steps.saveVideo,
  },
  interceptors: { activity: [() => heartbeats] },
});
await worker.run();
