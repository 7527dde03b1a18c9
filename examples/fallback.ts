// Asks other models if the first one cannot answer, and shows which model was asked and charged.
import { Gateway } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';

const emulator = createEmulator({ models: [{ id: 'm-flash' }, { id: 'm-image' }] });
const client = new Gateway({
  apiKey: emulator.apiKey,
  baseURL: emulator.baseURL,
  fetch: emulator.fetch,
  onFallback: ({ from, to, error }) => console.log(`${from} → ${to}: ${error.message}`),
});

// The gateway does not have the first model, so the next one is asked, with its own parameters.
const completion = await client.chat.completions.create(
  { model: 'm-large', messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
  { fallback: [{ model: 'm-flash', max_tokens: 200 }] },
);
console.log(completion.choices[0]?.message.content);
console.log('charged:', emulator.charges.map(({ model }) => model).join(', '));

// The response of this image is lost after the charge. Another model would be a second charge.
emulator.fail({ operation: 'images.generate', fault: { type: 'reset', when: 'after-charge' } });
try {
  await client.images.generate(
    { model: 'm-image', prompt: 'A lighthouse' },
    { fallback: ['m-flash'] },
  );
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.log('The next model is not asked:', error.message);
}
console.log('charged:', emulator.charges.map(({ model }) => model).join(', '));
