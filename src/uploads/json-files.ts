import { encodeBase64 } from '../answers/bytes.ts';
import { isObject } from '../answers/objects.ts';
import { type BodyEncoding, jsonBody } from '../http/request.ts';
import type { JsonObject } from '../types.ts';
import { toBlob, isUploadable } from './file-input.ts';
import { prepareBody } from './form.ts';
import { openPart } from './multipart.ts';
import type { Uploadable } from './types.ts';

async function dataURL(value: Uploadable, field: string, signal: AbortSignal): Promise<string> {
  const part = await openPart({ name: field, field, value, purpose: 'image' }, signal);
  const bytes = new Uint8Array(await (await toBlob(part)).arrayBuffer());
  return `data:${part.type};base64,${encodeBase64(bytes)}`;
}

/**
 * Returns whether `JSON.stringify` writes a value as an object with its fields, unlike a date, which becomes
 * text.
 */
const isPlain = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value['toJSON'] !== 'function';

/** Replaces the files in a value by data URLs. Opens all of them synchronously, before the first `await`. */
async function withURLs(value: unknown, field: string, signal: AbortSignal): Promise<unknown> {
  if (isUploadable(value)) return dataURL(value, field, signal);
  if (Array.isArray(value)) {
    return Promise.all(value.map((item, at) => withURLs(item, `${field}[${at}]`, signal)));
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(async ([name, item]) => {
    const path = field === '' ? name : `${field}.${name}`;
    return [name, await withURLs(item, path, signal)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Encodes a JSON body with images as data URLs, for gateways that don't accept forms. Files are kept in
 * memory.
 */
export function jsonWithImages(json: object): BodyEncoding {
  return {
    fields: Object.entries(json),
    encode: (extra, signal) =>
      prepareBody(signal, async (controller) => {
        const body = await withURLs({ ...json, ...extra }, '', controller.signal);
        return jsonBody('POST', body, undefined, '');
      }),
  };
}
