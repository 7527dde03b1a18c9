import {
  PermissionDeniedError,
  RateLimitError,
  UnsupportedByGatewayError,
} from '../../errors/api-errors.ts';
import type { AccountRules } from '../../options/gateway-profile.ts';
import { type AccountRoutes, unserved, unsupported } from './readings.ts';
import type { Balance } from './types.ts';

const what = 'what the key has used';

type BalanceRoute = NonNullable<AccountRules['balance']>[number];

async function readRoute(
  routes: AccountRoutes,
  { paths, read, isLimited = false }: BalanceRoute,
): Promise<Omit<Balance, 'asOf'>> {
  const answers = await Promise.all(paths.map((path) => routes.get(path, what, isLimited)));
  const balance = read(...answers.map(({ data }) => data));
  if (typeof balance === 'string') throw unsupported(paths.join(', '), what, balance);
  return balance;
}

/** Reads the balance from the first of several routes that the gateway has. */
export async function readBalance(routes: AccountRoutes): Promise<Omit<Balance, 'asOf'>> {
  const { balance = [] } = routes.rules;
  let failure: unknown;
  for (const route of balance) {
    try {
      return await readRoute(routes, route);
    } catch (error) {
      const isAbsent =
        UnsupportedByGatewayError.isInstance(error) || PermissionDeniedError.isInstance(error);
      if (!isAbsent && !RateLimitError.isInstance(error))
        throw RateLimitError.isInstance(failure) ? failure : error;
      // A rate limit error is more useful than the error of a missing route, because it says when to try
      // again.
      failure = RateLimitError.isInstance(failure) ? failure : error;
    }
  }
  throw failure ?? unserved(routes.caller, 'the balance');
}
