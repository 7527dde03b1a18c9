/** Types of models and lists, under the names that code for `openai` uses. */
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Model, ModelsPage } from '../../resources/models/formats.ts';

export type {
  Model,
  ModelArchitecture,
  ModelEndpointType,
  ModelPricing,
  ModelsPage,
} from '../../resources/models/formats.ts';
export type { ModelsPagePromise } from '../../resources/models/models.ts';

/** The data of a page. */
export interface PageResponse<Item> {
  data: Item[];
  object: string;
}

/** A page of a list. */
export interface Page<Item> extends PageResponse<Item>, AsyncIterable<Item> {
  getPaginatedItems(): Item[];
  hasNextPage(): boolean;
  getNextPage(): Promise<unknown>;
}

/** The type of `ModelsPagePromise` under its name in `openai`. */
export type PagePromise<List extends ModelsPage = ModelsPage, Item = Model> = GatewayPromise<List> &
  AsyncIterable<Item>;

/** A chat model id from `models.list()`. */
export type ChatModel = string;
/** A model id from `models.list()`. */
export type AllModels = string;
/** An embedding model id from `models.list()`. */
export type EmbeddingModel = string;
/** An image model id from `models.list()`. */
export type ImageModel = string;
/** A transcription model id from `models.list()`. */
export type AudioModel = string;
/** A speech model id from `models.list()`. */
export type SpeechModel = string;
/** A video model id from `models.list()`. */
export type VideoModel = string;
