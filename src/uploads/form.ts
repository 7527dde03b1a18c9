import { InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import type { PreparedBody } from '../http/request.ts';
import { nodeProcess } from '../node-process.ts';
import type { RequestOptions } from '../options.ts';
import { blobOf, openStream, type OpenFile, type ReadBytes } from './file-input.ts';
import type { UploadChunk } from './types.ts';

/** A field that is sent as text. */
export interface TextPart {
  readonly name: string;
  readonly text: string;
}

/** A field that is sent as a file, under a name and a MIME type that are settled. */
export interface FilePart extends Omit<OpenFile, 'name'> {
  readonly name: string;
  readonly filename: string;
  /** The parameter that holds the file, for errors. */
  readonly field: string;
}

export type Part = TextPart | FilePart;

type Tell = RequestOptions['onUploadProgress'];

/** Told how much of a file was read, from its beginning. */
type Count = (file: FilePart, bytes: number) => void;

/**
 * Makes a body, and stops what it is read from when it cannot be made, and as soon as it is not needed.
 *
 * @param make - Is given what stops the body, and aborts it when the body fails. Streams are opened before
 * its first `await`: one that fails while nobody listens ends a Node process.
 */
export async function prepareBody(
  signal: AbortSignal,
  make: (controller: AbortController) => Promise<PreparedBody>,
): Promise<PreparedBody> {
  const controller = new AbortController();
  const unfollow = followSignal(signal, controller);
  const release = (reason?: unknown): void => {
    unfollow();
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
 * What is read of a body while it is sent. Nothing is read ahead, so memory stays flat however slowly the
 * gateway reads.
 *
 * @param fail - Told why the body cannot be sent whole.
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
          // A stream that was stopped on purpose fails too, but not by its own fault.
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

/** A body that is made while it is sent, and so is sent once. */
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
 * The body of a form. A form of files in memory or behind a `Blob` is a `Blob` itself, and can be sent any
 * number of times. One with a stream in it becomes a stream, with a length where every part has one; in
 * runtimes that cannot stream an upload the stream is read into memory instead.
 *
 * @param signal - Stops what is being read of the files; they can be read again after it.
 * @param tell - Told of the files as they are read.
 */
export async function formBodyOf(
  parts: readonly Part[],
  signal: AbortSignal,
  controller: AbortController,
  tell?: Tell,
): Promise<PreparedBody> {
  const count = tell && counter(parts, tell);
  const isStreamed = parts.some((part) => 'content' in part && !(part.content instanceof Blob));
  const streamed = isStreamed ? await streamForm(parts, controller, count) : undefined;
  return streamed ?? blobForm(parts, signal, count);
}

/** The length of all files, or `undefined` when that of one is not known. */
function sizeOf(parts: readonly Part[]): number | undefined {
  const sizes = parts.map((part) => ('text' in part ? 0 : part.size));
  return sizes.reduce((sum = NaN, size = NaN) => sum + size, 0) || undefined;
}

/** Adds up how much of all files was read. One that is sent again is read again. */
function counter(parts: readonly Part[], tell: NonNullable<Tell>): Count {
  const total = sizeOf(parts);
  const read = new Map<FilePart, number>();
  return (file, bytes) => {
    read.set(file, bytes);
    try {
      tell({ sent: [...read.values()].reduce((sum, one) => sum + one, 0), total });
    } catch {
      // What is sent may be charged; it does not end for a display that fails.
    }
  };
}

/** What is in memory comes in one piece, and would be told of only once. */
const pieceLength = 65_536;

/** The bytes of a file, held to the length that was announced for it. */
async function* bytesIn(
  file: FilePart,
  signal: AbortSignal,
  count: Count | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { content, size = Infinity } = file;
  const read = content instanceof Blob ? openStream(content.stream(), signal) : content;
  let sent = 0;
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    if (sent + bytes.byteLength > size) throw wrongLength(file, 'turned out longer');
    for (let at = 0; at < bytes.byteLength; at += pieceLength) {
      const piece = bytes.subarray(at, at + pieceLength);
      sent += piece.byteLength;
      count?.(file, sent);
      yield piece;
    }
  }
  if (sent < (file.size ?? 0)) throw wrongLength(file, `ended after ${sent}`);
}

function wrongLength({ field, size }: FilePart, finding: string): InvalidInputError {
  const problem = `was announced with ${size} bytes and ${finding}. Do not write to it during the upload, and leave \`size\` out when it is not exact.`;
  return new InvalidInputError(field, problem);
}

/** Browsers write every line break of a name or a text field as CR LF, so that is done here too. */
const withFullLineBreaks = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n');

const escapeName = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');

/**
 * A form as a `Blob` (RFC 7578), because a `fetch` other than the runtime's own does not know the runtime's
 * `FormData`. Files are referred to, not copied, so that one on disk takes no memory.
 */
async function blobForm(
  parts: readonly Part[],
  signal: AbortSignal,
  count: Count | undefined,
): Promise<PreparedBody> {
  const content: BlobPart[] = [];
  /** What reads the same, each file in its own way. */
  const readers: ((signal: AbortSignal) => Iterable<string> | AsyncIterable<Uint8Array>)[] = [];
  const write = (text: string): void => {
    content.push(text);
    readers.push(() => [text]);
  };
  // Whoever could guess it could write further fields into a text. Pages without TLS have no `randomUUID()`.
  const boundary = `----formdata-${crypto.getRandomValues(new BigUint64Array(2)).join('')}`;
  for (const part of parts) {
    const name = escapeName(withFullLineBreaks(part.name));
    write(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`);
    if ('text' in part) write(`\r\n\r\n${withFullLineBreaks(part.text)}\r\n`);
    else {
      const blob = await blobOf(part);
      write(`; filename="${escapeName(part.filename)}"\r\nContent-Type: ${part.type}\r\n\r\n`);
      // Bun leaves a file on disk out of a blob that has more in it.
      const isTaken = new Blob(['-', blob]).size > blob.size;
      content.push(isTaken ? blob : await blob.arrayBuffer());
      const file = { ...part, content: blob, size: blob.size };
      readers.push((stopped) => bytesIn(file, stopped, count));
      write('\r\n');
    }
  }
  write(`--${boundary}--\r\n`);
  const type = `multipart/form-data; boundary=${boundary}`;
  const body = new Blob(content, { type });
  let failure: unknown;
  // Node and Deno read what they send by this. A `Blob` reads files in a way of its own.
  const stream = (): ReadableStream<Uint8Array> => {
    const stop = new AbortController();
    // Node reads a body to its end, also after the request was stopped.
    if (!signal.aborted) followSignal(signal, stop);
    const read = async function* (): AsyncGenerator<UploadChunk, void, undefined> {
      for (const reader of readers) yield* reader(stop.signal);
    };
    return webStream(openStream(read(), stop.signal), stop, (error) => (failure = error));
  };
  Object.defineProperty(body, 'stream', { value: stream });
  const headers = { 'content-type': type };
  return { body, headers, replayable: true, sourceError: () => failure };
}

/** `undefined` where the runtime has no Node streams. */
async function streamForm(
  parts: readonly Part[],
  controller: AbortController,
  count: Count | undefined,
): Promise<PreparedBody | undefined> {
  const Readable = nodeProcess()?.getBuiltinModule?.('node:stream').Readable;
  if (Readable === undefined) return undefined;
  // An edge runtime may have some of Node, but not all that the library loads. In bundles for browsers
  // the library is empty, or only another name for the global `FormData`.
  const NodeForm = (await import('form-data').catch(() => undefined))?.default;
  if (NodeForm === undefined || !('getHeaders' in NodeForm.prototype)) return undefined;

  const form = new NodeForm();
  for (const part of parts) {
    const name = withFullLineBreaks(part.name);
    if ('text' in part) {
      form.append(name, withFullLineBreaks(part.text));
      continue;
    }
    const { filename, type: contentType, size } = part;
    // A function is called when its turn has come, so a later file is not touched before that.
    const open = (next: (content: unknown) => void): void => {
      next(Readable.from(bytesIn(part, controller.signal, count)));
    };
    const known = size === undefined ? {} : { knownLength: size };
    form.append(name, open, { filename, contentType, ...known });
  }
  const isMeasured = sizeOf(parts) !== undefined;
  const length = isMeasured ? { 'content-length': String(form.getLengthSync()) } : {};
  // It is an old-style stream, which no `fetch` takes.
  const source = new Readable({ highWaterMark: 1 }).wrap(form);
  const bytes = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    form.resume();
    yield* source;
  };
  return streamBody(openStream(bytes()), { ...form.getHeaders(), ...length }, controller);
}
