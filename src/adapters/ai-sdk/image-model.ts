import type {
  ImageModelV4,
  ImageModelV4CallOptions,
  ImageModelV4Result,
  ImageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  type Gateway,
  type Image,
  type ImagesResponse,
  type RequestOptions,
  usageOf,
  type WithResponse,
} from '../../index.ts';
import { isAbort, errorMessage, toAISDKError } from './errors.ts';
import { dataURLContent, toBytes, download, toReference, toUpload } from './media.ts';
import {
  checkLimit,
  toHeaders,
  numbered,
  providerName,
  readCall,
  sumCosts,
  unsupported,
} from './options.ts';

/** Settings of an image model. */
export interface ImageModelSettings {
  /**
   * Maximum number of images per request. For more, several requests are sent concurrently; if one of them
   * fails, the images of the others are returned, because they are paid for.
   * @defaultValue 10; 4 for Imagen and 1 for DALL·E 3
   */
  readonly maxImagesPerCall?: number | undefined;
}

/**
 * Reported to the AI SDK as the limit. With a lower limit it would split a call and, if one request failed,
 * lose the charged images of the others. This module splits the call instead.
 */
const any = Number.MAX_SAFE_INTEGER;

function findImageLimit(modelId: string): number {
  if (/dall-?e-3/i.test(modelId)) return 1;
  return /imagen/i.test(modelId) ? 4 : 10;
}

/**
 * Creates an image model for generation and edits.
 *
 * @param connect - Returns the client, at the first call.
 */
