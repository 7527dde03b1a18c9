import { isObject } from '../answers/objects.ts';
import { check } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import {
  applyHeaders,
  type BodyEncoding,
  type PreparedBody,
  type RawRequestOptions,
  writeJSON,
} from '../http/request.ts';
import { nodeProcess } from '../node-process.ts';
import {
  blobOf,
  has,
  isUploadable,
  isUploadData,
  type OpenFile,
  openFile,
  unreadable,
} from './file-input.ts';
import { formBlob, formFields } from './multipart.ts';
import type { Uploadable, UploadChunk } from './types.ts';

/** What a value calls itself: also true of another realm's, or another library's. */
const isNamed = (value: unknown, name: string): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;

function isForm(value: unknown): value is FormData {
  return isNamed(value, 'FormData') && has(value, Symbol.iterator);
}

/** What it gives is checked piece by piece, as that of every stream. */
function isGenerator(value: unknown): value is Iterable<UploadChunk> {
  return has(value, Symbol.iterator) && has(value, 'next');
}

async function* later(pieces: Iterable<UploadChunk>): AsyncGenerator<UploadChunk, void, undefined> {
  yield* pieces;
}

/** What is read as a file is: bytes, a `Blob`, a `Response` or a stream. */
function fileIn(body: unknown): Uploadable | undefined {
  if (isGenerator(body)) return later(body);
  return isUploadable(body) && !isUploadData(body) ? body : undefined;
}

const searchType = 'application/x-www-form-urlencoded';

const ready = (body: PreparedBody['body'], type: string): PreparedBody => ({
  body,
  headers: { 'content-type': type },
  replayable: true,
});

/** A body that is sent as text, in the form that its type asks for; JSON without one is left to others. */
function textOf(body: unknown, type: string | null): string | undefined {
  if (isNamed(body, 'URLSearchParams')) return String(body);
  const isOld = has(body, 'pipe');
  check(!isOld, 'body', 'is a stream that cannot be iterated; give a Readable or a FormData.');
  if (type === null || body === undefined) return undefined;
  if (typeof body === 'string') return body;
  if (type.startsWith('application/json')) return undefined;
  if (!type.startsWith(searchType) || !isObject(body)) return writeJSON('body', body);
  const fields = formFields(body).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, typeof one === 'string' ? one : writeJSON(name, one)]),
  );
  return String(new URLSearchParams(fields));
}

/**
 * A body that is no JSON and is sent as it is, or `undefined` when there is none.
 *
 * Text and objects are JSON too, unless the call has another content type for them.
 */
export function rawBody(options: RawRequestOptions | undefined): BodyEncoding | undefined {
  const { body, headers } = options ?? {};
  const given = new Headers();
  applyHeaders(given, headers, 'headers');
  const type = given.get('content-type');
  const file = fileIn(body);
  const text = file === undefined && !isForm(body) ? textOf(body, type) : '';
  if (text === undefined) return undefined;
  return {
    async encode(extra, takesForms, signal) {
      check(extra === undefined, 'extraBody', 'can only be added to a body that is an object.');
      if (file !== undefined) return fileBody(file, type, signal);
      if (!isForm(body)) return ready(text, type ?? `${searchType};charset=UTF-8`);
      // The runtime writes the boundary into the type of a form.
      if (takesForms && body instanceof FormData) return { body, headers: {}, replayable: true };
      const blob = formBlob(body);
      return ready(blob, blob.type);
    },
  };
}

/** The file, once it is open; a stream is opened at once, and sent at most once. */
async function fileBody(
  file: Uploadable,
  given: string | null,
  signal: AbortSignal,
): Promise<PreparedBody> {
  const controller = new AbortController();
  const unfollow = followSignal(signal, controller);
  const release = (reason?: unknown): void => {
    unfollow();
    controller.abort(reason);
  };
  try {
    const { content, type } = await openFile(file, controller.signal);
    const mime = given ?? (type || 'application/octet-stream');
    if (content instanceof Blob) {
      release();
      return ready(content, mime);
    }
    // Browsers cannot stream an upload, or only over HTTP/2; some would send the name of the class.
    const canStream = nodeProcess()?.getBuiltinModule !== undefined;
    const sent = canStream
      ? streamOf(content, controller)
      : { body: await untilAborted(blobOf({ content }), controller.signal) };
    return { ...ready(undefined, mime), ...sent, replayable: false, release };
  } catch (error) {
    release(error);
    if (signal.aborted || error instanceof GatewayError) throw error;
    throw new InvalidInputError('body', unreadable(error), { cause: error });
  }
}

function streamOf(
  read: Exclude<OpenFile['content'], Blob>,
  controller: AbortController,
): Pick<PreparedBody, 'body' | 'sourceError'> {
  let failure: unknown;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(output) {
        try {
          const bytes = await read();
          if (bytes === undefined) output.close();
          else output.enqueue(bytes);
        } catch (error) {
          // A stream that was stopped on purpose fails too, but not by its own fault.
          if (!controller.signal.aborted) failure = error;
          throw error;
        }
      },
      cancel: (reason) => controller.abort(reason),
    },
    // Nothing is read ahead, so memory stays flat however slowly the gateway reads.
    { highWaterMark: 0 },
  );
  return { body, sourceError: () => failure };
}
