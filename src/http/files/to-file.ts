import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { ResponseLike, StreamingFileInput, UploadData } from '../../types/uploads.ts';
import { bytesOf, openSource, type ByteSource } from './byte-source.ts';
import { baseName, extensionOf, nameOf } from './file-name.ts';
import { formatOfExtension, mainExtension } from './formats.ts';
import { isBinary, isBlob, isResponse, isStream, isUploadData } from './kinds.ts';
import { sniff, sniffLength } from './sniff.ts';

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

/** The part of a `Blob` that holds these bytes. Blobs do not take shared memory, so that is copied. */
function blobPart(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(data);
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}

/** A `Blob` of the runtime's own class. Only these can be parts of files and forms. */
async function nativeBlob(blob: Blob): Promise<Blob> {
  const isNative: boolean = blob instanceof Blob;
  return isNative ? blob : new Blob([await blob.arrayBuffer()], { type: blob.type });
}

/** Reads a stream to its end. */
export async function readBlob(source: ByteSource): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) {
    parts.push(blobPart(bytes));
  }
  return new Blob(parts);
}

async function readResponse(response: ResponseLike): Promise<BufferedContent> {
  if (Reflect.get(response, 'ok') === false) {
    const status: unknown = Reflect.get(response, 'status');
    throw new TypeError(
      `it is a response with status ${String(status)}, so its body is not the file`,
    );
  }
  const blob = await nativeBlob(await response.blob());
  return { blob, name: nameOf(response), type: blob.type };
}

/** Brings anything but a stream into a form that can be read any number of times. */
export async function bufferContent(
  value: Exclude<ToFileInput, StreamingFileInput>,
): Promise<BufferedContent> {
  if (isBlob(value)) {
    return { blob: await nativeBlob(value), name: nameOf(value), type: value.type };
  }
  if (isBinary(value)) return { blob: new Blob([blobPart(value)]), name: undefined, type: '' };
  if (isResponse(value)) return readResponse(value);
  const { data, filename, type } = value;
  const inner: BufferedContent =
    typeof data === 'string'
      ? { blob: new Blob([data]), name: undefined, type: '' }
      : await bufferContent(data);
  return {
    blob: inner.blob,
    name: baseName(filename ?? '') ?? inner.name,
    type: type ?? inner.type,
  };
}

async function readAny(value: unknown): Promise<BufferedContent> {
  if (isBlob(value) || isBinary(value) || isResponse(value) || isUploadData(value)) {
    return bufferContent(value);
  }
  if (isStream(value)) {
    return { blob: await readBlob(openSource(value)), name: nameOf(value), type: '' };
  }
  if (typeof value === 'string') {
    throw new TypeError(
      'it is text; open a path with fileFromPath() of model-gateway/node, and give content as { data, filename }',
    );
  }
  throw new TypeError(
    `it is ${value === null ? 'null' : `of type ${typeof value}`}, which holds no file`,
  );
}

async function guessType(name: string, blob: Blob): Promise<string> {
  const extension = extensionOf(name).toLowerCase();
  const byName = formatOfExtension(extension, 'any')?.extensions[extension];
  if (byName !== undefined) return byName;
  const head = new Uint8Array(await blob.slice(0, sniffLength).arrayBuffer());
  const bytes = sniff(head);
  if (bytes === undefined) return '';
  return bytes.format.extensions[bytes.extension ?? mainExtension(bytes.format)] ?? '';
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
  try {
    if (settled instanceof File && isUnchanged(settled, name, options)) return settled;
    const content = await readAny(settled);
    const fileName = name ?? content.name ?? 'unknown_file';
    const type = options?.type ?? (content.type || (await guessType(fileName, content.blob)));
    const modified: unknown = settled instanceof File ? settled.lastModified : undefined;
    const lastModified = options?.lastModified ?? modified;
    return new File([content.blob], fileName, {
      ...options,
      type,
      ...(typeof lastModified === 'number' ? { lastModified } : {}),
    });
  } catch (error) {
    throw new InvalidInputError('value', unreadable(error), { cause: error });
  }
}

/** What to say of a file that cannot be read. */
export function unreadable(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `cannot be read: ${reason.replace(/\.$/, '')}.`;
}

function isUnchanged(
  file: File,
  name: string | null | undefined,
  options: FileOptions | undefined,
): boolean {
  return (
    (name === undefined || name === null || name === file.name) &&
    (options?.type === undefined || options.type === file.type) &&
    (options?.lastModified === undefined || options.lastModified === file.lastModified) &&
    options?.endings === undefined
  );
}
