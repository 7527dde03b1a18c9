import { sniffLength } from '../answers/file-type.ts';
import { isObject } from '../answers/objects.ts';
import { check, checkNumber } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { writeJSON, type BodyEncoding } from '../http/request.ts';
import type { RequestOptions } from '../options.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import {
  blobOf,
  headOf,
  isUploadable,
  notFile,
  openFile,
  type OpenFile,
  unreadable,
} from './file-input.ts';
import { describeFile, type FilePurpose } from './file-name.ts';
import {
  streamForm,
  withFullLineBreaks,
  type EncodedForm,
  type FilePart,
  type TextPart,
} from './form-stream.ts';
import { toldOf } from './progress.ts';
import type { Uploadable } from './types.ts';

/**
 * One field of a form.
 *
 * - Text, numbers and booleans become text; `undefined` and `null` are left out.
 * - A list repeats the field, under the same name; one that holds objects becomes JSON text.
 * - A file becomes a file part. A purpose says that the field is for files: then only text and files
 *   may stand in it, and name and MIME type are made to fit the purpose.
 * - Any other object becomes JSON text.
 */
export type FormField = readonly [name: string, value: unknown, purpose?: FilePurpose];

/** The fields of a form, in the order in which they are sent. */
export type FormFields = readonly FormField[];

/** Parameters as OpenAI's API reads them: lists repeat `name[]`, and objects have a field for each of theirs. */
export function formFields(params: object, outer?: string): FormField[] {
  return Object.entries(params).flatMap(([key, value]: [string, unknown]): FormField[] => {
    const name = outer === undefined ? key : `${outer}[${key}]`;
    if (Array.isArray(value)) return [[`${name}[]`, value]];
    const parts = isObject(value) && !isUploadable(value) ? formFields(value, name) : [];
    return parts.length > 0 ? parts : [[name, value]];
  });
}

/** The body of a request that is sent as a form. */
export function formBody(fields: FormFields): BodyEncoding {
  return {
    fields,
    async encode(extra = {}, takesForms, signal, onProgress) {
      const kept = fields.filter(([name]) => !Object.hasOwn(extra, name));
      const all = [...kept, ...Object.entries(extra)];
      const form = await encodeMultipart(all, signal, onProgress);
      if (takesForms || !(form.body instanceof FormData)) return form;
      const body = formBlob(form.body);
      return { ...form, body, headers: { 'content-type': body.type } };
    },
  };
}

function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/**
 * A form as one `Blob` whose type names the boundary (RFC 7578).
 *
 * For a `fetch` that is not the runtime's own: undici's, for one, does not recognise the runtime's
 * `FormData` and would send the text "[object FormData]". Files are referred to, not copied, so that
 * one on disk takes no memory here either.
 */
