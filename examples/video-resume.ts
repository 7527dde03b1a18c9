// Submits a video in one process and waits for it in another. Only the ref has to be stored.
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, parseVideoTaskRef, VideoWaitTimeoutError } from 'model-gateway';

const client = new Gateway();
const store = join(tmpdir(), 'video-task.json');

const task = await client.videos.create({ model: 'sora-2', prompt: 'Rain on a window' });
await writeFile(store, JSON.stringify(task.ref));
console.log(`Submitted ${task.id}; this process could end now.`);

const ref = parseVideoTaskRef(JSON.parse(await readFile(store, 'utf8')));
try {
  const video = await client.videos.wait(ref, { timeout: 60_000 });
  console.log(`${video.id} is ${video.status}.`);
} catch (error) {
  if (!VideoWaitTimeoutError.isInstance(error)) throw error;
  console.log('Still running. Wait for it again with the same ref.');
}
