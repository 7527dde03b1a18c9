import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import { copyEach, copyOptions } from '../../options/snapshot.ts';
import type { Stream } from '../../streams/stream.ts';
import type { ImageTaskRef } from '../../tasks/ref.ts';
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
import { stepImages, waitForImages } from './wait.ts';
import type {
  ImageRequestOptions,
  ImageWaitOptions,
  ImageWaitState,
  ImageWaitStep,
} from './wait-options.ts';

/** Generates and edits images. Consumes credit. */
export class Images {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    // A task exists at one gateway only, so a wait keeps the base URL and key that the client has now.
    this.transport = () => transport().snapshot();
  }

  /**
   * Generates images from a description: `POST /v1/images/generations`.
   *
   * The call is charged, so the request is sent once. It is retried only if it provably was not sent, or was
   * rejected before any work; after any other failure the error has `outcome: "unknown"`, because the images
   * may have been generated and charged. Some models take minutes: raise `timeout` for them.
   *
   * Some gateways return a task instead of images. The call then waits for it, which is free: it calls
   * `onSubmitted` with the handle, polls after 2 s and then every 2 to 10 s, for up to `taskTimeout`
   * (10 minutes). `totalTimeout` and `signal` apply to the whole call. With a `ledger`, a second call with the
   * same `callId` continues the existing task and never pays twice; images returned without a task are not
   * stored.
   *
   * With `stream: true` the images are events, and the loop over them throws `StreamTruncatedError` if one is
   * missing; `error.partial` holds the received ones. Many gateways do not stream images: their response is
   * then converted to events.
   *
   * @returns The images, as base64 or URLs. `data` is empty if a safety filter removed all of them; the call is
   * still charged.
   * @throws `InvalidInputError` if a parameter is invalid; nothing is sent
   * @throws `APIError` if the gateway rejects the request or returns no usable response
   * @throws `ImageFailedError` if the task failed
   * @throws `ImageWaitError` if the wait ended before the task, also after `taskTimeout`
   * (`ImageWaitTimeoutError`) or an abort (`ImageWaitAbortedError`). The task is still running:
   * `images.wait(error.ref)`
   * @throws `ImageSubmitUnknownError`, `LedgerError` with a `ledger`; nothing is sent
   *
   * @example
   * ```ts
   * const { data } = await client.images.generate({ model, prompt: 'A lighthouse at dusk' });
   * const image = data[0]?.url ?? data[0]?.b64_json;
   * ```
   */
  generate(
    params: ImageGenerateParamsNonStreaming,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse>;
  /** The same as a stream of events; the loop throws `StreamTruncatedError` if one is missing. */
  generate(
    params: ImageGenerateParamsStreaming,
    options?: ImageRequestOptions,
  ): GatewayPromise<Stream<ImageGenStreamEvent>>;
  /** Whole or as events, depending on `stream`. */
  generate(
    params: ImageGenerateParamsBase,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>>;
  generate(
    params: ImageGenerateParamsBase,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> {
    return startCall(params, () => generateImages(this.transport(), params, options));
  }

  /**
   * Generates images for a list of parameters: `POST /v1/images/generations`, once per item.
   *
   * Each call is charged and sent like `generate`; a call is not repeated because another failed. Calls begin
   * in order, `concurrency` at a time, and are yielded as soon as they end: the error of a call is its result,
   * and the others continue. No call begins while results are waiting to be consumed, so that memory holds few
   * images.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * affect requests that have not been sent yet.
   *
   * Aborting `signal` stops the running calls, each with its error, and sends no others. Leaving the loop also
   * sends no others, but the running calls continue because they are paid for; only `onProgress` receives
   * their results.
   *
   * @param params - A list with the parameters of each call. All are checked before the first is sent.
   * @param options - `concurrency` (4), `onProgress` and the options of `generate`.
   * @throws `InvalidInputError` naming the position in the list, such as `params[3].prompt`; nothing is sent
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
    return generateManyImages(this.transport(), copyEach(params), copyOptions(options));
  }

  /**
   * Changes images as described: `POST /v1/images/edits`.
   *
   * Charged and sent once, like `generate`; a request with a streamed file is never repeated. Files are sent
   * as a form, URLs and objects as JSON; the provider decides which encoding a model accepts.
   *
   * @returns The images, see `generate`.
   * @throws `InvalidInputError` if a parameter is invalid, a file is empty, or files are mixed with
   * references; nothing is sent
   * @throws `APIError` if the gateway rejects the request or returns no usable response
   *
   * @example
   * ```ts
   * const image = await toFile(fetch('https://example.com/cat.png'));
   * const { data } = await client.images.edit({ model, image, prompt: 'Give it a hat' });
   * ```
   */
  edit(
    params: ImageEditParamsNonStreaming,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse>;
  /** The same as a stream of events; the loop throws `StreamTruncatedError` if one is missing. */
  edit(
    params: ImageEditParamsStreaming,
    options?: ImageRequestOptions,
  ): GatewayPromise<Stream<ImageEditStreamEvent>>;
  /** Whole or as events, depending on `stream`. */
  edit(
    params: ImageEditParamsBase,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>>;
  edit(
    params: ImageEditParamsBase,
    options?: ImageRequestOptions,
  ): GatewayPromise<ImagesResponse | Stream<ImageEditStreamEvent>> {
    return startCall(params, () => editImages(this.transport(), params, options));
  }

  /**
   * Waits for images that are generated by a task. Only reads, so it is free and safe to repeat, from any
   * process.
   *
   * The task is read at the path from the response that named it, then on the route `imageTask` of the
   * gateway's profile, then on the known routes in turn: `/v1/images/tasks/{id}`,
   * `/v1/images/generations/{id}`, `/v1/images/jobs/{id}`, `/v1/tasks/{id}`. Later waits try the route that
   * knew the task before other known routes. Temporary poll failures do not end the wait. Aborting stops the
   * wait immediately; the task is still running.
   *
   * @param task - The handle (`onSubmitted`, `error.ref`, also from another process), or the id.
   * @throws `ImageFailedError` if the task failed
   * @throws `ImageWaitTimeoutError` if `timeout` passed; the task is still running
   * @throws `ImageWaitAbortedError` if `signal` was aborted; the task is still running
   * @throws `ImageWaitError` if no route knows the task, or its result cannot be read
   * @throws `InvalidInputError` if an option is invalid, or the handle belongs to another gateway
   *
   * @example
   * ```ts
   * const ref = parseImageTaskRef(JSON.parse(row.ref));
   * const { data } = await client.images.wait(ref);
   * ```
   */
  async wait(task: ImageTaskRef | string, options: ImageWaitOptions = {}): Promise<ImagesResponse> {
    return waitForImages(this.transport(), task, copyOptions(options));
  }

  /**
   * Polls once and returns the next action: a pause, the images, or the error that ends the wait. `wait` is a
   * loop around it.
   *
   * The state is plain JSON, so that a job queue can do the pausing: store it, and pass it to the next step,
   * in any process. The time limit counts from the first step.
   *
   * @param task - The handle or the id.
   * @param state - The state from the last step; omit it for the first one.
   * @throws `ImageWaitAbortedError` if `signal` was aborted; the step can be repeated
   * @throws `InvalidInputError` if an option is invalid, or the handle belongs to another gateway
   *
   * @example
   * ```ts
   * const { state, next } = await client.images.step(job.ref, job.state);
   * if ('delayMs' in next) await queue.runAgain({ ...job, state }, next.delayMs);
   * else if ('images' in next) await save(next.images.data);
   * else throw next.error;
   * ```
   */
  async step(
    task: ImageTaskRef | string,
    state?: ImageWaitState,
    options: ImageWaitOptions = {},
  ): Promise<ImageWaitStep> {
    return stepImages(this.transport(), task, state, copyOptions(options));
  }
}
