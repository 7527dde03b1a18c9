import { isObject } from '../answers/objects.ts';
import type { Amount, Gateway } from '../index.ts';

function formatAmount({ value, unit }: Amount): string {
  const number = value.toLocaleString('en', { maximumSignificantDigits: 12 });
  return unit === 'USD' ? `$${number}` : `${number} ${unit}`;
}

/** Returns how many units of the gateway are one US dollar, if its public status route says so. */
async function readUnitsPerDollar(
  client: Gateway,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  try {
    const status = await client.get('/api/status', {
      signal,
      maxRetries: 0,
      totalTimeout: 5_000,
    });
    const data = isObject(status) && isObject(status['data']) ? status['data'] : {};
    const { quota_per_unit: units } = data;
    return typeof units === 'number' && units > 0 ? units : undefined;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return undefined;
  }
}

/**
 * Returns a function that formats amounts, in US dollars if the rate of the gateway's unit is known. The rate is
 * read if one of the amounts has that unit.
 */
export async function amountFormat(
  amounts: readonly (Amount | undefined)[],
  client: Gateway,
  signal?: AbortSignal,
): Promise<(amount: Amount) => string> {
  const isQuota = amounts.some((amount) => amount?.unit === 'quota');
  const perDollar = isQuota ? await readUnitsPerDollar(client, signal) : undefined;
  return (amount) =>
    perDollar === undefined || amount.unit === 'USD'
      ? formatAmount(amount)
      : `${formatAmount({ value: amount.value / perDollar, unit: 'USD' })} (${formatAmount(amount)})`;
}
