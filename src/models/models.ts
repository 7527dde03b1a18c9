import { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { WithRequestId } from '../types.ts';
import { listModels, type Model, type ModelsPage, retrieveModel } from './answers.ts';

/** What `models.list()` returns: a promise for the page that can also be iterated itself. */
export class ModelsPagePromise extends GatewayPromise<ModelsPage> implements AsyncIterable<Model> {
  /** The models, one after the other. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Model, void, undefined> {
    yield* (await this).data;
  }
}

/** A page of a list. The only list of this client is that of models, which comes whole. */
export interface Page<Item> extends PageResponse<Item>, AsyncIterable<Item> {
  getPaginatedItems(): Item[];
  hasNextPage(): boolean;
  getNextPage(): Promise<unknown>;
}

/** A page as it comes. */
export interface PageResponse<Item> {
  data: Item[];
  object: string;
}

/** The same as `ModelsPagePromise`, under the name that code for `openai` uses. */
export type PagePromise<List extends ModelsPage = ModelsPage, Item = Model> = GatewayPromise<List> &
  AsyncIterable<Item>;

/** Tells which models the key can use. Free of charge. */
export class Models {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Lists the models that the group of the key may use: `GET /v1/models`.
   *
   * Free, and repeated when it fails. Await it for the whole list, or iterate it for one model after
   * the other. Lists in the forms of Gemini,
   * Anthropic and Together are brought into OpenAI's form.
   *
   * @throws `APIError` also when the gateway answers 200 with `success: false`
   *
   * @example
   * ```ts
   * for await (const model of client.models.list()) console.log(model.id);
   * ```
   */
  list(options?: RequestOptions): ModelsPagePromise {
    return ModelsPagePromise.of(listModels(this.transport(), options));
  }

  /**
   * Tells about one model: `GET /v1/models/{model}`.
   *
   * Free, and repeated when it fails. Many gateways look it up in a fixed table, so that a model which
   * `list()` names can be missing here: what counts is the list.
   *
   * @param id - A model id. It may hold slashes.
   * @throws `NotFoundError` when the gateway does not know it, also when it says so in a 200
   */
  retrieve(id: string, options?: RequestOptions): GatewayPromise<Model & WithRequestId> {
    return retrieveModel(this.transport(), id, options);
  }
}

// The types of `OpenAI.Models`.
// oxfmt-ignore
export declare namespace Models {
  export {
    Model, type ModelsPage,
  };
}
