// Creates many images within a budget, saves them, and prints the cost.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BudgetError, Gateway } from 'model-gateway';
import { saveTo } from 'model-gateway/node';

// In US dollars: ten images of the emulator. If the price list lacks the model, add
// `perCall: { [model]: 0.05 }`, the highest price of an image.
const model = 'gpt-image-1';
const client = new Gateway({ budget: { limit: 0.02 } });

const folder = await mkdtemp(join(tmpdir(), 'night-'));
const params = Array.from({ length: 24 }, (_, index) => ({
  model,
  prompt: `Watercolour of house number ${index + 1}`,
  size: '256x256',
}));

let saved = 0;
let refused = 0;
const results = client.images.generateMany(params, {
  concurrency: 4,
  onProgress: ({ done, total }) => {
    if (done % 6 === 0) console.log(`${done} of ${total}`);
  },
});
for await (const { index, images, error } of results) {
  const image = images?.data[0];
  if (image !== undefined) {
    await saveTo(image, join(folder, `${index}.png`));
    saved += 1;
  } else if (BudgetError.isInstance(error)) {
    // Nothing was sent: raise the limit, or try again tomorrow.
    refused += 1;
  } else {
    console.error(`${index} failed`, error);
  }
}
console.log(`Saved ${saved} images, ${refused} are left for the next run.`);

const { lines, budget } = await client.account.spent();
for (const { operation, calls, unknown } of lines) {
  console.log(`${operation}: ${calls} answered, ${unknown} with an unknown outcome`);
}
console.log(`About ${budget?.spent.toFixed(2)} of ${budget?.limit} USD`);
await rm(folder, { recursive: true });
