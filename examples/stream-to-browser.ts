// A server has the key and calls the gateway. Its client, which could be a browser, reads the stream
// with the same events.
import { createServer, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { Gateway } from 'model-gateway';
// The only import that the page needs.
import { ChatCompletionStream } from 'model-gateway/stream';

const client = new Gateway();

async function answer(response: ServerResponse): Promise<void> {
  try {
    // Awaited before the response begins: an error such as a 401 does not become a broken 200.
    const stream = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Why are dogs better than cats?' }],
      stream: true,
    });
    response.setHeader('content-type', 'text/plain');
    pipeline(stream.toReadableStream(), response, (error) => {
      // Stop the stream when the client disconnects, so that the rest is not charged.
      if (error) stream.controller.abort();
    });
  } catch (error) {
    console.error(error);
    response.writeHead(502).end('Please try again later.');
  }
}
const server = createServer((_, response) => void answer(response));
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;

// The rest would run in the browser.
const { body } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST' });
if (body === null) throw new Error('The response has an empty body.');
const received = ChatCompletionStream.fromReadableStream(body).on('content', (delta) =>
  process.stdout.write(delta),
);
const completion = await received.finalChatCompletion();
console.log(`\n${completion.choices[0]?.finish_reason}, ${received.verdict}`);
server.close();
