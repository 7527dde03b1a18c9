import type { ErrorBody } from '../../answers/failure.ts';
import { checkInteger, checkObject } from '../../options/check.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { ClientLimits, ModelLimits } from '../../options/options.ts';
import { readReset, readRetryAfter } from '../../http/retry-after.ts';
import { FairQueue } from '../../http/fair-queue.ts';
import { Ramp } from './ramp.ts';

/** The window of the limits per minute in milliseconds. */
const minute = 60_000;

const names = ['requestsPerMinute', 'tokensPerMinute', 'concurrency'];

/** @throws `InvalidInputError` naming the invalid field */
function checkFields(field: string, limits: unknown, known: readonly string[]): void {
  checkObject(field, limits);
  for (const [name, value] of Object.entries(limits ?? {})) {
    const path = `${field}.${name}`;
    if (value === undefined || value === null) continue;
    if (!known.includes(name)) {
      throw new InvalidInputError(path, `is not a limit; use ${known.join(', ')}.`);
    }
    if (name !== 'models') checkInteger(path, value, 1);
  }
}

/** @throws `InvalidInputError` naming the invalid field */
export function checkLimits(limits: ClientLimits | null | undefined): void {
  checkFields('limits', limits, [...names, 'models']);
  checkObject('limits.models', limits?.models);
  for (const [model, fields] of Object.entries(limits?.models ?? {})) {
    checkFields(`limits.models.${model}`, fields, names);
  }
}

