import { sniffLength } from '../answers/bytes.ts';
import { isObject } from '../answers/objects.ts';
import { check, checkNumber } from '../check.ts';
import { writeJSON } from '../http/json.ts';
import type { BodyEncoding } from '../http/request.ts';
import { headOf, isUploadable, notFile, openFile, type OpenFile, reading } from './file-input.ts';
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
export type FormField = readonly [name: string, value: unknown, purpose?: FilePurpose | undefined];

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
      return prepareBody(signal, async (controller) => {
        const opening = partsOf([...kept, ...Object.entries(extra)]).map(async (part) =>
          'text' in part ? part : openPart(part, controller.signal),
        );
        return formBodyOf(await Promise.all(opening), signal, controller, onProgress);
      });
    },
  };
}

/** A value that is sent as a file. */
interface FileEntry {
  readonly name: string;
  /** How errors call it: the parameter, with its position when there are several. */
  readonly field: string;
  readonly value: Uploadable;
  readonly purpose: FilePurpose;
}

/** The parts of a form, one for every value that is sent. Nothing is opened yet. */
function partsOf(fields: FormFields): (TextPart | FileEntry)[] {
  const counts = new Map<string, number>();
  const partsIn = (...[name, value, purpose]: FormField): (TextPart | FileEntry)[] => {
    if (value === undefined || value === null) return [];
    const isList = Array.isArray(value) && (purpose !== undefined || !value.some(isJSON));
    if (isList) return value.flatMap((item) => partsIn(name, item, purpose));
    const parameter = name.replace(/\[\]$/, '');
    const position = counts.get(name) ?? 0;
    counts.set(name, position + 1);
    const field = parameter === name && position === 0 ? parameter : `${parameter}[${position}]`;
    if (isUploadable(value)) return [{ name, field, value, purpose: purpose ?? 'any' }];
    if (purpose !== undefined && typeof value !== 'string') throw notFile(field, value);
    return [{ name, text: toText(field, value) }];
  };
  return fields.flatMap((field) => partsIn(...field));
}

/** Whether a value is an object that travels as JSON text. */
function isJSON(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isUploadable(value);
}

function toText(field: string, value: unknown): string {
  if (typeof value === 'number') checkNumber(field, value);
  const isPlain = typeof value === 'string' || typeof value === 'bigint';
  return isPlain ? String(value) : writeJSON(field, value);
}

/** Opens a file and settles its name. */
function openPart({ name, field, value, purpose }: FileEntry, signal: AbortSignal) {
  return reading(field, async (): Promise<FilePart> => {
    const { head, ...file } = await peek(await openFile(value, signal));
    const problem = 'is empty (0 bytes); check its path, and that nothing has read it before.';
    check(head.byteLength > 0, field, problem);
    const { name: filename, type } = describeFile({ ...file, field, purpose, head });
    return { ...file, name, field, filename, type };
  });
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
