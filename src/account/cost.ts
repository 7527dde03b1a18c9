import { parseJSON } from '../answers/objects.ts';
import type { CallRecord } from '../observing/calls.ts';
import type { CostEstimate, ModelPrice, Prices } from './types.ts';

/** Token usage that was added up, by the paths of its fields such as `prompt_tokens_details.cached_tokens`. */
export type UsageSum = Record<string, number>;

/** An answer that is nested without end may not fail a call that is paid for. */
const longestPath = 100;

/** Adds all numbers of an object to a sum. */
export function addUsage(more: object, sum: UsageSum = {}, path = ''): UsageSum {
  const entries: [string, unknown][] = Object.entries(more);
  for (const [key, value] of entries) {
    const field = path + key;
    if (typeof value === 'number') sum[field] = (sum[field] ?? 0) + value;
    else if (typeof value === 'object' && value !== null && path.length < longestPath) {
      // Gemini lists tokens by their kind.
      const { modality = key }: { readonly modality?: string } = value;
      addUsage(value, sum, `${path}${modality}.`);
    }
  }
  return sum;
}

/** The product of the ratios that the answer to a submission tells. */
export function productOf(ratios: string | null | undefined): number {
  if (!ratios) return 1;
  const factors = Object.values(Object(parseJSON(ratios)));
  return factors.reduce<number>((all, factor) => all * (Number(factor) || 1), 1);
}

/** The model that was asked for, or, where none was named, the one that answered. */
export function modelOf({ model, end }: CallRecord): string | undefined {
  const known = model ?? end?.model;
  return typeof known === 'string' ? known : undefined;
}

/** By how much the price of a call is multiplied: images by their number, videos as their answer says. */
export function unitsOf({ operation, n, answer }: CallRecord): number {
  const isImage = operation.startsWith('images.') && typeof n === 'number';
  return productOf(answer?.ratios) * ((isImage && n) || 1);
}

/** Whether a call has to be answered with ratios, for its price to be known. */
export const needsRatios = (operation: string): boolean => operation.startsWith('videos.');

/** What was done, as far as its price depends on it. */
export interface Work {
  /** The model that was asked for. */
  readonly model: string | undefined;
  /** The token usage of answers, in any of the gateway's formats, as `addUsage` adds it up. */
  readonly usage?: UsageSum | undefined;
  /**
   * By how much the price of one call is multiplied: the number of images, and of a video the ratios that
   * its submission was answered with.
   * @defaultValue 1
   */
  readonly units?: number | undefined;
}

/** Tokens by what they cost. */
interface Tokens {
  readonly text: number;
  readonly cached: number;
  readonly written: number;
  readonly image: number;
  readonly audio: number;
  readonly output: number;
  readonly audioOutput: number;
}

/** Reads usage that was added up, as chat, images, embeddings and Gemini write it. */
export function tokensIn(usage: UsageSum): Tokens {
  /** The first field that is above 0, as gateways fill what does not apply with zeros. */
  const first = (...fields: readonly string[]): number =>
    fields.map((field) => usage[field] ?? 0).find((count) => count > 0) ?? 0;
  const output =
    first('completion_tokens', 'output_tokens') ||
    first('candidatesTokenCount') + first('thoughtsTokenCount');
  const input =
    first('prompt_tokens', 'input_tokens') ||
    first('promptTokenCount') + first('toolUsePromptTokenCount') ||
    // Some gateways tell no more than the sum.
    Math.max(0, first('total_tokens') - output);
  const before = (field: string): number =>
    first(`prompt_tokens_details.${field}`, `input_tokens_details.${field}`);
  const cached = before('cached_tokens') || first('cachedContentTokenCount');
  const written =
    before('cached_creation_tokens') ||
    first('claude_cache_creation_5_m_tokens') + first('claude_cache_creation_1_h_tokens');
  const image = before('image_tokens') || first('promptTokensDetails.IMAGE.tokenCount');
  const audio = before('audio_tokens') || first('promptTokensDetails.AUDIO.tokenCount');
  const audioOutput = first(
    'completion_tokens_details.audio_tokens',
    'output_tokens_details.audio_tokens',
    'candidatesTokensDetails.AUDIO.tokenCount',
  );
  const text = Math.max(0, input - cached - written - image - audio);
  return {
    text,
    cached,
    written,
    image,
    audio,
    output: Math.max(0, output - audioOutput),
    audioOutput,
  };
}

