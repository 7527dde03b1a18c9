// Embeds any number of texts and finds the one closest to a question.
import { Gateway, PartialEmbeddingsError } from 'model-gateway';

const client = new Gateway();
const model = 'text-embedding-3-small';

const texts = Array.from({ length: 250 }, (_, index) => `Note ${index}: water the plants.`);
const question = 'Which note is number 42?';

try {
  const { vectors, usage } = await client.embeddings.createMany(
    { model, input: [question, ...texts] },
    { batchSize: 100, concurrency: 2 },
  );
  const [asked, ...notes] = vectors;
  const scores = notes.map((note) => note.reduce((sum, x, i) => sum + x * (asked?.[i] ?? 0), 0));
  const best = scores.indexOf(Math.max(...scores));
  console.log(`${notes.length} vectors for ${usage.total_tokens} tokens; closest: ${texts[best]}`);
} catch (error) {
  if (!(error instanceof PartialEmbeddingsError)) throw error;
  // The vectors so far are paid for; embed only the rest.
  const count = error.vectors.filter((vector) => vector !== undefined).length;
  console.error(`${count} vectors came. ${error.message}`);
}
