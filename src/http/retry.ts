import type { ErrorBody } from '../answers/error-body.ts';
import type { ChargeClass } from '../endpoints.ts';
import type { Outcome, Phase } from '../errors/gateway-error.ts';
import type { ResponseIssue } from '../types.ts';

/** `retry`: within `maxRetries`; `once`: at most one; `refresh`: once, with a new key; `throw`: never. */
export type Rule = 'retry' | 'once' | 'refresh' | 'throw';

/** `keyed`: by its key the gateway does the work of the call once, however often it is sent. */
type Column = ChargeClass | 'keyed';

type Rules = Readonly<Record<Column, Rule>>;

const rules = (free: Rule, metered = free, charged = metered, keyed = free): Rules => ({
  free,
  metered,
  charged,
  keyed,
});
const never = rules('throw');
const once = rules('once');
const always = rules('retry');
const unlessCharged = rules('retry', 'retry', 'throw');
const ifFree = rules('retry', 'throw');
const onceIfCharged = rules('retry', 'retry', 'once');

interface Row {
  /** What the failure proves about the request, before the charge class is looked at. */
  readonly outcome: Outcome;
  readonly rules: Rules;
  /** What to do about it, where that is more than its outcome says by itself. */
  readonly advice: string | undefined;
}

const row = (outcome: Outcome, repeated: Rules, advice?: string): Row => ({
  outcome,
  rules: repeated,
  advice,
});

const limited = 'It was refused before any work; wait before you send it again.';
const checkFirst = 'check the account before sending it again.';

/**
 * The decision table: every way in which an attempt can fail, what it proves, what may be repeated
 * after it, per charge class, and what to advise.
 *
 * The rule behind it is RFC 9110, 9.2.2: a request that is not idempotent may be repeated by a client
 * only when the first one was provably not applied. So no row of a charged call retries on an
 * unknown outcome; a test walks the table and proves it.
 */
export const failures = {
  invalid_input: row('not_sent', never),
  /** Nothing was sent, or HTTP/2 promises that nothing was processed. */
  cannot_connect: row('not_sent', always),
  /** A wrong name stays wrong, but the name server may only have had trouble. */
  host_not_found: row('not_sent', once, 'Nothing was sent. Check baseURL.'),
  tls_failed: row(
    'not_sent',
    never,
    'Nothing was sent. Check the certificate of the gateway and the scheme of baseURL.',
  ),
  /** By the caller. */
  aborted: row('unknown', never),
  timed_out: row('unknown', unlessCharged),
  /** The connection was lost, or somebody on the way gave up; work may have begun. */
  interrupted: row('unknown', unlessCharged),
  /** The gateway says that the work failed. */
  server_error: row(
    'unknown',
    unlessCharged,
    `The gateway reports that the work failed and usually refunds it; ${checkFirst}`,
  ),
  /** A success status, or a provider that may have done the work: the request was probably accepted. */
  unusable_answer: row('unknown', ifFree),
  /** An error that says neither that work had begun nor that it had not. */
  undecided: row('unknown', never),
  /** By the gateway or the provider, who may bill for having read it. */
  content_refused: row(
    'unknown',
    never,
    'The gateway refused the content, and may charge for that; change it before you send it again.',
  ),
  /** The place that it leads to may hold the result of the work. */
  redirected_after_work: row(
    'unknown',
    never,
    `Usually baseURL is wrong and nothing was done, but some servers answer so after the work; ${checkFirst}`,
  ),
  redirected: row(
    'rejected',
    never,
    'A request is never sent on to another place, and nothing was done here.',
  ),
  /** By its status, or by a code that says that the same request fails again. */
  refused: row('rejected', never),
  /** With a key it means that the first attempt is still at work. */
  conflict: row('rejected', rules('throw', 'throw', 'throw', 'retry')),
  unauthorized: row('rejected', rules('refresh')),
  too_early: row('rejected', onceIfCharged),
  /** A 429: nothing was done, and it may be sent again, after the pause that it asks for. */
  rate_limited: row('rejected', always, limited),
  /** A 429 without a body or a hint comes from a proxy in between. */
  bare_rate_limited: row('rejected', onceIfCharged, limited),
} satisfies Record<string, Row>;

/** Every way in which an attempt can fail. */
export type FailureKind = keyof typeof failures;

