import { isAmount, isObject, numberFrom, parseJSON } from '../../answers/objects.ts';
import type { AnswerUsage } from '../../answers/usage.ts';
import { findEndpoint } from '../../endpoints.ts';
import { isTiered } from '../../gateways/new-api.ts';
import type { Amount, CostEstimate, ModelPrice, Prices } from './types.ts';

/** The rules that determine the price of a call. */
export type PriceKind =
  | 'image'
  | 'video'
  | 'text'
  | 'embedding'
  | 'speech'
  | 'transcript'
  /** A route that is not documented. */
  | 'other';

const kinds: readonly (readonly [path: RegExp, PriceKind])[] = [
  // Most calls are text.
  [/\/(chat\/completions|responses)$|:(stream)?generateContent$/i, 'text'],
  [/\/images\/(generations|edits|variations)$/, 'image'],
  [/\/videos?(\/|$)/, 'video'],
  [/\/audio\/speech$/, 'speech'],
  [/\/audio\/(transcriptions|translations)$/, 'transcript'],
  [/\/embeddings$/, 'embedding'],
];

/** Returns the kind of an operation, or of a call by its path. */
export function priceKind(operation: string): PriceKind {
  const path = findEndpoint(operation)?.path ?? operation;
  for (const [pattern, kind] of kinds) if (pattern.test(path)) return kind;
  return 'other';
}

/** The facts of a call that determine its price, also of one that is not sent yet. */
export interface PricedCall {
  readonly operation: string;
  readonly kind: PriceKind;
  /** The parameters, as the caller wrote them. */
  readonly model: unknown;
  readonly n: unknown;
  readonly size?: unknown;
  readonly quality?: unknown;
  readonly seconds?: unknown;
  /** The response, with the header that has the price multipliers. */
  readonly answer?: { readonly ratios: string | null } | undefined;
  /** The end, with the model that the response names. */
  readonly end?: { readonly model: unknown } | undefined;
}

/** Token counts of one or more responses. */
export type UsageSum = { -readonly [Field in keyof AnswerUsage]?: AnswerUsage[Field] };

/** The names of token counts. */
export const countFields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
  'imageInputTokens',
  'imageOutputTokens',
] as const;

/**
 * Adds the token counts of a response to a sum.
 *
 * @param factor - How often; negative numbers subtract them.
 */
export function addUsage(sum: UsageSum, usage: UsageSum, factor = 1): void {
  for (const field of countFields) {
    const count = usage[field];
    if (count !== undefined) sum[field] = (sum[field] ?? 0) + factor * count;
  }
}

/** Returns whether any token count is above 0. Gateways send zeros for unknown usage. */
export function hasCounts(usage: UsageSum): boolean {
  for (const field of countFields) if (usage[field]) return true;
  return false;
}

/** The price multipliers in the response to a submission. */
export interface Ratios {
  readonly product: number;
  /** The multiplier for the length of a video. */
  readonly seconds: number | undefined;
}

/**
 * Parses the header `x-new-api-other-ratios`.
 *
 * @returns `undefined` if it isn't a JSON object of positive numbers; the price is then unknown
 */
export function parseRatios(header: string): Ratios | undefined {
  const ratios = parseJSON(header);
  if (!isObject(ratios)) return undefined;
  let product = 1;
  let seconds: number | undefined;
  for (const [name, value] of Object.entries(ratios)) {
    const factor = numberFrom(value) ?? Number.NaN;
    if (!(factor > 0)) return undefined;
    product *= factor;
    if (/^(seconds?|duration)$/i.test(name)) seconds = factor;
  }
  return Number.isFinite(product) ? { product, seconds } : undefined;
}

const inPath = /\/(?:models|engines)\/([^/:]+)/;

/** Returns the requested model, or the model in the response if the request names none. */
export function findModel({ operation, model, end }: PricedCall): string | undefined {
  const known = model ?? end?.model ?? inPath.exec(operation)?.[1];
  return typeof known === 'string' ? known : undefined;
}

/** Returns how many images a call requests; 1 for everything else. */
export function imageCount({ kind, n }: PricedCall): number {
  if (kind !== 'image') return 1;
  return Math.max(1, Math.ceil(numberFrom(n) ?? 1));
}

/**
 * Gateways charge double for `hd` or a long size of DALL-E, and triple for both. Price lists don't show this.
 */
