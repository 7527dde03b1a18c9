import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { isUploadable } from '../http/multipart.ts';
import type { RequestOptions } from '../options.ts';
import type {
  ImageEditParamsBase,
  ImageGenerateParamsBase,
  ImageParamsBase,
} from '../types/image-params.ts';
import { checkCount, checkModel, checkNumber, checkParams, checkText, show } from './checks.ts';

/** The body of a request for new images, checked. */
export function generateBody(params: ImageGenerateParamsBase): ImageGenerateParamsBase {
  checkParams('images.generate', params);
  if (params.model !== undefined) checkModel(params.model);
  checkCommon(params, 'a description of the image');
  return params;
}

/**
 * The body of an edit, checked. Files make a form. References make JSON that goes through as it is,
 * because providers have many forms for the same thing.
 */
export function editRequest(
  params: ImageEditParamsBase,
  options: RequestOptions | undefined,
): OperationRequest<'images.edit'> {
  checkParams('images.edit', params);
  checkModel(params.model);
  checkCommon(params, 'what to change');
  const { image, images, mask, ...others } = params;
  const sources = listOf('image', image);
  const travel = travelOf('image', sources);
  const maskTravels = travelOf('mask', listOf('mask', mask));
  if (travel === undefined && images === undefined && options?.extraBody === undefined) {
    throw new InvalidInputError('image', 'is missing; give a file, a URL or a list of them.');
  }
  if (travel !== 'file') {
    if (travelOf('images', listOf('images', images)) === 'file') throw filesInImages();
    if (maskTravels === 'file') throw mixed('mask', 'file', 'the image');
    return { json: params };
  }
  if (images !== undefined) throw mixed('images', 'reference', 'image');
  if (maskTravels === 'reference') throw mixed('mask', 'reference', 'the image');
  // The gateway takes several files only under the name with brackets, and one only without.
  const name = sources.length === 1 ? 'image' : 'image[]';
  return {
    form: [...Object.entries(others), [name, sources, 'image'], ['mask', mask, 'image']],
  };
}

function checkCommon(
  { prompt, n, size, ...others }: Omit<ImageParamsBase, 'model'>,
  purpose: string,
): void {
  checkText('prompt', prompt, purpose);
  checkCount('n', n);
  checkNumber('output_compression', others.output_compression);
  if (typeof size === 'string' && size.includes('×')) {
    throw new InvalidInputError(
      'size',
      `has a multiplication sign, which the gateway refuses; write "${size.replaceAll('×', 'x')}".`,
    );
  }
}

function listOf(field: string, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [value];
  if (value.length > 0) return value;
  throw new InvalidInputError(field, 'is an empty list; give at least one image.');
}

/** How an image travels: as part of a form, or inside JSON. */
type Travel = 'file' | 'reference';

/** How the images of a parameter travel; `undefined` when there are none. */
function travelOf(field: string, sources: readonly unknown[]): Travel | undefined {
  let travel: Travel | undefined;
  for (const [position, source] of sources.entries()) {
    const name = sources.length === 1 ? field : `${field}[${position}]`;
    const found = travelOfSource(name, source);
    if (travel !== undefined && found !== travel) throw mixed(name, found, `${field}[0]`);
    travel = found;
  }
  return travel;
}

function travelOfSource(field: string, source: unknown): Travel {
  if (isUploadable(source)) return 'file';
  if (typeof source === 'string' && source !== '') {
    if (!isPath(source)) return 'reference';
    throw new InvalidInputError(
      field,
      'is a path; open the file, for example with fileFromPath(path) of model-gateway/node.',
    );
  }
  if (source instanceof Promise) {
    throw new InvalidInputError(field, 'is a promise; await it first.');
  }
  if (typeof source === 'object' && source !== null && !Array.isArray(source)) return 'reference';
  const problem = source === '' ? 'is empty' : `must not be ${show(source)}`;
  throw new InvalidInputError(field, `${problem}; give a file, a URL or an object.`);
}

/** Base64 can begin with a slash, so only what cannot be base64 is taken for a path. */
function isPath(text: string): boolean {
  if (/^(https?|data):/i.test(text)) return false;
  return /^(file:|\.{1,2}[\\/]|~\/)|\.(png|jpe?g|webp|gif)$/i.test(text);
}

function mixed(field: string, travel: Travel, other: string): InvalidInputError {
  const problem =
    travel === 'file'
      ? `is a file, but ${other} is a reference`
      : `is a reference, but ${other} is a file`;
  return new InvalidInputError(
    field,
    `${problem}; files go into a form and references into JSON, so give all of them in one kind.`,
  );
}

function filesInImages(): InvalidInputError {
  return new InvalidInputError('images', 'takes references only; give files as image.');
}
