import type {
  EmbeddingModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider';
import { Gateway, type GatewayOptions } from '../../index.ts';
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
 * Settings of a provider: an existing client or the options of a new one, and how to track videos.
 */
export type ModelGatewaySettings = VideoSettings &
  ((GatewayOptions & { readonly client?: undefined }) | { readonly client: Gateway });

/** The gateway as a provider of the AI SDK. Calling it with a model id returns a chat model. */
export interface ModelGatewayProvider extends ProviderV4 {
  (modelId: string): LanguageModelV4;
  /** Creates a chat model. */
  languageModel(modelId: string): LanguageModelV4;
  /** Same as `languageModel`. */
  chatModel(modelId: string): LanguageModelV4;
  /** Creates an embedding model. */
  embeddingModel(modelId: string, settings?: EmbeddingModelSettings): EmbeddingModelV4;
  /** Creates an image model for generation and edits. */
  imageModel(modelId: string, settings?: ImageModelSettings): ImageModelV4;
  /** Creates a text-to-speech model. */
  speechModel(modelId: string): SpeechModelV4;
  /** Creates a transcription model, which can also translate. */
  transcriptionModel(modelId: string, settings?: TranscriptionModelSettings): TranscriptionModelV4;
  /** Creates a video model. */
  videoModel(modelId: string): GatewayVideoModel;
  /** Same as `videoModel`. */
  video(modelId: string): GatewayVideoModel;
  /** The gateway has no reranking models. @throws `NoSuchModelError` */
  rerankingModel(modelId: string): never;
}

/**
 * Creates a provider for the AI SDK.
 *
 * Requests that may have been charged are not retried. That includes text and audio: `retryUnknownOutcome` is
 * `false` unless the settings, the client or the provider options of a call set it. The AI SDK itself does not
 * retry, because every error is marked as not retryable. The client makes all safe retries.
 *
 * @param settings - The options of a new client, or `{ client }`.
 * @throws `InvalidInputError` if an option is invalid
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
  return createProvider(() => client, { onSubmitted, ledger });
}

function createProvider(connect: () => Gateway, videos: VideoSettings): ModelGatewayProvider {
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
 * The default provider, which reads `GATEWAY_BASE_URL` and `GATEWAY_API_KEY` at its first call.
 *
 * @example
 * ```ts
 * const { text } = await generateText({ model: modelGateway('gpt-4o-mini'), prompt: 'Hello!' });
 * ```
 */
export const modelGateway: ModelGatewayProvider = createProvider(
  () => (defaultClient ??= new Gateway()),
  {},
);
