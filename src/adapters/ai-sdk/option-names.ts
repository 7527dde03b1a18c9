import type {
  ChatCompletionCreateInput,
  ClientOptions,
  EmbeddingCreateParams,
  ImageEditParamsNonStreaming,
  ImageGenerateParamsNonStreaming,
  ImageRequestOptions,
  SpeechCreateParams,
  TranscriptionCreateParamsNonStreaming,
  VideoCreateAndWaitOptions,
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

/** Types of the request options in provider options. `null` removes a limit; the client checks `any`. */
export const requestKinds = {
  callId: 'string',
  idempotencyKey: 'string',
  maxRetries: 'number',
  retryUnknownOutcome: 'boolean',
  timeout: 'number',
  totalTimeout: 'limit',
  firstByteTimeout: 'limit',
  idleTimeout: 'limit',
  chunkTimeout: 'limit',
  taskTimeout: 'limit',
  idempotency: 'any',
  fallback: 'any',
  fallbackOn: 'any',
  structuredOutput: 'any',
  onTruncated: 'any',
  maxEventBytes: 'any',
  maxResponseBytes: 'any',
  partial: 'any',
  validation: 'any',
} as const;

export const isRequestOption = (name: string): name is keyof typeof requestKinds =>
  Object.hasOwn(requestKinds, name);

/** Options of the client that gateways know as parameters too. */
type AlsoParameter = 'gateway' | 'organization' | 'project';

type OtherOption = Exclude<
  keyof ClientOptions | keyof ImageRequestOptions | keyof VideoCreateAndWaitOptions,
  keyof typeof requestKinds | AlsoParameter
>;

const ofClient = 'it is an option of the client';
const ofCall = 'pass it to the function of the AI SDK';
const ofVideo = 'it is a setting of the video model';

/** The options of the client that do nothing in provider options, each with the reason. */
const otherOptions: Readonly<Record<OtherOption, string>> = {
  apiKey: ofClient,
  baseURL: ofClient,
  bodyFormat: ofVideo,
  budget: ofClient,
  dangerouslyAllowBrowser: ofClient,
  defaultHeaders: ofClient,
  defaultQuery: ofClient,
  extraBody: 'put its fields beside it',
  fetch: ofClient,
  fetchOptions: ofClient,
  headers: ofCall,
  interval: ofVideo,
  ledger: ofVideo,
  limits: ofClient,
  retryBudget: ofClient,
  logLevel: ofClient,
  logger: ofClient,
  maxConsecutiveErrors: ofVideo,
  observer: ofClient,
  onDrift: ofClient,
  onFallback: ofClient,
  onRequest: ofClient,
  onResponse: ofClient,
  onSubmitted: ofVideo,
  onUnknown: ofVideo,
  onUpdate: ofVideo,
  onUploadProgress: ofClient,
  pollTimeout: ofVideo,
  query: ofClient,
  signal: ofCall,
};

const misnamed = new Map(
  [...Object.keys(requestKinds), ...Object.keys(otherOptions)].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** Returns why a provider option does nothing, and what to do; `undefined` if it is a field of the body. */
export function reasonWithoutEffect(name: string): string | undefined {
  if (isOtherOption(name)) return otherOptions[name];
  const meant = misnamed.get(name.toLowerCase());
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

const isOtherOption = (name: string): name is OtherOption => Object.hasOwn(otherOptions, name);
