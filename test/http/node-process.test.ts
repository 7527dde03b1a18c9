import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEmulator } from '../../src/testing/index.ts';

function unsupported(): never {
  throw new Error('A Node.js API is used (process.getBuiltinModule) which is not supported.');
}

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test("a runtime whose process functions throw, such as Next's edge runtime, is not treated as Node", async () => {
  const own = { versions: { value: undefined }, getBuiltinModule: { value: unsupported } };
  vi.stubGlobal('process', Object.create(process, own));
  const { Gateway, toStreamingFile } = await import('../../src/index.ts');
  const { apiKey, baseURL, fetch } = createEmulator();
  const client = new Gateway({ apiKey, baseURL, fetch });
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const image = toStreamingFile(new Blob([png]).stream(), 'cat.png');

  const { data } = await client.images.edit({ model: 'm-image', prompt: 'A hat', image });

  expect(data).toHaveLength(1);
});
