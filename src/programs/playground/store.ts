import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainFileError, replaceFile } from '../../adapters/node/durable.ts';
import type { CallView } from './protocol.ts';

/** Stores calls and their files. */
export interface Store {
  /** `true` if they are available after a restart. */
  readonly keeps: boolean;
  /** Returns all stored calls, oldest first. */
  load(): Promise<CallView[]>;
  write(call: CallView): Promise<void>;
  writeFile(id: string, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  readFile(id: string, index: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  remove(id: string): Promise<void>;
}

/** Stores calls in memory. */
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
 * Stores calls in a folder, so that paid results survive the server.
 *
 * @throws `FileError` if the folder cannot be created
 */
export async function folderStore(folder: string): Promise<Store> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainFileError(error, folder);
  }
  // Results were paid for, so they are kept in memory if the disk is full.
  const unwritten = memoryStore();
  const filePath = (id: string, suffix: string): string => join(folder, `${id}.${suffix}`);
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
          // Not a stored call.
        }
      }
      return calls.toSorted((a, b) => a.startedAt - b.startedAt);
    },
    async write(call) {
      const path = filePath(call.id, 'json');
      await replaceFile(path, JSON.stringify(call)).catch((error: unknown) => {
        throw explainFileError(error, path);
      });
    },
    async writeFile(id, index, bytes) {
      const path = filePath(id, `${index}.bin`);
      await writeFile(path, bytes, { mode: 0o600, flush: true }).catch(() =>
        unwritten.writeFile(id, index, bytes),
      );
    },
    async readFile(id, index) {
      try {
        return new Uint8Array(await readFile(filePath(id, `${index}.bin`)));
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
