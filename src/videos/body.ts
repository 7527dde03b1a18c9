import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { formBody, isUploadable, type FormField } from '../uploads/multipart.ts';
import type { GatewayOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { VideoCreateParams, VideoRemixParams } from './types.ts';
import { checkModel, checkParams, checkText, shown } from '../check.ts';

/** Seconds as text: the gateway cannot decode a JSON number there, though its document allows it. */
function secondsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === 'number' && Number.isFinite(value) && value > 0;
  if (isNumber) return String(value);
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new InvalidInputError('seconds', 'must be a number above 0, or such a number as text.');
}

/** Refuses what no gateway could take for a reference image, and would drop and charge. */
function checkReference(field: string, value: unknown): void {
  if (value === undefined || value === null || isUploadable(value)) return;
  if (typeof value === 'string' && value.trim() !== '') return;
  if (typeof value === 'string') throw new InvalidInputError(field, 'is empty; leave it out.');
  const problem = `must be a file, or a URL or data URL as text, not ${shown(value)}. The gateway keeps no files, so there are no file ids.`;
  throw new InvalidInputError(field, problem);
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
    if (!holdsFile(value)) continue;
    throw new InvalidInputError(`${path}${name}`, `is a file, which JSON cannot hold; ${fix}.`);
  }
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
  const texts: FormField[] = [];
  const files: FormField[] = [];
  for (const [field, value] of Object.entries(fields)) {
    const name = isOne && field === 'images' ? 'image' : field;
    if (holdsFile(value)) files.push([name, value, 'image']);
    else texts.push([name, value]);
  }
  // Files come last, so that a gateway knows the model before it reads them.
  return { form: formBody([...texts, ...files]) };
}

/**
 * What is submitted, to be compared with what was submitted before: the same however it travels. Of
 * files only the field counts. Ledgers hold digests of it, so its shape may not change.
 */
export function comparable(fields: JsonObject): readonly unknown[] {
  const entries = Object.entries(fields);
  const files = entries.filter(([, value]) => holdsFile(value));
  if (files.length === 0) return [fields, undefined];
  const texts = entries.filter(([, value]) => !holdsFile(value));
  return [undefined, [...texts, ...files].map(([name, value]) => [name, withoutFiles(value)])];
}

function withoutFiles(value: unknown): unknown {
  if (isUploadable(value)) return false;
  return Array.isArray(value) ? value.map(withoutFiles) : value;
}
