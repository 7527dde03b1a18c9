import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainFileError, replaceFile } from '../node/durable.ts';
import type { CallView } from './protocol.ts';

/** Where calls and their files are kept. */
export interface Store {
  /** Whether a later start of the playground finds them. */
  readonly keeps: boolean;
  /** Every call that was kept, the oldest first. */
  load(): Promise<CallView[]>;
  write(call: CallView): Promise<void>;
  writeFile(id: string, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  readFile(id: string, index: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  remove(id: string): Promise<void>;
}

/** Keeps them as long as the server runs. */
export function memoryStore(): Store {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    keeps: false,
    load: async () => [],
    write: async () => {},
    async writeFile(id, index, bytes) {
      files.set(`${id}.${index}`, bytes);
    },
    readFile: async (id, index) => files.get(`${id}.${index}`),
    async remove(id) {
      for (const name of files.keys()) if (name.startsWith(`${id}.`)) files.delete(name);
    },
  };
}

/**
 * Keeps them in a folder: what was paid for outlives the server.
 *
 * @throws `FileError` when the folder cannot be made or written
 */
export async function folderStore(folder: string): Promise<Store> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainFileError(error, folder);
  }
  // What the disk does not take is paid for all the same.
  const unwritten = memoryStore();
  const pathOf = (id: string, end: string): string => join(folder, `${id}.${end}`);
  return {
    keeps: true,
    async load() {
      const calls: CallView[] = [];
      for (const name of await readdir(folder)) {
        if (!/^[\w-]+\.json$/.test(name)) continue;
        try {
          const call: CallView = JSON.parse(await readFile(join(folder, name), 'utf8'));
          if (`${call.id}.json` === name && Array.isArray(call.files)) calls.push(call);
        } catch {
          // Not one of ours.
        }
      }
      return calls.toSorted((a, b) => a.startedAt - b.startedAt);
    },
    async write(call) {
      const path = pathOf(call.id, 'json');
      await replaceFile(path, JSON.stringify(call)).catch((error: unknown) => {
        throw explainFileError(error, path);
      });
    },
    async writeFile(id, index, bytes) {
      const path = pathOf(id, `${index}.bin`);
      await writeFile(path, bytes, { mode: 0o600, flush: true }).catch(() =>
        unwritten.writeFile(id, index, bytes),
      );
    },
    async readFile(id, index) {
      try {
        return new Uint8Array(await readFile(pathOf(id, `${index}.bin`)));
      } catch {
        return unwritten.readFile(id, index);
      }
    },
    async remove(id) {
      await unwritten.remove(id);
      const names = (await readdir(folder)).filter((name) => name.startsWith(`${id}.`));
      await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}
