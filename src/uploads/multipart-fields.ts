import { writeJSON } from '../http/body.ts';
import { checkNumber } from '../check.ts';
import type { Uploadable } from './types.ts';
import { isUploadable, notFile } from './file-input.ts';
import type { FilePurpose } from './file-name.ts';

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

/** A field that is sent as text. */
export interface TextPart {
  readonly name: string;
  readonly text: string;
}

/** A field that is sent as a file. */
export interface FilePart {
  readonly name: string;
  readonly value: Uploadable;
  readonly purpose: FilePurpose;
  /** How errors call it: the parameter, with its position when there are several. */
  readonly field: string;
}

/** Turns fields into parts, one for every value that is sent. */
export function toParts(fields: FormFields): (TextPart | FilePart)[] {
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
