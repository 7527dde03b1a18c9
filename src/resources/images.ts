import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { imagesReader } from '../schemas/images.ts';
import type {
  ImageEditParamsNonStreaming,
  ImageGenerateParamsNonStreaming,
} from '../types/image-params.ts';
import type { ImagesResponse } from '../types/images.ts';
import { editRequest, generateBody } from './image-body.ts';

/** Makes and edits images (interface document, 4.6 and 4.7). Consumes credit. */
export class Images {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Makes images from a description: `POST /v1/images/generations`.
   *
   * Charged: it is sent once. It is sent again only when it provably never left or was refused before
   * work; after anything else the error has `outcome: "unknown"`, as the images may have been made and
   * charged. Some models take minutes: raise `timeout` for them.
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
  ): GatewayPromise<ImagesResponse> {
    return this.#transport.json(
      'images.generate',
      () => ({ json: generateBody(params) }),
      { reader: imagesReader },
      options,
    );
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
  ): GatewayPromise<ImagesResponse> {
    return this.#transport.json(
      'images.edit',
      () => editRequest(params, options),
      { reader: imagesReader },
      options,
    );
  }
}
