// The examples with packages that the other tests of examples do not have.
import { readdir } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { createEmulator } from '../../dist/testing/index.js';

const folder = new URL('../../examples/frameworks/', import.meta.url);

const expected: Readonly<Record<string, RegExp>> = {
  'agents.ts': /sunny, 24 degrees[\s\S]*2 calls of responses\.create, \d+ tokens/i,
  'langchain.ts': /sunny, 24 degrees[\s\S]*city/i,
};

test('every example has an expectation', async () => {
  expect((await readdir(folder)).toSorted()).toEqual(Object.keys(expected));
});

test.each(Object.entries(expected))('%s runs', async (name, pattern) => {
  await using emulator = createEmulator();
  const { url } = await emulator.listen();
  vi.stubEnv('GATEWAY_BASE_URL', url);
  vi.stubEnv('GATEWAY_API_KEY', emulator.apiKey);
  const printed: unknown[] = [];
  vi.spyOn(console, 'log').mockImplementation((...values) => void printed.push(...values));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(text) > 0);

  await import(new URL(name, folder).pathname);

  const text = printed.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  expect(text.join('')).toMatch(pattern);
  const paths = emulator.requests.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(paths)).toEqual(new Set(['POST /v1/responses']));
});