function imageRatio({ model, size, quality }: PricedCall): number {
  if (typeof model !== 'string' || !/dall-e/i.test(model)) return 1;
  const isLong = typeof size === 'string' && /1792/.test(size);
  const isFine = quality === 'hd';
  return isLong && isFine ? 3 : isLong || isFine ? 2 : 1;
}

/** The assumed length of a video, in seconds, if neither its request nor an earlier response has one. */
const usualSeconds = 8;

/** Vendors that charge per video and not per second, unless the gateway's response has another ratio. */
const paidByVideo = /^(kling|vidu|minimax|hailuo|jimeng|doubao|seedance)/i;

/** Returns the multiplier to assume for a video before the response to its submission. */
export function assumedVideoUnits(model: string | undefined, seconds: number | undefined): number {
  return seconds ?? (paidByVideo.test(model ?? '') ? 1 : usualSeconds);
}

/**
 * Returns the multiplier of a call's price: the number of its images, and the ratios in its response.
 *
 * @returns `undefined` if the ratios in the response are needed and cannot be read
 */
export function readUnits(call: PricedCall): number | undefined {
  const { kind, answer } = call;
  const header = answer?.ratios ?? null;
  const images = kind === 'image' ? imageCount(call) * imageRatio(call) : 1;
  if (header === null) return kind === 'video' ? undefined : images;
  const product = parseRatios(header)?.product;
  return product === undefined || kind === 'video' ? product : product * images;
}

/** Returns the multiplier to assume for a call whose response was lost. */
export function assumedUnits(call: PricedCall): number {
  if (call.kind !== 'video') return imageCount(call) * imageRatio(call);
  const seconds = numberFrom(call.seconds);
  return assumedVideoUnits(
    findModel(call),
    seconds !== undefined && seconds > 0 ? seconds : undefined,
  );
}

/** The facts that determine the price of a call. */
export interface Work {
  /** The requested model. */
  readonly model: string | undefined;
  /** The token counts of responses. */
  readonly usage?: UsageSum | undefined;
  /**
   * The multiplier of the price: the number of images or, for a video, the ratios in the response to its
   * submission.
   * @defaultValue 1
   */
  readonly units?: number | undefined;
  /** The length of a video or of audio. */
  readonly seconds?: number | undefined;
  /** The length of the text of a speech. */
  readonly characters?: number | undefined;
  /**
   * The number of calls that `usage` sums up. Each costs at least one unit of quota.
   * @defaultValue 1
   */
  readonly calls?: number | undefined;
}

/** Token counts by price. */
interface Tokens {
  readonly text: number;
  readonly cached: number;
  readonly written: number;
  readonly image: number;
  readonly audio: number;
  readonly output: number;
  readonly imageOutput: number;
  readonly audioOutput: number;
}

/** Groups tokens by price. */
function tokensIn(usage: UsageSum): Tokens {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens: cached = 0 } = usage;
  const { cacheWriteTokens: written = 0, imageInputTokens: image = 0 } = usage;
  const { audioInputTokens: audio = 0, audioOutputTokens: audioOutput = 0 } = usage;
  const { imageOutputTokens: imageOutput = 0 } = usage;
  return {
    text: Math.max(0, inputTokens - cached - written - image - audio),
    cached,
    written,
    image,
    audio,
    output: Math.max(0, outputTokens - imageOutput - audioOutput),
    imageOutput,
    audioOutput,
  };
}

/** Returns the factor for keys of a group, or the reason why it is unknown. */
function groupRatio(
  { groupRatios }: Prices,
  { groups }: ModelPrice,
  group: string | undefined,
): number | string {
  const ratioFor = (name: string): number | string => {
    const ratio = Object.hasOwn(groupRatios, name) ? groupRatios[name] : undefined;
    if (ratio === undefined) return `the price list has no group "${name}"`;
    return ratio >= 0 ? ratio : `the price list has no usable ratio for the group "${name}"`;
  };
  if (group !== undefined) return ratioFor(group);
  const known = groups.filter((name) => Object.hasOwn(groupRatios, name));
  const names = known.length > 0 ? known : Object.keys(groupRatios);
  const ratios = new Set(names.map(ratioFor));
  if (ratios.size > 1) {
    return `the price depends on the group of the key; pass group, one of "${names.join('", "')}"`;
  }
  const [ratio = 1] = ratios;
  return ratio;
}

const perMillion = 1_000_000;

/** The minimum charge for a call that is billed per token: one unit of quota, in US dollars. */
export const leastCharge = 2 / perMillion;

