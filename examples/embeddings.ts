// Compares sentences by their vectors.
import { Gateway } from 'model-gateway';

const client = new Gateway();

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

const input = [
  'The cat sleeps on the sofa.',
  'A cat is sleeping on a couch.',
  'Stocks fell today.',
];
const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input });
const first = data[0]?.embedding ?? [];
for (const { index, embedding } of data) {
  console.log(cosine(first, embedding).toFixed(3), input[index]);
}
