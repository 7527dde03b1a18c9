import { check, checkInteger, checkModel, checkNumber, checkParams, checkText } from '../check.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import { checkEach, checkMany, eachTold, type ManyOptions, optionsOf } from '../many.ts';
import type { RequestOptions } from '../options.ts';
import type { Copied } from '../snapshot.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { imageGenProtocol, imagesOf, imagesSchema } from './schema.ts';
import { explainTask, refuseTask } from './task.ts';
import type {
  ImageGenerateParamsBase,
  ImageGenerateParamsNonStreaming,
  ImageGenStreamEvent,
  ImagesResponse,
} from './types.ts';

/**
 * Checks what images are made from.
 *
 * @param purpose - What the prompt is for.
 */
export function checkImage(method: string, params: ImageGenerateParamsBase, purpose: string): void {
  checkParams(`images.${method}`, params);
  const { model, prompt, n, output_compression: compression } = params;
  if (model !== undefined && model !== null) checkModel(model);
  checkText('prompt', prompt, purpose);
  checkInteger('n', n ?? 1, 1);
  checkNumber('output_compression', compression ?? 0);
  const size = String(params.size);
  const problem = `has a multiplication sign, which the gateway refuses; write "${size.replaceAll('×', 'x')}".`;
  check(!size.includes('×'), 'size', problem);
}

function checkNewImage(params: ImageGenerateParamsBase): ImageGenerateParamsBase {
  checkImage('generate', params, 'a description of the image');
  return params;
}

const collectEvents = collectAs(imageGenProtocol(1));

/** What becomes of an answer that names a task in place of pictures. */
export const taskRules = { refuse: refuseTask, explain: explainTask } as const;

/** How images are read that come in one piece. */
export const wholeAnswer = jsonAnswer({
  schema: imagesSchema,
  fromEvents: async (call, answer) => imagesOf(await collectEvents(call, answer)),
});

const requestFor = (params: ImageGenerateParamsBase) => () => ({
  json: checkNewImage(params),
  ...taskRules,
});

function generateWhole(
  transport: Transport,
  params: ImageGenerateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ImagesResponse> {
  return transport.call('images.generate', requestFor(params), wholeAnswer, options);
}

export function generateImages(
  transport: Transport,
  params: ImageGenerateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> {
  if (params?.stream !== true) return generateWhole(transport, params, options);
  const events = eventAnswer(imageGenProtocol(params.n ?? 1));
  return transport.call('images.generate', requestFor(params), events, options);
}

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
  /** Its parameters: the object that the caller passed. */
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
  transport: Transport,
  takeParams: () => readonly Copied<ImageGenerateParamsNonStreaming>[],
  options: ImagesGenerateManyOptions,
): AsyncGenerator<ImagesGenerateManyResult, void, undefined> {
  transport.checkNames(options);
  // Plain JavaScript may give none as `null`.
  const { concurrency: _, onProgress, ...request } = options ?? {};
  const concurrency = checkMany(options ?? {});
  const list = takeParams();
  checkEach(list, checkWhole);
  yield* eachTold(list, { concurrency, onProgress }, async ({ original: params, copy }, index) => {
    try {
      const images = await generateWhole(transport, copy, optionsOf(request, index));
      return { index, params, images };
    } catch (error) {
      return { index, params, error };
    }
  });
}
