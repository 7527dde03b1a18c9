import { isObject } from '../answers/objects.ts';
import { check } from '../check.ts';
import {
  applyHeaders,
  type BodyEncoding,
  type PreparedBody,
  type RawRequestOptions,
  writeJSON,
} from '../http/request.ts';
import { nodeProcess } from '../node-process.ts';
import { blobOf, has, isUploadable, isUploadData, openFile, reading } from './file-input.ts';
import { formBodyOf, type Part, prepareBody, streamBody } from './form.ts';
import { formFields } from './multipart.ts';
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

const unknownType = 'application/octet-stream';
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
  const form = isForm(body) ? body : undefined;
  const text = file === undefined && form === undefined ? textOf(body, type) : '';
  if (text === undefined) return undefined;
  return {
    async encode(extra, signal) {
      check(extra === undefined, 'extraBody', 'can only be added to a body that is an object.');
      return prepareBody(signal, (controller) =>
        reading('body', async () => {
          if (file !== undefined) return fileBody(file, type, controller);
          if (form === undefined) return ready(text, type ?? `${searchType};charset=UTF-8`);
          return formBodyOf(await Promise.all(Array.from(form, partOf)), controller);
        }),
      );
    },
  };
}

/** An entry of a form, as it is. */
async function partOf([name, value]: [string, FormDataEntryValue]): Promise<Part> {
  if (typeof value === 'string') return { name, text: value };
  const { type, ...file } = await openFile(value);
  return { ...file, name, field: name, filename: value.name, type: type || unknownType };
}

/** The file, once it is open; a stream is opened at once, and sent at most once. */
async function fileBody(
  file: Uploadable,
  given: string | null,
  controller: AbortController,
): Promise<PreparedBody> {
  const { content, type } = await openFile(file, controller.signal);
  const mime = given ?? (type || unknownType);
  if (content instanceof Blob) return ready(content, mime);
  // Browsers cannot stream an upload, or only over HTTP/2; some would send the name of the class.
  const canStream = nodeProcess()?.getBuiltinModule !== undefined;
  if (canStream) return streamBody(content, { 'content-type': mime }, controller);
  return { ...ready(await blobOf({ content }), mime), replayable: false };
}
