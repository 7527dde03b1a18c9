import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createEvidence,
  createGuide,
  examineEmulator,
  readKept,
} from '../../../docs/compatibility.ts';
import { root } from '../../helpers/run-program.ts';

/** Removes what differs from day to day, and the padding of cells. */
const comparable = (page: string): string =>
  page
    .replaceAll(/^\| (Tested on|With model-gateway) .*\n/gm, '')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/-{3,}/g, '---')
    .trim();

test('the guide "Compatibility" and its evidence are those that their script writes', async () => {
  const guide = await readFile(join(root, 'docs/guides/compatibility.md'), 'utf8');
  const evidence = await readFile(join(root, 'docs/compatibility-evidence.md'), 'utf8');
  const [emulated, installed] = [await examineEmulator(), await readKept()];

  // If it differs: npm run build && npm run --prefix docs compatibility
  expect(comparable(guide)).toBe(comparable(createGuide(emulated, installed)));
  expect(comparable(evidence)).toBe(comparable(createEvidence([...installed, ...emulated])));
  expect(installed.map(({ name }) => name)).toEqual([
    expect.stringMatching(/^LiteLLM \d/),
    expect.stringMatching(/^Portkey \d/),
    expect.stringMatching(/^aimock \d/),
  ]);
}, 180_000);
