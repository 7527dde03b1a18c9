import { check, checkInteger } from '../check.ts';
import { sniffLength, typeOfBytes } from '../answers/file-type.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import {
  streamingFileMark,
  type ResponseLike,
  type StreamingFile,
  type StreamingFileInput,
  type UploadData,
} from './types.ts';
import {
  blobPart,
  isBinary,
  isBlob,
  isReadable,
  isResponse,
  isStream,
  openStream,
  readBlob,
} from './file-input.ts';
import { baseName, nameOf, typeOfName } from './file-name.ts';

/** What `new File()` takes. Node's types and those of browsers have different names for it. */
type FileOptions = NonNullable<ConstructorParameters<typeof File>[2]>;

/** What `toFile` reads. Text is not among it, because it would hide a path: use `{ data, filename }`. */
export type ToFileInput =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | StreamingFileInput;

/** Content that can be read any number of times, with what its source says of it. */
export interface BufferedContent {
  readonly blob: Blob;
  readonly name: string | undefined;
  /** The MIME type, or `''`. */
  readonly type: string;
}

/** A `Blob` of the runtime's own class. Only these can be parts of files and forms. */
async function nativeBlob(blob: Blob): Promise<Blob> {
  const isNative: boolean = blob instanceof Blob;
  return isNative ? blob : new Blob([await blob.arrayBuffer()], { type: blob.type });
}

/** Brings anything but a stream into a form that can be read any number of times. */
export async function bufferContent(
  value: Exclude<ToFileInput, StreamingFileInput>,
): Promise<BufferedContent> {
  if (isBlob(value)) {
    return { blob: await nativeBlob(value), name: nameOf(value), type: value.type };
  }
  if (isBinary(value)) return { blob: new Blob([blobPart(value)]), name: undefined, type: '' };
  if (isResponse(value)) {
    if (Reflect.get(value, 'ok') === false) {
      const status = String(Reflect.get(value, 'status'));
      throw new TypeError(`it is a response with status ${status}, so its body is not the file`);
    }
    const blob = await nativeBlob(await value.blob());
    return { blob, name: nameOf(value), type: blob.type };
  }
  const { data, filename, type } = value;
  const inner = await bufferContent(typeof data === 'string' ? new Blob([data]) : data);
  return {
    blob: inner.blob,
    name: baseName(filename ?? '') ?? inner.name,
    type: type ?? inner.type,
  };
}

async function readAny(value: unknown): Promise<BufferedContent> {
  if (isReadable(value)) return bufferContent(value);
  if (isStream(value)) {
    return { blob: await readBlob(openStream(value)), name: nameOf(value), type: '' };
  }
  throw new TypeError(
    typeof value === 'string'
      ? 'it is text; open a path with fileFromPath() of model-gateway/node, and give content as { data, filename }'
      : `it is ${value === null ? 'null' : `of type ${typeof value}`}, which holds no file`,
  );
}

/** The first bytes of a file, as many as are needed to recognise it. */
export async function headOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.slice(0, sniffLength).arrayBuffer());
}

/**
 * Reads anything that holds a file into a `File`, which can be uploaded any number of times.
 *
 * Everything is read into memory, except that a `File` or a `Blob` keeps its content where it is. Use
 * `toStreamingFile` for what is too large for that.
 *
 * @param value - A `File` or `Blob`, bytes, `{ data, filename, type }`, a `Response`, an fs
 * `ReadStream`, a web stream or any async iterable, or a promise of one of them.
 * @param name - The file name. Without it: the file's own name, a response's `content-disposition` or
 * URL, a stream's `path`, or `unknown_file`.
 * @param options - `type` is the MIME type. Without it: the value's own, else what the extension or
 * the first bytes say.
 * @throws `InvalidInputError` when the value cannot be read, or is a response that failed.
 *
 * @example
 * ```ts
 * const image = await toFile(fetch('https://example.com/cat.png'));
 * await gateway.images.edit({ model, image, prompt: 'Add a hat' });
 * ```
 */
export async function toFile(
  value: ToFileInput | PromiseLike<ToFileInput>,
  name?: string | null,
  options?: FileOptions,
): Promise<File> {
  const settled: unknown = await value;
  const file = settled instanceof File ? settled : undefined;
  const lastModified = options?.lastModified ?? file?.lastModified ?? Date.now();
  const isUnchanged =
    (name ?? file?.name) === file?.name &&
    (options?.type ?? file?.type) === file?.type &&
    lastModified === file?.lastModified &&
    options?.endings === undefined;
  if (file !== undefined && isUnchanged) return file;
  try {
    const content = await readAny(settled);
    const fileName = name ?? content.name ?? 'unknown_file';
    const type =
      options?.type ??
      (content.type || (typeOfName(fileName) ?? typeOfBytes(await headOf(content.blob)) ?? ''));
    return new File([content.blob], fileName, { ...options, type, lastModified });
  } catch (error) {
    throw new InvalidInputError('value', unreadable(error), { cause: error });
  }
}

/** What to say of a file that cannot be read. */
export function unreadable(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `cannot be read: ${reason.replace(/\.$/, '')}.`;
}

/** What `toStreamingFile` may be told besides the name. */
export interface StreamingFileOptions {
  /** The MIME type. Concluded from the name and the first bytes when left out. */
  type?: string | undefined;
  /**
   * Length in bytes. With it the upload says how long it is, which some servers want; the upload
   * fails when the stream turns out longer or shorter. Integer, at least 1.
   */
  size?: number | undefined;
}

/**
 * Names a stream, so that it can be uploaded without being read into memory.
 *
 * A request with a stream is sent once and never repeated, because the stream cannot be read again.
 * Browsers and most edge workers cannot stream an upload; there it is read into memory first.
 *
 * @param data - The content: a web stream, a Node stream or any async iterable of bytes or text.
 * @param name - The file name, with its extension; folders are dropped.
 * @param options - The MIME type and the length, where they are known.
 * @throws `InvalidInputError` when `name` is empty, or `size` is not a positive integer.
 *
 * @example
 * ```ts
 * const file = toStreamingFile(recording, 'talk.mp3');
 * await gateway.audio.translations.create({ model, file });
 * ```
 */
export function toStreamingFile(
  data: StreamingFileInput,
  name: string,
  options: StreamingFileOptions = {},
): StreamingFile {
  const fileName = baseName(name);
  check(fileName !== undefined, 'name', 'must be a file name, for example "talk.mp3".');
  const { type, size } = options;
  if (size !== undefined) checkInteger('size', size, 1);
  return { [streamingFileMark]: true, data, name: fileName, type, size };
}
