import { appendFileSync } from 'node:fs';
import { resolveSettings } from '../../src/http/settings.ts';
import { Transport } from '../../src/http/transport.ts';
import { Videos } from '../../src/resources/videos.ts';

// Submits a video, saves its handle, and is killed while it waits.
const [baseURL = '', apiKey = '', file = ''] = process.argv.slice(2);
const videos = new Videos(new Transport(resolveSettings({ baseURL, apiKey })));
await videos.createAndWait(
  { model: 'm-video', prompt: 'A paper boat' },
  {
    interval: 250,
    onSubmitted: (ref) => appendFileSync(file, JSON.stringify(ref)),
    onUpdate: () => {
      process.kill(process.pid, 'SIGKILL');
    },
  },
);
