// Creates a video and downloads it. Only the submission is charged, and it is sent once.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from 'model-gateway';
import { saveTo } from 'model-gateway/node';

const client = new Gateway();

const video = await client.videos.createAndWait(
  { model: 'sora-2', prompt: 'A paper boat on a quiet lake', seconds: 4 },
  {
    onSubmitted: (ref) => console.log(`Submitted ${ref.id}`),
    onUpdate: ({ status, progress }) => console.log(status, progress ?? ''),
  },
);
const { path, bytes } = await saveTo(
  await client.videos.downloadContent(video),
  join(tmpdir(), 'boat.mp4'),
);
console.log(`Saved ${path}, ${bytes} bytes`);
