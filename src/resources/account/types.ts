import type { GatewayError } from '../../errors/gateway-error.ts';
import type {
  Amount,
  Balance,
  ChargeEntry,
  ChargeType,
  ModelPrice,
} from '../../answers/account.ts';

export type { Amount, Balance, ChargeEntry, ChargeType, ModelPrice };

/** Options of the methods of `account`. */
export interface AccountOptions {
  /** Aborts the call. A read that other calls share continues. */
  signal?: AbortSignal | null | undefined;
  /**
   * Maximum age of a cached result, in milliseconds; 0 always sends a request. Gateways allow about 20 reads
   * of the usage log in 20 minutes.
   * @defaultValue 5000 for usage log and balance, 600000 for prices
   */
  maxAge?: number | undefined;
}

/** A search in the usage log. Entries must match every field that is set. */
export interface ChargesQuery {
  /** The `requestID` of an error or the `_request_id` of a result. */
  requestId?: string | undefined;
  /**
   * The id of a video task. Often only the entry of its refund contains it; `settle(task.ref)` also finds its
   * charge.
   */
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

/** Entries of the usage log. */
export interface Charges {
  /** Newest first. */
  readonly data: readonly ChargeEntry[];
  /** When the log was read, in milliseconds since 1970 by this machine's clock. */
  readonly asOf: number;
  /**
   * The time of the oldest entry that the gateway sent, whether or not it matches; `undefined` if it sent
   * none. The gateway sends only the newest entries (about 1,000), so older ones are unknown.
   */
  readonly oldestAt: number | undefined;
}

/** The price list of a gateway. */
export interface Prices {
  readonly models: readonly ModelPrice[];
  /** Factors for the prices of keys in a group, by the name of the group. */
  readonly groupRatios: Readonly<Record<string, number>>;
  readonly asOf: number;
}

/** The call to estimate. */
export interface CostQuery {
  /** The requested model. Responses may use another name than the price list. */
  model: string;
  /**
   * The `usage` of a completion, of embeddings or of images, or the `usageMetadata` of a generation. Required
   * for models billed by token.
   */
  usage?: object | null | undefined;
  /** The number of images, 1 or more. @defaultValue 1 */
  images?: number | undefined;
  /**
   * The length of a video or of audio, in seconds, for models billed by second. The default is the `seconds` of
   * `usage`, which transcriptions report.
   */
  seconds?: number | undefined;
  /** The number of characters of a speech, for models billed by character. */
  characters?: number | undefined;
  /**
   * The response headers of a call, from `withResponse()`. They contain the cost at LiteLLM, which then is the
   * estimate, and after the submission of a video at other gateways the multipliers of its price, such as its
   * seconds.
   */
  headers?: Headers | undefined;
  /** The group of the key, if prices differ by group. */
  group?: string | undefined;
}

/**
 * The estimated cost by the price list, or the reason why it is unknown. Only the usage log has the charged
 * amount.
 */
export type CostEstimate =
  | { readonly amount: Amount; readonly reason?: undefined }
  | { readonly amount?: undefined; readonly reason: string };

/** The cost of all calls of one operation to one model. */
export interface SpentLine {
  /** Such as `images.generate`; for routes that are not documented, only the HTTP method. */
  readonly operation: string;
  readonly model: string | undefined;
  /** The number of calls with a response, without those that `settle()` proved to be free. */
  readonly calls: number;
  /** The number of calls without a response that may have been charged. */
  readonly unknown: number;
  /** The number of lost attempts that were followed by another one, and may have been charged too. */
  readonly lost: number;
  /**
   * The number of `calls` whose response reported a cost, which is used instead of the price list.
   */
  readonly reported: number;
  /** The tokens that responses reported. */
  readonly tokens: { readonly input: number; readonly output: number };
  /**
   * The cost: as reported, otherwise by the price list, as far as it is known. If a response has no usage, such
   * as a stream that was left, its tokens are assumed: those of the text, and the requested maximum or 1,000.
   */
  readonly estimate: CostEstimate;
  /** The additional cost of `unknown` calls and `lost` attempts, if they were charged. */
  readonly possible: CostEstimate;
}

/** The cost of all calls of a client. */
export interface Spent {
  readonly lines: readonly SpentLine[];
  /** The sum of all known costs; see `unpriced`. */
  readonly estimate: Amount;
  /** The additional cost of `unknown` calls and `lost` attempts, if they were charged, as far as it is known. */
  readonly possible: Amount;
  /** The number of calls and lost attempts that are in neither sum, because their price or usage is unknown. */
  readonly unpriced: number;
  /** The budget of the client, in US dollars; `undefined` without one. */
  readonly budget:
    | { readonly limit: number; readonly spent: number; readonly reserved: number }
    | undefined;
}

/** The handle of a video task, from `task.ref` or `onSubmitted`. */
export interface SettleRef {
  readonly kind: 'video';
  /** The task id, which entries of refunds contain. */
  readonly id: string;
  /** The id of the request that submitted it, which the entry of its charge contains. */
  readonly requestId?: string | undefined;
  readonly baseURL?: string | undefined;
}

/**
 * The input of `settle()`: an error, a video task, the handle of a video or image task, a response with its
 * `_request_id`, or a request id.
 */
export type SettleTarget =
  | GatewayError
  | SettleRef
  | { readonly ref: SettleRef }
  | { readonly _request_id?: string | null }
  | { readonly request_id: string | null | undefined }
  | Response
  | string;

/** The verdict of the usage log on a call. */
export interface Settlement {
  /**
   * - `charged`: it was charged, and not refunded.
   * - `refunded`: all that was charged for it was refunded.
   * - `not_charged`: it failed and the gateway will not try it again, or it cost nothing.
   * - `unknowable`: the usage log doesn't show it. A missing entry proves nothing.
   *
   * Based only on entries that contain the id of one of its requests or of its task.
   */
  readonly verdict: 'charged' | 'refunded' | 'not_charged' | 'unknowable';
  /** The amount charged or refunded; 0 for `not_charged`, `undefined` for `unknowable`. */
  readonly amount?: Amount | undefined;
  /**
   * `true` if the amount is not expected to change: every request of the call has its entry, and the log was
   * read at least 5 seconds after the last of them. Otherwise the amount may be partial, because the gateway
   * writes its entries one by one, and a charged video may still be refunded.
   */
  readonly isFinal: boolean;
  readonly requestId?: string | undefined;
  readonly taskId?: string | undefined;
  /** The model of the charge, if it is the only one: with `fallback`, the model that took the call. */
  readonly model?: string | undefined;
  /** When the usage log was read, in milliseconds since 1970. */
  readonly asOf: number;
  /** The reason for the verdict, in one or two sentences. */
  readonly reason: string;
}
