import { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import type { ReadOptions } from '../../options/options.ts';
import type { WithRequestId } from '../../types.ts';
import { listModels, type Model, type ModelsPage, retrieveModel } from './formats.ts';

/** Returned by `models.list()`: await it for the page, or iterate over the models directly. */
export class ModelsPagePromise extends GatewayPromise<ModelsPage> implements AsyncIterable<Model> {
  /** Iterates over the models. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Model, void, undefined> {
    yield* (await this).data;
  }
}

/** Lists the models available to the key. Free of charge. */
export class Models {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Lists the models available to the key's group: `GET /v1/models`.
   *
   * Free, and retried on failure. Await it for the whole list, or iterate over the models. Lists in the
   * formats of Gemini, Anthropic and Together are converted to OpenAI's.
   *
   * @throws `APIError` also if the gateway responds with status 200 and `success: false`
   *
   * @example
   * ```ts
   * for await (const model of client.models.list()) console.log(model.id);
   * ```
   */
  list(options?: ReadOptions): ModelsPagePromise {
    return ModelsPagePromise.of(listModels(this.transport(), options));
  }

  /**
   * Retrieves a model: `GET /v1/models/{model}`.
   *
   * Free, and retried on failure. Many gateways use a fixed table for this route, so a model in `list()`
   * can be missing here. Rely on the list.
   *
   * @param id - A model id. May contain slashes.
   * @throws `NotFoundError` if the gateway does not know the model, also if it says so with status 200
   */
  retrieve(id: string, options?: ReadOptions): GatewayPromise<Model & WithRequestId> {
    return retrieveModel(this.transport(), id, options);
  }
}
