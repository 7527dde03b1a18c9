import type { JsonObject } from '../types.ts';
import { findUsage, readCost, readHeaderCost } from './cost.ts';
import { hasValue, isObject, listObjects, numberFrom, toFields, trimmedText } from './objects.ts';

/**
 * Token counts and cost of a response, in the same shape for every format.
 *
 * A field is `undefined` if the response doesn't report it.
 */
export interface AnswerUsage {
  /** All input tokens, including cached ones, images and audio. */
  readonly inputTokens: number | undefined;
  /** All output tokens, including those of reasoning, images and audio. */
  readonly outputTokens: number | undefined;
  /** The reported total, otherwise the sum of input and output. */
  readonly totalTokens: number | undefined;
  /** Input tokens read from a cache. */
  readonly cacheReadTokens: number | undefined;
  /** Input tokens written to a cache. */
  readonly cacheWriteTokens: number | undefined;
  /** Output tokens used for reasoning. */
  readonly reasoningTokens: number | undefined;
  readonly audioInputTokens: number | undefined;
  readonly audioOutputTokens: number | undefined;
  readonly imageInputTokens: number | undefined;
  readonly imageOutputTokens: number | undefined;
  /** The reported cost in US dollars. */
  readonly cost: number | undefined;
}

function readCount(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const count = typeof value === 'number' ? value : numberFrom(value);
  return count !== undefined && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? count : undefined;
}

/** Returns the first count above 0, because gateways fill fields that do not apply with zeros. */
function firstCount(...values: readonly unknown[]): number | undefined {
  let first: number | undefined;
  for (const value of values) {
    const count = readCount(value);
    if (count) return count;
    first ??= count;
  }
  return first;
}

/** Adds counts; `undefined` if none is known. */
function sumCounts(...values: readonly unknown[]): number | undefined {
  let sum: number | undefined;
  for (const value of values) {
    const count = readCount(value);
    if (count !== undefined) sum = (sum ?? 0) + count;
  }
  return sum;
}

/** Returns the objects in fields that hold details of a count. */
const detailsIn = (usage: JsonObject, names: readonly string[]): readonly JsonObject[] =>
  names.map((name) => usage[name]).filter(isObject);

/** Returns the first count of the given names in any of the details. */
const countIn = (details: readonly JsonObject[], ...names: readonly string[]): number | undefined =>
  firstCount(...details.map((fields) => firstCount(...names.map((name) => fields[name]))));

/** Returns the count of a medium in OpenAI's details, or its sum in a list of Gemini's, by modality. */
const countMedia = (
  details: readonly JsonObject[],
  modalities: unknown,
  kind: 'audio' | 'image',
): number | undefined =>
  firstCount(
    countIn(details, `${kind}_tokens`),
    sumCounts(
      ...listObjects(modalities)
        .filter(({ modality }) => trimmedText(modality)?.toLowerCase() === kind)
        .map((entry) => geminiField(entry, 'tokenCount', 'token_count')),
    ),
  );

/** Reads a field of Gemini's usage, in the spelling of its API or of its Python clients. */
const geminiField = (usage: JsonObject, name: string, inPython: string): unknown =>
  usage[name] ?? usage[inPython];

const inputNames = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details'];
const outputNames = ['completion_tokens_details', 'output_tokens_details'];

/**
 * Reads the token counts and the cost of a response in any format: OpenAI's (chat, Responses, embeddings,
 * images, audio), Gemini's `usageMetadata`, or Claude's.
 *
 * The formats count differently, and this function evens that out. Claude's `input_tokens` exclude cached
 * tokens, Gemini's `candidatesTokenCount` excludes thinking, and xAI counts reasoning only in the total:
 * `inputTokens` and `outputTokens` include them. Sends nothing, and never throws.
 *
 * @param answer - A response, a chunk or an event of a stream, or its `usage` or `usageMetadata`.
 * @param headers - The headers of the response, from `withResponse()`. LiteLLM reports its cost there.
 *
 * @example
 * ```ts
 * const { data, response } = await client.chat.completions.create(params).withResponse();
 * const { inputTokens, outputTokens, cost } = usageOf(data, response.headers);
 * ```
 */
export function usageOf(answer: unknown, headers?: Headers): AnswerUsage {
  return readUsage(findUsage(answer) ?? toFields(answer), headers);
}

/** Fields of OpenAI's chat, which most gateways send. */
const plainFields = new Set([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
]);

/**
 * Reads usage that has only fields of OpenAI's chat, without the comparisons that other formats need.
 *
 * @returns `undefined` for all other usage
 */
function readPlainUsage(usage: JsonObject, headers: Headers | undefined): AnswerUsage | undefined {
  for (const name in usage) if (!plainFields.has(name)) return undefined;
  const { prompt_tokens_details: input = {}, completion_tokens_details: output = {} } = usage;
  // Gemini's Python clients send lists by modality under these names.
  if (!isObject(input) || !isObject(output) || 'modality' in input || 'modality' in output) {
    return undefined;
  }
  const inputTokens = readCount(usage['prompt_tokens']);
  if (!inputTokens) return undefined;
  const reported = readCount(usage['total_tokens']);
  const reasoningTokens = readCount(output['reasoning_tokens']);
  let outputTokens = readCount(usage['completion_tokens']);
  let counted = inputTokens + (outputTokens ?? 0);
  if (reasoningTokens && reported === counted + reasoningTokens) {
    outputTokens = (outputTokens ?? 0) + reasoningTokens;
    counted = reported;
  }
  const { cache_write_tokens: written, cached_creation_tokens: created } = input;
  return {
    inputTokens,
    outputTokens,
    totalTokens: reported || counted,
    cacheReadTokens: readCount(input['cached_tokens']),
    cacheWriteTokens: firstCount(written, created, input['cache_creation_tokens']),
    reasoningTokens,
    audioInputTokens: readCount(input['audio_tokens']),
    audioOutputTokens: readCount(output['audio_tokens']),
    imageInputTokens: readCount(input['image_tokens']),
    imageOutputTokens: readCount(output['image_tokens']),
    cost: readHeaderCost(headers),
  };
}

