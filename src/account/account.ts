import { check, checkInteger, checkModel, checkObject } from '../check.ts';
import type { Transport } from '../http/transport.ts';
import { addUsage, costOf, parseRatios } from './cost.ts';
import { readPriceList } from './prices.ts';
import { AccountReader, settleSubmission } from './reader.ts';
import { keepWithinBudget, recordCall, sumUp } from './spent.ts';
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

/**
 * The gateway's books: what was charged, what is left, what things cost. Everything here only reads and
 * is free.
 *
 * Not every gateway has them. Where one has not, the answer is `UnsupportedByGatewayError`, never a guess.
 */
export class Account {
  /** @internal Functions that a client with an account uses for its other calls. */
  static readonly part = { recordCall, keepWithinBudget, settle: settleSubmission };

  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * The entries of this key in the gateway's usage log, the newest first: `GET /api/log/token`.
   *
   * The log lags behind by seconds, returns only the newest entries, and may be read some 20 times in 20
   * minutes. Simultaneous calls share one reading, and so do those of the next five seconds (`maxAge`). A
   * missing entry proves nothing: see `settle()`.
   *
   * @throws `UnsupportedByGatewayError` when the gateway has no usage log, or takes the key for it only in
   * the URL, where this client never puts it
   * @throws `BooksLimitError` when it was read too often; `retryAt` says when to try again
   *
   * @example
   * const { data } = await gateway.account.charges({ requestId: error.requestID });
   */
  async charges(query: ChargesQuery = {}, options: AccountOptions = {}): Promise<Charges> {
    return AccountReader.of(this.transport()).charges(query, options);
  }

  /**
   * What the key has used and what is left: `GET /api/usage/token/`, or, where that is absent or was read
   * too often, the routes below `/v1/dashboard/billing`. The unit is that of the route.
   *
   * @throws `UnsupportedByGatewayError` when the gateway tells neither
   */
  async balance(options: AccountOptions = {}): Promise<Balance> {
    return AccountReader.of(this.transport()).balance(options);
  }

  /**
   * The price list: `GET /api/pricing`. Used again for ten minutes (`maxAge`).
   *
   * @throws `UnsupportedByGatewayError` when the gateway publishes none
   */
  async prices(options: AccountOptions = {}): Promise<Prices> {
    return readPriceList(this.transport(), options);
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
    checkObject('query', query);
    // JavaScript callers may pass `null`.
    const given: Partial<CostQuery> | null = query;
    const { model, usage, images = 1, headers, group } = given ?? {};
    checkModel(model);
    checkObject('usage', usage);
    checkInteger('images', images, 1);
    const isHeaders = headers === undefined || typeof headers?.get === 'function';
    check(isHeaders, 'headers', 'must be the headers of an answer, from withResponse().');
    const header = headers?.get('x-new-api-other-ratios') ?? null;
    const product = header === null ? 1 : parseRatios(header)?.product;
    const counts = addUsage(usage ?? {});
    const list = await readPriceList(this.transport(), options);
    if (product === undefined) {
      return { why: 'the header x-new-api-other-ratios holds ratios that cannot be read' };
    }
    return costOf(list, { model, units: images * product, usage: counts }, group);
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
    return sumUp(this.transport(), options?.group);
  }

  /**
   * Looks up in the gateway's usage log whether a call was charged: for errors whose `outcome` is `unknown`.
   *
   * A verdict other than `unknowable` comes from log entries that name a request of the call or its task.
   * Where no request id came back, as after a lost connection, `charges({ model, from, to })` lists the
   * entries that may be its own.
   *
   * The log lags behind by seconds, and a sum that is read at once may be partial: see `isFinal`. Free, and
   * any number of questions share a reading, as with `charges()`.
   *
   * @param question - An error, a video task or its handle (which name a charge and its refund), or a
   * request id.
   * @throws `UnsupportedByGatewayError` when the gateway has no usage log
   * @throws `BooksLimitError` when it was read too often; `retryAt` says when to try again
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
    return AccountReader.of(this.transport()).settle(question, options);
  }
}
