import type { Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';

/**
 * How much is read at a time, in bytes. What was sent is garbage, and a garbage collector lets buffers
 * of 64 KiB, as Node's own blobs give them, pile up to more than 64 MiB; of these it is less than half.
 */
const blockSize = 16_384;

/** A file on disk as an upload, which takes little memory while it is sent. */
export class DiskFile extends File {
  readonly #path: string;
  readonly #modified: number;

  /** @param blob - What `openAsBlob` gave for the path. */
  constructor(blob: Blob, path: string, { mtimeMs }: Pick<Stats, 'mtimeMs'>, type: string) {
    super([blob], basename(path), { type, lastModified: Math.round(mtimeMs) });
    this.#path = path;
    this.#modified = mtimeMs;
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    let file: FileHandle | undefined;
    let done = 0;
    const close = async (): Promise<void> => {
      await file?.close();
      file = undefined;
    };
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            file ??= await this.#open();
            const block = new Uint8Array(Math.min(blockSize, this.size - done));
            const { bytesRead } = await file.read(block, 0, block.length, done);
            if (bytesRead === 0 && block.length > 0) throw this.#changed();
            done += bytesRead;
            if (bytesRead > 0) controller.enqueue(block.subarray(0, bytesRead));
            if (done < this.size) return;
            await close();
            controller.close();
          } catch (error) {
            await close();
            throw error;
          }
        },
        cancel: close,
      },
      { highWaterMark: 0 },
    );
  }

  async #open(): Promise<FileHandle> {
    const file = await open(this.#path);
    const { size, mtimeMs } = await file.stat();
    if (size === this.size && mtimeMs === this.#modified) return file;
    await file.close();
    throw this.#changed();
  }

  #changed(): Error {
    return new Error(`"${this.#path}" has changed since fileFromPath() opened it.`);
  }
}
