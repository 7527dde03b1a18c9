import type { Amount } from './account.ts';
import type { JsonObject } from '../types.ts';
import { findFirst, isObject, unwrapLevels, numberFrom, listObjects, toFields } from './objects.ts';

/** Returns the token usage in a response, a chunk or an event, including wrapped ones. */
export function findUsage(answer: unknown): JsonObject | undefined {
  if (!isObject(answer)) return undefined;
  const { usage: direct, message, choices, x_groq: groq } = answer;
  if (isObject(direct)) return direct;
  const holders = [
    ...unwrapLevels(answer),
    ...listObjects(message),
    ...listObjects(choices),
    ...listObjects(groq),
  ];
  return findFirst(holders, ({ usage, usageMetadata, usage_metadata: metadata }) =>
    [usage, usageMetadata, metadata].find(isObject),
  );
}

/** Returns an amount in US dollars. */
export function dollars(value: number): Amount;
export function dollars(value: number | undefined): Amount | undefined;
export function dollars(value: number | undefined): Amount | undefined {
  return value === undefined ? undefined : { value, unit: 'USD' };
}

/** Maximum cost of a call in US dollars. Larger numbers are in another unit. */
const highestCost = 10_000;

function dollarsFrom(value: unknown): number | undefined {
  const cost = numberFrom(value);
  return cost !== undefined && cost >= 0 && cost <= highestCost ? cost : undefined;
}

function costInUsage(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined;
  const { cost, cost_details: details, is_byok: isOwnKey } = usage;
  const { upstream_inference_cost: upstream } = toFields(details);
  const total = dollarsFrom(isObject(cost) ? (cost['total_cost'] ?? cost['usd']) : cost);
  const vendor = dollarsFrom(upstream);
  // If your own key at the vendor was used, `cost` is only the gateway's fee.
  if (isOwnKey === true && vendor !== undefined) return dollarsFrom((total ?? 0) + vendor);
  return total ?? vendor;
}

/**
 * Reads the cost in US dollars that a response reports: `usage.cost`, `usage.cost_details` or the header
 * `x-litellm-response-cost`.
 *
 * @returns `undefined` if it reports none, or a value that cannot be a cost
 */
export function readCost(usage: unknown, headers?: Headers): number | undefined {
  const inUsage = costInUsage(usage);
  if (inUsage) return inUsage;
  return readHeaderCost(headers) ?? inUsage;
}

/** Reads the cost that LiteLLM reports in a header. It sends 0 when it doesn't know the price. */
export function readHeaderCost(headers: Headers | undefined): number | undefined {
  const text = headers?.get('x-litellm-response-cost') ?? undefined;
  return text === undefined ? undefined : dollarsFrom(text) || undefined;
}

/** Reads the cost that a response reports. */
export const costInAnswer = (answer: unknown, headers?: Headers): number | undefined =>
  readCost(findUsage(answer), headers);

/** Reads a cost with a function that may throw or return anything, because users can provide it. */
export function costBy(
  read: (answer: unknown, headers: Headers) => unknown,
  answer: unknown,
  headers: Headers,
): number | undefined {
  try {
    return dollarsFrom(read(answer, headers));
  } catch {
    return undefined;
  }
}
