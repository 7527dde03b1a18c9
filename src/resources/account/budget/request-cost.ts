import { numberFrom, parseJSON, toFields } from '../../../answers/objects.ts';
import { assumedTokens, estimateTokens } from '../../../answers/token-estimate.ts';
import type { JsonObject } from '../../../types.ts';
import type { PriceKind, UsageSum } from '../cost.ts';

/** Objects in the parameters that contain the vendor's parameters. */
const nested = ['metadata', 'parameters', 'extra_fields', 'generationConfig', 'generation_config'];

/** Merges the parameters with the vendor's parameters inside them; outer ones take precedence. */
function flatten(params: JsonObject): JsonObject {
  const inner = nested.map((name) => {
    const value = params[name];
    const object = typeof value === 'string' ? parseJSON(value) : value;
    return toFields(object);
  });
  const flat: JsonObject = {};
  for (const object of [...inner.toReversed(), params]) {
    for (const [name, value] of Object.entries(object)) if (value !== null) flat[name] = value;
  }
  return flat;
}

const lengths = ['seconds', 'duration', 'durationSeconds', 'duration_seconds'];

/** Returns the requested length of a video, the longest of several; `undefined` if none is requested. */
export function requestedSeconds(params: JsonObject): number | undefined {
  const flat = flatten(params);
  const all = [params, flat].flatMap((object) =>
    lengths.map((name) => numberFrom(object[name]) ?? 0),
  );
  const longest = Math.max(...all);
  return longest > 0 ? longest : undefined;
}

/** Parameters other than lengths that may change the price of a unit. */
const priced =
  /^(size|resolution|quality|style|mode|width|height|aspect_?ratio|ratio|fps|frames?|num_?frames|n|sample_?count|audio|sound|generate_?audio|with_?audio|service_?tier|reasoning_?effort|modalities|response_?modalities|web_?search_?options)$/i;

/** References. Only their presence can change the price. */
const references = /^(image|images|input_reference|reference_images|mask|video|last_frame)$/i;

/** Returns a key that is equal for requests to a model with the same expected price, apart from their text. */
export function priceKey(params: JsonObject): string {
  const entries = Object.entries(flatten(params)).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (references.test(name)) return [[name]];
    return priced.test(name) ? [[name, JSON.stringify(value)]] : [];
  });
  entries.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  return JSON.stringify([requestedSeconds(params) ?? null, ...entries]);
}

/** Audio tokens for each spoken character: 1,000 tokens a minute, and about 14 characters a second. */
const soundPerCharacter = 1.25;

/** Parameters that bound the output tokens of each answer, also below `generationConfig` and the like. */
const bounds = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'max_new_tokens',
  'maxTokens',
];

/** Returns the maximum number of output tokens of an answer, the largest of several; `undefined` without one. */
function readBound(params: JsonObject): number | undefined {
  const found = bounds.flatMap((name) => {
    const tokens = numberFrom(params[name]);
    return tokens !== undefined && tokens >= 0 ? [tokens] : [];
  });
  return found.length === 0 ? undefined : Math.max(...found);
}

/** Returns the number of answers that are requested. */
function countAnswers(params: JsonObject): number {
  const counts = ['n', 'candidateCount', 'candidate_count', 'best_of'].map((name) =>
    numberFrom(params[name]),
  );
  return Math.max(1, ...counts.map((count) => Math.ceil(count ?? 1)));
}

/** The expected usage of a request. */
export interface ExpectedUsage {
  /** The input tokens. */
  readonly input: UsageSum;
  /** The input and output tokens. */
  readonly total: UsageSum;
  /** The number of requested choices. */
  readonly answers: number;
  /** `true` if the request bounds its output tokens; otherwise those in `total` are a guess. */
  readonly isBound: boolean;
}

/**
 * Estimates the usage of a request that is billed per token.
 *
 * @returns `undefined` for audio files, because the request doesn't contain their length
 */
export function expectUsage(kind: PriceKind, params: JsonObject): ExpectedUsage | undefined {
  if (kind === 'speech') {
    const { input: text, instructions, speed } = params;
    // Gateways of this family bill per character.
    const characters = typeof text === 'string' ? Array.from(text).length : 0;
    const input = { inputTokens: Math.max(1, characters + estimateTokens(instructions)) };
    const pace = numberFrom(speed) ?? 1;
    const sound = (characters * soundPerCharacter) / (pace > 0 ? pace : 1);
    const total = { ...input, outputTokens: sound, audioOutputTokens: sound };
    return { input, total, answers: 1, isBound: false };
  }
  if (kind !== 'text' && kind !== 'embedding') return undefined;
  const { model: _, input: text, ...rest } = params;
  const parts = kind === 'embedding' ? [text] : [text, ...Object.values(rest)];
  const input = { inputTokens: Math.max(1, Math.ceil(estimateTokens(parts))) };
  if (kind === 'embedding') return { input, total: input, answers: 1, isBound: false };
  const flat = flatten(params);
  const bound = readBound(flat);
  const answers = countAnswers(flat);
  const output = answers * Math.max(1, bound ?? assumedTokens);
  return {
    input,
    total: { ...input, outputTokens: output },
    answers,
    isBound: bound !== undefined,
  };
}
