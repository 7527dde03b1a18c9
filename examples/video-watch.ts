// Prints the events of a video task. Leaving the loop would stop the polls, not the task.
import { Gateway } from 'model-gateway';

const client = new Gateway();

const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A kite over the dunes' });
for await (const event of client.videos.watch(ref, { interval: 500 })) {
  switch (event.type) {
    case 'submitted':
      console.log(`Watching ${event.ref.id}`);
      break;
    case 'update':
      console.log(`Poll ${event.polls}: ${event.status}, ${event.progress ?? '?'} %`);
      break;
    case 'poll-error':
      console.log('A poll failed; the next one comes.', event.error);
      break;
    case 'completed':
      console.log(`Done: ${event.task.id}`);
      break;
    case 'failed':
      console.log(`It failed: ${event.error.reason}`);
  }
}
