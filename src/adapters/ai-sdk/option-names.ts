import { optionNames, optionsOf } from '../../options/option-names.ts';
import type {
  ChatCompletionCreateInput,
  EmbeddingCreateParams,
  ImageEditParamsNonStreaming,
  ImageGenerateParamsNonStreaming,
  SpeechCreateParams,
  TranscriptionCreateParamsNonStreaming,
  VideoCreateParams,
} from '../../index.ts';

type Params = ChatCompletionCreateInput &
  EmbeddingCreateParams &
  ImageEditParamsNonStreaming &
  ImageGenerateParamsNonStreaming &
  SpeechCreateParams &
  TranscriptionCreateParamsNonStreaming &
  VideoCreateParams;

/** All parameters of the client that have another spelling in camelCase. */
const parameters: Readonly<Record<Extract<keyof Params, `${string}_${string}`>, true>> = {
  aspect_ratio: true,
  chunking_strategy: true,
  enable_thinking: true,
  encoding_format: true,
  frame_count: true,
  frame_images: true,
  frame_duration_ms: true,
  frequency_penalty: true,
  function_call: true,
  input_fidelity: true,
  input_reference: true,
  known_speaker_names: true,
  known_speaker_references: true,
  logit_bias: true,
  max_completion_tokens: true,
  max_tokens: true,
  output_compression: true,
  output_format: true,
  parallel_tool_calls: true,
  partial_images: true,
  presence_penalty: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning_effort: true,
  response_format: true,
  safety_identifier: true,
  service_tier: true,
  stream_format: true,
  stream_options: true,
  timestamp_granularities: true,
  tool_choice: true,
  top_k: true,
  top_logprobs: true,
  top_p: true,
  web_search_options: true,
};

const toCamelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Names in provider options, each with the name in the request body. */
const wireNames = new Map([
  ...Object.keys(parameters).map((name) => [toCamelCase(name), name] as const),
  ['textVerbosity', 'verbosity'] as const,
  ['cacheControl', 'cache_control'] as const,
]);

/**
 * Returns fields under their names in the request body. Providers ignore parameters under other names, but
 * charge for the call. A name that is already spelt as in the body takes precedence.
 */
export function toWireNames(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const wireName = wireNames.get(name) ?? name;
    if (wireName === name || !Object.hasOwn(fields, wireName)) renamed[wireName] = value;
  }
  return renamed;
}

const ofClient = 'it is an option of the client';
const ofCall = 'pass it to the function of the AI SDK';
const ofVideo = 'it is a setting of the video model';

/** Options of a request that do nothing in provider options, each with the reason. */
const withoutEffect: Readonly<Record<string, string>> = {
  extraBody: 'put its fields beside it',
  fetchOptions: ofClient,
  headers: ofCall,
  ledger: ofVideo,
  onFallback: ofClient,
  onSubmitted: ofVideo,
  onUnknown: ofVideo,
  onUploadProgress: ofClient,
  query: ofClient,
  signal: ofCall,
};

/** Returns the option of a request that provider options take; `undefined` for other names. */
export const findRequestOption = (name: string) =>
  Object.hasOwn(withoutEffect, name) ? undefined : optionsOf('images.generate').get(name);

/** Returns why an option of the client does nothing in provider options; `undefined` for other names. */
function reasonAgainst(name: string): string | undefined {
  if (Object.hasOwn(withoutEffect, name)) return withoutEffect[name];
  if (optionsOf('videos.createAndWait').has(name)) return ofVideo;
  const option = optionsOf('client').get(name);
  // Gateways know the others as parameters too.
  return option !== undefined && option.asParameter === undefined ? ofClient : undefined;
}

/** Returns why a provider option does nothing, and what to do; `undefined` if it is a field of the body. */
export function reasonWithoutEffect(name: string): string | undefined {
  const reason = reasonAgainst(name);
  if (reason !== undefined) return reason;
  const meant = optionNames.find((option) => option.toLowerCase() === name.toLowerCase());
  const isKnown = meant !== undefined && (findRequestOption(meant) ?? reasonAgainst(meant));
  return isKnown ? `did you mean ${meant}?` : undefined;
}
