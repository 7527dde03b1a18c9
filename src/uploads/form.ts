import { InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import type { PreparedBody } from '../http/request.ts';
import { nodeProcess } from '../http/node/node-process.ts';
import type { RequestOptions } from '../options/options.ts';
import { toBlob, openStream, type OpenFile, type ReadBytes } from './file-input.ts';
import type { UploadChunk } from './types.ts';

/** A field that is sent as text. */
export interface TextPart {
  readonly name: string;
  readonly text: string;
}

/** A field that is sent as a file, with its final name and MIME type. */
export interface FilePart extends Omit<OpenFile, 'name'> {
  readonly name: string;
  readonly filename: string;
  /** The parameter with the file, for errors. */
  readonly field: string;
}

export type Part = TextPart | FilePart;

type ReportProgress = RequestOptions['onUploadProgress'];

/** Called with the number of bytes of a file read so far. */
type CountBytes = (file: FilePart, bytes: number) => void;

/**
 * Prepares a body. Stops its sources if that fails, and as soon as the body is not needed any more.
 *
 * @param make - Receives a controller that stops the sources, and aborts it if the body fails. It must open
 *   streams before its first `await`, because an error without a listener ends a Node process.
 */
export async function prepareBody(
  signal: AbortSignal,
  make: (controller: AbortController) => Promise<PreparedBody>,
): Promise<PreparedBody> {
  const controller = new AbortController();
  const stopFollowing = followSignal(signal, controller);
  const release = (reason?: unknown): void => {
    stopFollowing();
    controller.abort(reason);
  };
  try {
    return { ...(await untilAborted(make(controller), controller.signal)), release };
  } catch (error) {
    release(error);
    throw error;
  }
}

/**
 * Creates a stream for a body that is read while it is sent. Nothing is read ahead, so memory use stays
 * constant, however slowly the gateway reads.
 *
 * @param fail - Called with the error if the body cannot be sent completely.
 */
function webStream(
  read: ReadBytes,
  controller: AbortController,
  fail: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(output) {
        try {
          const bytes = await read();
          if (bytes === undefined) output.close();
          else output.enqueue(bytes);
        } catch (error) {
          // A stream that was stopped on purpose has not failed.
          if (!controller.signal.aborted) fail(error);
          controller.abort(error);
          throw error;
        }
      },
      cancel: (reason) => controller.abort(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Prepares a body that is generated while it is sent, and can be sent only once. */
export function streamBody(
  read: ReadBytes,
  headers: PreparedBody['headers'],
  controller: AbortController,
): PreparedBody {
  let failure: unknown;
  const body = webStream(read, controller, (error) => (failure = error));
  return { body, headers, replayable: false, sourceError: () => failure };
}

/**
 * Prepares a form. If all files are in memory or behind a `Blob`, the body is a `Blob` and can be sent any
 * number of times. With a stream, the body is a stream, with a length if the length of every part is known;
 * in runtimes that cannot stream an upload, the stream is read into memory instead.
 *
 * @param signal - Stops reading the files; they can be read again afterwards.
 * @param reportProgress - Called as the files are read.
 */
export async function createFormBody(
  parts: readonly Part[],
  signal: AbortSignal,
  controller: AbortController,
  reportProgress?: ReportProgress,
): Promise<PreparedBody> {
  const count = reportProgress && createCounter(parts, reportProgress);
  const isStreamed = parts.some((part) => 'content' in part && !(part.content instanceof Blob));
  const streamed = isStreamed ? await streamForm(parts, controller, count) : undefined;
  return streamed ?? blobForm(parts, signal, count);
}

/** Returns the total length of all files, or `undefined` if the length of one is unknown. */
function totalSize(parts: readonly Part[]): number | undefined {
  const sizes = parts.map((part) => ('text' in part ? 0 : part.size));
  return sizes.reduce((sum = NaN, size = NaN) => sum + size, 0) || undefined;
}

/** Adds up the bytes read of all files. A file that is sent again is counted from the beginning. */
function createCounter(
  parts: readonly Part[],
  reportProgress: NonNullable<ReportProgress>,
): CountBytes {
  const total = totalSize(parts);
  const read = new Map<FilePart, number>();
  return (file, bytes) => {
    read.set(file, bytes);
    try {
      reportProgress({ sent: [...read.values()].reduce((sum, count) => sum + count, 0), total });
    } catch {
      // An upload that may be charged must not fail because the progress callback fails.
    }
  };
}

/** Splits content in memory, which would otherwise be reported only once. */
const pieceLength = 65_536;

/** Yields the bytes of a file, and checks them against its declared length. */
async function* readBytes(
  file: FilePart,
  signal: AbortSignal,
  count: CountBytes | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { content, size = Infinity } = file;
  const read = content instanceof Blob ? openStream(content.stream(), signal) : content;
  let sent = 0;
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    if (sent + bytes.byteLength > size) throw wrongLength(file, 'is longer');
    for (let offset = 0; offset < bytes.byteLength; offset += pieceLength) {
      const piece = bytes.subarray(offset, offset + pieceLength);
      sent += piece.byteLength;
      count?.(file, sent);
      yield piece;
    }
  }
  if (sent < (file.size ?? 0)) throw wrongLength(file, `ended after ${sent}`);
}

function wrongLength({ field, size }: FilePart, finding: string): InvalidInputError {
  const problem = `was declared with ${size} bytes, but ${finding}. Do not write to it during the upload, and omit \`size\` if it is not exact.`;
  return new InvalidInputError(field, problem);
}

/** Converts line breaks of names and text fields to CR LF, as browsers do. */
const normalizeLineBreaks = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n');

const escapeName = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');

/**
 * Encodes a form as a `Blob` (RFC 7578), because a custom `fetch` does not support the runtime's `FormData`.
 * Files are referenced, not copied, so that files on disk take no memory.
 */
async function blobForm(
  parts: readonly Part[],
  signal: AbortSignal,
  count: CountBytes | undefined,
): Promise<PreparedBody> {
  const content: BlobPart[] = [];
  /** Functions that read the same content. */
  const readers: ((signal: AbortSignal) => Iterable<string> | AsyncIterable<Uint8Array>)[] = [];
  const write = (text: string): void => {
    content.push(text);
    readers.push(() => [text]);
  };
  // Random, because text containing a guessed boundary could inject fields. Pages without TLS have no
  // `randomUUID()`.
  const boundary = `----formdata-${crypto.getRandomValues(new BigUint64Array(2)).join('')}`;
  for (const part of parts) {
    const name = escapeName(normalizeLineBreaks(part.name));
    write(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`);
    if ('text' in part) write(`\r\n\r\n${normalizeLineBreaks(part.text)}\r\n`);
    else {
      const blob = await toBlob(part);
      write(`; filename="${escapeName(part.filename)}"\r\nContent-Type: ${part.type}\r\n\r\n`);
      // Bun omits a file on disk from a blob with other parts.
      const isIncluded = new Blob(['-', blob]).size > blob.size;
      content.push(isIncluded ? blob : await blob.arrayBuffer());
      const file = { ...part, content: blob, size: blob.size };
      readers.push((stopSignal) => readBytes(file, stopSignal, count));
      write('\r\n');
    }
  }
  write(`--${boundary}--\r\n`);
  const type = `multipart/form-data; boundary=${boundary}`;
  const body = new Blob(content, { type });
  let failure: unknown;
  // Node and Deno read the body with this method, which limits and counts the bytes. Other runtimes read a
  // `Blob` internally.
  const stream = (): ReadableStream<Uint8Array> => {
    const stopController = new AbortController();
    // Node reads a body to its end, even after the request was stopped.
    if (!signal.aborted) followSignal(signal, stopController);
    const read = async function* (): AsyncGenerator<UploadChunk, void, undefined> {
      for (const reader of readers) yield* reader(stopController.signal);
    };
    return webStream(
      openStream(read(), stopController.signal),
      stopController,
      (error) => (failure = error),
    );
  };
  Object.defineProperty(body, 'stream', { value: stream });
  const headers = { 'content-type': type };
  return { body, headers, replayable: true, sourceError: () => failure };
}

/** Encodes a form as a stream; `undefined` if the runtime has no Node streams. */
async function streamForm(
  parts: readonly Part[],
  controller: AbortController,
  count: CountBytes | undefined,
): Promise<PreparedBody | undefined> {
  const Readable = nodeProcess()?.getBuiltinModule?.('node:stream').Readable;
  if (Readable === undefined) return undefined;
  // Edge runtimes may lack some Node modules that the library loads. In bundles for browsers the library is
  // empty, or an alias of the global `FormData`.
  const NodeForm = (await import('form-data').catch(() => undefined))?.default;
  if (NodeForm === undefined || !('getHeaders' in NodeForm.prototype)) return undefined;

  const form = new NodeForm();
  for (const part of parts) {
    const name = normalizeLineBreaks(part.name);
    if ('text' in part) {
      form.append(name, normalizeLineBreaks(part.text));
      continue;
    }
    const { filename, type: contentType, size } = part;
    // The library calls each function when it reaches that field, so later files are not read early.
    const open = (next: (content: unknown) => void): void => {
      next(Readable.from(readBytes(part, controller.signal, count)));
    };
    const known = size === undefined ? {} : { knownLength: size };
    form.append(name, open, { filename, contentType, ...known });
  }
  const isMeasured = totalSize(parts) !== undefined;
  const length = isMeasured ? { 'content-length': String(form.getLengthSync()) } : {};
  // `form-data` creates an old-style stream, which `fetch` does not accept.
  const source = new Readable({ highWaterMark: 1 }).wrap(form);
  const bytes = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    form.resume();
    yield* source;
  };
  return streamBody(openStream(bytes()), { ...form.getHeaders(), ...length }, controller);
}
