import type { OpenString, WithRequestId } from '../types.ts';

/** A way to call a model. Gateways have more words than these. */
export type ModelEndpointType = OpenString<
  | 'openai'
  | 'openai-response'
  | 'openai-response-compact'
  | 'anthropic'
  | 'gemini'
  | 'jina-rerank'
  | 'image-generation'
  | 'embeddings'
  | 'openai-video'
  | 'video'
  | 'video-to-music'
>;

/** A model that the key may use. */
export interface Model {
  /** What to give as `model`. */
  id: string;
  object: 'model';
  /** When the model was made, in Unix seconds. Many gateways give one constant for all; 0 when unknown. */
  created: number;
  /** Who offers the model; empty when the gateway does not say. */
  owned_by: string;
  /** How the model can be called. Empty when the gateway does not say, so it proves nothing then. */
  supported_endpoint_types: ModelEndpointType[];
  /** What the model makes, where the gateway says it. */
  type?: OpenString<'text' | 'image' | 'video' | 'audio'> | undefined;
}

/** The answer of `models.list()` as data. */
export interface ModelList extends WithRequestId {
  object: 'list';
  /** The models that the group of the key may use. */
  data: Model[];
}
