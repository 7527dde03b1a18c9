import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { emulated } from '../helpers/clients.ts';

/** The models that the guides, the README and the examples name. */
function readNamedModels(): readonly string[] {
  const files = ['README.md', ...globSync(['docs/guides/*.md', 'examples/**/*.ts'])];
  const names = files
    .filter((path) => !path.includes('node_modules'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/\bmodel: '([\w.-]+)'/g)])
    .map(([, name = '']) => name);
  // One is never available, one is misspelled, and one belongs to a gateway with a route of its own.
  return [...new Set(names)].filter(
    (name) => !/^(missing-model|gpt-image-l|rerank-1|yours)$/.test(name),
  );
}

describe('the price list of the emulator', () => {
  test.each(readNamedModels())(
    'the price list of the emulator has a price for %s in the documentation',
    async (model) => {
      const { client } = emulated();

      const { models } = await client.account.prices();

      expect(models).toContainEqual(expect.objectContaining({ model }));
    },
  );

  test('matches the charge of each kind of call', async () => {
    const { client, emulator } = emulated();
    await client.account.prices();
    const prompt = 'A boat';
    await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: prompt }],
    });
    await client.images.generate({ model: 'dall-e-3', prompt, n: 2, size: '64x64' });
    await client.embeddings.create({ model: 'text-embedding-3-small', input: prompt });
    await client.videos.create({ model: 'sora-2', prompt, seconds: 4 });
    await client.videos.create({ model: 'kling-v1', prompt, seconds: 5 });

    const { estimate, unpriced } = await client.account.spent();

    const charged = emulator.charges.reduce((sum, { amount }) => sum + amount, 0);
    expect(estimate.value * 500_000).toBeCloseTo(charged, 3);
    expect(unpriced).toBe(0);
  });

  test('contains only the listed models if only those are served', async () => {
    const { client } = emulated({}, { models: [{ id: 'gpt-4o-mini' }] });

    const { models } = await client.account.prices();

    expect(models.map(({ model }) => model)).toEqual(['gpt-4o-mini']);
  });
});
