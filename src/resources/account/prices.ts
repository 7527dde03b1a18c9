import { APIConnectionTimeoutError } from '../../errors/api-errors.ts';
import type { Transport } from '../../calls/transport.ts';
import { hideRaw } from './usage-log.ts';
import { readOptions, AccountRoutes, Shared, unserved, unsupported } from './readings.ts';
import type { AccountOptions, Prices } from './types.ts';

const what = 'its prices';

/** Reads the price list. */
async function readPrices(
  routes: AccountRoutes,
  signal: AbortSignal,
): Promise<Omit<Prices, 'asOf'>> {
  const { prices } = routes.rules;
  if (prices === undefined) throw unserved(routes.caller, 'the price list');
  const { path, read, isLimited = false } = prices;
  const { data } = await routes.get(path, what, isLimited, signal);
  const list = read(data);
  if (typeof list === 'string') throw unsupported(path, what, list);
  return { ...list, models: list.models.map(hideRaw) };
}

/** Time limit for reading the price list, in milliseconds, over all attempts. */
const longestRead = 10_000;

/** @throws `APIConnectionTimeoutError` if it takes longer than `longestRead` */
async function readInTime(caller: Transport): Promise<Omit<Prices, 'asOf'>> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), longestRead);
  const routes = new AccountRoutes(caller);
  try {
    return await readPrices(routes, controller.signal);
  } catch (cause) {
    if (!controller.signal.aborted) throw cause;
    const message = `The price list (GET ${routes.rules.prices?.path}) was not read within ${longestRead} ms.`;
    const advice = 'It only reads, so it is safe to repeat.';
    throw new APIConnectionTimeoutError(message, { outcome: 'unknown', advice, cause });
  } finally {
    clearTimeout(timer);
  }
}

/** The price list of one gateway. Clients that share state share it. */
export class PriceList {
  static readonly #lists = new WeakMap<object, PriceList>();

  /** The last list that was read. */
  known: Prices | undefined;
  #caller: Transport;
  readonly #baseURL: string | undefined;
  readonly #shared = new Shared(() => readInTime(this.#caller));

  private constructor(caller: Transport) {
    this.#caller = caller;
    this.#baseURL = caller.client.findBase()?.root;
  }

  static of(caller: Transport): PriceList {
    const known = PriceList.#lists.get(caller.client.shared);
    if (known !== undefined && known.#baseURL === caller.client.findBase()?.root) return known;
    const list = new PriceList(caller);
    PriceList.#lists.set(caller.client.shared, list);
    return list;
  }

  /**
   * Returns a price list requested at `notBefore` or later; requests one if needed.
   *
   * @param notBefore - In milliseconds since 1970.
   */
  async get(caller: Transport, notBefore: number, signal?: AbortSignal | null): Promise<Prices> {
    this.#caller = caller.snapshot();
    const { value, asOf } = await this.#shared.get(notBefore, signal);
    this.known = { ...value, asOf };
    const media = value.models.filter(({ isMedia }) => isMedia === true);
    caller.client.shared.mediaModels = new Set(media.map(({ model }) => model));
    return this.known;
  }
}

/** Maximum age of a price list that is used again, in milliseconds. */
const freshFor = 600_000;

/** Returns the price list; fetches it if it is not fresh. */
export async function readPriceList(caller: Transport, options: AccountOptions): Promise<Prices> {
  const { notBefore, signal } = readOptions(options, freshFor);
  return PriceList.of(caller).get(caller, notBefore, signal);
}
