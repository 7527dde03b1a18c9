import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { formBody } from '../uploads/multipart.ts';
import { isUploadable, notFile, openIt } from '../uploads/file-input.ts';
import type { RequestOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import type { ImageEditParamsBase, ImageGenerateParamsBase, ImageParamsBase } from './params.ts';
import { check, checkInteger, checkModel, checkNumber, checkParams, checkText } from '../check.ts';

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
  const isFile = areFiles('image', sources);
  const isMaskFile = areFiles('mask', listOf('mask', mask));
  if (isFile === undefined && images === undefined && options?.extraBody === undefined) {
    throw new InvalidInputError('image', 'is missing; give a file, a URL or a list of them.');
  }
  if (isFile !== true) {
    if (areFiles('images', listOf('images', images)) === true) {
      throw new InvalidInputError('images', 'takes references only; give files as image.');
    }
    if (isMaskFile === true) throw mixed('mask', true, 'the image');
    return { json: params };
  }
  if (images !== undefined) throw mixed('images', false, 'image');
  if (isMaskFile === false) throw mixed('mask', false, 'the image');
  // The gateway takes several files only under the name with brackets, and one only without.
  const name = sources.length === 1 ? 'image' : 'image[]';
  return {
    form: formBody([...Object.entries(others), [name, sources, 'image'], ['mask', mask, 'image']]),
  };
}

function checkCommon(
  { prompt, n, size, ...others }: Omit<ImageParamsBase, 'model'>,
  purpose: string,
): void {
  checkText('prompt', prompt, purpose);
  checkInteger('n', n ?? 1, 1);
  checkNumber('output_compression', others.output_compression ?? 0);
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

/** Whether the images of a parameter are files, and not references; `undefined` when there are none. */
function areFiles(field: string, sources: readonly unknown[]): boolean | undefined {
  let are: boolean | undefined;
  for (const [position, source] of sources.entries()) {
    const name = sources.length === 1 ? field : `${field}[${position}]`;
    const found = isFileIn(name, source);
    if (are !== undefined && found !== are) throw mixed(name, found, `${field}[0]`);
    are = found;
  }
  return are;
}

/** Whether an image is a file, which travels as part of a form, or a reference inside JSON. */
function isFileIn(field: string, source: unknown): boolean {
  if (isUploadable(source)) return true;
  if (source instanceof Promise) throw notFile(field, source);
  if (isObject(source)) return false;
  checkText(field, source, 'a file, a URL or an object');
  check(!isPath(String(source)), field, openIt);
  return false;
}

/** Base64 can begin with a slash, so only what cannot be base64 is taken for a path. */
function isPath(text: string): boolean {
  if (/^(https?|data):/i.test(text)) return false;
  return /^(file:|\.{1,2}[\\/]|~\/)|\.(png|jpe?g|webp|gif)$/i.test(text);
}

function mixed(field: string, isFile: boolean, other: string): InvalidInputError {
  const [own, others] = isFile ? ['file', 'reference'] : ['reference', 'file'];
  return new InvalidInputError(
    field,
    `is a ${own}, but ${other} is a ${others}; files go into a form and references into JSON, so give all of them in one kind.`,
  );
}
