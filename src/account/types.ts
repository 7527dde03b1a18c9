import type { GatewayError } from '../errors/gateway-error.ts';
import type { JsonObject, OpenString } from '../types.ts';

/**
 * An amount of credit.
 *
 * `quota` is the gateway's own unit, in which its books are kept. 500,000 of it are one US dollar unless
 * the operator of the gateway has set another rate, which is told nowhere.
 */
export interface Amount {
  readonly value: number;
  readonly unit: 'quota' | 'USD';
}

/** Options of every question to the account. */
export interface AccountOptions {
  /** Ends the waiting for an answer. A reading that others wait for too goes on. */
  signal?: AbortSignal | null | undefined;
  /**
   * How old a reading may be that is used again, in milliseconds; 0 reads anew. Gateways let their books
   * be read some 20 times in 20 minutes.
   * @defaultValue 5000 for books and balance, 600000 for prices
   */
  maxAge?: number | undefined;
}

/**
 * What a line in the books is about.
 *
 * - `consume`: a request was charged, or more was charged for a video task when it was done.
 * - `refund`: something was given back, for a video task that failed or cost less.
 * - `error`: a request failed on one channel; the gateway may have gone on with another one. Most gateways
 *   do not write these down.
 */
export type ChargeType = OpenString<'consume' | 'refund' | 'error'>;

/** One line in the gateway's books. */
export interface ChargeLine {
  readonly type: ChargeType;
  /** What was charged or given back; never negative. */
  readonly amount: Amount;
  readonly model: string | undefined;
  /** When it was written, in milliseconds since 1970 by the gateway's clock, which tells whole seconds. */
  readonly at: number;
  /**
   * The request that the line is about: the `requestID` of errors, the `_request_id` of answers. Lines of
   * refunds have none.
   */
  readonly requestId: string | undefined;
  /** The video task that the line is about. Mostly only lines of refunds have one. */
  readonly taskId: string | undefined;
  /** Why it was given back, or what an error said. */
  readonly reason: string | undefined;
  /** Tokens that were counted; 0 for what is not paid by the token. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** The line as it came, with `other` parsed. Not enumerable. */
  readonly raw: JsonObject;
}

/** What is looked for in the books. Every part may be left out; all that are given must fit. */
export interface ChargesQuery {
  /** The `requestID` of an error or the `_request_id` of an answer. */
  requestId?: string | undefined;
  /** The id of a video task. Mostly only its refund names it: `settle(task.ref)` finds its charge too. */
  taskId?: string | undefined;
  /** Only entries written then or later, by the gateway's clock: a date, or milliseconds since 1970. */
  from?: Date | number | undefined;
  /** Only entries written then or earlier, as with `from`. */
  to?: Date | number | undefined;
  /** @deprecated The same as `from`. */
  since?: Date | number | undefined;
  model?: string | undefined;
  type?: ChargeType | undefined;
}

/** Lines of the books. */
export interface Charges {
  /** The newest first. */
  readonly data: readonly ChargeLine[];
  /** When the books were read, in milliseconds since 1970 by this machine's clock. */
  readonly asOf: number;
  /**
   * When the oldest line was written that the gateway sent at all, whatever was looked for; `undefined`
   * when it sent none. It sends only the newest, some 1,000: of what was before, nothing can be told.
   */
  readonly reachesBackTo: number | undefined;
}

/** What a key has used and may still use. */
export interface Balance {
  /** What was charged to this key since it was made, less what was given back. */
  readonly used: Amount;
  /** What it may use in all; `undefined` when the key itself has no limit. */
  readonly limit: Amount | undefined;
  /** What is left of `limit`. */
  readonly available: Amount | undefined;
  /** When the key ends, in milliseconds since 1970; `undefined` when it does not. */
  readonly expiresAt: number | undefined;
  readonly asOf: number;
}

/** What the gateway asks for one model, before the ratio of the group that the key belongs to. */
export interface ModelPrice {
  readonly model: string;
  /** `call`: each call has a price, which for images and videos counts for each image or second. */
  readonly paidBy: 'call' | 'token';
  /** The price of a call, in US dollars. Only with `paidBy: 'call'`. */
  readonly perCall: Amount | undefined;
  /** The price of a million tokens of input, in US dollars. Only with `paidBy: 'token'`, as the next two. */
  readonly input: Amount | undefined;
  readonly output: Amount | undefined;
  /** Of input that the vendor had cached; `undefined` when the gateway does not say. */
  readonly cachedInput: Amount | undefined;
  /** The groups whose keys may use the model. Empty when the gateway does not say. */
  readonly groups: readonly string[];
  /** The entry as it came, with ratios for audio, images and more. Not enumerable. */
  readonly raw: JsonObject;
}

