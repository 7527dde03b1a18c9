// Prints an answer as it arrives. A stream that ends early throws an error.
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
  console.error('\nThe stream was cut off. The response so far is in error.partial.');
}