/** Returns the cost of some tokens; 0 for no tokens, even if their price is unknown. */
const cost = (count: number, pricePerMillion: number): number =>
  count === 0 ? 0 : (count * pricePerMillion) / perMillion;

/** Returns the price of all tokens in US dollars, or the reason why it is unknown. */
function priceOfTokens(price: ModelPrice, usage: UsageSum = {}): number | string {
  const { input, output, cachedInput, raw } = price;
  if (input === undefined) return 'its price per token is not published';
  const tokens = tokensIn(usage);
  const { text, cached, written, image, audio, ...out } = tokens;
  if (!Object.values(tokens).some(Boolean)) {
    return 'it is priced per token, but the number of tokens is unknown';
  }
  if (out.output + out.imageOutput + out.audioOutput > 0 && output === undefined) {
    return 'its output price is not published';
  }
  const outputPrice = output?.value ?? 0;
  /** A negative ratio makes the price unknown. */
  const ratio = (name: string): number | undefined => {
    const value = raw[name];
    if (typeof value !== 'number') return undefined;
    return value < 0 ? Number.NaN : value;
  };
  const audioRatio = ratio('audio_ratio');
  const { audioInput, audioOutput } = price;
  const lacksInput = audio > 0 && audioInput === undefined;
  const lacksOutput = out.audioOutput > 0 && audioOutput === undefined;
  if ((lacksInput || lacksOutput) && audioRatio === undefined) {
    return 'its audio price is not published';
  }
  const imageOutput = price.imageOutput?.value ?? outputPrice;
  // A response may not tell which of its tokens are an image.
  const isSplit = usage.imageOutputTokens !== undefined;
  // The gateway counts in the same way: tokens without a ratio of their own cost as much as text, and tokens
  // written to a cache a quarter more.
  const soundPrice = input.value * (audioRatio ?? 1);
  return (
    cost(text, input.value) +
    cost(cached, cachedInput?.value ?? input.value) +
    cost(written, input.value * (ratio('create_cache_ratio') ?? 1.25)) +
    cost(image, price.imageInput?.value ?? input.value * (ratio('image_ratio') ?? 1)) +
    cost(audio, audioInput?.value ?? soundPrice) +
    cost(out.output, isSplit ? outputPrice : Math.max(outputPrice, imageOutput)) +
    cost(out.imageOutput, imageOutput) +
    cost(out.audioOutput, audioOutput?.value ?? soundPrice * (ratio('audio_completion_ratio') ?? 1))
  );
}

/** Multiplies a price, or returns the reason why the result is unknown. */
function times(
  price: Amount | undefined,
  count: number | undefined,
  name: string,
): number | string {
  if (price === undefined) return `its price per ${name} is not published`;
  if (count !== undefined) return price.value * count;
  return `it is priced per ${name}, but the number of ${name}s is unknown`;
}

/** Returns the listed price of some work in US dollars, or the reason why it is unknown. */
function priceOf(price: ModelPrice, work: Work): number | string {
  const { billedPer, perCall, perSecond, perCharacter } = price;
  const { usage, units = 1, seconds, characters } = work;
  switch (billedPer) {
    case 'token':
      return priceOfTokens(price, usage);
    case 'call':
      return times(perCall, units, 'call');
    case 'second':
      return times(perSecond, seconds, 'second');
    case 'character':
      return times(perCharacter, characters, 'character');
    default:
      return `the price list has no price for "${price.model}"`;
  }
}

/**
 * Estimates the cost of a call from the price list. Only the usage log has the charged amount.
 *
 * @param group - The group of the key; needed if the price differs by group.
 */
export function computeCost(prices: Prices, work: Work, group?: string): CostEstimate {
  const { model, calls = 1 } = work;
  if (model === undefined) return { reason: 'the requested model is unknown' };
  const price = prices.models.find((one) => one.model === model);
  if (price === undefined) return { reason: `the price list has no model "${model}"` };
  if (isTiered(price.raw)) {
    return { reason: 'its price is an expression (billing_mode), which is not evaluated here' };
  }
  const ratio = groupRatio(prices, price, group);
  if (typeof ratio === 'string') return { reason: ratio };
  const isByToken = price.billedPer === 'token';
  const listed = priceOf(price, work);
  if (typeof listed === 'string') return { reason: listed };
  const value = listed * ratio;
  if (!isAmount(value)) return { reason: 'its price in the price list cannot be read' };
  const isRounded = isByToken && value > 0;
  return {
    amount: { value: isRounded ? Math.max(value, calls * leastCharge) : value, unit: 'USD' },
  };
}
