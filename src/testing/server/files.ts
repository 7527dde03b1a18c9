import type { Bytes } from '../media/bytes.ts';
import type { Ids } from '../control/ids.ts';

/** A file that the emulator serves without a key. */
export interface StoredFile {
  readonly type: string;
  /** Makes the bytes, at the first request for them. */
  readonly bytes: () => Promise<Bytes>;
}

/** What image addresses, result addresses and redirects point to. */
export class Files {
  readonly #ids: Ids;
  #files = new Map<string, StoredFile>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Keeps a file. @returns its path, for example `/files/…png` */
  add(extension: string, file: StoredFile): string {
    const path = `/files/${this.#ids.next('', 24)}.${extension}`;
    this.#files.set(path, file);
    return path;
  }

  get(path: string): StoredFile | undefined {
    return this.#files.get(path);
  }

  clear(): void {
    this.#files = new Map();
  }
}
