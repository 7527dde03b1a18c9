import { openSource, type ByteSource } from './files/byte-source.ts';
import { openUpload, type OpenedUpload, type ReadyFile } from './files/open-upload.ts';
import { readBlob } from './files/to-file.ts';
import { toParts, type FormFields, type FormPart, type TextPart } from './multipart-fields.ts';
import { loadFormStreamer, type FormObserver, type StreamedPart } from './multipart-stream.ts';

export { isUploadable } from './files/kinds.ts';
export { toStreamingFile, type StreamingFileOptions } from './files/streaming-file.ts';
export { toFile, type ToFileInput } from './files/to-file.ts';
export type { FormField, FormFields } from './multipart-fields.ts';

/** A form, ready to be the body of a request. */
export interface EncodedMultipart {
  readonly body: FormData | ReadableStream<Uint8Array>;
  /** Headers that belong to the body. A `FormData` has none: the runtime writes its boundary. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the body can be sent again. */
  readonly replayable: boolean;
  /**
   * Stops what is still being read, and frees it. To be called when the call has ended, in whatever
   * way: an answer may come before the body was read, and a failed connection reads nothing.
   */
  readonly release: (reason?: unknown) => void;
  /**
   * What a source of the body failed with, or `undefined`. Such a body was cut off before its closing
   * boundary, so the gateway never saw a complete request.
   */
  readonly sourceError: () => unknown;
}

/** What {@link encodeMultipart} may be told besides the fields. */
export interface EncodeOptions {
  /** Stops the encoding, and later the upload; streams that are being read are destroyed. */
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Encodes a form.
 *
 * Files in memory or behind a `Blob` make a `FormData`. A form with a stream in it becomes a stream
 * itself, with a length where every part has one; in runtimes that cannot stream an upload the stream
 * is read into memory instead.
 *
 * Streams are opened before the first `await`. Call this before anything else that takes time, or a
 * stream that fails meanwhile finds nobody listening, which ends a Node process.
 *
 * @throws `InvalidInputError` naming the field when a file is empty or cannot be read.
 * @throws The reason of `signal` when it is aborted.
 */
export async function encodeMultipart(
  fields: FormFields,
  { signal }: EncodeOptions = {},
): Promise<EncodedMultipart> {
  const sources = new SourceSet();
  const ended = new AbortController();
  const release = (reason?: unknown): void => {
    ended.abort();
    sources.close(reason);
  };
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => {
      sources.close(signal?.reason);
      reject(signal?.reason);
    };
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { signal: ended.signal });
  });
  aborted.catch(() => {});

  try {
    const parts = openParts(toParts(fields), sources);
    const isStreamed = sources.size > 0;
    const ready = await Promise.race([aborted, readyParts(parts)]);
    const streamForm = isStreamed ? await loadFormStreamer() : undefined;
    if (streamForm === undefined) {
      const body = await Promise.race([aborted, memoryForm(ready)]);
      return { body, headers: {}, replayable: true, release, sourceError: () => undefined };
    }
    const streamed = ready.map((part) => ('file' in part ? streamedFile(part, sources) : part));
    const form = streamForm(streamed, sources);
    return { ...form, replayable: false, release, sourceError: () => sources.error };
  } catch (error) {
    release(error);
    throw error;
  }
}

/** Every stream that a form is read from. */
class SourceSet implements FormObserver {
  readonly #sources = new Set<ByteSource>();
  #isClosed = false;
  #reason: unknown;
  #error: unknown;

  get size(): number {
    return this.#sources.size;
  }

  /** What a stream failed with while it was read, or `undefined`. */
  get error(): unknown {
    return this.#error;
  }

  add(source: ByteSource): void {
    this.#sources.add(source);
    if (this.#isClosed) source.close(this.#reason);
  }

  close(reason: unknown): void {
    if (!this.#isClosed) this.#reason = reason;
    this.#isClosed = true;
    for (const source of this.#sources) source.close(reason);
  }

  onError(error: unknown): void {
    // A stream that was stopped on purpose fails too, but not by its own fault.
    if (!this.#isClosed) this.#error = error;
    this.close(error);
  }

  onCancel(reason: unknown): void {
    this.close(reason);
  }
}

interface OpenedFilePart {
  readonly name: string;
  readonly field: string;
  readonly upload: OpenedUpload;
}

interface ReadyFilePart {
  readonly name: string;
  readonly field: string;
  readonly file: ReadyFile;
}

function openParts(parts: readonly FormPart[], sources: SourceSet): (TextPart | OpenedFilePart)[] {
  const problems: unknown[] = [];
  const opened: (TextPart | OpenedFilePart)[] = [];
  for (const part of parts) {
    if ('text' in part) {
      opened.push(part);
      continue;
    }
    // Goes on after a failure, so that the streams behind it are closed as well.
    try {
      const upload = openUpload(part);
      if (upload.source !== undefined) sources.add(upload.source);
      opened.push({ name: part.name, field: part.field, upload });
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
  return opened;
}

async function readyParts(
  parts: readonly (TextPart | OpenedFilePart)[],
): Promise<(TextPart | ReadyFilePart)[]> {
  const ready: (TextPart | ReadyFilePart)[] = [];
  for (const part of parts) {
    if ('text' in part) ready.push(part);
    else ready.push({ name: part.name, field: part.field, file: await part.upload.ready() });
  }
  return ready;
}

/** A file under its final name, read in the way of the one that it is made of. */
class SelfReadingFile extends File {
  readonly #source: Blob;

  constructor(source: Blob, { name, type }: Pick<ReadyFile, 'name' | 'type'>) {
    super([source], name, { type });
    this.#source = source;
  }

  override stream(): ReturnType<Blob['stream']> {
    return this.#source.stream();
  }
}

async function memoryForm(parts: readonly (TextPart | ReadyFilePart)[]): Promise<FormData> {
  const form = new FormData();
  for (const part of parts) {
    if ('text' in part) {
      form.append(part.name, part.text);
      continue;
    }
    const { file } = part;
    const blob = 'blob' in file ? file.blob : await readBlob(file.source);
    if (blob.stream !== Blob.prototype.stream) {
      // Given with a name, it would be copied by the form, and read in the common way.
      form.append(part.name, new SelfReadingFile(blob, file));
      continue;
    }
    const isTyped = blob.type === file.type;
    const typed = isTyped ? blob : new File([blob], file.name, { type: file.type });
    // Runtimes differ in the name that they take from a File, so it is always given.
    form.append(part.name, typed, file.name);
  }
  return form;
}

function streamedFile({ name, field, file }: ReadyFilePart, sources: SourceSet): StreamedPart {
  const { name: filename, type } = file;
  if ('source' in file) {
    return { name, field, filename, type, size: file.size, read: () => file.source.read() };
  }
  const { blob } = file;
  let source: ByteSource | undefined;
  const open = (): ByteSource => {
    const opened = openSource(blob.stream());
    sources.add(opened);
    return opened;
  };
  const read = (): Promise<Uint8Array | undefined> => {
    source ??= open();
    return source.read();
  };
  return { name, field, filename, type, size: blob.size, read };
}