/** What the multiplication is for keys of a group, or why that cannot be told. */
function groupRatio(
  { groupRatios }: Prices,
  { groups }: ModelPrice,
  group: string | undefined,
): number | string {
  if (group !== undefined) {
    const isKnown = Object.hasOwn(groupRatios, group);
    return (isKnown ? groupRatios[group] : undefined) ?? `the price list has no group "${group}"`;
  }
  const own = groups.filter((name) => Object.hasOwn(groupRatios, name));
  const names = own.length > 0 ? own : Object.keys(groupRatios);
  const ratios = new Set(names.map((name) => groupRatios[name] ?? 1));
  if (ratios.size > 1) {
    return `the price differs by the group of the key; give group, one of "${names.join('", "')}"`;
  }
  const [ratio = 1] = ratios;
  return ratio;
}

const perMillion = 1_000_000;

/** The price of all tokens in US dollars, or why it cannot be told. */
function priceOfTokens(price: ModelPrice, usage: UsageSum = {}): number | string {
  const { input, output, cachedInput, raw } = price;
  if (input === undefined) return 'its price by token is not published';
  const tokens = tokensIn(usage);
  const { text, cached, written, image, audio, ...out } = tokens;
  if (!Object.values(tokens).some(Boolean)) {
    return 'it is paid by token, and how many tokens were used was not told';
  }
  if (out.output + out.audioOutput > 0 && output === undefined) {
    return 'its price of output is not published';
  }
  const outputPrice = output?.value ?? 0;
  const ratio = (name: string): number | undefined => {
    const value = raw[name];
    return typeof value === 'number' ? value : undefined;
  };
  const audioRatio = ratio('audio_ratio');
  if (audio + out.audioOutput > 0 && audioRatio === undefined) {
    return 'its price of sound is not published';
  }
  // As the gateway itself counts: what has no ratio of its own costs as much as text, and what is written
  // into a cache a quarter more.
  const cachedPrice = cachedInput?.value ?? input.value;
  const writtenPrice = input.value * (ratio('create_cache_ratio') ?? 1.25);
  const imagePrice = input.value * (ratio('image_ratio') ?? 1);
  const soundPrice = input.value * (audioRatio ?? 1);
  const total =
    text * input.value +
    cached * cachedPrice +
    written * writtenPrice +
    image * imagePrice +
    audio * soundPrice +
    out.output * outputPrice +
    out.audioOutput * soundPrice * (ratio('audio_completion_ratio') ?? 1);
  return total / perMillion;
}

function priceOfCalls({ perCall }: ModelPrice, units: number): number | string {
  return perCall === undefined ? 'its price by call is not published' : perCall.value * units;
}

/**
 * What work costs by the price list. An estimate: what is charged, only the books tell.
 *
 * @param group - The group that the key belongs to; needed where the price differs by it.
 */
export function costOf(prices: Prices, work: Work, group?: string): CostEstimate {
  const { model, usage, units = 1 } = work;
  if (model === undefined) return { why: 'it is not known which model was asked' };
  const price = prices.models.find((one) => one.model === model);
  if (price === undefined) return { why: `the price list has no model "${model}"` };
  const ratio = groupRatio(prices, price, group);
  if (typeof ratio === 'string') return { why: ratio };
  const cost = price.paidBy === 'token' ? priceOfTokens(price, usage) : priceOfCalls(price, units);
  return typeof cost === 'string'
    ? { why: cost }
    : { amount: { value: cost * ratio, unit: 'USD' } };
}