export function imageModel(
  connect: () => Gateway,
  modelId: string,
  settings: ImageModelSettings = {},
): ImageModelV4 {
  const { maxImagesPerCall = findImageLimit(modelId) } = settings;
  checkLimit('maxImagesPerCall', maxImagesPerCall);
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.image`,
    modelId,
    maxImagesPerCall: any,
    supportsFileInputs: true,
    supportsMaskInputs: true,
    doGenerate: (options) => generate(connect(), modelId, maxImagesPerCall, options),
  };
}

async function generate(
  client: Gateway,
  model: string,
  limit: number,
  options: ImageModelV4CallOptions,
): Promise<ImageModelV4Result> {
  const { n, abortSignal: signal } = options;
  const { request, warnings } = readCall(options);
  warnings.push(...createWarnings(options));
  const each = Math.min(limit, n);
  const counts = Array.from({ length: Math.ceil(n / each) }, (_, index) =>
    Math.min(each, n - index * each),
  );
  const results = await Promise.allSettled(
    counts.map((count, index) => ask(client, model, count, options, numbered(request, index))),
  );
  const answers = results.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  );
  const failures = results.flatMap((result): { error: unknown }[] =>
    result.status === 'rejected' ? [{ error: result.reason }] : [],
  );
  const items = answers.flatMap(({ data }) => data.data);
  const failure = failures.find(({ error }) => isAbort(error)) ?? failures[0];
  const [first] = answers;
  if (first === undefined || (failure !== undefined && isAbort(failure.error))) {
    const failed = { client, operation: imageOperation(options), signal };
    throw toAISDKError(failure?.error, failed, items.length === 0 ? undefined : { data: items });
  }
  for (const { error } of failures) {
    const message = `One of ${counts.length} requests failed; the other images were returned. ${errorMessage(error)}`;
    warnings.push({ type: 'other', message });
  }
  const remarks = answers.flatMap(({ data }) => data.error?.message ?? []);
  warnings.push(...remarks.map((message) => ({ type: 'other' as const, message })));
  const { images, kept } = await readImages(client, items, signal, warnings);
  const usage = sumUsage(answers.map(({ data }) => data.usage));
  const costs = answers.map(({ data, response }) => usageOf(data, response.headers).cost);
  return {
    images,
    // The AI SDK would request filtered images again and pay for them again.
    isRetryable: false,
    warnings,
    ...(usage && { usage }),
    providerMetadata: { [providerName]: { images: kept.map(imageDetails), ...sumCosts(costs) } },
    response: { timestamp: new Date(), modelId: model, headers: toHeaders(first.response) },
  };
}

function createWarnings({ aspectRatio, seed }: ImageModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = [];
  if (seed !== undefined) warnings.push(unsupported('seed'));
  if (aspectRatio !== undefined) {
    const details = 'Sent as aspect_ratio, which many models ignore; they read size.';
    warnings.push({ type: 'compatibility', feature: 'aspectRatio', details });
  }
  return warnings;
}

function imageOperation({
  files = [],
  mask,
}: ImageModelV4CallOptions): 'images.generate' | 'images.edit' {
  return files.length === 0 && mask === undefined ? 'images.generate' : 'images.edit';
}

/** Sends one request: an edit if there are input images. */
function ask(
  client: Gateway,
  model: string,
  n: number,
  options: ImageModelV4CallOptions,
  request: RequestOptions,
): Promise<WithResponse<ImagesResponse>> {
  const { prompt = '', size, aspectRatio, files = [], mask } = options;
  const params = { model, prompt, n, size, aspect_ratio: aspectRatio };
  if (imageOperation(options) === 'images.generate') {
    return client.images.generate(params, request).withResponse();
  }
  // A request contains either URLs or files, so if one input is a URL, send all of them as URLs.
  const inputs = mask === undefined ? files : [...files, mask];
  const toInput = inputs.some(({ type }) => type === 'url') ? toReference : toUpload;
  const edit = { ...params, image: files.map(toInput), mask: mask && toInput(mask) };
  return client.images.edit(edit, request).withResponse();
}

/**
 * Returns the images of a response: as base64 if all have it, otherwise as bytes. Adds a warning with the
 * URL of each image that could not be read; it is paid for and may be readable later.
 */
async function readImages(
  client: Gateway,
  items: readonly Image[],
  signal: AbortSignal | undefined,
  warnings: SharedV4Warning[],
): Promise<{ images: string[] | Uint8Array[]; kept: readonly Image[] }> {
  const texts = items.map(({ b64_json: base64, url }) => base64 ?? dataURLContent(url ?? ''));
  const known = texts.filter((text) => text !== undefined);
  if (known.length === items.length) return { images: known, kept: items };
  const read = await Promise.allSettled(
    items.map(async ({ url = '' }, index) => {
      const text = texts[index];
      return text === undefined ? download(client, url, signal) : toBytes(text);
    }),
  );
  const images: Uint8Array[] = [];
  const kept: Image[] = [];
  let failure: { error: unknown } | undefined;
  read.forEach((result, index) => {
    const item = items[index] ?? {};
    if (result.status === 'fulfilled') {
      images.push(result.value);
      kept.push(item);
      return;
    }
    failure = { error: result.reason };
    const message = `An image could not be read from ${item.url}, where it may still be: ${errorMessage(result.reason)}`;
    warnings.push({ type: 'other', message });
  });
  if (images.length > 0 || failure === undefined) return { images, kept };
  const failed = { client, operation: 'images.generate', signal } as const;
  throw toAISDKError(failure.error, failed, { data: items });
}

function imageDetails({ revised_prompt: revisedPrompt, url }: Image) {
  const isAddress = url !== undefined && dataURLContent(url) === undefined;
  return { ...(revisedPrompt !== undefined && { revisedPrompt }), ...(isAddress && { url }) };
}

/** Returns the sum of the usage of responses; `undefined` if none reports it. */
function sumUsage(usages: readonly ImagesResponse['usage'][]): ImageModelV4Usage | undefined {
  if (usages.every((usage) => usage === undefined || usage === null)) return undefined;
  const counts = usages.map((usage) => usageOf(usage));
  const sum = (name: 'inputTokens' | 'outputTokens' | 'totalTokens'): number | undefined => {
    const known = counts.map((usage) => usage[name]).filter((count) => count !== undefined);
    return known.length === 0 ? undefined : known.reduce((total, count) => total + count, 0);
  };
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
  };
}
