import { sniffLength } from '../answers/file-type.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import type { StreamingFileInput } from './types.ts';
import { openSource, sizeOfFileStream, type ByteSource } from './byte-source.ts';
import { isReadable, isStreamingFile } from './file-input.ts';
import { describeFile, nameOf } from './file-name.ts';
import { bufferContent, headOf, readBlob, unreadable } from './to-file.ts';
import { toParts, type FilePart, type FormFields, type TextPart } from './multipart-fields.ts';
import { loadFormStreamer, type StreamedFile } from './multipart-stream.ts';
import type { BodyEncoding } from '../http/body.ts';
import { untilAborted } from '../http/until-aborted.ts';
import { formBlob } from './form-blob.ts';

export { isUploadable } from './file-input.ts';
export { toFile, toStreamingFile, type StreamingFileOptions, type ToFileInput } from './to-file.ts';
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

/** The body of a request that is sent as a form. */
export function formBody(fields: FormFields): BodyEncoding {
  return {
    async encode(extra = {}, takesForms, signal) {
      const kept = fields.filter(([name]) => !Object.hasOwn(extra, name));
      const form = await encodeMultipart([...kept, ...Object.entries(extra)], signal);
      if (takesForms || !(form.body instanceof FormData)) return form;
      const body = formBlob(form.body);
      return { ...form, body, headers: { 'content-type': body.type } };
    },
  };
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
 * @param signal - Stops the encoding, and later the upload; streams that are being read are destroyed.
 * @throws `InvalidInputError` naming the field when a file is empty or cannot be read.
 * @throws The reason of `signal` when it is aborted.
 */
export async function encodeMultipart(
  fields: FormFields,
  signal: AbortSignal = new AbortController().signal,
): Promise<EncodedMultipart> {
  const sources = new SourceSet();
  const onAbort = (): void => sources.close(signal.reason);
  signal.addEventListener('abort', onAbort);
  const release = (reason?: unknown): void => {
    signal.removeEventListener('abort', onAbort);
    sources.close(reason);
  };

  try {
    const preparing = Promise.all(
      toParts(fields).map(async (part) => ('text' in part ? part : openFile(part, sources))),
    );
    const isStreamed = sources.size > 0;
    if (signal.aborted) onAbort();
    const parts = await untilAborted(preparing, signal);
    const streamForm = isStreamed ? await loadFormStreamer() : undefined;
    if (streamForm !== undefined) {
      const form = streamForm(parts, sources);
      return { ...form, replayable: false, release, sourceError: () => sources.error };
    }
    const body = await untilAborted(memoryForm(parts), signal);
    return { body, headers: {}, replayable: true, release, sourceError: () => undefined };
  } catch (error) {
    release(error);
    throw error;
  }
}

/** Every stream that a form is read from. */
class SourceSet {
  readonly #sources: ByteSource[] = [];
  #closeReason: unknown;
  /** What a stream failed with while it was read, or `undefined`. */
  error: unknown;

  get size(): number {
    return this.#sources.length;
  }

  open(stream: StreamingFileInput): ByteSource {
    const source = openSource(stream);
    this.#sources.push(source);
    if (this.#closeReason !== undefined) source.close(this.#closeReason);
    return source;
  }

  close(reason: unknown): void {
    const closeReason = (this.#closeReason ??= reason ?? new Error('The stream was stopped.'));
    for (const source of this.#sources) source.close(closeReason);
  }

  fail(error: unknown): void {
    // A stream that was stopped on purpose fails too, but not by its own fault.
    if (this.#closeReason === undefined) this.error = error;
    this.close(error);
  }
}

/** A file whose name, MIME type and beginning are known, and which is not empty. */
interface FormFile extends StreamedFile {
  /** All of it, unless it can be read only once. */
  readonly blob?: Blob;
}

/** Opens a file, and looks at its beginning. An error of the platform is made to name the field. */
async function openFile(
  { name, field, purpose, value }: FilePart,
  sources: SourceSet,
): Promise<FormFile> {
  const describe = (
    head: Uint8Array,
    given: { readonly name: string | undefined; readonly type?: string | undefined },
  ): Pick<FormFile, 'name' | 'field' | 'filename' | 'type'> => {
    if (head.byteLength === 0) {
      throw new InvalidInputError(
        field,
        'is empty (0 bytes); check its path, and that nothing has read it before.',
      );
    }
    const facts = { field, purpose, head, name: given.name, type: given.type };
    const { name: filename, type } = describeFile(facts);
    return { name, field, filename, type };
  };
  try {
    if (isReadable(value) && !isStreamingFile(value)) {
      const content = await bufferContent(value);
      const { blob } = content;
      let source: ByteSource | undefined;
      const read = (): Promise<Uint8Array | undefined> => {
        source ??= sources.open(blob.stream());
        return source.read();
      };
      return { ...describe(await headOf(blob), content), blob, size: blob.size, read };
    }
    // At once: a stream that fails before it is read must find someone listening.
    const file = isStreamingFile(value)
      ? value
      : { data: value, name: nameOf(value), type: undefined, size: undefined };
    const source = sources.open(file.data);
    const { head, ended } = await source.peek(sniffLength);
    const size = file.size ?? (ended ? head.byteLength : sizeOfFileStream(file.data));
    return { ...describe(head, file), size, read: () => source.read() };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new InvalidInputError(field, unreadable(error), { cause: error });
  }
}

/** A file under its final name, read in the way of the one that it is made of. */
class SelfReadingFile extends File {
  readonly #source: Blob;

  constructor(source: Blob, { filename, type }: FormFile) {
    super([source], filename, { type });
    this.#source = source;
  }

  override stream(): ReturnType<Blob['stream']> {
    return this.#source.stream();
  }
}

async function memoryForm(parts: readonly (TextPart | FormFile)[]): Promise<FormData> {
  const form = new FormData();
  for (const part of parts) {
    if ('text' in part) {
      form.append(part.name, part.text);
      continue;
    }
    const { name, filename, type, blob = await readBlob(part) } = part;
    if (blob.stream === Blob.prototype.stream) {
      // Runtimes differ in the name that they take from a File, so it is always given.
      form.append(name, new File([blob], filename, { type }), filename);
    } else {
      // Given with a name, it would be copied by the form, and read in the common way.
      form.append(name, new SelfReadingFile(blob, part));
    }
  }
  return form;
}
