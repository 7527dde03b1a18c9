import { check, checkInteger, checkModel, checkNumber, checkText } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import type { Transport } from '../../calls/transport.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import { checkEach, mapWithProgress, type ManyOptions, optionsForCall } from '../../tasks/many.ts';
import { changeOptions, optionsFor } from '../../options/resolve.ts';
import type { Copied } from '../../options/snapshot.ts';
import type { Stream } from '../../streams/stream.ts';
import type { ImageTaskRef } from '../../tasks/ref.ts';
import { imageGenProtocol } from './schema.ts';
import { callForImages, type ImageCall, streamImages } from './submit.ts';
import type { ImageRequestOptions } from './wait-options.ts';
import type {
  ImageGenerateParamsBase,
  ImageGenerateParamsNonStreaming,
  ImageGenStreamEvent,
  ImagesResponse,
} from './types.ts';

/**
 * Checks the parameters of a call for images.
 *
 * @param purpose - The purpose of the prompt, for error messages.
 */
export function checkImage(method: string, params: ImageGenerateParamsBase, purpose: string): void {
  checkParams(`images.${method}`, params);
  const { model, prompt, n, output_compression: compression } = params;
  if (model !== undefined && model !== null) checkModel(model);
  checkText('prompt', prompt, purpose);
  checkInteger('n', n ?? 1, 1);
  checkNumber('output_compression', compression ?? 0);
  const size = String(params.size);
  const problem = `has a multiplication sign, which the gateway rejects; write "${size.replaceAll('×', 'x')}".`;
  check(!size.includes('×'), 'size', problem);
}

function checkNewImage(params: ImageGenerateParamsBase): ImageGenerateParamsBase {
  checkImage('generate', params, 'a description of the image');
  return params;
}

const callFor = (params: ImageGenerateParamsBase): ImageCall => ({
  operation: 'images.generate',
  params,
  write: (changed) => ({ json: checkNewImage(changed) }),
});

export const generateImages = (
  transport: Transport,
  params: ImageGenerateParamsBase,
  options: ImageRequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> =>
  params?.stream === true
    ? streamImages(transport, callFor(params), options, imageGenProtocol)
    : callForImages(transport, callFor(params), options);

/** Options of `images.generateMany()`. Call options apply to each call. */
export interface ImagesGenerateManyOptions
  extends
    Omit<ImageRequestOptions, 'idempotencyKey' | 'callId' | 'onSubmitted'>,
    ManyOptions<ImagesGenerateManyResult> {
  /**
   * Identifies the calls in errors, logs and a `ledger`: the first is `<callId>-0`.
   * @defaultValue a new id for each call, unless there is a ledger
   */
  callId?: string | undefined;
  /**
   * Called with the handle of a task and the index of its call, if the gateway returns a task instead of
   * images. Awaited before the first poll. Save the handle here.
   */
  onSubmitted?: ((ref: ImageTaskRef, index: number) => void | Promise<void>) | undefined;
}

/** The result of one of many calls. */
export type ImagesGenerateManyResult = {
  /** The index of the call in `params`. */
  readonly index: number;
  /** Its parameters: the object that the caller passed. */
  readonly params: ImageGenerateParamsNonStreaming;
} & (
  | { readonly images: ImagesResponse; readonly error?: undefined }
  | {
      readonly images?: undefined;
      /** The error that `generate` would throw. Its `outcome` shows whether the call may have been charged. */
      readonly error: unknown;
    }
);

/** Checks the parameters of one of many calls, which are never streamed. */
function checkWhole(params: ImageGenerateParamsBase): void {
  checkNewImage(params);
  check(params.stream !== true, 'stream', 'cannot be true here; use generate() for a stream.');
}

/** Generates images for a list of parameters. */
export async function* generateManyImages(
  transport: Transport,
  takeParams: () => readonly Copied<ImageGenerateParamsNonStreaming>[],
  options: ImagesGenerateManyOptions,
): AsyncGenerator<ImagesGenerateManyResult, void, undefined> {
  const checked = transport.checkOptions('images.generateMany', options);
  const { concurrency, onProgress, onSubmitted } = checked;
  const request = optionsFor(checked, 'images.generate');
  const list = takeParams();
  checkEach(list, checkWhole);
  yield* mapWithProgress(
    list,
    { concurrency, onProgress },
    async ({ original: params, copy }, index) => {
      try {
        const callOptions = optionsForCall(request, index);
        const notify = onSubmitted && ((ref: ImageTaskRef) => onSubmitted(ref, index));
        const calling = changeOptions(callOptions, { onSubmitted: notify });
        const images = await callForImages(transport, callFor(copy), calling);
        return { index, params, images };
      } catch (error) {
        return { index, params, error };
      }
    },
  );
}
