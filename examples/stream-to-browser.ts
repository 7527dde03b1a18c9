// A server holds the key and asks the gateway; its client, which could be a browser, reads the stream
// with the same events.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { Gateway } from 'model-gateway';
// All that the page needs of the package.
import { ChatCompletionStream } from 'model-gateway/stream';

const client = new Gateway();

const server = createServer((_, response) => {
  const stream = client.chat.completions.stream({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Why are dogs better than cats?' }],
  });
  response.setHeader('content-type', 'text/plain');
  pipeline(stream.toReadableStream(), response, (error) => {
    // When nobody reads any more, nothing more should be paid for.
    if (error) stream.abort();
  });
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;

// From here on it is what runs in the browser.
const { body } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST' });
if (body === null) throw new Error('There is no body.');
const received = ChatCompletionStream.fromReadableStream(body).on('content', (delta) =>
  process.stdout.write(delta),
);
const completion = await received.finalChatCompletion();
console.log(`\n${completion.choices[0]?.finish_reason}, ${received.verdict}`);
server.close();
