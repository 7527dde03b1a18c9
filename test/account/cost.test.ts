import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addUsage, computeCost, hasCounts, type UsageSum } from '../../src/account/cost.ts';
import { usageOf } from '../../src/index.ts';
import type { ModelPrice, Prices } from '../../src/account/types.ts';
import type { JsonObject } from '../../src/types.ts';

const model = 'm';
/** One US dollar in the unit of the usage log. */
const perDollar = 500_000;

/** A price as `/api/pricing` gives it, by the ratios of the books. */
function byToken(ratios: JsonObject): ModelPrice {
  const input = Number(ratios['model_ratio']) * 2;
  const usd = (factor: unknown) =>
    factor === undefined ? undefined : ({ value: input * Number(factor), unit: 'USD' } as const);
  return {
    model,
    billedPer: 'token',
    perCall: undefined,
    input: usd(1),
    output: usd(ratios['completion_ratio']),
    cachedInput: usd(ratios['cache_ratio']),
    groups: ['default'],
    raw: ratios,
  };
}

const byCall = (price: number): ModelPrice => ({
  model,
  billedPer: 'call',
  perCall: { value: price, unit: 'USD' },
  input: undefined,
  output: undefined,
  cachedInput: undefined,
  groups: [],
  raw: {},
});

const priceList = (price: ModelPrice, groupRatios: Prices['groupRatios'] = {}): Prices => ({
  models: [price],
  groupRatios,
  asOf: 0,
});

const inGroups = (groups: readonly string[], ratios: Prices['groupRatios'], group?: string) =>
  computeCost(priceList({ ...byCall(1), groups }, ratios), { model }, group);