/** The requests that count towards one set of limits. The cost of each does not depend on their number. */
class Meter {
  readonly #limits: ModelLimits;
  readonly #isPerMinute: boolean;
  readonly #running = new Set<Turn>();
  /** The requests of the last minute, and those that are not sent yet. */
  readonly #counted = new Set<Turn>();
  #tokens = 0;
  /** Requests in the order in which they were sent. Those before `#first` no longer count. */
  #sent: Turn[] = [];
  #first = 0;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
    const { requestsPerMinute, tokensPerMinute } = limits;
    this.#isPerMinute = (requestsPerMinute ?? tokensPerMinute ?? Infinity) !== Infinity;
  }

  /** Returns the milliseconds until a request may start; `Infinity` if another one must end or be sent first. */
  waitFor(tokens: number, now: number): number {
    const { concurrency, requestsPerMinute, tokensPerMinute } = this.#limits;
    const mostRequests = requestsPerMinute ?? Infinity;
    const mostTokens = tokensPerMinute ?? Infinity;
    if (this.#running.size >= (concurrency ?? Infinity)) return Infinity;
    this.#forgetOld(now);
    // A request with more tokens than the limit starts alone, once no others count.
    const room = tokens > 0 ? mostTokens - Math.min(tokens, mostTokens) : Infinity;
    let count = this.#counted.size;
    let used = this.#tokens;
    let wait = 0;
    for (let index = this.#first; count >= mostRequests || used > room; index += 1) {
      const turn = this.#sent[index];
      if (turn === undefined) return Infinity;
      count -= 1;
      used -= turn.tokens;
      wait = turn.sentAt + minute - now;
    }
    return wait;
  }

  #forgetOld(now: number): void {
    for (;;) {
      const turn = this.#sent[this.#first];
      if (turn === undefined || turn.sentAt + minute > now) break;
      this.#forget(turn);
      this.#first += 1;
    }
    if (this.#first * 2 <= this.#sent.length) return;
    this.#sent = this.#sent.slice(this.#first);
    this.#first = 0;
  }

  #forget(turn: Turn): void {
    if (!this.#counted.delete(turn)) return;
    // Sums of fractions drift.
    this.#tokens = this.#counted.size === 0 ? 0 : this.#tokens - turn.tokens;
  }

  add(turn: Turn): void {
    this.#running.add(turn);
    if (!this.#isPerMinute) return;
    this.#counted.add(turn);
    this.#tokens += turn.tokens;
  }

  sent(turn: Turn): void {
    if (this.#isPerMinute) this.#sent.push(turn);
  }

  /** Replaces the estimate of a request. */
  correct(turn: Turn, tokens: number): void {
    if (this.#counted.has(turn)) this.#tokens += tokens - turn.tokens;
  }

  end(turn: Turn): void {
    this.#running.delete(turn);
    if (turn.sentAt === Infinity) this.#forget(turn);
  }
}

/** The limits of the requests to one model, and when they may start, or of those without a model. */
interface Lane {
  readonly meter: Meter;
  readonly ramp: Ramp;
}

/** One attempt of a call. */
export interface Turn {
  readonly lane: Lane;
  /** Estimated until the response reports its usage. */
  tokens: number;
  /** On the clock of `performance.now()`; `Infinity` until it is sent. */
  sentAt: number;
  /** `lane.ramp.changes` at the start. */
  changes: number;
}

/** Returns the milliseconds until limits are reset; `undefined` if the headers have none. */
function findReset(headers: Headers, which: 'exhausted' | 'all'): number | undefined {
  const wait = readReset(headers, which);
  // A later reset isn't that of a limit per minute, so the gateway's error is more useful than the wait.
  return wait === undefined ? undefined : Math.min(minute, wait);
}

/** Lets the requests of a client start in order, as soon as its limits allow it. */
export class Limits {
  readonly #models: ReadonlyMap<string | undefined, ModelLimits>;
  readonly #all: Meter;
  readonly #lanes = new Map<string | undefined, Lane>();
  readonly #turns = new FairQueue<Turn>(
    ({ lane: { meter, ramp }, tokens }) => {
      const now = performance.now();
      const lane = Math.max(ramp.pause, meter.waitFor(tokens, now));
      return { all: this.#all.waitFor(tokens, now), lane };
    },
    (turn) => {
      const { meter, ramp } = turn.lane;
      turn.changes = ramp.changes;
      ramp.started();
      this.#all.add(turn);
      meter.add(turn);
    },
  );

  constructor({ models, ...client }: ClientLimits) {
    const entries = Object.entries(models ?? {});
    this.#models = new Map(entries.map(([model, fields]) => [model, { ...fields }]));
    this.#all = new Meter(client);
  }

  /** Waits until an attempt may start. `end()` must be called for the turn. */
  async enter(model: string | undefined, tokens: number, signal: AbortSignal): Promise<Turn> {
    const lane = this.#lanes.get(model) ?? {
      meter: new Meter(this.#models.get(model) ?? {}),
      ramp: new Ramp(),
    };
    this.#lanes.set(model, lane);
    const turn: Turn = { lane, tokens, sentAt: Infinity, changes: 0 };
    await this.#turns.take(turn, signal);
    return turn;
  }

  sent(turn: Turn): void {
    turn.sentAt = performance.now();
    this.#all.sent(turn);
    turn.lane.meter.sent(turn);
    this.#turns.update();
  }

  /** Replaces the estimate of an attempt by the tokens that its response reports. */
  correct(turn: Turn, tokens: number): void {
    this.#all.correct(turn, tokens);
    turn.lane.meter.correct(turn, tokens);
    turn.tokens = tokens;
  }

  /** Follows the headers of a success response. */
  answered({ lane: { ramp }, changes }: Turn, headers: Headers): void {
    ramp.succeeded(changes);
    ramp.hold(findReset(headers, 'exhausted') ?? 0);
    this.#turns.update();
  }

  /** Follows the headers and the error of an error response. */
  failed(
    { lane: { ramp } }: Turn,
    status: number | undefined,
    headers: Headers,
    body?: ErrorBody,
  ): void {
    const reset = findReset(headers, 'exhausted');
    ramp.hold(reset ?? 0);
    if (status !== 429) return;
    const hint = readRetryAfter(headers, status, body) ?? reset ?? findReset(headers, 'all');
    if (hint !== undefined) ramp.limit(Math.min(minute, hint));
  }

  /** Ends an attempt. Safe to call more than once. */
  end(turn: Turn): void {
    this.#all.end(turn);
    turn.lane.meter.end(turn);
    this.#turns.update();
  }
}
