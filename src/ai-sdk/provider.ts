import type {
  EmbeddingModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider';
import { Gateway, type GatewayOptions } from '../index.ts';
import {
  speechModel,
  transcriptionModel,
  type TranscriptionModelSettings,
} from './audio-models.ts';
import { embeddingModel, type EmbeddingModelSettings } from './embedding-model.ts';
import { NoSuchModelError } from './errors.ts';
import { imageModel, type ImageModelSettings } from './image-model.ts';
import { languageModel } from './language-model.ts';
import { videoModel, type GatewayVideoModel } from './video-model.ts';
import type { VideoSettings } from './video-start.ts';
import type { VideoWaits } from './video-status.ts';

/**
 * What the models of a provider call, a client that there is or the options of a new one, and how its
 * videos are kept.
 */
export type ModelGatewaySettings = VideoSettings &
  ((GatewayOptions & { readonly client?: undefined }) | { readonly client: Gateway });

/** The gateway as a provider of the AI SDK. Called with the name of a model it gives a chat model. */
export interface ModelGatewayProvider extends ProviderV4 {
  (modelId: string): LanguageModelV4;
  /** A chat model. */
  languageModel(modelId: string): LanguageModelV4;
  /** The same as `languageModel`. */
  chatModel(modelId: string): LanguageModelV4;
  /** A model that turns texts into vectors. */
  embeddingModel(modelId: string, settings?: EmbeddingModelSettings): EmbeddingModelV4;
  /** A model that makes and edits images. */
  imageModel(modelId: string, settings?: ImageModelSettings): ImageModelV4;
  /** A model that speaks. */
  speechModel(modelId: string): SpeechModelV4;
  /** A model that listens; see its setting. */
  transcriptionModel(modelId: string, settings?: TranscriptionModelSettings): TranscriptionModelV4;
  /** A model that makes videos. */
  videoModel(modelId: string): GatewayVideoModel;
  /** The same as `videoModel`. */
  video(modelId: string): GatewayVideoModel;
  /** The gateway ranks nothing. @throws `NoSuchModelError` */
  rerankingModel(modelId: string): never;
}

/**
 * Makes a provider of the AI SDK.
 *
 * Calls that may have been charged are not repeated, text and sound included: `retryUnknownOutcome` is
 * `false` unless the settings, the client or the provider options of a call set it. The AI SDK repeats
 * nothing by itself, because every error is marked as not retryable. What is safe to repeat, the client
 * repeats.
 *
 * @param settings - The options of a new client, or `{ client }`.
 * @throws `InvalidInputError` when an option cannot work
 *
 * @example
 * ```ts
 * const modelGateway = createModelGateway({ apiKey, baseURL });
 * const { text } = await generateText({ model: modelGateway('gpt-4o-mini'), prompt: 'Hello!' });
 * ```
 */
export function createModelGateway(settings: ModelGatewaySettings = {}): ModelGatewayProvider {
  const { onSubmitted, ledger, ...options } = settings;
  const client = options.client ?? new Gateway(options);
  return providerOf(() => client, { onSubmitted, ledger });
}

function providerOf(connect: () => Gateway, videos: VideoSettings): ModelGatewayProvider {
  const waits: VideoWaits = new Map();
  const video = (modelId: string): GatewayVideoModel => videoModel(connect, modelId, videos, waits);
  const chatModel = (modelId: string): LanguageModelV4 => languageModel(connect, modelId);
  return Object.assign((modelId: string) => chatModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel: chatModel,
    chatModel,
    embeddingModel: (modelId: string, settings?: EmbeddingModelSettings) =>
      embeddingModel(connect, modelId, settings),
    imageModel: (modelId: string, settings?: ImageModelSettings) =>
      imageModel(connect, modelId, settings),
    speechModel: (modelId: string) => speechModel(connect, modelId),
    transcriptionModel: (modelId: string, settings?: TranscriptionModelSettings) =>
      transcriptionModel(connect, modelId, settings),
    videoModel: video,
    video,
    rerankingModel(modelId: string): never {
      throw new NoSuchModelError(modelId, 'rerankingModel');
    },
  });
}

let defaultClient: Gateway | undefined;

/**
 * The provider that reads `GATEWAY_BASE_URL` and `GATEWAY_API_KEY`, at its first call.
 *
 * @example
 * ```ts
 * const { text } = await generateText({ model: modelGateway('gpt-4o-mini'), prompt: 'Hello!' });
 * ```
 */
export const modelGateway: ModelGatewayProvider = providerOf(
  () => (defaultClient ??= new Gateway()),
  {},
);
