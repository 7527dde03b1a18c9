import { isNumber, isObject, textOf } from '../answers/objects.ts';
import { APIConnectionTimeoutError } from '../errors/api-errors.ts';
import type { Transport } from '../http/transport.ts';
import type { JsonObject } from '../types.ts';
import { hideRaw } from './books.ts';
import { readOptions, Routes, Shared, unsupported } from './readings.ts';
import type { AccountOptions, Amount, ModelPrice, Prices } from './types.ts';

const path = '/api/pricing';
const what = 'its prices';

/** What a million tokens cost at the ratio 1, in US dollars, in every gateway of this family. */
const dollarsPerRatio = 2;

const isPrice = (value: unknown): value is number => isNumber(value) && value >= 0;

const dollars = (value: number | undefined): Amount | undefined =>
  value === undefined ? undefined : { value, unit: 'USD' };

/** Returns whether an expression replaces the prices of an entry. */
export function isTiered({ billing_mode: mode, billing_expr: expression }: JsonObject): boolean {
  const isExpression = typeof mode === 'string' && /expr|tier/i.test(mode);
  return isExpression || (typeof expression === 'string' && expression !== '');
}

function readPrice(raw: JsonObject): ModelPrice[] {
  const model = textOf(raw['model_name']);
  const { quota_type: kind, model_price: price, model_ratio: ratio } = raw;
  const { completion_ratio: output, cache_ratio: cached, enable_groups: groups } = raw;
  const paidBy: ModelPrice['paidBy'] | undefined =
    kind === 1 ? 'call' : kind === 0 ? 'token' : undefined;
  if (model === undefined || paidBy === undefined) return [];
  const isPlain = !isTiered(raw);
  const perCall = isPlain && paidBy === 'call' && isPrice(price) ? price : undefined;
  const isByToken = isPlain && paidBy === 'token';
  const input = isByToken && isPrice(ratio) ? ratio * dollarsPerRatio : undefined;
  const times = (factor: unknown): number | undefined =>
    input === undefined || !isPrice(factor) ? undefined : input * factor;
  const entry = {
    model,
    paidBy,
    raw,
    perCall: dollars(perCall),
    input: dollars(input),
    output: dollars(times(output)),
    cachedInput: dollars(times(cached)),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
  return [hideRaw(entry)];
}

/** Reads the price list. Entries in another form than those of this family are left out. */
async function readPrices(routes: Routes, signal: AbortSignal): Promise<Omit<Prices, 'asOf'>> {
  const { data: answer } = await routes.get(path, what, false, signal);
  const { data, group_ratio: ratios } = answer;
  if (!Array.isArray(data)) throw unsupported(path, what, 'the answer holds no list');
  const named = isObject(ratios) ? Object.entries(ratios) : [];
  const groupRatios: Record<string, number> = {};
  for (const [group, ratio] of named) if (isNumber(ratio)) groupRatios[group] = ratio;
  return { models: data.filter(isObject).flatMap(readPrice), groupRatios };
}

/** How long the price list may take to be read, in milliseconds, with all attempts. */
const longestRead = 10_000;

/** @throws `APIConnectionTimeoutError` when it takes longer than `longestRead` */
async function readInTime(caller: Transport): Promise<Omit<Prices, 'asOf'>> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), longestRead);
  try {
    return await readPrices(new Routes(caller), controller.signal);
  } catch (cause) {
    if (!controller.signal.aborted) throw cause;
    const message = `The price list (GET ${path}) was not read within ${longestRead} ms.`;
    const advice = 'It only reads, so it is safe to repeat.';
    throw new APIConnectionTimeoutError(message, { outcome: 'unknown', advice, cause });
  } finally {
    clearTimeout(timer);
  }
}

/** The price list of one gateway. Clients that share their state share its readings. */
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
    const known = PriceList.#lists.get(caller.shared);
    if (known !== undefined && known.#baseURL === caller.client.findBase()?.root) return known;
    const list = new PriceList(caller);
    PriceList.#lists.set(caller.shared, list);
    return list;
  }

  /**
   * Returns a list whose reading began late enough, or reads it.
   *
   * @param notBefore - In milliseconds since 1970.
   */
  async get(caller: Transport, notBefore: number, signal?: AbortSignal | null): Promise<Prices> {
    this.#caller = caller.snapshot();
    const { value, asOf } = await this.#shared.get(notBefore, signal);
    this.known = { ...value, asOf };
    return this.known;
  }
}

/** How old a price list may be that is used again, in milliseconds. */
const freshFor = 600_000;

/** Reads the price list, or returns one that is fresh. */
export async function readPriceList(caller: Transport, options: AccountOptions): Promise<Prices> {
  const { notBefore, signal } = readOptions(options, freshFor);
  return PriceList.of(caller).get(caller, notBefore, signal);
}