/** What is known of a failed attempt. */
export interface FailedAttempt {
  readonly kind: FailureKind;
  /** `local` when nothing was sent, whatever kept it from being sent. */
  readonly phase: Phase;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** What the platform threw; never an error of an HTTP library, which would hold the request. */
  readonly cause?: unknown;
  readonly headers?: Headers | undefined;
  readonly body?: ErrorBody | undefined;
  /** Whether an error response was read to its end. */
  readonly isAnswered?: boolean | undefined;
  /** The text of a body that came with a success status. */
  readonly text?: string | undefined;
  /** The limit that was passed, in milliseconds. */
  readonly timeout?: number | undefined;
  /** What is wrong with an answer that came with a success status. */
  readonly problem?: string | undefined;
  /** Where the answer differs from what was expected, and the answer itself. */
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/** What the decision needs to know of the call. */
export interface RetryState {
  readonly charge: ChargeClass;
  /** The option of that name; `undefined` when the caller did not set it. */
  readonly retryUnknownOutcome: boolean | undefined;
  /** Whether the gateway promises to do the work of this call once, however often it is sent. */
  readonly idempotent?: boolean;
  readonly maxRetries: number;
  /** Retries made so far. */
  readonly retries: number;
  /** Whether asking for the key again can give another one, so that a 401 is worth a second attempt. */
  readonly canRefresh: boolean;
  /** Whether the body can be sent again; a stream cannot. */
  readonly replayable: boolean;
  /** What the server says of sending it again, if anything. */
  readonly asked?: boolean | undefined;
}

/** The column of the table that a call stands under. */
function columnOf({ idempotent, charge, retryUnknownOutcome }: RetryState): Column {
  if (idempotent) return 'keyed';
  if (charge === 'free' || retryUnknownOutcome === undefined) return charge;
  return retryUnknownOutcome ? 'metered' : 'charged';
}

/** What a failure proves about the request. */
export function outcomeOf({ kind, phase }: Pick<FailedAttempt, 'kind' | 'phase'>): Outcome {
  return phase === 'local' ? 'not_sent' : failures[kind].outcome;
}

/** What the table says, and the server, which can only forbid it for a call that may have been charged. */
function ruleOf(kind: FailureKind, column: Column, asked: boolean | undefined): Rule {
  const { rules: own, outcome } = failures[kind];
  const rule = own[column];
  if (asked === undefined || rule === 'refresh') return rule;
  if (!asked) return 'throw';
  const costsNothing = column === 'metered' ? outcome === 'rejected' : column !== 'charged';
  return costsNothing ? 'retry' : rule;
}

/** Decides, without any effect, whether a failed attempt is repeated. */
export function decide(
  { kind, phase }: Pick<FailedAttempt, 'kind' | 'phase'>,
  state: RetryState,
): 'retry' | 'refresh' | 'throw' {
  const column = columnOf(state);
  const rule = ruleOf(kind, column, state.asked);
  // Once an answer has begun the work was done and is billed.
  const isBilled = phase === 'body' && (column === 'metered' || column === 'charged');
  if (!state.replayable || isBilled || phase === 'local' || rule === 'throw') return 'throw';
  if (rule === 'refresh') return state.canRefresh ? 'refresh' : 'throw';
  const limit = rule === 'once' ? Math.min(1, state.maxRetries) : state.maxRetries;
  return state.retries < limit ? 'retry' : 'throw';
}

const firstPause = 500;
const longestPause = 8_000;

/** The longest wait that a server may ask for; past it the call fails at once. */
const longestRetryAfter = 60_000;

/**
 * The pause before an attempt is repeated, in milliseconds, or `undefined` when the server asks for too
 * long a wait. When it asks for none the pause grows with each retry and has full jitter, so that many
 * clients that failed together do not come back together.
 *
 * @param retries - How many were made before.
 */
export function pauseBefore(
  { kind, status, headers }: FailedAttempt,
  retries: number,
): number | undefined {
  const asked = headers && retryAfterFrom(headers, status);
  if (asked !== undefined) return asked > longestRetryAfter ? undefined : asked;
  const pause = Math.round(Math.min(longestPause, firstPause * 2 ** retries) * Math.random());
  // A proxy that says nothing is given at least a second.
  return kind === 'bare_rate_limited' ? Math.max(1_000, pause) : pause;
}

/** Numbers above this are a point in time and not a duration: 30 years are no wait. */
const oldestUnixTime = 1_000_000_000;

const number = /^\d+(\.\d+)?$/;

/** The wait that seconds, a Unix time or a date ask for. */
function waitFrom(text: string | null): number | undefined {
  if (text === null) return undefined;
  const now = Date.now();
  if (number.test(text)) {
    const wait = Number(text) * 1_000 - (Number(text) > oldestUnixTime ? now : 0);
    return Math.max(0, Math.ceil(wait));
  }
  // Engines parse almost anything as a date ("-5" is in May 2001), so a time of day is asked for.
  if (!/\d:\d\d:\d\d/.test(text)) return undefined;
  // The asctime form of RFC 9110, 5.6.7 has no zone and means UTC.
  const date = Date.parse(/(gmt|utc|z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * How long the server asks to wait, in milliseconds, or `undefined`.
 *
 * Reads `retry-after-ms`, `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), what LiteLLM hands
 * on of a provider, and after a 429 the reset of the `RateLimit` headers, which other answers carry for
 * information only.
 */
export function retryAfterFrom(headers: Headers, status: number | undefined): number | undefined {
  const exact = headers.get('retry-after-ms') ?? '';
  if (number.test(exact)) return Math.ceil(Number(exact));
  const after = headers.get('retry-after') ?? headers.get('llm_provider-retry-after');
  return waitFrom(after) ?? waitFrom(status === 429 ? headers.get('ratelimit-reset') : null);
}

const capacity = 500;
const costOfRetry = 5;
const costAfterTimeout = 10;

/**
 * A token bucket that all calls of a client share, so that an outage does not multiply its load.
 *
 * Each retry takes tokens and each success gives one back. While calls mostly succeed it never runs
 * dry; when everything fails, retries stop after a while and each call fails at once.
 */
export class RetryBudget {
  #tokens = capacity;

  /** Takes the tokens of one retry; `false` when there are not enough left. */
  take(afterTimeout: boolean): boolean {
    const cost = afterTimeout ? costAfterTimeout : costOfRetry;
    if (this.#tokens < cost) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Gives back for a call that succeeded. */
  give(): void {
    this.#tokens = Math.min(capacity, this.#tokens + 1);
  }
}
