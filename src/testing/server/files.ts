import type { Bytes } from '../media/bytes.ts';
import type { Ids } from '../control/ids.ts';

/**
 * Registry of the emulator's origins.
 *
 * Each origin of the gateway has a second one that only serves files, like the hosts of signed URLs and
 * redirects of a real gateway.
 */
export class Origins {
  /** Ports of the gateway, mapped to the ports of their second origins. */
  readonly #ports = new Map<string, string>();

  /** Registers the ports of a server. Returns a function that removes them. */
  register(port: number, otherPort: number): () => void {
    this.#ports.set(String(port), String(otherPort));
    return () => this.#ports.delete(String(port));
  }

  /** Returns the second origin of a gateway origin. */
  other(origin: string): string {
    const url = new URL(origin);
    const port = this.#ports.get(url.port);
    if (port === undefined) url.hostname = `files.${url.hostname}`;
    else url.port = port;
    return url.origin;
  }

  /** Returns whether an origin is a second one. */
  isOther(origin: string): boolean {
    const { port, hostname } = new URL(origin);
    return hostname.startsWith('files.') || [...this.#ports.values()].includes(port);
  }
}

/** A file that the emulator serves without a key. */
export interface StoredFile {
  readonly type: string;
  /** Creates the bytes at the first request. */
  readonly bytes: () => Promise<Bytes>;
  /** Returns whether its URL has expired. */
  readonly isExpired?: () => boolean;
}

/** Files for image URLs, result URLs and redirects. */
export class Files {
  readonly #ids: Ids;
  #files = new Map<string, StoredFile>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Stores a file. Returns its path, for example `/files/…png`. */
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
