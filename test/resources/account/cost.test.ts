import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addUsage,
  computeCost,
  hasCounts,
  type UsageSum,
} from '../../../src/resources/account/cost.ts';
import { usageOf } from '../../../src/index.ts';
import type { ModelPrice, Prices } from '../../../src/resources/account/types.ts';
import type { JsonObject } from '../../../src/types.ts';

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
  test.each<{ quota: number; name: string; ratios: JsonObject; usage: JsonObject }>([
    {
      quota: 4,
      name: 'a completion',
      ratios: { model_ratio: 0.075, completion_ratio: 4, cache_ratio: 0.5 },
      usage: {
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
    },
    {
      quota: 14,
      name: 'a converted completion',
      ratios: { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      usage: {
        prompt_tokens: 8,
        completion_tokens: 10,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 0, text_tokens: 8, audio_tokens: 0 },
        input_tokens: 0,
        output_tokens: 0,
        input_tokens_details: null,
        claude_cache_creation_5_m_tokens: 0,
      },
    },
    {
      quota: 14,
      name: 'a generation',
      ratios: { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      usage: {
        promptTokenCount: 8,
        candidatesTokenCount: 10,
        totalTokenCount: 18,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
      },
    },
    {
      quota: 1,
      name: 'a generation that was blocked',
      ratios: { model_ratio: 0.15, completion_ratio: 8.333333333333334 },
      usage: { promptTokenCount: 8, totalTokenCount: 8 },
    },
    {
      quota: 1225,
      name: 'images',
      ratios: { model_ratio: 2.5, completion_ratio: 8, image_ratio: 2 },
      usage: {
        total_tokens: 100,
        input_tokens: 50,
        output_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
    },
  ])('equals the usage log, $quota quota, for $name', ({ quota, ratios, usage }) => {
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
    'a call counts by its units and its group: $ratio × → $quota quota',
    ({ ratio, quota, units }) => {
      const prices = priceList(byCall(0.002), { default: ratio });

      const { amount } = computeCost(prices, { model, units });

      expect(Math.floor((amount?.value ?? 0) * perDollar + 1e-6)).toBe(quota);
    },
  );

  test('cached, cache-write and audio tokens have their own prices', () => {
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

  test.each<{ reason: RegExp; work: Parameters<typeof computeCost>[1]; price: ModelPrice }>([
    { reason: /requested model is unknown/, work: { model: undefined }, price: byCall(1) },
    { reason: /has no model "other"/, work: { model: 'other' }, price: byCall(1) },
    {
      reason: /per call is not published/,
      work: { model },
      price: { ...byCall(1), perCall: undefined },
    },
    {
      reason: /number of tokens/,
      work: { model },
      price: byToken({ model_ratio: 1, completion_ratio: 1 }),
    },
    {
      reason: /number of tokens/,
      work: { model, usage: { inputTokens: 0, totalTokens: 0 } },
      price: byToken({ model_ratio: 1, completion_ratio: 1 }),
    },
    {
      reason: /per token is not published/,
      work: { model, usage: { inputTokens: 1 } },
      price: { ...byToken({ model_ratio: 1 }), input: undefined },
    },
    {
      reason: /output price is not published/,
      work: { model, usage: { outputTokens: 1 } },
      price: byToken({ model_ratio: 1 }),
    },
    {
      reason: /audio price is not published/,
      work: { model, usage: { inputTokens: 9, audioInputTokens: 9 } },
      price: byToken({ model_ratio: 1, completion_ratio: 1 }),
    },
  ])('returns the reason for an unknown cost: $reason', ({ reason, work, price }) => {
    const cost = computeCost(priceList(price), work);

    expect(cost.amount).toBeUndefined();
    expect(cost.reason).toMatch(reason);
  });

  test('uses the named group, or the only ratio', () => {
    expect(inGroups([], { default: 1, vip: 0.5 }, 'vip').amount?.value).toBe(0.5);
    expect(inGroups(['vip'], { default: 1, vip: 0.5 }).amount?.value).toBe(0.5);
    expect(inGroups([], { default: 2, vip: 2 }).amount?.value).toBe(2);
    expect(inGroups(['elsewhere'], {}).amount?.value).toBe(1);
    expect(inGroups([], { default: 1, vip: 0.5 }).reason).toMatch(
      /pass group, one of "default", "vip"/,
    );
    expect(inGroups([], { default: 1 }, 'vip').reason).toMatch(/has no group "vip"/);
    expect(inGroups([], { default: 1 }, 'toString').reason).toMatch(/has no group/);
  });

  test('the cost of many responses is the sum of their costs', () => {
    const count = fc.nat(10_000);
    // Fewer tokens would cost less than the minimum, which applies to each call.
    const chat = fc.record({
      prompt_tokens: fc.integer({ min: 2, max: 10_000 }),
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

  test('removing a call from a sum leaves no rest', () => {
    const sum: UsageSum = {};
    const usage = usageOf({ prompt_tokens: 5, completion_tokens: 2 });

    addUsage(sum, usage);
    addUsage(sum, usage, -1);

    expect(hasCounts(sum)).toBe(false);
  });
});
