import { sniffLength } from '../answers/file-type.ts';
import { isObject } from '../answers/objects.ts';
import { check, checkNumber } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { writeJSON, type BodyEncoding } from '../http/request.ts';
import {
  headOf,
  isUploadable,
  notFile,
  openFile,
  type OpenFile,
  unreadable,
} from './file-input.ts';
import { describeFile, type FilePurpose } from './file-name.ts';
import { formBodyOf, prepareBody, type FilePart, type TextPart } from './form.ts';
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
    encode(extra = {}, signal, onProgress) {
      const kept = fields.filter(([name]) => !Object.hasOwn(extra, name));
      const all = [...kept, ...Object.entries(extra)];
      return prepareBody(signal, async (controller) => {
        const opening = toParts(all, controller.signal).map(async (open) => open());
        return formBodyOf(await Promise.all(opening), controller, onProgress);
      });
    },
  };
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
