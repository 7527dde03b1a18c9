// Streams with events, and returns the whole completion at the end.
import { Gateway } from 'model-gateway';

const client = new Gateway();

const stream = client.chat.completions
  .stream({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Name three rivers.' }],
  })
  .on('content', (delta) => process.stdout.write(delta))
  .on('message', (message) => console.log(`\n\n${message.role} has finished.`));

const completion = await stream.finalChatCompletion();
console.log(completion.usage);
