/**
 * A provider of the AI SDK.
 *
 * @module model-gateway/ai-sdk
 */
export { CallAbortedError, GatewayCallError } from './errors.ts';
export type { EmbeddingModelSettings } from './embedding-model.ts';
export type { ImageModelSettings } from './image-model.ts';
export type { TranscriptionModelSettings } from './audio-models.ts';
export { createModelGateway, modelGateway, type ModelGatewayProvider } from './provider.ts';
export type {
  ChatCompletionBody,
  ChatModelSettings,
  CompatibleSettings,
  MetadataExtractor,
  ModelGatewaySettings,
} from './settings.ts';
export type { GatewayVideoModel } from './video-model.ts';
export type { VideoSettings } from './video-start.ts';
