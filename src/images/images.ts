import type { GatewayPromise } from '../http/promise.ts';
import { startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { copyEach, copyOptions } from '../snapshot.ts';
import type { Stream } from '../streams/stream.ts';
import {
  editImages,
  type ImageEditParamsBase,
  type ImageEditParamsNonStreaming,
  type ImageEditParamsStreaming,
} from './edit.ts';
import {
  generateImages,
  generateManyImages,
  type ImagesGenerateManyOptions,
  type ImagesGenerateManyResult,
} from './operations.ts';
import type {
  ImageEditStreamEvent,
  ImageGenStreamEvent,
  ImageGenerateParamsBase,
  ImageGenerateParamsNonStreaming,
  ImageGenerateParamsStreaming,
  ImagesResponse,
} from './types.ts';

/** Makes and edits images. Consumes credit. */
export class Images {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Makes images from a description: `POST /v1/images/generations`.
   *
   * Charged: it is sent once. It is sent again only when it provably never left or was refused before
   * work; after anything else the error has `outcome: "unknown"`, as the images may have been made and
   * charged. Some models take minutes: raise `timeout` for them.
   *
   * With `stream: true` the images come as events, and the loop over them throws
   * `StreamTruncatedError` when one is missing; `error.partial` holds those that came. Many gateways do
   * not stream images: their whole answer then becomes the events of the stream.
   *
   * @returns The images, as base64 or as addresses. `data` is empty when a safety filter took all of
   * them out; the call is charged all the same.
   * @throws `InvalidInputError` when a parameter cannot work; nothing is sent then
   * @throws `APIError` when the gateway refuses or no usable answer comes
   *
   * @example
   * ```ts
   * const { data } = await client.images.generate({ model, prompt: 'A lighthouse at dusk' });
   * const image = data[0]?.url ?? data[0]?.b64_json;
   * ```
   */
  generate(
    params: ImageGenerateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse>;
  /** The same as a stream of events; the loop throws `StreamTruncatedError` when one is missing. */
  generate(
    params: ImageGenerateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ImageGenStreamEvent>>;
  /** Whole or as events, as `stream` says. */
  generate(
    params: ImageGenerateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>>;
  generate(
    params: ImageGenerateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> {
    return startCall(params, () => generateImages(this.transport(), params, options));
  }

  /**
   * Makes images for each of many parameters: `POST /v1/images/generations`, once for each.
   *
   * Each is charged and sent as by `generate`; none is repeated because another failed. They are begun in
   * their order, `concurrency` at a time, and given as soon as they have ended, well or not: an error of
   * one is its result, and the others go on. While results wait to be taken no other is begun, so that
   * memory holds few images.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * reach requests that are yet to be sent.
   *
   * An abort of `signal` stops those under way and sends no other: each has its error. Leaving the loop
   * begins no other; those under way are paid for and go on, and only `onProgress` hears of them.
   *
   * @param params - A list with the parameters of each call. All are checked before the first is sent.
   * @param options - `concurrency` (4) and `onProgress`, and what `generate` takes.
   * @throws `InvalidInputError` naming the place in the list, such as `params[3].prompt`; nothing is sent
   *
   * @example
   * ```ts
   * const params = prompts.map((prompt) => ({ model, prompt }));
   * for await (const { index, images, error } of client.images.generateMany(params)) {
   *   if (images === undefined) console.error(prompts[index], error);
   *   else await save(images.data);
   * }
   * ```
   */
  generateMany(
    params: Iterable<ImageGenerateParamsNonStreaming>,
    options: ImagesGenerateManyOptions = {},
  ): AsyncGenerator<ImagesGenerateManyResult, void, undefined> {
    return generateManyImages(this.transport().snapshot(), copyEach(params), copyOptions(options));
  }

  /**
   * Changes images as described: `POST /v1/images/edits`.
   *
   * Charged, and sent once, as `generate` is; a request with a streamed file is never repeated at all.
   * Files are sent as a form, URLs and objects as JSON: which of the two a model takes is up to its
   * provider.
   *
   * @returns The images, see `generate`.
   * @throws `InvalidInputError` when a parameter cannot work, a file is empty, or files are mixed with
   * references; nothing is sent then
   * @throws `APIError` when the gateway refuses or no usable answer comes
   *
   * @example
   * ```ts
   * const image = await toFile(fetch('https://example.com/cat.png'));
   * const { data } = await client.images.edit({ model, image, prompt: 'Give it a hat' });
   * ```
   */
  edit(
    params: ImageEditParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse>;
  /** The same as a stream of events; the loop throws `StreamTruncatedError` when one is missing. */
  edit(
    params: ImageEditParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ImageEditStreamEvent>>;
  /** Whole or as events, as `stream` says. */
  edit(
    params: ImageEditParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>>;
  edit(
    params: ImageEditParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>> {
    return startCall(params, () => editImages(this.transport(), params, options));
  }
}