export function formBlob(form: FormData): Blob {
  // Whoever could guess it could write further fields into a text.
  const boundary = `----formdata-${crypto.randomUUID().replaceAll('-', '')}`;
  const parts: BlobPart[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === 'string') parts.push(`${head}\r\n\r\n${withFullLineBreaks(value)}\r\n`);
    else {
      const type = value.type || 'application/octet-stream';
      const file = `; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}`;
      parts.push(`${head}${file}\r\n\r\n`, value, '\r\n');
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
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
 * @param onProgress - Told of the files as they are read.
 * @throws `InvalidInputError` naming the field when a file is empty or cannot be read.
 * @throws The reason of `signal` when it is aborted.
 */
export async function encodeMultipart(
  fields: FormFields,
  signal: AbortSignal = new AbortController().signal,
  onProgress?: RequestOptions['onUploadProgress'],
): Promise<EncodedForm> {
  const controller = new AbortController();
  const unfollow = followSignal(signal, controller);
  const release = (reason?: unknown): void => {
    unfollow();
    controller.abort(reason);
  };
  try {
    const opening = Promise.all(toParts(fields, controller.signal).map(async (open) => open()));
    const opened = await untilAborted(opening, controller.signal);
    const parts = onProgress === undefined ? opened : toldOf(opened, onProgress);
    const isStreamed = parts.some((part) => 'content' in part && !(part.content instanceof Blob));
    const form = isStreamed ? await streamForm(parts, controller) : undefined;
    if (form !== undefined) return { ...form, replayable: false, release };
    const body = await untilAborted(memoryForm(parts), controller.signal);
    return { body, headers: {}, replayable: true, release, sourceError: () => undefined };
  } catch (error) {
    release(error);
    throw error;
  }
}

/** What gives the parts of a form, one for every value that is sent. Nothing is opened yet. */
function toParts(fields: FormFields, signal: AbortSignal): (() => TextPart | Promise<FilePart>)[] {
  const parts: (() => TextPart | Promise<FilePart>)[] = [];
  const seen = new Map<string, number>();

  const add = (name: string, value: unknown, purpose: FilePurpose | undefined): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value) && (purpose !== undefined || !value.some(isPlainObject))) {
      for (const item of value) add(name, item, purpose);
      return;
    }
    // How errors call it: the parameter, with its position when there are several.
    const parameter = name.replace(/\[\]$/, '');
    const position = seen.get(name) ?? 0;
    seen.set(name, position + 1);
    const field = parameter === name && position === 0 ? parameter : `${parameter}[${position}]`;
    if (isUploadable(value)) {
      parts.push(() => openPart(name, field, value, purpose ?? 'any', signal));
      return;
    }
    if (purpose !== undefined && typeof value !== 'string') throw notFile(field, value);
    const text = toText(field, value);
    parts.push(() => ({ name, text }));
  };

  for (const [name, value, purpose] of fields) add(name, value, purpose);
  return parts;
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isUploadable(value);
}

function toText(field: string, value: unknown): string {
  if (typeof value === 'number') checkNumber(field, value);
  return typeof value === 'string' || typeof value === 'bigint'
    ? String(value)
    : writeJSON(field, value);
}

/** Opens a file and settles its name. An error of the platform is made to name the field. */
async function openPart(
  name: string,
  field: string,
  value: Uploadable,
  purpose: FilePurpose,
  signal: AbortSignal,
): Promise<FilePart> {
  try {
    const { head, ...file } = await peek(await openFile(value, signal));
    const problem = 'is empty (0 bytes); check its path, and that nothing has read it before.';
    check(head.byteLength > 0, field, problem);
    const { name: filename, type } = describeFile({ ...file, field, purpose, head });
    return { ...file, name, field, filename, type };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new InvalidInputError(field, unreadable(error), { cause: error });
  }
}

/** Looks at the beginning of a file. What is read of a stream for that is read again later. */
async function peek(file: OpenFile): Promise<OpenFile & { readonly head: Uint8Array }> {
  const { content } = file;
  if (content instanceof Blob) return { ...file, head: await headOf(content) };
  const first: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let bytes = await content();
  for (; bytes !== undefined; bytes = await content()) {
    first.push(bytes);
    length += bytes.byteLength;
    if (length >= sniffLength) break;
  }
  const { size = bytes === undefined ? length : undefined } = file;
  const head = await headOf(new Blob(first));
  return { ...file, content: async () => first.shift() ?? content(), size, head };
}

/** A file under its final name, read in the way of the one that it is made of. */
class SelfReadingFile extends File {
  readonly #source: Blob;

  constructor(source: Blob, { filename, type }: FilePart) {
    super([source], filename, { type });
    this.#source = source;
  }

  override stream(): ReturnType<Blob['stream']> {
    return this.#source.stream();
  }
}

async function memoryForm(parts: readonly (TextPart | FilePart)[]): Promise<FormData> {
  const form = new FormData();
  for (const part of parts) {
    if ('text' in part) {
      form.append(part.name, part.text);
      continue;
    }
    const { name, filename, type } = part;
    const blob = await blobOf(part);
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
