import type { Transport } from '../http/transport.ts';
import { later } from '../load.ts';
import { loadCosts } from './load.ts';
import type {
  AccountOptions,
  Balance,
  Charges,
  ChargesQuery,
  CostEstimate,
  CostQuery,
  Prices,
  SettleQuestion,
  Settlement,
  Spent,
} from './types.ts';

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
    const [reader, ...asked] = await this.transport().whenThere(loadReader, query, options);
    return reader.charges(...asked);
  }

  /**
   * What the key has used and what is left: `GET /api/usage/token/`, or, where that is absent or was read
   * too often, the routes below `/v1/dashboard/billing`. The unit is that of the route.
   *
   * @throws `UnsupportedByGatewayError` when the gateway tells neither
   */
  async balance(options: AccountOptions = {}): Promise<Balance> {
    const [reader, ...asked] = await this.transport().whenThere(loadReader, undefined, options);
    return reader.balance(...asked);
  }

  /**
   * The price list: `GET /api/pricing`. Used again for ten minutes (`maxAge`).
   *
   * @throws `UnsupportedByGatewayError` when the gateway publishes none
   */
  async prices(options: AccountOptions = {}): Promise<Prices> {
    const [reader, ...asked] = await this.transport().whenThere(loadReader, undefined, options);
    return reader.prices(...asked);
  }

  /**
   * What something costs by the price list: an estimate, before or after. Free; reads `prices()`.
   *
   * Models that are paid by the call need `images` or, of a video, the `headers` of its submission; those
   * that are paid by the token need `usage`. Ratios of caches, images and sound count as far as they are
   * published. Where a price is missing, `amount` is `undefined` and `why` says what is missing.
   *
   * @throws `UnsupportedByGatewayError` when the gateway publishes no prices
   *
   * @example
   * const { usage } = await gateway.chat.completions.create({ model, messages });
   * const { amount, why } = await gateway.account.estimate({ model, usage });
   */
  async estimate(query: CostQuery, options: AccountOptions = {}): Promise<CostEstimate> {
    const [costs, ...asked] = await this.transport().whenThere(loadCosts, query, options);
    return costs.estimate(...asked);
  }

  /**
   * What the calls of this client have come to, by model and operation. Asks the gateway nothing: it adds
   * up what was sent and answered, and goes by the prices that were read last, so read `prices()` once.
   *
   * An estimate. What others spend with the key is not in it, and neither is what is given back for videos
   * that fail. Calls that were refused, or never sent, count nothing. Clients of `withOptions()` count
   * together with theirs.
   *
   * @param options - `group`: the group that the key belongs to, where prices differ by it.
   *
   * @example
   * const { estimate, lines } = await gateway.account.spent();
   * console.log(`about ${estimate.value.toFixed(2)} ${estimate.unit}`);
   */
  async spent(options?: { readonly group?: string | undefined }): Promise<Spent> {
    const costs = await loadCosts();
    return costs.spent(this.transport(), options?.group);
  }

  /**
   * Whether a call was charged, from the gateway's books: for errors whose `outcome` is `unknown`.
   *
   * A verdict other than `unknowable` comes from lines that name the request or the task. Only `charged` is
   * also concluded where no request id came back: when one line and one open call of this client fit each
   * other by model and time and nothing else does, which supposes that nobody else uses the key.
   *
   * The books lag behind by seconds: ask a little later, and again. Free, and any number of questions share
   * a reading, as with `charges()`.
   *
   * @param question - An error, a video task or its handle (which tell a charge and its refund), a request
   * id, or `{ since, model }` for the one open call of this client since then.
   * @throws `UnsupportedByGatewayError` when the gateway has no books
   * @throws `BooksLimitError` when they were read too often; `retryAt` says when to ask again
   *
   * @example
   * try {
   *   await gateway.images.generate(params);
   * } catch (error) {
   *   if (!GatewayError.isInstance(error) || error.outcome !== 'unknown') throw error;
   *   const { verdict, amount, why } = await gateway.account.settle(error);
   * }
   */
  async settle(question: SettleQuestion, options: AccountOptions = {}): Promise<Settlement> {
    const [reader, ...asked] = await this.transport().whenThere(loadReader, question, options);
    return reader.settle(...asked);
  }
}
