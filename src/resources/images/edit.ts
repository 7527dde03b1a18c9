import { check } from '../../options/check.ts';
import { writeParams } from '../../gateways/define.ts';
import type { GatewayProfile } from '../../options/gateway-profile.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { OperationRequest } from '../../http/request.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { Stream } from '../../streams/stream.ts';
import type { OpenString } from '../../types.ts';
import { checkData, isUploadable, notFile } from '../../uploads/file-input.ts';
import { jsonWithImages } from '../../uploads/json-files.ts';
import { checkImageText } from '../../uploads/references.ts';
import { formBody, formFields } from '../../uploads/multipart.ts';
import type { Uploadable } from '../../uploads/types.ts';
import { isObject } from '../../answers/objects.ts';
import type { Transport } from '../../calls/transport.ts';
import { checkImage } from './operations.ts';
import { callForImages, type ImageCall, streamImages } from './submit.ts';
import type { ImageRequestOptions } from './wait-options.ts';
import { imageEditProtocol } from './schema.ts';
import type { ImageEditStreamEvent, ImageParamsBase, ImagesResponse } from './types.ts';

/** An image reference in JSON, sent unchanged. The provider decides which form a model accepts. */
export interface ImageReferenceObject {
  /** The URL of the image. */
  image_url?: string | { url: string } | undefined;
  /** The URL of the image. */
  url?: string | undefined;
  /** The image bytes in base64. */
  b64_json?: string | undefined;
  /** The id of a file at the provider. */
  file_id?: string | undefined;
}

/** An image reference in JSON: an `https:` or `data:` URL, or an object that the model understands. */
export type ImageReference = string | ImageReferenceObject;

/**
 * Parameters of `images.edit()`: `POST /v1/images/edits`.
 *
 * The kind of images decides the encoding: files are sent as a form, references as JSON. The provider decides
 * which encoding a model accepts; for OpenRouter both are sent as JSON, files as data URLs. Send fields that
 * are not listed here with the option `extraBody`.
 */
export interface ImageEditParamsBase extends ImageParamsBase {
  /**
   * The image to edit, or several: all files or all references. A file gets a name and extension that match
   * its bytes.
   */
  image?: Uploadable | ImageReference | readonly (Uploadable | ImageReference)[] | undefined;
  /** The images as references, for models that expect a list under this name. Only in JSON. */
  images?: readonly ImageReference[] | undefined;
  /** The mask: the image may change where it is transparent. A file if `image` is one, else a reference. */
  mask?: Uploadable | ImageReference | null | undefined;
  /**
   * A transparent PNG with drawings that guide the edit, laid over the first image. A file if `image` is one, else
   * a reference. Not together with `mask`.
   */
  markup?: Uploadable | ImageReference | null | undefined;
  /** The fidelity of the edit to the input image. */
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

export function editImages(
  transport: Transport,
  params: ImageEditParamsBase,
  options: ImageRequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>> {
  const { profile } = transport.gateway ?? {};
  const call: ImageCall = {
    operation: 'images.edit',
    params,
    write(changed: ImageEditParamsBase, sendOptions) {
      checkImage('edit', changed, 'what to change');
      return editRequest(changed, sendOptions, profile);
    },
  };
  return params?.stream === true
    ? streamImages(transport, call, options, imageEditProtocol)
    : callForImages(transport, call, options);
}

/**
 * Checks the images of an edit and returns its body. Files are sent as a form, unless the gateway takes only JSON.
 * References are sent as JSON unchanged, because providers differ in their forms.
 */
function editRequest(
  params: ImageEditParamsBase,
  options: RequestOptions | undefined,
  profile: GatewayProfile | undefined,
): OperationRequest<'images.edit'> {
  const { image, images, mask, markup, ...others } = params;
  const inputs = Object.entries({ image, images, mask, markup })
    .flatMap(([name, value]) => listImages(name, value))
    .map(([field, source]) => ({ field, isFile: isImageFile(field, source, profile) }));
  const isMissing = (image ?? images ?? options?.extraBody ?? undefined) === undefined;
  check(!isMissing, 'image', 'is missing; pass a file, a URL or a list of them.');
  if (profile?.requests?.['images.edit']?.body === 'json' && inputs.some(({ isFile }) => isFile)) {
    const json = writeParams(profile, 'images.edit', params);
    return { form: jsonWithImages(json), isWritten: true };
  }
  const [first = { field: 'image', isFile: false }] = inputs;
  for (const { field, isFile } of inputs) {
    const [kind, other] = isFile ? ['file', 'reference'] : ['reference', 'file'];
    const problem = `is a ${kind}, but ${first.field} is a ${other}; files are sent as a form and references as JSON, so pass only one kind.`;
    check(isFile === first.isFile, field, problem);
  }
  if (!first.isFile) return { json: params };
  const onlyReferences = 'accepts only references; pass files as image.';
  check((images ?? undefined) === undefined, 'images', onlyReferences);
  // The gateway takes several files only as `image[]`, and a single file only as `image`.
  const name = Array.isArray(image) && image.length > 1 ? 'image[]' : 'image';
  return {
    form: formBody([
      ...formFields(others),
      [name, image, 'image'],
      ['mask', mask, 'image'],
      ['markup', markup, 'image'],
    ]),
  };
}

/** Lists the images of a parameter, each with its field name for error messages. */
function listImages(field: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  check(list.length > 0, field, 'is an empty list; pass at least one image.');
  return list.map((item, at) => [list.length === 1 ? field : `${field}[${at}]`, item]);
}

/** Returns whether an image is a file, not a reference. Throws if it is neither. */
function isImageFile(field: string, source: unknown, profile: GatewayProfile | undefined): boolean {
  if (isUploadable(source)) return true;
  checkData(field, source);
  if (isObject(source) && !(source instanceof Promise)) {
    const { image_url: nested, url } = source;
    const address = isObject(nested) ? nested['url'] : nested;
    if (typeof address === 'string') checkImageText(`${field}.image_url`, address, profile);
    if (typeof url === 'string') checkImageText(`${field}.url`, url, profile);
    return false;
  }
  if (typeof source !== 'string') throw notFile(field, source);
  checkImageText(field, source, profile);
  return false;
}
