import { leastCharge } from '../../../../resources/account/cost.ts';
import { isTiered } from '../../../../gateways/new-api.ts';
import type { ModelPrice } from '../../../../index.ts';
import type { Work } from './call.ts';
import { videoSeconds } from './media-calls.ts';

/**
 * Upper bounds for models without a known price, in US dollars. Tokens are those of the most expensive text
 * models; `speech` and `sound` are one call, `second` is a second of video.
 */
const upperBounds = {
  embeddingToken: 1e-6,
  inputToken: 150e-6,
  outputToken: 600e-6,
  image: 0.3,
  speech: 0.02,
  sound: 0.02,
  second: 1,
} as const;

/** Most tokens of an image, for image models billed by the token. */
const imageTokens = { input: 1_000, output: 6_300 };

/** The largest factor of a resolution that vendors add to the price of a second. */
const resolutionFactor = (model: string): number => (/^wan/i.test(model) ? 10 / 3 : 1);

/** The most that a call can cost. */
export interface Estimate {
  /** In US dollars. */
  readonly usd: number;
  /** `false` if the gateway publishes no price, so that an upper bound is assumed. */
  readonly isKnown: boolean;
}

function assume(kind: string, work: Work, seconds: number): number {
  const { requests = 1, input = 0, output = 0, images = 0, isVideo = false } = work;
  if (requests === 0) return 0;
  if (isVideo) return upperBounds.second * seconds;
  if (images > 0) return upperBounds.image * images;
  if (kind === 'speech') return upperBounds.speech;
  if (kind === 'transcription') return upperBounds.sound;
  if (kind === 'embedding') return upperBounds.embeddingToken * input;
  return upperBounds.inputToken * input + upperBounds.outputToken * output;
}

/** Returns the highest ratio of the groups that may use a model. */
function highestRatio({ groups }: ModelPrice, ratios: Readonly<Record<string, number>>): number {
  const known = groups.map((group) => ratios[group]).filter((ratio) => ratio !== undefined);
  const all = known.length > 0 ? known : Object.values(ratios);
  return all.length === 0 ? 1 : Math.max(...all);
}

/** Returns the highest listed factor for tokens of images or sound. */
function highestFactor({ raw }: ModelPrice, names: readonly string[]): number {
  const product = names
    .map((name) => raw[name])
    .filter((value) => typeof value === 'number')
    .reduce((factor, value) => factor * Math.max(1, value), 1);
  return product;
}

function listed(model: string, kind: string, work: Work, price: ModelPrice): number | undefined {
  const { requests = 1, input = 0, output = 0, images = 0, isVideo = false } = work;
  if (isTiered(price.raw)) return undefined;
  if (price.billedPer === 'call') {
    if (price.perCall === undefined) return undefined;
    const units = isVideo
      ? Number(videoSeconds(model)) * resolutionFactor(model)
      : Math.max(requests, images);
    return price.perCall.value * units;
  }
  const { perSecond } = price;
  if (perSecond !== undefined && isVideo) {
    return perSecond.value * Number(videoSeconds(model)) * resolutionFactor(model);
  }
  const { input: inputPrice, output: outputPrice } = price;
  // A price by the token does not tell the length of a video in tokens.
  if (inputPrice === undefined || outputPrice === undefined || isVideo) return undefined;
  const names = kind === 'image' ? ['image_ratio'] : ['audio_ratio', 'audio_completion_ratio'];
  const factor =
    kind === 'image' || kind === 'speech' || kind === 'transcription'
      ? highestFactor(price, names)
      : 1;
  const tokens = images > 0 ? imageTokens : { input, output };
  const cost = (inputPrice.value * tokens.input + outputPrice.value * tokens.output) / 1e6;
  return Math.max(cost * factor, leastCharge * requests);
}

/** Estimates the most that a call can cost. */
export function estimateCall(
  model: string,
  kind: string,
  work: Work,
  price: ModelPrice | undefined,
  groupRatios: Readonly<Record<string, number>>,
): Estimate {
  if (work.requests === 0) return { usd: 0, isKnown: true };
  const cost = price && listed(model, kind, work, price);
  if (price !== undefined && cost !== undefined) {
    return { usd: cost * highestRatio(price, groupRatios), isKnown: true };
  }
  return { usd: assume(kind, work, Number(videoSeconds(model))), isKnown: false };
}

/** Formats an amount in US dollars, for example `$0.0012`. */
export const dollars = (usd: number): string => `$${Number(usd.toPrecision(3))}`;
