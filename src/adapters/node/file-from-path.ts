import { openAsBlob, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { check, checkText, errorText } from '../../options/check.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { readFile } from '../../uploads/file-input.ts';
import { systemErrorCode } from './durable.ts';

/**
 * Opens a file on disk for an upload.
 *
 * It is read while it is sent, so memory use stays low. Because it can be read again, requests that
 * provably were not sent can be retried.
 *
 * @param path - The file. If it changes during the upload, the upload fails, except in Bun, which sends
 * the new content.
 * @param options - `type` is the MIME type; by default it is detected from the extension or the bytes.
 * @throws `InvalidInputError` if the file cannot be read
 *
 * @example
 * await client.audio.translations.create({ model: 'whisper-1', file: await fileFromPath('talk.mp3') });
 */
export async function fileFromPath(path: string, options: { type?: string } = {}): Promise<File> {
  checkText('path', path, 'the path of the file to upload');
  const declaredType: unknown = options?.type;
  const isType = declaredType === undefined || typeof declaredType === 'string';
  check(isType, 'type', 'must be a MIME type such as "audio/mpeg", or omitted.');
  try {
    const facts = await stat(path);
    check(facts.isFile(), 'path', `"${path}" is not a file.`);
    const blob = await openAsBlob(path);
    const { type } = await readFile(
      blob,
      path,
      declaredType === undefined ? {} : { type: declaredType },
    );
    return new DiskFile(blob, path, facts, type);
  } catch (error) {
    if (InvalidInputError.isInstance(error)) throw error;
    const isMissing = systemErrorCode(error) === 'ENOENT';
    const problem = isMissing ? 'does not exist.' : `cannot be read: ${errorText(error)}.`;
    throw new InvalidInputError('path', `"${path}" ${problem}`, { cause: error });
  }
}

/**
 * Chunk size in bytes. Sent chunks wait for garbage collection: with 64 KiB, as in Node's own blobs, they
 * pile up to more than 64 MiB; with this size to less than half.
 */
const blockSize = 16_384;

/** A file on disk for an upload that uses little memory. */
class DiskFile extends File {
  readonly #path: string;
  readonly #modified: number;

  /** @param blob - The result of `openAsBlob` for the path. */
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
