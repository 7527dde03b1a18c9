import { appendFileSync } from 'node:fs';
import { Gateway } from '../../src/gateway.ts';

// Submits a video, saves its handle, and is killed while it waits.
const [baseURL = '', apiKey = '', file = ''] = process.argv.slice(2);
await new Gateway({ baseURL, apiKey }).videos.createAndWait(
  { model: 'm-video', prompt: 'A paper boat' },
  {
    interval: 250,
    onSubmitted: (ref) => appendFileSync(file, JSON.stringify(ref)),
    onUpdate: () => {
      process.kill(process.pid, 'SIGKILL');
    },
  },
);