/** The price list of a gateway. */
export interface Prices {
  readonly models: readonly ModelPrice[];
  /** By what prices are multiplied for keys of a group, by its name. */
  readonly groupRatios: Readonly<Record<string, number>>;
  readonly asOf: number;
}

/** What is to be priced. */
export interface CostQuery {
  /** The model that was asked for. Answers may name it otherwise than the price list. */
  model: string;
  /**
   * The `usage` of a completion, of vectors or of images, or the `usageMetadata` of a generation. Needed
   * for models that are paid by the token.
   */
  usage?: object | null | undefined;
  /** How many images. @defaultValue 1 */
  images?: number | undefined;
  /**
   * The headers of the answer to the submission of a video, from `withResponse()`: they tell by what its
   * price is multiplied, such as its seconds.
   */
  headers?: Headers | undefined;
  /** The group that the key belongs to, where prices differ by it. */
  group?: string | undefined;
}

/**
 * What something costs by the price list, or why that cannot be told. An estimate: what was charged, only
 * the books tell.
 */
export type CostEstimate =
  | { readonly amount: Amount; readonly why?: undefined }
  | { readonly amount?: undefined; readonly why: string };

/** What the calls of one operation to one model have come to. */
export interface SpentLine {
  /** For example `images.generate`; of all routes that are not documented only the method. */
  readonly operation: string;
  readonly model: string | undefined;
  /** How many calls were answered. */
  readonly calls: number;
  /** How many may have been charged without an answer. */
  readonly unknown: number;
  /** The tokens that were told. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** What the answered calls cost, as far as their usage was told. */
  readonly estimate: CostEstimate;
  /** What the calls whose outcome is unknown may cost besides. */
  readonly possible: CostEstimate;
}

/** What the calls of a client have come to, by the price list. */
export interface Spent {
  readonly lines: readonly SpentLine[];
  /** The sum of what is known; see `unpriced`. */
  readonly estimate: Amount;
  /** What calls whose outcome is unknown may have cost besides, as far as that is known. */
  readonly possible: Amount;
  /** How many calls are in neither, because their price or their usage is not known. */
  readonly unpriced: number;
  /** The budget of the client, in US dollars; `undefined` when it has none. */
  readonly budget:
    | { readonly limit: number; readonly spent: number; readonly reserved: number }
    | undefined;
}

/** The handle of a video task, as `task.ref` and `onSubmitted` give it. */
export interface SettleRef {
  readonly kind: 'video';
  /** The task id: lines of refunds name it. */
  readonly id: string;
  /** The request that submitted it: the line of the charge names it. */
  readonly requestId?: string | undefined;
  readonly baseURL?: string | undefined;
}

/** What can be settled: an error, a video task or its handle, or a request id. */
export type SettleQuestion = GatewayError | SettleRef | { readonly ref: SettleRef } | string;

/** Whether a call was charged, as far as the usage log tells. */
export interface Settlement {
  /**
   * - `charged`: it was charged, and not refunded.
   * - `refunded`: all that was charged for it was refunded.
   * - `not_charged`: it failed, and the gateway is done with it, or it cost nothing.
   * - `unknowable`: the usage log does not tell. A missing entry proves nothing.
   *
   * Only entries that name one of its requests or its task count.
   */
  readonly verdict: 'charged' | 'refunded' | 'not_charged' | 'unknowable';
  /** What is paid, or was refunded; 0 for `not_charged`, `undefined` for `unknowable`. */
  readonly amount?: Amount | undefined;
  /**
   * Whether the amount is not expected to change: every request of the call has its entry, and the log was
   * read at least 5 seconds after the last of them. Otherwise the amount may be a part of the sum, as the
   * gateway writes one entry after the other; a video that was charged may still be refunded.
   */
  readonly isFinal: boolean;
  readonly requestId?: string | undefined;
  readonly taskId?: string | undefined;
  /** When the usage log was read, in milliseconds since 1970. */
  readonly asOf: number;
  /** What it was concluded from, in one or two sentences. */
  readonly why: string;
}
