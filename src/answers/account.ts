/** Entries of a gateway's usage log, balances and prices, in one form for every gateway. */
import type { JsonObject, OpenString } from '../types.ts';

/**
 * An amount of credit.
 *
 * `quota` is the gateway's own unit, used in its usage log. 500,000 quota are one US dollar, unless the operator
 * of the gateway has set another rate, which no route returns.
 */
export interface Amount {
  readonly value: number;
  readonly unit: 'quota' | 'USD';
}

/**
 * The type of an entry in the usage log.
 *
 * - `consume`: a request was charged, or a video task was charged more when it was completed.
 * - `refund`: credit was returned, for a video task that failed or cost less.
 * - `error`: a request failed on one channel; the gateway may have continued with another one. Most gateways
 *   do not log these.
 */
export type ChargeType = OpenString<'consume' | 'refund' | 'error'>;

/** An entry in the gateway's usage log. */
export interface ChargeEntry {
  readonly type: ChargeType;
  /** The amount charged or refunded; never negative. */
  readonly amount: Amount;
  readonly model: string | undefined;
  /** When the entry was written, in milliseconds since 1970 by the gateway's clock, rounded to seconds. */
  readonly at: number;
  /** The id of the request: `requestID` in errors, `_request_id` in results. Entries of refunds have none. */
  readonly requestId: string | undefined;
  /** The id of the video task. Usually set only on refunds. */
  readonly taskId: string | undefined;
  /** The reason of a refund, or the message of an error. */
  readonly reason: string | undefined;
  /** Counted tokens; 0 if the call is not billed per token. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** The original entry, with `other` parsed. Not enumerable. */
  readonly raw: JsonObject;
}

/** The used and the available credit of a key. */
export interface Balance {
  /** The amount charged to this key since it was created, minus refunds. */
  readonly used: Amount;
  /** The total limit of the key; `undefined` if the key has no limit of its own. */
  readonly limit: Amount | undefined;
  /** The rest of `limit`. */
  readonly available: Amount | undefined;
  /** When the key expires, in milliseconds since 1970; `undefined` if it does not. */
  readonly expiresAt: number | undefined;
  readonly asOf: number;
}

/** The price of a model, before the ratio of the key's group is applied. */
export interface ModelPrice {
  readonly model: string;
  /**
   * - `call`: a fixed price per call or image. Gateways of the new-api family also list prices per second of a
   *   video so, and report the seconds in the response.
   * - `second`: a price per second of a video or of audio.
   * - `character`: a price per character of a speech.
   * - `unknown`: the gateway lists the model without a price that is known here.
   */
  readonly billedPer: 'call' | 'token' | 'second' | 'character' | 'unknown';
  /** The price of a call, in US dollars. Only with `billedPer: 'call'`. */
  readonly perCall: Amount | undefined;
  /** The price of a second, in US dollars. Only with `billedPer: 'second'`. */
  readonly perSecond?: Amount | undefined;
  /** The price of a character, in US dollars. Only with `billedPer: 'character'`. */
  readonly perCharacter?: Amount | undefined;
  /**
   * The price per million input tokens, in US dollars. Only with `billedPer: 'token'`, like the next two
   * prices.
   */
  readonly input: Amount | undefined;
  readonly output: Amount | undefined;
  /** The price of input cached by the vendor; `undefined` if the gateway does not report it. */
  readonly cachedInput: Amount | undefined;
  /** The prices per million tokens of images and audio; `undefined` if the gateway lists none of their own. */
  readonly imageInput?: Amount | undefined;
  readonly imageOutput?: Amount | undefined;
  readonly audioInput?: Amount | undefined;
  readonly audioOutput?: Amount | undefined;
  /** `true` if the list says that the model makes images or videos, also for text operations. */
  readonly isMedia?: boolean | undefined;
  /** The groups whose keys may use the model. Empty if the gateway does not report them. */
  readonly groups: readonly string[];
  /** The original entry, with ratios for audio, images and more. Not enumerable. */
  readonly raw: JsonObject;
}
