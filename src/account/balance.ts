import { isNumber, isObject } from '../answers/objects.ts';
import { RateLimitError } from '../errors/api-errors.ts';
import { UnsupportedByGatewayError } from './errors.ts';
import { type Routes, unsupported } from './readings.ts';
import type { Amount, Balance } from './types.ts';

const what = 'what the key has used';
const usagePath = '/api/usage/token/';
const billingPath = '/v1/dashboard/billing';

/** A key without a limit is said to have so many US dollars. */
const unlimited = 100_000_000;

/** A time in seconds; 0 and below stand for none. */
function timeOf(seconds: unknown): number | undefined {
  return isNumber(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

function balanceOf(
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
    expiresAt: timeOf(end),
  };
}

/** In the unit of the books. */
async function readUsage(routes: Routes): Promise<Omit<Balance, 'asOf'>> {
  const { data } = await routes.get(usagePath, what, true);
  const told = isObject(data['data']) ? data['data'] : {};
  const { total_used: used, total_granted: granted, total_available: available } = told;
  if (!isNumber(used)) throw unsupported(usagePath, what, 'the answer holds no amount');
  const isLimited = told['unlimited_quota'] === false && isNumber(granted) && isNumber(available);
  return isLimited
    ? balanceOf('quota', used, granted, available, told['expires_at'])
    : balanceOf('quota', used, undefined, undefined, told['expires_at']);
}

/** In US dollars, on routes that may be read as often as one likes. */
async function readBilling(routes: Routes): Promise<Omit<Balance, 'asOf'>> {
  const read = (part: string) => routes.get(`${billingPath}/${part}`, what, false);
  const [subscription, usage] = await Promise.all([read('subscription'), read('usage')]);
  const { hard_limit_usd: limit, access_until: end } = subscription.data;
  const { total_usage: hundredths } = usage.data;
  if (!isNumber(limit) || !isNumber(hundredths)) {
    throw unsupported(billingPath, what, 'the answer holds no amount');
  }
  const used = hundredths / 100;
  return limit >= unlimited
    ? balanceOf('USD', used, undefined, undefined, end)
    : balanceOf('USD', used, limit, limit - used, end);
}

/** Reads the balance where the gateway tells it; two routes do, and each may be absent. */
export async function readBalance(routes: Routes): Promise<Omit<Balance, 'asOf'>> {
  try {
    return await readUsage(routes);
  } catch (error) {
    const isAbsent = UnsupportedByGatewayError.isInstance(error);
    if (!isAbsent && !RateLimitError.isInstance(error)) throw error;
    return await readBilling(routes).catch((second: unknown) => {
      // The first one says more: when to ask again.
      throw isAbsent ? second : error;
    });
  }
}
