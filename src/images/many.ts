import { check, checkObject } from '../check.ts';
import { checkEach, checkMany, eachTold, optionsOf, type ManyOptions } from '../many.ts';
import type { RequestOptions } from '../options.ts';
import { checkNewImage } from './body.ts';
import type {
  ImageGenerateParamsBase,
  ImageGenerateParamsNonStreaming,
  ImagesResponse,
} from './types.ts';

/** Options of `images.generateMany()`. Those of a call hold for each of its calls. */
export interface ImagesGenerateManyOptions
  extends Omit<RequestOptions, 'idempotencyKey'>, ManyOptions<ImagesGenerateManyResult> {
  /**
   * Identifies the calls in errors and logs: the first is `<callId>-0`.
   * @defaultValue a fresh id for each call
   */
  callId?: string | undefined;
}

/** How one of many calls ended. */
export type ImagesGenerateManyResult = {
  /** The place of the call in what was given. */
  readonly index: number;
  /** Its parameters as they were given. */
  readonly params: ImageGenerateParamsNonStreaming;
} & (
  | { readonly images: ImagesResponse; readonly error?: undefined }
  | {
      readonly images?: undefined;
      /** What `generate` would have thrown. Its `outcome` says whether it may have been charged. */
      readonly error: unknown;
    }
);

/** Checks one of many, which are never streamed. */
function checkWhole(params: ImageGenerateParamsBase): void {
  checkNewImage(params);
  check(params.stream !== true, 'stream', 'cannot be true here; use generate() for a stream.');
}

/** Makes images for each of many parameters. */
export async function* generateManyImages(
  params: Iterable<ImageGenerateParamsNonStreaming>,
  options: ImagesGenerateManyOptions,
  generate: (
    params: ImageGenerateParamsNonStreaming,
    options: RequestOptions,
  ) => PromiseLike<ImagesResponse>,
): AsyncGenerator<ImagesGenerateManyResult, void, undefined> {
  checkObject('options', options);
  // Plain JavaScript may give none as `null`.
  const { concurrency: _, onProgress, ...request } = options ?? {};
  const concurrency = checkMany(options ?? {});
  const list = checkEach(params, checkWhole);
  yield* eachTold(list, { concurrency, onProgress }, async (one, index) => {
    try {
      const images = await generate(one, optionsOf(request, index));
      return { index, params: one, images };
    } catch (error) {
      return { index, params: one, error };
    }
  });
}