describe('computeCost()', () => {
  // Usage as a real gateway answered it, with what its books then said.
  test.each<[quota: number, what: string, ratios: JsonObject, usage: JsonObject]>([
    [
      4,
      'a completion',
      { model_ratio: 0.075, completion_ratio: 4, cache_ratio: 0.5 },
      {
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
    ],
    [
      14,
      'a converted completion',
      { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      {
        prompt_tokens: 8,
        completion_tokens: 10,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 0, text_tokens: 8, audio_tokens: 0 },
        input_tokens: 0,
        output_tokens: 0,
        input_tokens_details: null,
        claude_cache_creation_5_m_tokens: 0,
      },
    ],
    [
      14,
      'a generation',
      { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      {
        promptTokenCount: 8,
        candidatesTokenCount: 10,
        totalTokenCount: 18,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
      },
    ],
    [
      1,
      'a generation that was blocked',
      { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      { promptTokenCount: 8, totalTokenCount: 8 },
    ],
    [
      1225,
      'images',
      { model_ratio: 2.5, completion_ratio: 8, image_ratio: 2 },
      {
        total_tokens: 100,
        input_tokens: 50,
        output_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
    ],
  ])('is what the books say, %d quota, of %s', (quota, _, ratios, usage) => {
    const { amount } = computeCost(priceList(byToken(ratios)), { model, usage: usageOf(usage) });

    expect(amount?.unit).toBe('USD');
    expect(Math.round((amount?.value ?? 0) * perDollar)).toBe(quota);
  });

  test.each([
    { ratio: 1, quota: 4_000, units: 4 },
    { ratio: 2, quota: 8_000, units: 4 },
    // 3.3333… × 5 seconds: a real gateway charged 16,666.
    { ratio: 1, quota: 16_666, units: 50 / 3 },
  ])(
    'a call counts by its units, and by the group: $ratio × → $quota quota',
    ({ ratio, quota, units }) => {
      const prices = priceList(byCall(0.002), { default: ratio });

      const { amount } = computeCost(prices, { model, units });

      expect(Math.floor((amount?.value ?? 0) * perDollar + 1e-6)).toBe(quota);
    },
  );

  test('tokens that were cached, written into a cache, or are sound, have prices of their own', () => {
    const ratios = {
      model_ratio: 0.5,
      completion_ratio: 4,
      cache_ratio: 0.1,
      create_cache_ratio: 1.25,
      audio_ratio: 10,
      audio_completion_ratio: 2,
    };
    const usage = {
      prompt_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 300, cached_creation_tokens: 200, audio_tokens: 100 },
      completion_tokens: 500,
      completion_tokens_details: { audio_tokens: 50 },
    };

    const { amount } = computeCost(priceList(byToken(ratios)), { model, usage: usageOf(usage) });

    const text = 400 + 300 * 0.1 + 200 * 1.25 + 100 * 10 + 450 * 4 + 50 * 10 * 2;
    expect(amount?.value).toBeCloseTo((text * 0.5) / perDollar, 12);
  });

  test.each<[why: RegExp, work: Parameters<typeof computeCost>[1], price: ModelPrice]>([
    [/which model/, { model: undefined }, byCall(1)],
    [/has no model "other"/, { model: 'other' }, byCall(1)],
    [/by call is not published/, { model }, { ...byCall(1), perCall: undefined }],
    [/how many tokens/, { model }, byToken({ model_ratio: 1, completion_ratio: 1 })],
    [
      /how many tokens/,
      { model, usage: { inputTokens: 0, totalTokens: 0 } },
      byToken({ model_ratio: 1, completion_ratio: 1 }),
    ],
    [
      /by token is not published/,
      { model, usage: { inputTokens: 1 } },
      { ...byToken({ model_ratio: 1 }), input: undefined },
    ],
    [
      /price of output is not published/,
      { model, usage: { outputTokens: 1 } },
      byToken({ model_ratio: 1 }),
    ],
    [
      /price of sound is not published/,
      { model, usage: { inputTokens: 9, audioInputTokens: 9 } },
      byToken({ model_ratio: 1, completion_ratio: 1 }),
    ],
  ])('says why nothing can be told: %s', (why, work, price) => {
    const cost = computeCost(priceList(price), work);

    expect(cost.amount).toBeUndefined();
    expect(cost.why).toMatch(why);
  });

  test('groups: the one that is named, or the only ratio that there is', () => {
    expect(inGroups([], { default: 1, vip: 0.5 }, 'vip').amount?.value).toBe(0.5);
    expect(inGroups(['vip'], { default: 1, vip: 0.5 }).amount?.value).toBe(0.5);
    expect(inGroups([], { default: 2, vip: 2 }).amount?.value).toBe(2);
    expect(inGroups(['elsewhere'], {}).amount?.value).toBe(1);
    expect(inGroups([], { default: 1, vip: 0.5 }).why).toMatch(
      /give group, one of "default", "vip"/,
    );
    expect(inGroups([], { default: 1 }, 'vip').why).toMatch(/has no group "vip"/);
    expect(inGroups([], { default: 1 }, 'toString').why).toMatch(/has no group/);
  });

  test('what many answers cost is what they cost one by one', () => {
    const count = fc.nat(10_000);
    const chat = fc.record({
      prompt_tokens: fc.integer({ min: 1, max: 10_000 }),
      completion_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: fc.nat(1) }),
    });
    const gemini = fc.record({
      promptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      promptTokensDetails: fc.constant([{ modality: 'TEXT', tokenCount: 1 }]),
    });
    const prices = priceList(
      byToken({ model_ratio: 1.5, completion_ratio: 5, cache_ratio: 0.1, audio_ratio: 2 }),
    );
    const priceFor = (usage: UsageSum): number =>
      computeCost(prices, { model, usage }).amount?.value ?? 0;
    const answers = fc.oneof(fc.array(chat, { minLength: 1 }), fc.array(gemini, { minLength: 1 }));

    fc.assert(
      fc.property(answers, (usages) => {
        const sum: UsageSum = {};
        for (const usage of usages) addUsage(sum, usageOf(usage));
        const one = usages.reduce((all, usage) => all + priceFor(usageOf(usage)), 0);
        expect(priceFor(sum)).toBeCloseTo(one, 9);
      }),
    );
  });

  test('a call that is taken out of a sum leaves nothing in it', () => {
    const sum: UsageSum = {};
    const usage = usageOf({ prompt_tokens: 5, completion_tokens: 2 });

    addUsage(sum, usage);
    addUsage(sum, usage, -1);

    expect(hasCounts(sum)).toBe(false);
  });
});
