// Waits for several videos at one pace, and handles each as soon as it ends.
import { Gateway, VideoFailedError } from 'model-gateway';

const client = new Gateway();

const prompts = ['A paper boat', 'Rain on a window', 'A kite over the dunes'];
const tasks = await Promise.all(
  prompts.map((prompt) => client.videos.create({ model: 'sora-2', prompt, seconds: 4 })),
);

let completed = 0;
const refs = tasks.map(({ ref }) => ref);
for await (const { index, video, error } of client.videos.waitAll(refs, { maxPollsPerSecond: 5 })) {
  if (video !== undefined) {
    completed += 1;
    console.log(`"${prompts[index]}" is ${video.status}`);
  } else if (VideoFailedError.isInstance(error)) {
    console.log(`"${prompts[index]}" failed: ${error.reason}`);
  } else {
    // The wait ended but the task continues: wait again with the same ref.
    console.log(`"${prompts[index]}" goes on.`, error);
  }
}
console.log(`${completed} of ${prompts.length} videos`);
