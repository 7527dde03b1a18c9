import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OperationRequest } from '../http/call-spec.ts';
import { isUploadable, type FormField } from '../http/multipart.ts';
import type { VideoCreateParams, VideoRemixParams } from '../types/videos.ts';
import { checkModel, checkParams, checkText } from './checks.ts';

/** Seconds as text: the gateway cannot decode a JSON number there, though its document allows it. */
function secondsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === 'number' && Number.isFinite(value) && value > 0;
  if (isNumber) return String(value);
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new InvalidInputError('seconds', 'must be a number above 0, or such a number as text.');
}

/** The image reference as it travels: a file or text. OpenAI's object form is taken apart. */
function referenceOf(value: unknown): unknown {
  if (value === undefined || value === null || isUploadable(value)) return value;
  if (typeof value === 'string' && value.trim() !== '') return value;
  const field = 'input_reference';
  if (typeof value === 'string') throw new InvalidInputError(field, 'is empty; leave it out.');
  if (value instanceof Promise) {
    throw new InvalidInputError(field, 'is a promise; put "await" before it.');
  }
  if (typeof value === 'object' && 'image_url' in value) {
    const { image_url: url } = value;
    checkText(`${field}.image_url`, url, 'an http(s) URL or a data URL');
    return url;
  }
  throw new InvalidInputError(
    field,
    'must be a file, or a URL or data URL as text. The gateway keeps no files, so there are no file ids.',
  );
}

/**
 * The submission of a task: JSON, or multipart when it holds a file.
 *
 * Fields that this package does not know go along as they are.
 *
 * @throws `InvalidInputError` for input that would be charged and could not work
 */
export function submissionOf(params: VideoCreateParams): OperationRequest<'videos.create'> {
  checkParams('videos.create', params);
  checkModel(params.model);
  checkText('prompt', params.prompt, 'a description of the video');
  const fields: Readonly<Record<string, unknown>> = {
    ...params,
    seconds: secondsText(params.seconds),
    input_reference: referenceOf(params.input_reference),
  };
  const entries = Object.entries(fields);
  const files = entries.filter(([, value]) => isUploadable(value));
  if (files.length === 0) return { json: fields };
  // Files come last, so that a gateway knows the model before it reads them.
  const texts = entries.filter(([, value]) => !isUploadable(value));
  const fileFields = files.map(([name, value]): FormField => [name, value, 'image']);
  return { form: [...texts, ...fileFields] };
}

/** The body of a remix. */
export function remixBodyOf(params: VideoRemixParams): object {
  checkParams('videos.remix', params);
  checkText('prompt', params.prompt, 'what to change');
  return { ...params };
}
