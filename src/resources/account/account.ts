import { dollars, readHeaderCost } from '../../answers/cost.ts';
import { numberFrom, toFields } from '../../answers/objects.ts';
import { usageOf } from '../../answers/usage.ts';
import { check, checkInteger, checkModel, checkNumber, checkObject } from '../../options/check.ts';
import type { Transport } from '../../calls/transport.ts';
import { computeCost, parseRatios } from './cost.ts';
import { readPriceList } from './prices.ts';
import { AccountReader, settleSubmission } from './reader.ts';
import { recordCall, sumUp } from './spent.ts';
import type {
  AccountOptions,
  Balance,
  Charges,
  ChargesQuery,
  CostEstimate,
  CostQuery,
  Prices,
  SettleTarget,
  Settlement,
  Spent,
} from './types.ts';

/**
 * The account of the key: usage log, balance and prices. All methods only read, and are free.
 *
 * A method throws `UnsupportedByGatewayError` if the gateway doesn't have its route; no method guesses.
 */
export class Account {
  /** @internal Functions that a client with an account uses for its other calls. */
  static readonly part = { recordCall, settle: settleSubmission };

  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Returns the entries of this key in the gateway's usage log, newest first: `GET /api/log/token`.
   *
   * The log lags behind by seconds, returns only the newest entries, and may be read about 20 times in 20
   * minutes. Simultaneous calls, and those of the next five seconds (`maxAge`), share one request. A missing
   * entry proves nothing: see `settle()`.
   *
   * @throws `UnsupportedByGatewayError` if the gateway has no usage log, or accepts the key only in the URL,
   * where this client never puts it
   * @throws `UsageLogLimitError` if the log was read too often; `retryAt` is the time to try again
   *
   * @example
   * const { data } = await gateway.account.charges({ requestId: error.requestID });
   */
  async charges(query: ChargesQuery = {}, options: AccountOptions = {}): Promise<Charges> {
    const transport = this.transport();
    return AccountReader.of(transport).charges(query, transport.checkOptions('account', options));
  }

  /**
   * Returns the used and the remaining credit of the key: `GET /api/usage/token/`, or the routes below
   * `/v1/dashboard/billing` if that is missing or was read too often. The unit depends on the route.
   *
   * @throws `UnsupportedByGatewayError` if the gateway has neither route
   */
  async balance(options: AccountOptions = {}): Promise<Balance> {
    const transport = this.transport();
    return AccountReader.of(transport).balance(transport.checkOptions('account', options));
  }

  /**
   * Returns the price list: `GET /api/pricing`, read at most every ten minutes (`maxAge`).
   *
   * @throws `UnsupportedByGatewayError` if the gateway publishes no prices
   */
  async prices(options: AccountOptions = {}): Promise<Prices> {
    const transport = this.transport();
    return readPriceList(transport, transport.checkOptions('account', options));
  }

  /**
   * Estimates the cost of a call from the price list, before or after the call. Free; reads `prices()`.
   *
   * Models billed by call need `images`, or the `headers` of the submission of a video; models billed by
   * token need `usage`, those billed by second `seconds`, those billed by character `characters`. The published
   * ratios for caches, images and audio are applied. If `headers` report the cost, it is returned and no price
   * list is read. If a price is missing, `amount` is `undefined` and `reason` names what is missing.
   *
   * @throws `UnsupportedByGatewayError` if the gateway publishes no prices
   *
   * @example
   * const { usage } = await gateway.chat.completions.create({ model, messages });
   * const { amount, reason } = await gateway.account.estimate({ model, usage });
   */
  async estimate(query: CostQuery, options: AccountOptions = {}): Promise<CostEstimate> {
    checkObject('query', query);
    // JavaScript callers may pass `null`.
    const params: Partial<CostQuery> | null = query;
    const { model, usage, images = 1, seconds, characters, headers, group } = params ?? {};
    checkModel(model);
    checkObject('usage', usage);
    checkInteger('images', images, 1);
    if (seconds !== undefined) checkNumber('seconds', seconds, 0);
    if (characters !== undefined) checkInteger('characters', characters, 0);
    const isHeaders = headers === undefined || typeof headers?.get === 'function';
    check(isHeaders, 'headers', 'must be the headers of a response, from withResponse().');
    const header = headers?.get('x-new-api-other-ratios') ?? null;
    const product = header === null ? 1 : parseRatios(header)?.product;
    const counts = usageOf(usage);
    const transport = this.transport();
    const checked = transport.checkOptions('account', options);
    const reported = readHeaderCost(headers);
    if (reported !== undefined) return { amount: dollars(reported) };
    const list = await readPriceList(transport, checked);
    if (product === undefined) {
      return { reason: 'the header x-new-api-other-ratios contains ratios that cannot be read' };
    }
    const length = seconds ?? numberFrom(toFields(usage)['seconds']);
    const work = { model, units: images * product, usage: counts, seconds: length, characters };
    return computeCost(list, work, group);
  }

  /**
   * Sums up the cost of this client's calls, by model and operation. Sends nothing: it uses reported costs and
   * the last price list that was read, so call `prices()` once.
   *
   * The sum is an estimate: it leaves out calls of other programs with the same key. Calls that were rejected or
   * never sent, or that `settle()` proved to be refunded or not charged, are not counted. Clients created by
   * `withOptions()` are included.
   *
   * @param options - `group`: the group of the key, if prices differ by group.
   *
   * @example
   * const { estimate, lines } = await gateway.account.spent();
   * console.log(`about ${estimate.value.toFixed(2)} ${estimate.unit}`);
   */
  async spent(options?: { readonly group?: string | undefined }): Promise<Spent> {
    return sumUp(this.transport(), options?.group);
  }

  /**
   * Finds out from the usage log whether a call was charged, for errors whose `outcome` is `unknown`.
   *
   * A verdict other than `unknowable` is based on log entries that contain a request id of the call or its
   * task id. Without a request id, as after a lost connection, `charges({ model, from, to })` lists the
   * entries that may belong to the call.
   *
   * The log lags behind by seconds, so an amount that is read immediately may be partial: see `isFinal`. Free;
   * calls share requests, as with `charges()`.
   *
   * If the verdict is `refunded` or `not_charged`, and `isFinal`, `spent()` and the `budget` of this client stop
   * counting the call.
   *
   * @param question - An error, a video task or the handle of a task (which name a charge and its refund), a
   * response of this client, or a request id.
   * @throws `InvalidInputError` if nothing in the question can be in the usage log
   * @throws `UnsupportedByGatewayError` if the gateway has no usage log
   * @throws `UsageLogLimitError` if the log was read too often; `retryAt` is the time to try again
   *
   * @example
   * try {
   *   await gateway.images.generate(params);
   * } catch (error) {
   *   if (!GatewayError.isInstance(error) || error.outcome !== 'unknown') throw error;
   *   const { verdict, amount, reason } = await gateway.account.settle(error);
   * }
   */
  async settle(question: SettleTarget, options: AccountOptions = {}): Promise<Settlement> {
    const transport = this.transport();
    return AccountReader.of(transport).settle(question, transport.checkOptions('account', options));
  }
}
