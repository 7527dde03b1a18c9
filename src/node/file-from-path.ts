import { openAsBlob, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { check, checkText } from '../check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { unreadable, readFile } from '../uploads/file-input.ts';
import { codeOf } from './durable.ts';

/**
 * A file on disk as an upload.
 *
 * Its bytes are read only while they are sent, so memory stays flat; and because they can be read
 * again, a request that provably never left can be repeated.
 *
 * @param path - The file. It may not change until the upload is over, which fails then; only Bun sends
 * what it finds.
 * @param options - `type` is the MIME type; by default it is told by the extension or the bytes.
 * @throws `InvalidInputError` when the file cannot be read
 *
 * @example
 * await client.audio.translations.create({ model: 'whisper-1', file: await fileFromPath('talk.mp3') });
 */
export async function fileFromPath(path: string, options: { type?: string } = {}): Promise<File> {
  checkText('path', path, 'the path of the file to upload');
  const given: unknown = options?.type;
  const isType = given === undefined || typeof given === 'string';
  check(isType, 'type', 'must be a MIME type such as "audio/mpeg", or left out.');
  try {
    const facts = await stat(path);
    check(facts.isFile(), 'path', `"${path}" is no file.`);
    const blob = await openAsBlob(path);
    const { type } = await readFile(blob, path, given === undefined ? {} : { type: given });
    return new DiskFile(blob, path, facts, type);
  } catch (error) {
    if (InvalidInputError.isInstance(error)) throw error;
    const isMissing = codeOf(error) === 'ENOENT';
    const problem = isMissing ? 'does not exist.' : unreadable(error);
    throw new InvalidInputError('path', `"${path}" ${problem}`, { cause: error });
  }
}

/**
 * How much is read at a time, in bytes. What was sent is garbage, and a garbage collector lets buffers
 * of 64 KiB, as Node's own blobs give them, pile up to more than 64 MiB; of these it is less than half.
 */
const blockSize = 16_384;

/** A file on disk as an upload, which takes little memory while it is sent. */
class DiskFile extends File {
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
