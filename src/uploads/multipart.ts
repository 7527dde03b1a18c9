import { sniffLength } from '../answers/file-type.ts';
import { check, checkNumber } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { writeJSON, type BodyEncoding } from '../http/body.ts';
import { followSignal } from '../http/follow-signal.ts';
import { untilAborted } from '../http/until-aborted.ts';
import {
  blobPart,
  isReadable,
  isStreamingFile,
  isUploadable,
  notFile,
  openStream,
  readBlob,
} from './file-input.ts';
import { describeFile, nameOf, type FilePurpose } from './file-name.ts';
import { loadFormStreamer, sizeOfFileStream, type FormFile, type TextPart } from './form-stream.ts';
import { bufferContent, headOf, unreadable } from './to-file.ts';
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
      const whole = new Response(form.body);
      const type = whole.headers.get('content-type') ?? '';
      return { ...form, body: await whole.blob(), headers: { 'content-type': type } };
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
  const controller = new AbortController();
  const unfollow = followSignal(signal, controller);
  const release = (reason?: unknown): void => {
    unfollow();
    controller.abort(reason);
  };
  try {
    const opening = toParts(fields).map(async (part) =>
      'text' in part ? part : openFile(part, controller.signal),
    );
    const parts = await untilAborted(Promise.all(opening), controller.signal);
    const isStreamed = parts.some((part) => 'content' in part && !(part.content instanceof Blob));
    const streamForm = isStreamed ? await loadFormStreamer() : undefined;
    if (streamForm !== undefined) {
      return { ...streamForm(parts, controller), replayable: false, release };
    }
    const body = await untilAborted(memoryForm(parts), controller.signal);
    return { body, headers: {}, replayable: true, release, sourceError: () => undefined };
  } catch (error) {
    release(error);
    throw error;
  }
}

/** A field that is sent as a file. */
interface FilePart {
  readonly name: string;
  readonly value: Uploadable;
  readonly purpose: FilePurpose;
  /** How errors call it: the parameter, with its position when there are several. */
  readonly field: string;
}

/** Turns fields into parts, one for every value that is sent. */
function toParts(fields: FormFields): (TextPart | FilePart)[] {
  const parts: (TextPart | FilePart)[] = [];
  const seen = new Map<string, number>();

  const add = (name: string, value: unknown, purpose: FilePurpose | undefined): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value) && (purpose !== undefined || !value.some(isPlainObject))) {
      for (const item of value) add(name, item, purpose);
      return;
    }
    const parameter = name.replace(/\[\]$/, '');
    const position = seen.get(name) ?? 0;
    seen.set(name, position + 1);
    const field = parameter === name && position === 0 ? parameter : `${parameter}[${position}]`;
    if (isUploadable(value)) {
      parts.push({ name, value, purpose: purpose ?? 'any', field });
      return;
    }
    if (purpose !== undefined && typeof value !== 'string') {
      throw notFile(field, value);
    }
    parts.push({ name, text: toText(field, value) });
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
async function openFile(
  { name, field, purpose, value }: FilePart,
  signal: AbortSignal,
): Promise<FormFile> {
  try {
    const { beginning, content, size, ...given } = await openContent(value, signal);
    const problem = 'is empty (0 bytes); check its path, and that nothing has read it before.';
    check(beginning.size > 0, field, problem);
    const head = await headOf(beginning);
    const { name: filename, type } = describeFile({ ...given, field, purpose, head });
    return { name, field, filename, type, content, size };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new InvalidInputError(field, unreadable(error), { cause: error });
  }
}

interface OpenContent extends Pick<FormFile, 'content' | 'size'> {
  readonly name: string | undefined;
  readonly type?: string | undefined;
  /** At least as many bytes as it takes to recognise the file, or all. */
  readonly beginning: Blob;
}

async function openContent(value: Uploadable, signal: AbortSignal): Promise<OpenContent> {
  if (!isStreamingFile(value) && isReadable(value)) {
    const { blob, name, type } = await bufferContent(value);
    return { name, type, beginning: blob, content: blob, size: blob.size };
  }
  const given = isStreamingFile(value) ? value : { data: value, name: nameOf(value) };
  const { data, name, type, size } = { type: undefined, size: undefined, ...given };
  const read = openStream(data, signal);
  const first: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let hasEnded = false;
  while (length < sniffLength && !hasEnded) {
    const bytes = await read();
    if (bytes !== undefined) first.push(blobPart(bytes));
    length += bytes?.byteLength ?? 0;
    hasEnded = bytes === undefined;
  }
  return {
    name,
    type,
    beginning: new Blob(first),
    content: async () => first.shift() ?? read(),
    size: size ?? (hasEnded ? length : sizeOfFileStream(data)),
  };
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
    const { name, filename, type, content } = part;
    const blob = content instanceof Blob ? content : await readBlob(content);
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
