import { check, checkText } from '../check.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { OperationRequest } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import type { OpenString } from '../types.ts';
import { isUploadable, notFile } from '../uploads/file-input.ts';
import { formBody, formFields } from '../uploads/multipart.ts';
import type { Uploadable } from '../uploads/types.ts';
import { isObject } from '../answers/objects.ts';
import { checkImage, taskRules, wholeAnswer } from './operations.ts';
import { imageEditProtocol } from './schema.ts';
import type { ImageEditStreamEvent, ImageParamsBase, ImagesResponse, ImageSVG } from './types.ts';

/** An image named in JSON. Which form a model takes is up to its provider; it is sent as it is. */
export interface ImageReferenceObject {
  /** The address of the image. */
  image_url?: string | { url: string } | undefined;
  /** The address of the image. */
  url?: string | undefined;
  /** The bytes of the image in base64. */
  b64_json?: string | undefined;
  /** The id of a file at the provider. */
  file_id?: string | undefined;
}

/** An image named in JSON: an `https:` or `data:` URL, or an object that the model understands. */
export type ImageReference = string | ImageReferenceObject;

/**
 * Parameters of `images.edit()`: `POST /v1/images/edits`.
 *
 * What the images are decides how the request travels: files make a form, references make JSON. Which
 * of the two a model takes is up to its provider. Fields that are not listed here go through with the
 * option `extraBody`.
 */
export interface ImageEditParamsBase extends ImageParamsBase {
  /**
   * The image to edit, or several: all of them files, or all of them references. A file is given the
   * name and extension that its bytes call for.
   */
  image?: Uploadable | ImageReference | readonly (Uploadable | ImageReference)[] | undefined;
  /** The images as references, for models that want a list under this name. Only in JSON. */
  images?: readonly ImageReference[] | undefined;
  /** Where the image may change: its transparent part. A file if `image` is, else a reference. */
  mask?: Uploadable | ImageReference | null | undefined;
  /** How closely the edit keeps to the image. */
  input_fidelity?: OpenString<'high' | 'low'> | null | undefined;
}

/** Parameters of `images.edit()` without a stream. */
export interface ImageEditParamsNonStreaming extends ImageEditParamsBase {
  stream?: false | null | undefined;
}

/** Parameters of `images.edit()` with a stream. */
export interface ImageEditParamsStreaming extends ImageEditParamsBase {
  stream: true;
}

/** Parameters of `images.edit()`. */
export type ImageEditParams = ImageEditParamsNonStreaming | ImageEditParamsStreaming;

// The parts under the names that code for `openai` uses.
export declare namespace ImageEditParams {
  export { ImageEditParamsNonStreaming, ImageEditParamsStreaming, ImageSVG as Svg };
}

export function editImages(
  transport: Transport,
  params: ImageEditParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>> {
  const request = () => {
    checkImage('edit', params, 'what to change');
    return { ...editRequest(params, options), ...taskRules };
  };
  if (params?.stream !== true) {
    return transport.call('images.edit', request, wholeAnswer, options);
  }
  const events = eventAnswer(imageEditProtocol(params.n ?? 1));
  return transport.call('images.edit', request, events, options);
}

/**
 * The body of an edit, whose images are checked. Files make a form. References make JSON that goes
 * through as it is, because providers have many forms for the same thing.
 */
function editRequest(
  params: ImageEditParamsBase,
  options: RequestOptions | undefined,
): OperationRequest<'images.edit'> {
  const { image, images, mask, ...others } = params;
  const given = [...named('image', image), ...named('images', images), ...named('mask', mask)].map(
    ([field, source]) => ({ field, isFile: isFileIn(field, source) }),
  );
  const isMissing = (image ?? images ?? options?.extraBody ?? undefined) === undefined;
  check(!isMissing, 'image', 'is missing; give a file, a URL or a list of them.');
  const [first = { field: 'image', isFile: false }] = given;
  for (const { field, isFile } of given) {
    const [own, other] = isFile ? ['file', 'reference'] : ['reference', 'file'];
    const problem = `is a ${own}, but ${first.field} is a ${other}; files go into a form and references into JSON, so give all of them in one kind.`;
    check(isFile === first.isFile, field, problem);
  }
  if (!first.isFile) return { json: params };
  check(
    (images ?? undefined) === undefined,
    'images',
    'takes references only; give files as image.',
  );
  // The gateway takes several files only under the name with brackets, and one only without.
  const name = Array.isArray(image) && image.length > 1 ? 'image[]' : 'image';
  return {
    form: formBody([...formFields(others), [name, image, 'image'], ['mask', mask, 'image']]),
  };
}

/** The images of a parameter, each with the name by which errors call it. */
function named(field: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  check(list.length > 0, field, 'is an empty list; give at least one image.');
  return list.map((item, at) => [list.length === 1 ? field : `${field}[${at}]`, item]);
}

/** Whether an image is a file, which travels as part of a form, or a reference inside JSON. */
function isFileIn(field: string, source: unknown): boolean {
  if (isUploadable(source)) return true;
  if (isObject(source) && !(source instanceof Promise)) return false;
  if (typeof source !== 'string' || isPath(source)) throw notFile(field, source);
  checkText(field, source, 'a file, a URL or an object');
  return false;
}

/** Base64 can begin with a slash, so only what cannot be base64 is taken for a path. */
function isPath(text: string): boolean {
  if (/^(https?|data):/i.test(text)) return false;
  return /^(file:|\.{1,2}[\\/]|~\/)|\.(png|jpe?g|webp|gif)$/i.test(text);
}
