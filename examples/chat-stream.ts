// Prints an answer while it is being written. A stream that is cut throws; it never looks complete.
import { Gateway, StreamTruncatedError } from 'model-gateway';

const client = new Gateway();

const stream = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Tell me about the sea.' }],
  stream: true,
});
try {
  for await (const chunk of stream) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  }
  console.log(`\n\nThe stream is ${stream.verdict}.`);
} catch (error) {
  if (!StreamTruncatedError.isInstance(error)) throw error;
  console.error('\nThe answer was cut. What came so far is in error.partial.');
}
