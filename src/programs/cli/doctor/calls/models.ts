import { isObject, toFields, trimmedText } from '../../../../answers/objects.ts';
import type { ModelPrice } from '../../../../index.ts';
import type { JsonObject } from '../../../../types.ts';

/** Kinds of calls that a model serves. */
export type ModelKind =
  | 'chat'
  | 'reasoning'
  | 'gemini'
  | 'embedding'
  | 'image'
  | 'speech'
  | 'transcription'
  | 'video';

/** Names of media models, for list entries without a type. */
export const mediaNames =
  /(?:^|[^a-z])(?:dall-?e|image|imagen|flux|stable-?diffusion|midjourney|mj|seedream|sora|veo|kling|vidu|hailuo|jimeng|seedance|runway|luma|pika|wan|t2i|t2v|i2v|suno|tts|speech|whisper)(?:[^a-z]|$)|viduq|wanx/i;

/** Names of models that serve none of the calls of this report. */
const otherNames =
  /rerank|moderation|realtime|guard|codex|deep-research|search|suno|midjourney|(^|[^a-z])mj([^a-z]|$)/i;

const namesByKind: Readonly<Record<ModelKind, RegExp>> = {
  embedding: /embed|(^|[^a-z])(bge|gte|e5|ada-002)([^a-z]|$)/i,
  transcription: /whisper|transcri|(^|[^a-z])(asr|stt)([^a-z]|$)/i,
  speech: /(^|[^a-z])tts([^a-z]|$)|speech/i,
  video: /sora|veo-|kling|vidu|hailuo|seedance|runway|video|t2v|i2v/i,
  image: /image|imagen|dall-?e|flux|stable-?diffusion|seedream|t2i|jimeng/i,
  gemini: /gemini/i,
  reasoning: /reason|think|(^|[-/])(o\d|r\d)\b|gpt-5|qwq/i,
  chat: /./,
};

/** Kinds of calls by the endpoint types in lists of models. */
const endpointTypes: Readonly<Record<string, ModelKind>> = {
  openai: 'chat',
  'openai-response': 'chat',
  anthropic: 'chat',
  gemini: 'gemini',
  embeddings: 'embedding',
  'image-generation': 'image',
  'openai-video': 'video',
};

/** Modes of LiteLLM and output modalities of OpenRouter. */
const modes: Readonly<Record<string, ModelKind>> = {
  chat: 'chat',
  completion: 'chat',
  text: 'chat',
  embedding: 'embedding',
  embeddings: 'embedding',
  image: 'image',
  image_generation: 'image',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  video: 'video',
  video_generation: 'video',
};

/** Names of models that are usual and cheap, the best first, and of expensive ones, which are chosen last. */
const preferred = [
  /gpt-4o-mini|gpt-4\.1-(mini|nano)|gpt-5[\w.]*-(mini|nano)/i,
  /flash|haiku/i,
  /mini|nano|lite|small|turbo|instant/i,
] as const;
const expensive = /pro\b|opus|ultra|gpt-4\.5|gpt-4-32k|(^|\/)o1\b|max\b/i;

const modelId = ({ id, name }: JsonObject): string => trimmedText(id) ?? trimmedText(name) ?? '';

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** Returns the kinds that a list entry or a price states. */
function statedKinds(entry: JsonObject, price: ModelPrice | undefined): Set<ModelKind> {
  const endpoints = [entry, price?.raw ?? {}].flatMap((source) =>
    texts(source['supported_endpoint_types']),
  );
  const outputs = texts(toFields(entry['architecture'])['output_modalities']);
  const { deployments } = price?.raw ?? {};
  const deployed = (Array.isArray(deployments) ? deployments.filter(isObject) : []).map((each) =>
    trimmedText(toFields(each['model_info'])['mode']),
  );
  const words = [trimmedText(entry['type']), ...outputs, ...deployed];
  const kinds = [
    ...endpoints.map((type) => endpointTypes[type]),
    ...words.map((word) => (word === undefined ? undefined : modes[word])),
  ];
  return new Set(kinds.filter((kind) => kind !== undefined));
}

/** A model and what it can be called for. */
export interface KnownModel {
  readonly id: string;
  readonly kinds: ReadonlySet<ModelKind>;
  readonly price: ModelPrice | undefined;
}

/** Returns the kinds of a model, by its list entry, its price and its name. */
function kindsFor(
  id: string,
  entry: JsonObject,
  price: ModelPrice | undefined,
  isNamed: boolean,
): Set<ModelKind> {
  if (otherNames.test(id) && !isNamed) return new Set();
  const stated = statedKinds(entry, price);
  const outputs = texts(toFields(entry['architecture'])['output_modalities']);
  const isAudio =
    entry['type'] === 'audio' || (outputs.includes('audio') && !outputs.includes('text'));
  const byName = (['embedding', 'transcription', 'speech', 'video', 'image'] as const).find(
    (kind) => namesByKind[kind].test(id),
  );
  const media = [...stated].filter((kind) => kind !== 'chat' && kind !== 'gemini');
  if (media.length > 0 && !isAudio) return new Set(media);
  // Lists state "openai" or "text" for embeddings too, and "audio" for both directions.
  if (byName !== undefined) return new Set([byName]);
  if (isAudio) return new Set([/translat/i.test(id) ? 'transcription' : 'speech']);
  if (mediaNames.test(id) && !isNamed) return new Set();
  const kinds = new Set<ModelKind>(['chat']);
  for (const kind of ['reasoning', 'gemini'] as const) {
    if (stated.has(kind) || namesByKind[kind].test(id)) kinds.add(kind);
  }
  return kinds;
}

/**
 * Returns the models of a list, with the kinds of calls that each can be used for.
 *
 * @param named - Models that the user names. They need not be listed.
 */
export function knownModels(
  list: readonly JsonObject[],
  prices: readonly ModelPrice[],
  named: readonly string[],
): KnownModel[] {
  const entries = new Map(list.map((entry) => [modelId(entry), entry]));
  for (const id of named) if (!entries.has(id)) entries.set(id, {});
  const pricesByModel = new Map(prices.map((price) => [price.model, price]));
  return [...entries]
    .filter(([id]) => id !== '')
    .map(([id, entry]) => ({
      id,
      kinds: kindsFor(id, entry, pricesByModel.get(id), named.includes(id)),
      price: pricesByModel.get(id),
    }));
}

/** Returns the rank of a model: lower is better. */
function rank({ id }: KnownModel, kind: ModelKind, named: readonly string[]): number {
  if (named.includes(id)) return -1;
  if (kind === 'gemini' && namesByKind.gemini.test(id)) return 0;
  const place = preferred.findIndex((pattern) => pattern.test(id));
  // A model that thinks needs more tokens than the other calls allow.
  const isThinking = kind !== 'reasoning' && namesByKind.reasoning.test(id);
  return (place < 0 ? preferred.length : place) + (expensive.test(id) || isThinking ? 10 : 0);
}

/**
 * Returns the models for a kind of calls: first those that the user names, then usual and cheap ones.
 *
 * Any chat model is tried in Gemini's format, because gateways convert it.
 */
export function rankModels(
  models: readonly KnownModel[],
  kind: ModelKind,
  named: readonly string[],
): KnownModel[] {
  const fitting = models.filter(
    ({ kinds }) => kinds.has(kind) || (kind === 'gemini' && kinds.has('chat')),
  );
  return fitting.toSorted((a, b) => rank(a, kind, named) - rank(b, kind, named));
}
