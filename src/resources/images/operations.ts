import {
  check,
  checkInteger,
  checkModel,
  checkNumber,
  checkParams,
  checkText,
} from '../../options/check.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import { jsonAnswer } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import { checkEach, mapWithProgress, type ManyOptions, optionsForCall } from '../../tasks/many.ts';
import { optionsFor } from '../../options/resolve.ts';
import type { Copied } from '../../options/snapshot.ts';
import { collectAs, eventAnswer } from '../../streams/open-stream.ts';
import type { Stream } from '../../streams/stream.ts';
import type { ImageTaskRef } from '../../tasks/ref.ts';
import type { Submitter } from '../../tasks/submit.ts';
import {
  fileImage,
  imageGenProtocol,
  imagesSchema,
  isImageFile,
  toImagesResponse,
} from './schema.ts';
import { type Submission, submitImages, rejectLedger } from './submit.ts';
import { explainImages, followTask, type OnAccepted } from './wait.ts';
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

const collectEvents = collectAs(imageGenProtocol(1));

/** Returns the rules of calls for images: they wait for a task that is returned instead of images. */
export function imageRules(
  transport: Transport,
  { model }: ImageGenerateParamsBase,
  options: ImageRequestOptions | undefined,
  onAccepted?: OnAccepted,
) {
  // A task exists on one gateway, so the wait keeps the base URL and key from the time of the call.
  const follow = followTask(transport.snapshot(), model, options, onAccepted);
  return { follow, explain: explainImages };
}

/** Reads images from a response that is not streamed. */
export const wholeAnswer = jsonAnswer({
  schema: imagesSchema,
  fromEvents: async (call, answer) => toImagesResponse(await collectEvents(call, answer)),
  fromFile: { isFile: isImageFile, toValue: (bytes, type) => ({ data: [fileImage(bytes, type)] }) },
});

function generateWhole(
  submitter: Submitter,
  params: ImageGenerateParamsBase,
  options: ImageRequestOptions | undefined,
): GatewayPromise<ImagesResponse> {
  const { transport } = submitter;
  const operation = 'images.generate';
  const submission: Submission = { operation, params, model: params?.model };
  if (options?.ledger !== undefined) checkNewImage(params);
  return submitImages(submitter, submission, options, (own, onAccepted) =>
    transport.operate(
      operation,
      params,
      {
        kind: 'json',
        write: (changed) => ({
          json: checkNewImage(changed),
          ...imageRules(transport, changed, own, onAccepted),
        }),
        format: () => wholeAnswer,
      },
      own,
    ),
  );
}

export function generateImages(
  submitter: Submitter,
  params: ImageGenerateParamsBase,
  options: ImageRequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> {
  if (params?.stream !== true) return generateWhole(submitter, params, options);
  const { transport } = submitter;
  return transport.operate(
    'images.generate',
    params,
    {
      kind: 'events',
      write(changed) {
        rejectLedger(options);
        return { json: checkNewImage(changed), ...imageRules(transport, changed, options) };
      },
      format: ({ n }) => eventAnswer(imageGenProtocol(n ?? 1)),
    },
    options,
  );
}

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
  submitter: Submitter,
  takeParams: () => readonly Copied<ImageGenerateParamsNonStreaming>[],
  options: ImagesGenerateManyOptions,
): AsyncGenerator<ImagesGenerateManyResult, void, undefined> {
  const checked = submitter.transport.checkOptions('images.generateMany', options);
  const { concurrency, onProgress, onSubmitted } = checked;
  const request = optionsFor(checked, 'images.generate');
  const list = takeParams();
  checkEach(list, checkWhole);
  yield* mapWithProgress(
    list,
    { concurrency, onProgress },
    async ({ original: params, copy }, index) => {
      try {
        const own = optionsForCall(request, index);
        const notify = onSubmitted && ((ref: ImageTaskRef) => onSubmitted(ref, index));
        const images = await generateWhole(submitter, copy, { ...own, onSubmitted: notify });
        return { index, params, images };
      } catch (error) {
        return { index, params, error };
      }
    },
  );
}