/** Reads the same as `usageOf()`, from the `usage` or `usageMetadata` of a response. */
export function readUsage(usage: JsonObject, headers?: Headers): AnswerUsage {
  return readPlainUsage(usage, headers) ?? readAnyUsage(usage, headers);
}

function readAnyUsage(usage: JsonObject, headers: Headers | undefined): AnswerUsage {
  const inputDetails = detailsIn(usage, inputNames);
  const outputDetails = detailsIn(usage, outputNames);
  const promptDetails = geminiField(usage, 'promptTokensDetails', 'prompt_tokens_details');
  const answerDetails = geminiField(usage, 'candidatesTokensDetails', 'candidates_tokens_details');
  const thoughts = geminiField(usage, 'thoughtsTokenCount', 'thoughts_token_count');

  const cacheReadTokens = firstCount(
    countIn(inputDetails, 'cached_tokens'),
    usage['cache_read_input_tokens'],
    usage['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    geminiField(usage, 'cachedContentTokenCount', 'cached_content_token_count'),
  );
  const written = toFields(usage['cache_creation']);
  const cacheWriteTokens = firstCount(
    countIn(inputDetails, 'cache_write_tokens', 'cached_creation_tokens', 'cache_creation_tokens'),
    usage['cache_creation_input_tokens'],
    sumCounts(written['ephemeral_5m_input_tokens'], written['ephemeral_1h_input_tokens']),
    sumCounts(usage['claude_cache_creation_5_m_tokens'], usage['claude_cache_creation_1_h_tokens']),
  );
  const reasoningTokens = firstCount(countIn(outputDetails, 'reasoning_tokens'), thoughts);
  const reported = firstCount(
    usage['total_tokens'],
    geminiField(usage, 'totalTokenCount', 'total_token_count'),
  );

  let outputTokens = firstCount(
    usage['completion_tokens'],
    usage['output_tokens'],
    sumCounts(geminiField(usage, 'candidatesTokenCount', 'candidates_token_count'), thoughts),
  );
  let inputTokens = firstCount(
    usage['prompt_tokens'],
    usage['input_tokens'],
    sumCounts(
      geminiField(usage, 'promptTokenCount', 'prompt_token_count'),
      geminiField(usage, 'toolUsePromptTokenCount', 'tool_use_prompt_token_count'),
    ),
  );
  const hasClaudesNames =
    usage['cache_read_input_tokens'] !== undefined ||
    usage['cache_creation_input_tokens'] !== undefined;
  if (
    usage['usage_semantic'] === 'anthropic' ||
    (hasClaudesNames && !readCount(usage['prompt_tokens']))
  ) {
    inputTokens = sumCounts(inputTokens, cacheReadTokens, cacheWriteTokens);
  }
  // Some gateways report only the total.
  if (!inputTokens && reported !== undefined) {
    inputTokens = Math.max(0, reported - (outputTokens ?? 0));
  }
  const counted = sumCounts(inputTokens, outputTokens);
  if (reasoningTokens && reported === (counted ?? 0) + reasoningTokens) {
    outputTokens = (outputTokens ?? 0) + reasoningTokens;
  }

  return {
    inputTokens,
    outputTokens,
    totalTokens: firstCount(reported, sumCounts(inputTokens, outputTokens)),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    audioInputTokens: countMedia(inputDetails, promptDetails, 'audio'),
    audioOutputTokens: countMedia(outputDetails, answerDetails, 'audio'),
    imageInputTokens: countMedia(inputDetails, promptDetails, 'image'),
    imageOutputTokens: countMedia(outputDetails, answerDetails, 'image'),
    cost: readCost(usage, headers),
  };
}

/** Adds token counts to a total, including those that only some providers send. */
export function addCounts<Total extends object>(total: Total, usage: object): Total {
  for (const [name, count] of Object.entries<unknown>({ ...usage })) {
    const existing: unknown = Object.hasOwn(total, name) ? Reflect.get(total, name) : undefined;
    let sum: unknown;
    if (typeof count === 'number') sum = count + (typeof existing === 'number' ? existing : 0);
    else if (isObject(count)) sum = addCounts(isObject(existing) ? existing : {}, count);
    if (sum !== undefined && name !== '__proto__') Reflect.set(total, name, sum);
  }
  return total;
}

/** Merges two reports of token usage. The later one takes precedence, except where it is empty or 0. */
export function mergeUsage<Usage extends object>(
  earlier: Usage | null | undefined,
  later: Usage,
): Usage {
  if (!earlier) return { ...later };
  const merged = { ...earlier, ...later };
  for (const name of Object.keys(later)) {
    const [before, after]: unknown[] = [Reflect.get(earlier, name), Reflect.get(later, name)];
    if (isObject(before) && isObject(after)) Reflect.set(merged, name, mergeUsage(before, after));
    else if (!hasValue(after) && hasValue(before)) Reflect.set(merged, name, before);
  }
  return merged;
}
