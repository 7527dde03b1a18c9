import { checkObject } from '../check.ts';
import type { Transport } from '../http/transport.ts';
import { later } from '../load.ts';
import type { AccountOptions, Balance, Charges, ChargesQuery, Prices } from './types.ts';

/** All that asks and reads: a page that never asks its account does not load it. */
const loadReader = later('the account', () => import('./reader.ts'));

/**
 * The gateway's books: what was charged, what is left, what things cost. Everything here only reads and
 * is free.
 *
 * Not every gateway has them. Where one has not, the answer is `UnsupportedByGatewayError`, never a guess.
 */
export class Account {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * The lines in the books of this key, the newest first: `GET /api/log/token`.
   *
   * The books lag behind by seconds, hold only the newest lines, and may be read some 20 times in 20
   * minutes. Questions that are asked at once share one reading, and so do those of the next five seconds
   * (`maxAge`). That a line is not there proves nothing: see `settle()`.
   *
   * @throws `UnsupportedByGatewayError` when the gateway has no books
   * @throws `BooksLimitError` when they were read too often; `retryAt` says when to ask again
   *
   * @example
   * const { data } = await gateway.account.charges({ requestId: error.requestID });
   */
  async charges(query: ChargesQuery = {}, options: AccountOptions = {}): Promise<Charges> {
    const given = copyOf('query', query);
    return (await readerOf(this)).charges(given, copyOf('options', options));
  }

  /**
   * What the key has used and what is left: `GET /api/usage/token/`, or, where that is absent or was read
   * too often, the routes below `/v1/dashboard/billing`. The unit is that of the route.
   *
   * @throws `UnsupportedByGatewayError` when the gateway tells neither
   */
  async balance(options: AccountOptions = {}): Promise<Balance> {
    const given = copyOf('options', options);
    return (await readerOf(this)).balance(given);
  }

  /**
   * The price list: `GET /api/pricing`. Used again for ten minutes (`maxAge`).
   *
   * @throws `UnsupportedByGatewayError` when the gateway publishes none
   */
  async prices(options: AccountOptions = {}): Promise<Prices> {
    const given = copyOf('options', options);
    return (await readerOf(this)).prices(given);
  }
}

async function readerOf({ transport }: Account) {
  const { AccountReader } = await loadReader();
  return AccountReader.of(transport());
}

/** What the caller gave, as it was at the call. */
function copyOf<Given extends object>(field: string, given: Given): Given {
  checkObject(field, given);
  return { ...given };
}
