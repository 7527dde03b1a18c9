import type { Bytes } from '../media/bytes.ts';
import type { Ids } from '../control/ids.ts';

/**
 * Where the emulator is reachable.
 *
 * Next to each address of the gateway there is a second one, on another origin, that serves only
 * files: signed addresses and redirects of a real gateway lead to such places.
 */
export class Origins {
  /** Ports of the gateway with the ports of their second addresses. */
  readonly #ports = new Map<string, string>();

  /** A server listens on these two ports. @returns a function that forgets them */
  register(port: number, otherPort: number): () => void {
    this.#ports.set(String(port), String(otherPort));
    return () => this.#ports.delete(String(port));
  }

  /** The second origin of a gateway origin. */
  other(origin: string): string {
    const url = new URL(origin);
    const port = this.#ports.get(url.port);
    if (port === undefined) url.hostname = `files.${url.hostname}`;
    else url.port = port;
    return url.origin;
  }

  /** Whether an origin is a second one. */
  isOther(origin: string): boolean {
    const { port, hostname } = new URL(origin);
    return hostname.startsWith('files.') || [...this.#ports.values()].includes(port);
  }
}

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
