import { dollars } from '../answers/cost.ts';
import {
  isAmount,
  isNumber,
  numberFrom,
  isObject,
  parseJSON,
  trimmedText,
  toFields,
} from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { Amount, Balance, ModelPrice } from '../answers/account.ts';
import type { AccountRules, GatewayProfile, UsageLogEntry } from '../options/gateway-profile.ts';

/** Entry types by number. */
const types: Readonly<Record<number, string>> = {
  1: 'top_up',
  2: 'consume',
  3: 'manage',
  4: 'system',
  5: 'error',
  6: 'refund',
};

/**
 * Returns an entry of the usage log; `undefined` if it has no amount or time, because an incomplete entry
 * could mislead.
 */
function readEntry(raw: JsonObject): UsageLogEntry | undefined {
  const { type, quota, created_at: seconds, other: details } = raw;
  const parsed = typeof details === 'string' ? parseJSON(details) : details;
  const other = toFields(parsed);
  if (!isNumber(quota) || quota < 0 || !isNumber(seconds)) return undefined;
  const final = other['actual_quota'];
  const tokens = {
    input: numberFrom(raw['prompt_tokens']) ?? 0,
    output: numberFrom(raw['completion_tokens']) ?? 0,
  };
  const taskId = trimmedText(other['task_id']);
  return {
    type: isNumber(type) ? (types[type] ?? `${type}`) : (trimmedText(type) ?? 'unknown'),
    amount: { value: quota, unit: 'quota' },
    model: trimmedText(raw['model_name']),
    at: seconds * 1_000,
    requestId: trimmedText(raw['request_id']),
    taskId,
    reason: trimmedText(other['reason']) ?? trimmedText(raw['content']),
    tokens,
    isTask: other['is_task'] === true || taskId !== undefined,
    finalQuota: isNumber(final) ? final : undefined,
    raw: { ...raw, other },
  };
}

/** The limit that the gateway reports for a key without a limit, in US dollars. */
const unlimited = 100_000_000;

/** Returns a time in milliseconds; `undefined` for 0 and below. */
function readTime(seconds: unknown): number | undefined {
  return isNumber(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

/** Returns a balance; the time is in seconds since 1970. */
export function createBalance(
  unit: Amount['unit'],
  used: number,
  limit: number | undefined,
  available: number | undefined,
  end: unknown,
): Omit<Balance, 'asOf'> {
  const amount = (value: number | undefined): Amount | undefined =>
    value === undefined ? undefined : { value, unit };
  return {
    used: { value: used, unit },
    limit: amount(limit),
    available: amount(available),
    expiresAt: readTime(end),
  };
}

export const noAmount = 'the response contains no amount';

/** The price of a million tokens at the ratio 1, in US dollars. */
const dollarsPerRatio = 2;

/** Returns whether the price of an entry is an expression instead of numbers. */
export function isTiered({ billing_mode: mode, billing_expr: expression }: JsonObject): boolean {
  const isExpression = typeof mode === 'string' && /expr|tier/i.test(mode);
  return isExpression || (typeof expression === 'string' && expression !== '');
}

/** Returns an entry of the price list; an empty list if its form is unknown. */
function readPrice(raw: JsonObject): ModelPrice[] {
  const model = trimmedText(raw['model_name']);
  const { quota_type: kind, model_price: price, model_ratio: ratio } = raw;
  const { completion_ratio: output, cache_ratio: cached, enable_groups: groups } = raw;
  const routes = [raw['supported_endpoint_types']].flat();
  const billedPer: ModelPrice['billedPer'] | undefined =
    kind === 1 ? 'call' : kind === 0 ? 'token' : undefined;
  if (model === undefined || billedPer === undefined) return [];
  const isPlain = !isTiered(raw);
  const perCall = isPlain && billedPer === 'call' && isAmount(price) ? price : undefined;
  const isByToken = isPlain && billedPer === 'token';
  const input = isByToken && isAmount(ratio) ? ratio * dollarsPerRatio : undefined;
  const times = (factor: unknown): number | undefined =>
    input === undefined || !isAmount(factor) ? undefined : input * factor;
  const entry = {
    model,
    billedPer,
    raw,
    perCall: dollars(perCall),
    input: dollars(input),
    output: dollars(times(output)),
    cachedInput: dollars(times(cached)),
    isMedia: routes.includes('image-generation') || routes.includes('openai-video'),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
  return [entry];
}

/** The usage log, the balance and the price list. */
export const newApiAccount: AccountRules = {
  // Ids of the gateway begin with the time. Proxies in front add their own ids.
  isLogged: (requestId) => /^20\d{12}/.test(requestId),
  charges: {
    path: '/api/log/token',
    isLimited: true,
    read({ data, success }) {
      // Go writes an empty list as `null`.
      const entries: unknown = data ?? (success === true ? [] : undefined);
      if (!Array.isArray(entries) || !entries.every(isObject))
        return 'the response contains no entries';
      const read = entries.map(readEntry);
      const known = read.filter((entry) => entry !== undefined);
      return known.length < read.length ? 'an entry has no amount or no time' : known;
    },
  },
  balance: [
    {
      paths: ['/api/usage/token/'],
      isLimited: true,
      read(answer) {
        const data = isObject(answer?.['data']) ? answer['data'] : {};
        const { total_used: used, total_granted: granted, total_available: available } = data;
        if (!isNumber(used)) return noAmount;
        const isLimited =
          data['unlimited_quota'] === false && isNumber(granted) && isNumber(available);
        const [limit, left] = isLimited ? [granted, available] : [undefined, undefined];
        return createBalance('quota', used, limit, left, data['expires_at']);
      },
    },
    {
      // In US dollars, on routes without a limit for reads.
      paths: ['/v1/dashboard/billing/subscription', '/v1/dashboard/billing/usage'],
      read(subscription, usage) {
        const limit = subscription?.['hard_limit_usd'];
        const end = subscription?.['access_until'];
        const hundredths = usage?.['total_usage'];
        if (!isNumber(limit) || !isNumber(hundredths)) return noAmount;
        const used = hundredths / 100;
        return limit >= unlimited
          ? createBalance('USD', used, undefined, undefined, end)
          : createBalance('USD', used, limit, limit - used, end);
      },
    },
  ],
  prices: {
    path: '/api/pricing',
    read({ data, group_ratio: ratios }) {
      if (!Array.isArray(data)) return 'the response contains no list';
      const named = isObject(ratios) ? Object.entries(ratios) : [];
      const groupRatios: Record<string, number> = {};
      for (const [group, ratio] of named) if (isNumber(ratio)) groupRatios[group] = ratio;
      return { models: data.filter(isObject).flatMap(readPrice), groupRatios };
    },
  },
};

/** new-api, one-api and their descendants: the default. */
export const newApi: GatewayProfile = { name: 'new-api', account: newApiAccount };
