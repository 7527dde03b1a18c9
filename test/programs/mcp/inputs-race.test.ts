import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type * as Files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

interface System {
  /** Runs once after a call, as if another process were faster than the next one. */
  after: Partial<Record<'realpath' | 'open', () => void>>;
  /** `false` if the system does not tell the path of an open file. */
  hasPaths: boolean;
}

const system = vi.hoisted((): System => ({ after: {}, hasPaths: true }));

function runAfter(name: 'realpath' | 'open', path: unknown): void {
  if (!String(path).endsWith('photo.png')) return;
  const { [name]: run } = system.after;
  system.after = { ...system.after, [name]: undefined };
  run?.();
}

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof Files>();
  return {
    ...original,
    async realpath(path: string) {
      const real = await original.realpath(path);
      runAfter('realpath', path);
      return real;
    },
    async open(path: string, flags: number) {
      const file = await original.open(path, flags);
      runAfter('open', path);
      return file;
    },
    readlink: (path: string) =>
      system.hasPaths ? original.readlink(path) : Promise.reject(new Error('ENOENT')),
  };
});

const { openInput } = await import('../../../src/programs/mcp/tools/inputs.ts');

const png = (text: string): Buffer =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(text)]);

let folder = '';
let root = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'race-')));
  root = join(folder, 'root');
  mkdirSync(join(root, 'album'), { recursive: true });
  mkdirSync(join(folder, 'secret'));
  writeFileSync(join(root, 'album', 'photo.png'), png('shared'));
  writeFileSync(join(folder, 'secret', 'photo.png'), png('secret'));
});

afterEach(() => {
  system.after = {};
  rmSync(folder, { recursive: true });
});

const open = () =>
  openInput(join('album', 'photo.png'), 'image', {
    folders: [root],
    hosts: [],
    isResult: () => Promise.resolve(false),
  });

const replaceFile = (): void => {
  rmSync(join(root, 'album', 'photo.png'));
  symlinkSync(join(folder, 'secret', 'photo.png'), join(root, 'album', 'photo.png'));
};

const replaceFolder = (): void => {
  renameSync(join(root, 'album'), join(root, 'moved'));
  symlinkSync(join(folder, 'secret'), join(root, 'album'));
};

const restoreFolder = (): void => {
  rmSync(join(root, 'album'));
  renameSync(join(root, 'moved'), join(root, 'album'));
};

describe.each([{ hasPaths: true }, { hasPaths: false }])(
  'a file outside of the roots is not read (the system tells paths: $hasPaths)',
  ({ hasPaths }) => {
    beforeEach(() => {
      system.hasPaths = hasPaths;
    });

    test('a file outside of the roots is not read if a link replaces the file after the check', async () => {
      system.after = { realpath: replaceFile };

      await expect(open()).rejects.toThrow('photo.png cannot be read');
    });

    test('a file outside of the roots is not read if a link replaces its folder after the check', async () => {
      system.after = { realpath: replaceFolder };

      await expect(open()).rejects.toThrow('is outside of the folders that may be read');
    });

    test('a file outside of the roots is not read if a link replaces its folder while it is opened', async () => {
      system.after = { realpath: replaceFolder, open: restoreFolder };

      await expect(open()).rejects.toThrow('is outside of the folders that may be read');
    });

    test('a file that was opened before a link replaces its folder is read if the system tells paths', async () => {
      const { sha256 } = Object.assign({ sha256: '' }, await open());
      system.after = { open: replaceFolder };
      const swapped = await open().catch((error: unknown) => error);

      // The open file is still the shared one; without its path, that cannot be proved.
      const shared = expect.objectContaining({ sha256 });
      expect(swapped).toEqual(hasPaths ? shared : expect.any(Error));
    });
  },
);
