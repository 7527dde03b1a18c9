import type { OperationRequest } from '../http/call-spec.ts';
import { isUploadable } from '../uploads/file-input.ts';
import { formBody, type FormField } from '../uploads/multipart.ts';
import type { GatewayOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { VideoCreateParams, VideoRemixParams } from './types.ts';
import { check, checkModel, checkParams, checkText, shown } from '../check.ts';

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Seconds as text: the gateway cannot decode a JSON number there, though its document allows it. */
function secondsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === 'number' && Number.isFinite(value) && value > 0;
  const problem = 'must be a number above 0, or such a number as text.';
  check(isNumber || isText(value), 'seconds', problem);
  return String(value);
}

/** Refuses what no gateway could take for a reference image, and would drop and charge. */
function checkReference(field: string, value: unknown): void {
  if (value === undefined || value === null || isUploadable(value)) return;
  check(typeof value !== 'string' || isText(value), field, 'is empty; leave it out.');
  const problem = `must be a file, or a URL or data URL as text, not ${shown(value)}. The gateway keeps no files, so there are no file ids.`;
  check(isText(value), field, problem);
}

/** The image reference as it travels: a file or text. OpenAI's object form is taken apart. */
function referenceOf(value: unknown): unknown {
  const field = 'input_reference';
  if (isObject(value) && 'image_url' in value && !isUploadable(value)) {
    checkText(`${field}.image_url`, value['image_url'], 'an http(s) URL or a data URL');
    return value['image_url'];
  }
  checkReference(field, value);
  return value;
}

/**
 * The fields of a new task, checked. Fields that this package does not know go along as they are.
 *
 * @throws `InvalidInputError` for input that would be charged and could not work
 */
export function creationFields(params: VideoCreateParams): JsonObject {
  checkParams('videos.create', params);
  checkModel(params.model);
  checkText('prompt', params.prompt, 'a description of the video');
  for (const name of ['image', 'images'] as const) {
    const images: unknown = params[name];
    if (!Array.isArray(images)) checkReference(name, images);
    else for (const [index, image] of images.entries()) checkReference(`${name}[${index}]`, image);
  }
  return {
    ...params,
    seconds: secondsText(params.seconds),
    input_reference: referenceOf(params.input_reference),
  };
}

/** The fields of a remix, checked. */
export function remixFields(params: VideoRemixParams): JsonObject {
  checkParams('videos.remix', params);
  checkText('prompt', params.prompt, 'what to change');
  return { ...params };
}

function holdsFile(value: unknown): boolean {
  return isUploadable(value) || (Array.isArray(value) && value.some(isUploadable));
}

/** Refuses files where JSON is written, which would make `{}` of them. */
function refuseFiles(path: string, fields: JsonObject, fix: string): void {
  for (const [name, value] of Object.entries(fields)) {
    check(!holdsFile(value), `${path}${name}`, `is a file, which JSON cannot hold; ${fix}.`);
  }
}

/** The fields with files last, so that a gateway knows the model before it reads them. */
function filesLast(fields: JsonObject) {
  return Object.entries(fields)
    .map(([name, value]) => ({ name, value, isFile: holdsFile(value) }))
    .toSorted((one, other) => Number(one.isFile) - Number(other.isFile));
}

/** Checked fields as the body of a request. */
export function bodyOf(
  fields: JsonObject,
  bodyFormat: GatewayOptions['bodyFormat'],
): OperationRequest<'videos.create'> {
  const { metadata, image, images } = fields;
  if (isObject(metadata)) refuseFiles('metadata.', metadata, 'give its URL or data URL as text');
  if (bodyFormat === 'json') {
    refuseFiles('', fields, 'give its URL or data URL as text, or leave bodyFormat: "json" out');
    return { json: fields };
  }
  // Read from a form, a list of one is no list, and gateways refuse it under the name of the list.
  const isOne = Array.isArray(images) && images.length === 1 && (image ?? undefined) === undefined;
  const form = filesLast(fields).map(({ name, value, isFile }): FormField => {
    const field = isOne && name === 'images' ? 'image' : name;
    return isFile ? [field, value, 'image'] : [field, value];
  });
  return { form: formBody(form) };
}

/**
 * What is submitted, to be compared with what was submitted before: the same however it travels. Of
 * files only the field counts. Ledgers hold digests of it, so its shape may not change.
 */
export function comparable(fields: JsonObject): readonly unknown[] {
  const entries = filesLast(fields);
  if (!entries.some(({ isFile }) => isFile)) return [fields, undefined];
  return [undefined, entries.map(({ name, value }) => [name, withoutFiles(value)])];
}

function withoutFiles(value: unknown): unknown {
  if (isUploadable(value)) return false;
  return Array.isArray(value) ? value.map(withoutFiles) : value;
}
