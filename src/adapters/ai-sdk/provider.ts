import type {
  EmbeddingModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  RerankingModelV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider';
import { Gateway } from '../../index.ts';
import {
  speechModel,
  transcriptionModel,
  type TranscriptionModelSettings,
} from './audio-models.ts';
import { embeddingModel, type EmbeddingModelSettings } from './embedding-model.ts';
import { NoSuchModelError } from './errors.ts';
import { setRestore, storable, type StoredModel } from './durable.ts';
import { imageModel, type ImageModelSettings } from './image-model.ts';
import { languageModel } from './chat/language-model.ts';
import { rerankingModel } from './reranking-model.ts';
import {
  checkChatSettings,
  createClient,
  readSettings,
  type ChatModelSettings,
  type ModelGatewaySettings,
} from './settings.ts';
import { videoModel, type GatewayVideoModel } from './video-model.ts';
import type { VideoSettings } from './video-start.ts';
import { VideoWaits } from './video-status.ts';

/** The gateway as a provider of the AI SDK. Calling it with a model id returns a chat model. */
export interface ModelGatewayProvider extends ProviderV4 {
  (modelId: string, settings?: ChatModelSettings): LanguageModelV4;
  /** Creates a chat model. */
  languageModel(modelId: string, settings?: ChatModelSettings): LanguageModelV4;
  /** Same as `languageModel`. */
  chatModel(modelId: string, settings?: ChatModelSettings): LanguageModelV4;
  /** Creates an embedding model. */
  embeddingModel(modelId: string, settings?: EmbeddingModelSettings): EmbeddingModelV4;
  /** Same as `embeddingModel`. */
  textEmbeddingModel(modelId: string, settings?: EmbeddingModelSettings): EmbeddingModelV4;
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
  /** Creates a reranking model, for gateways that serve `POST /v1/rerank`. */
  rerankingModel(modelId: string): RerankingModelV4;
  /** Completions of plain prompts are not supported; use `chatModel`. @throws `NoSuchModelError` */
  completionModel(modelId: string): never;
}

/**
 * Creates a provider for the AI SDK.
 *
 * Calls are retried as by the client: chat, embeddings, reranking and audio until the first byte of the
 * response, images and videos only if they were provably not charged. `retryUnknownOutcome: false` applies the
 * rule of images to all calls. The AI SDK itself does not retry, because every error is marked as not retryable.
 *
 * @param settings - The options of a new client, or `{ client }`, and the settings of
 *   `createOpenAICompatible()`, except for `name`.
 * @throws `InvalidInputError` if a setting is invalid or has no effect
 *
 * @example
 * ```ts
 * const modelGateway = createModelGateway({ apiKey, baseURL });
 * const { text } = await generateText({ model: modelGateway('gpt-4o-mini'), prompt: 'Hello!' });
 * ```
 */
export function createModelGateway(settings: ModelGatewaySettings = {}): ModelGatewayProvider {
  const { options, videos, chat } = readSettings(settings);
  const client = createClient(options);
  return createProvider(() => client, videos, chat, options);
}

/** @param options - The options of the client, for models that are stored. */
function createProvider(
  connect: () => Gateway,
  videos: VideoSettings,
  chat: ChatModelSettings,
  options: object,
): ModelGatewayProvider {
  const waits = new VideoWaits();
  const video = (modelId: string): GatewayVideoModel =>
    storable(videoModel(connect, modelId, videos, waits), {
      kind: 'video',
      modelId,
      options,
      settings: videos,
    });
  const chatModel = (modelId: string, modelSettings: ChatModelSettings = {}): LanguageModelV4 => {
    const settings = { ...chat, ...checkChatSettings(modelSettings) };
    const model = languageModel(connect, modelId, settings);
    return storable(model, { kind: 'language', modelId, options, settings });
  };
  const embedding = (modelId: string, settings: EmbeddingModelSettings = {}): EmbeddingModelV4 =>
    storable(embeddingModel(connect, modelId, settings), {
      kind: 'embedding',
      modelId,
      options,
      settings,
    });
  const image = (modelId: string, settings: ImageModelSettings = {}): ImageModelV4 =>
    storable(imageModel(connect, modelId, settings), { kind: 'image', modelId, options, settings });
  return Object.assign(
    (modelId: string, settings?: ChatModelSettings) => chatModel(modelId, settings),
    {
      specificationVersion: 'v4' as const,
      languageModel: chatModel,
      chatModel,
      embeddingModel: embedding,
      textEmbeddingModel: embedding,
      imageModel: image,
      speechModel: (modelId: string) => speechModel(connect, modelId),
      transcriptionModel: (modelId: string, settings?: TranscriptionModelSettings) =>
        transcriptionModel(connect, modelId, settings),
      videoModel: video,
      video,
      rerankingModel: (modelId: string) => rerankingModel(connect, modelId),
      completionModel(modelId: string): never {
        throw new NoSuchModelError(modelId, 'completionModel');
      },
    },
  );
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
  {},
  {},
);

/** Providers of models that were stored, by their options, so that models of one gateway share a client. */
const restored = new Map([['{}', modelGateway]]);

function restoreProvider(options: StoredModel['options']): ModelGatewayProvider {
  const key = JSON.stringify(options);
  const known = restored.get(key);
  if (known !== undefined) return known;
  let client: Gateway | undefined;
  const provider = createProvider(() => (client ??= createClient(options)), {}, {}, options);
  restored.set(key, provider);
  return provider;
}

setRestore(({ kind, modelId, options, settings }) => {
  const provider = restoreProvider(options);
  if (kind === 'embedding') return provider.embeddingModel(modelId, settings);
  if (kind === 'image') return provider.imageModel(modelId, settings);
  return kind === 'video' ? provider.videoModel(modelId) : provider.chatModel(modelId, settings);
});
