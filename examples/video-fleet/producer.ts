// Queues videos: `node producer.ts 200`. A second run has no effect, because a queue accepts each id once.
import { videoJob } from 'model-gateway/bullmq';
import { openQueue, prepare } from './settings.ts';

const count = Number(process.argv[2] ?? 10);
const subjects = ['paper boat', 'lighthouse', 'heron', 'night train', 'kite', 'old clock'];

await prepare();
const videos = openQueue();
await videos.addBulk(
  Array.from({ length: count }, (_, index) =>
    videoJob({
      // Your id of the video, such as an order id.
      id: `order-${index + 1}`,
      params: {
        model: process.env['FLEET_MODEL'] ?? 'sora-2',
        prompt: `A ${subjects[index % subjects.length]}, scene ${index + 1}`,
        seconds: 1,
        size: '64x64',
      },
    }),
  ),
);
await videos.close();
