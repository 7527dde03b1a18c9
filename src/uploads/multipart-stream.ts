import { InvalidInputError } from '../errors/gateway-error.ts';
import { bytesOf } from './byte-source.ts';
import { isBinary } from './file-input.ts';
import { withFullLineBreaks } from './form-blob.ts';
import type { TextPart } from './multipart-fields.ts';

/** A file of a form that is streamed. */
export interface StreamedFile {
  readonly name: string;
  readonly filename: string;
  readonly type: string;
  /** Length in bytes, or `undefined` when it is not known. */
  readonly size: number | undefined;
  /** The parameter that holds the file, for errors. */
  readonly field: string;
  /** The next bytes, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
}

/** Multipart bytes that are made while they are read, and the headers that go with them. */
interface StreamedForm {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Who wants to know how the reading of a form ended. */
interface FormObserver {
  /** A source failed; the body fails with the same error. */
  fail(error: unknown): void;
  /** The reader went away. */
  close(reason: unknown): void;
}

/** Makes a streamed form. */
type FormStreamer = (
  parts: readonly (TextPart | StreamedFile)[],
  observer: FormObserver,
) => StreamedForm;

/**
 * What it takes to stream a form, or `undefined` where the runtime has no Node streams.
 *
 * In browsers and edge workers the library is only another name for the global `FormData`.
 */
export async function loadFormStreamer(): Promise<FormStreamer | undefined> {
  const nodeStream = globalThis.process?.getBuiltinModule?.('node:stream');
  if (nodeStream === undefined) return undefined;
  // An edge runtime may have some of Node, but not all that the library loads.
  const NodeForm = (await import('form-data').catch(() => undefined))?.default;
  if (NodeForm === undefined || !('getHeaders' in NodeForm.prototype)) return undefined;

  return (parts, observer) => {
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
        next(nodeStream.Readable.from(contentOf(part)));
      };
      form.append(name, open, {
        filename,
        contentType,
        ...(size === undefined ? {} : { knownLength: size }),
      });
    }
    const isMeasured = parts.every((part) => 'text' in part || part.size !== undefined);
    const length = isMeasured ? { 'content-length': String(form.getLengthSync()) } : {};
    const headers = { ...form.getHeaders(), ...length };
    return { headers, body: toWebStream(form, observer) };
  };
}

/** The bytes of a file, held to the length that was announced for it. */
async function* contentOf(file: StreamedFile): AsyncGenerator<Uint8Array, void, undefined> {
  const { size } = file;
  let sent = 0;
  for (let bytes = await file.read(); bytes !== undefined; bytes = await file.read()) {
    sent += bytes.byteLength;
    if (size !== undefined && sent > size) throw wrongLength(file, 'turned out longer');
    yield bytes;
  }
  if (size !== undefined && sent < size) throw wrongLength(file, `ended after ${sent}`);
}

function wrongLength(file: StreamedFile, finding: string): InvalidInputError {
  return new InvalidInputError(
    file.field,
    `was announced with ${file.size} bytes and ${finding}. Do not write to it during the ` +
      'upload, and leave `size` out when it is not exact.',
  );
}

/** What is used here of a form: an old-style Node stream, which no `fetch` takes. */
interface EventStream {
  on(event: 'data', listener: (chunk: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

function toWebStream(form: EventStream, observer: FormObserver): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        form.on('data', (chunk) => {
          if (isOver) return;
          controller.enqueue(isBinary(chunk) ? bytesOf(chunk) : encoder.encode(String(chunk)));
          if ((controller.desiredSize ?? 0) <= 0) form.pause();
        });
        form.on('end', () => {
          if (!isOver) controller.close();
          isOver = true;
        });
        form.on('error', (error) => {
          if (isOver) return;
          isOver = true;
          controller.error(error);
          observer.fail(error);
        });
      },
      pull() {
        form.resume();
      },
      cancel(reason) {
        isOver = true;
        form.pause();
        observer.close(reason);
      },
    },
    // Nothing is read ahead, so memory stays flat however slowly the gateway reads.
    { highWaterMark: 0 },
  );
}
