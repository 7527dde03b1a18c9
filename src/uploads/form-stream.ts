import { InvalidInputError } from '../errors/gateway-error.ts';
import type { PreparedBody } from '../http/request.ts';
import { bytesOf, isBinary } from '../given.ts';
import { nodeProcess } from '../node-process.ts';
import { openStream, type OpenFile } from './file-input.ts';

/** A form, ready to be the body of a request. */
export type EncodedForm = Required<PreparedBody> & {
  readonly body: FormData | ReadableStream<Uint8Array>;
};

/** A field that is sent as text. */
export interface TextPart {
  readonly name: string;
  readonly text: string;
}

/** A field that is sent as a file, under a name and a MIME type that are settled. */
export interface FilePart extends OpenFile {
  readonly filename: string;
  /** The field of the form. */
  readonly name: string;
  /** The parameter that holds the file, for errors. */
  readonly field: string;
}

/**
 * A form as a stream that is made while it is read, or `undefined` where the runtime has no Node streams.
 *
 * @param controller - Stops the form when it is aborted, and is aborted when the form fails.
 */
export async function streamForm(
  parts: readonly (TextPart | FilePart)[],
  controller: AbortController,
): Promise<Pick<EncodedForm, 'body' | 'headers' | 'sourceError'> | undefined> {
  const nodeStream = nodeProcess()?.getBuiltinModule?.('node:stream');
  if (nodeStream === undefined) return undefined;
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
      next(nodeStream.Readable.from(bytesIn(part, controller.signal)));
    };
    const known = size === undefined ? {} : { knownLength: size };
    form.append(name, open, { filename, contentType, ...known });
  }
  const isMeasured = parts.every((part) => 'text' in part || part.size !== undefined);
  const length = isMeasured ? { 'content-length': String(form.getLengthSync()) } : {};
  return { headers: { ...form.getHeaders(), ...length }, ...toWebStream(form, controller) };
}

/** Browsers write every line break of a name or a text field as CR LF, so that is done here too. */
export function withFullLineBreaks(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, '\r\n');
}

/** The bytes of a file, held to the length that was announced for it. */
async function* bytesIn(
  file: FilePart,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { content, size } = file;
  const read = content instanceof Blob ? openStream(content.stream(), signal) : content;
  let sent = 0;
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    sent += bytes.byteLength;
    if (size !== undefined && sent > size) throw wrongLength(file, 'turned out longer');
    yield bytes;
  }
  if (size !== undefined && sent < size) throw wrongLength(file, `ended after ${sent}`);
}

function wrongLength(file: FilePart, finding: string): InvalidInputError {
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

function toWebStream(
  form: EventStream,
  controller: AbortController,
): Pick<EncodedForm, 'body' | 'sourceError'> {
  let failure: unknown;
  let isOver = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(output) {
        form.on('data', (chunk) => {
          if (isOver) return;
          output.enqueue(
            isBinary(chunk) ? bytesOf(chunk) : new TextEncoder().encode(String(chunk)),
          );
          if ((output.desiredSize ?? 0) <= 0) form.pause();
        });
        form.on('end', () => {
          if (!isOver) output.close();
          isOver = true;
        });
        form.on('error', (error) => {
          if (isOver) return;
          isOver = true;
          output.error(error);
          // A stream that was stopped on purpose fails too, but not by its own fault.
          if (!controller.signal.aborted) failure = error;
          controller.abort(error);
        });
      },
      pull() {
        form.resume();
      },
      cancel(reason) {
        isOver = true;
        form.pause();
        controller.abort(reason);
      },
    },
    // Nothing is read ahead, so memory stays flat however slowly the gateway reads.
    { highWaterMark: 0 },
  );
  return { body, sourceError: () => failure };
}
