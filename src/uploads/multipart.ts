import { sniffLength } from '../answers/bytes.ts';
import { isObject } from '../answers/objects.ts';
import { check, checkNumber } from '../options/check.ts';
import { hasHalf, toWellFormedJSON, warnOfHalf, writeJSON } from '../http/json.ts';
import { withRegisteredType, withRegisteredTypes } from '../http/media-types.ts';
import type { BodyEncoding } from '../http/request.ts';
import { readHead, isUploadable, notFile, openFile, type OpenFile, reading } from './file-input.ts';
import { describeFile, type FilePurpose } from './file-name.ts';
import { createFormBody, prepareBody, type FilePart, type TextPart } from './form.ts';
import { checkImageBytes } from './references.ts';
import type { Uploadable } from './types.ts';

/**
 * A field of a form.
 *
 * - Text, numbers and booleans become text; `undefined` and `null` are omitted.
 * - A list repeats the field under the same name; a list with objects becomes JSON text.
 * - A file becomes a file part. A field with a purpose may only contain text and files, whose name and MIME
 *   type are adjusted to the purpose.
 * - Any other object becomes JSON text.
 */
export type FormField = readonly [name: string, value: unknown, purpose?: FilePurpose | undefined];

/** The fields of a form, in the order they are sent. */
export type FormFields = readonly FormField[];

/**
 * Converts parameters to the form fields of OpenAI's API: lists repeat `name[]`, and objects have one field
 * per property.
 */
export function formFields(params: object, outer?: string): FormField[] {
  return Object.entries(params).flatMap(([key, value]: [string, unknown]): FormField[] => {
    const name = outer === undefined ? key : `${outer}[${key}]`;
    if (Array.isArray(value)) return [[`${name}[]`, value]];
    const parts = isObject(value) && !isUploadable(value) ? formFields(value, name) : [];
    return parts.length > 0 ? parts : [[name, value]];
  });
}

export function formBody(fields: FormFields): BodyEncoding {
  return {
    fields,
    encode(extra = {}, signal, onProgress) {
      const remaining = fields.filter(([name]) => !Object.hasOwn(extra, name));
      return prepareBody(signal, async (controller) => {
        const cut: string[] = [];
        const parts = toParts([...remaining, ...Object.entries(extra)], cut);
        const opening = parts.map(async (part) =>
          'text' in part ? part : openPart(part, controller.signal),
        );
        const body = await createFormBody(
          await Promise.all(opening),
          signal,
          controller,
          onProgress,
        );
        const [field] = cut;
        return field === undefined ? body : { ...body, warning: warnOfHalf(field) };
      });
    },
  };
}

interface FileEntry {
  readonly name: string;
  /** The name in errors: the parameter, with the position in a list. */
  readonly field: string;
  readonly value: Uploadable;
  readonly purpose: FilePurpose;
}

/**
 * Returns the parts of a form, one per value. Nothing is opened yet.
 *
 * @param cut - Receives the fields whose text has half of a surrogate pair.
 */
function toParts(fields: FormFields, cut: string[]): (TextPart | FileEntry)[] {
  const counts = new Map<string, number>();
  const fieldToParts = (...[name, value, purpose]: FormField): (TextPart | FileEntry)[] => {
    if (value === undefined || value === null) return [];
    const isList = Array.isArray(value) && (purpose !== undefined || !value.some(isJSON));
    if (isList) return value.flatMap((item) => fieldToParts(name, item, purpose));
    const parameter = name.replace(/\[\]$/, '');
    const position = counts.get(name) ?? 0;
    counts.set(name, position + 1);
    const field = parameter === name && position === 0 ? parameter : `${parameter}[${position}]`;
    if (isUploadable(value)) return [{ name, field, value, purpose: purpose ?? 'any' }];
    if (purpose !== undefined && typeof value !== 'string') throw notFile(field, value);
    return [{ name, text: toText(field, value, cut) }];
  };
  return fields.flatMap((field) => fieldToParts(...field));
}

/** Returns whether a value is an object that is sent as JSON text. */
function isJSON(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isUploadable(value);
}

function toText(field: string, value: unknown, cut: string[]): string {
  if (typeof value === 'number') checkNumber(field, value);
  const isPlain = typeof value === 'string' || typeof value === 'bigint';
  const written = isPlain ? String(value) : writeJSON(field, value);
  const text = isPlain ? written : toWellFormedJSON(written);
  if (text !== written || hasHalf(text)) cut.push(field);
  return isPlain ? withRegisteredType(text) : withRegisteredTypes(text);
}

export function openPart({ name, field, value, purpose }: FileEntry, signal: AbortSignal) {
  return reading(field, async (): Promise<FilePart> => {
    const { head, ...file } = await peekFile(await openFile(value, signal));
    const problem = 'is empty (0 bytes); check its path, and that nothing has read it before.';
    check(head.byteLength > 0, field, problem);
    if (purpose === 'image') checkImageBytes(field, head);
    const { name: filename, type } = describeFile({ ...file, field, purpose, head });
    return { ...file, name, field, filename, type };
  });
}

/** Reads the beginning of a file. Streamed bytes are buffered and read again later. */
async function peekFile(file: OpenFile): Promise<OpenFile & { readonly head: Uint8Array }> {
  const { content } = file;
  if (content instanceof Blob) return { ...file, head: await readHead(content) };
  const first: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let bytes = await content();
  for (; bytes !== undefined; bytes = await content()) {
    first.push(bytes);
    length += bytes.byteLength;
    if (length >= sniffLength) break;
  }
  const { size = bytes === undefined ? length : undefined } = file;
  const head = await readHead(new Blob(first));
  return { ...file, content: async () => first.shift() ?? content(), size, head };
}
