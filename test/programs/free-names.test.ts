import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeToFreeName } from '../../src/programs/free-names.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('files that are saved at the same time have names of their own', async () => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'image.png'), 'there before');
  const texts = Array.from({ length: 20 }, (_, index) => `result ${index}`);

  const paths = await Promise.all(
    texts.map((text) => writeToFreeName(folder, 'image', 'png', (path) => writeFile(path, text))),
  );

  expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(texts);
  expect(readFileSync(join(folder, 'image.png'), 'utf8')).toBe('there before');
  expect(readdirSync(folder)).toHaveLength(21);
});

test('a file that cannot be written leaves nothing behind', async () => {
  const folder = await temporaryFolder();

  const written = writeToFreeName(folder, 'image', 'png', async (path) => {
    await writeFile(path, 'half');
    throw new Error('The disk is full.');
  });

  await expect(written).rejects.toThrow('The disk is full.');
  expect(readdirSync(folder)).toEqual([]);
});
