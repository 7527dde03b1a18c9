import type { ErrorBody } from '../answers/failure.ts';
import type { ChargeClass } from '../endpoints.ts';
import type { Outcome, Phase } from '../errors/gateway-error.ts';
import type { ResponseIssue } from '../types.ts';
import { longestRetryAfter, readRetryAfter } from './retry-after.ts';

/** `retry`: within `maxRetries`; `once`: at most one; `refresh`: once, with a new key; `throw`: never. */
type Rule = 'retry' | 'once' | 'refresh' | 'throw';

/**
 * `keyed`: the gateway honours the idempotency key and does the work once, however often the request is sent.
 * `allowed`: the caller sets `retryUnknownOutcome: true`.
 */
type Column = ChargeClass | 'keyed' | 'allowed';

type Rules = Readonly<Record<Column, Rule>>;

const all = (rule: Rule): Rules => ({
  free: rule,
  metered: rule,
  charged: rule,
  keyed: rule,
  allowed: rule,
});
const never = all('throw');
const once = all('once');
const always = all('retry');
const unlessCharged: Rules = { ...always, charged: 'throw' };
const unlessBilled: Rules = { ...always, metered: 'throw', charged: 'throw' };
const onceIfCharged: Rules = { ...always, charged: 'once' };
const ifFree: Rules = { ...never, free: 'retry', keyed: 'retry' };
const onceIfFree: Rules = { ...never, free: 'once', keyed: 'once' };
const ifKeyed: Rules = { ...never, keyed: 'retry' };

interface Row {
  /** The outcome that the failure proves, before the charge class is considered. */
  readonly outcome: Outcome;
  readonly rules: Rules;
  /** Advice, if it differs from the default for the outcome. */
  readonly advice: string | undefined;
}

const row = (outcome: Outcome, repeated: Rules, advice?: string): Row => ({
  outcome,
  rules: repeated,
  advice,
});

const limited = 'The gateway rejected it before any work; wait before you send it again.';
const checkFirst = 'check the account before sending it again.';

/**
 * The decision table: each kind of failure with its outcome, its retry rule per charge class, and advice.
 *
 * It follows RFC 9110, 9.2.2: a client may repeat a non-idempotent request only if the first one was provably
 * not applied. So charged calls are never retried after an unknown outcome; a test verifies every row.
 */
export const failures = {
  invalid_input: row('not_sent', never),
  /** Nothing was sent, or HTTP/2 promises that nothing was processed. */
  cannot_connect: row('not_sent', always),
  /** Retried once, because the name server may have failed temporarily. */
  host_not_found: row('not_sent', once, 'Nothing was sent. Check baseURL.'),
  tls_failed: row(
    'not_sent',
    never,
    'Nothing was sent. Check the certificate of the gateway and the scheme of baseURL. For an authority of your own, set NODE_EXTRA_CA_CERTS.',
  ),
  /** The proxy refused the tunnel to the gateway, or its credentials. */
  proxy_refused: row('not_sent', never, 'Nothing was sent. Check the proxy and its credentials.'),
  /** Aborted by the caller. */
  aborted: row('unknown', never),
  /** A time limit of the client. Gateways finish and bill a call whose client has disconnected. */
  timed_out: row('unknown', unlessBilled),
  /** The connection was lost, or a proxy gave up; work may have begun. */
  interrupted: row('unknown', unlessCharged),
  /** The gateway reports that the work failed. */
  server_error: row(
    'unknown',
    unlessCharged,
    `The gateway reports that the work failed and usually refunds it; ${checkFirst}`,
  ),
  /** The gateway reports that it lost the response of the provider, which some gateways charge for. */
  response_lost: row(
    'unknown',
    unlessCharged,
    `The gateway lost the provider's response, and the provider may have billed it; ${checkFirst}`,
  ),
  /**
   * The status is a success, or the provider may have done the work, so the request was probably accepted.
   */
  unusable_answer: row('unknown', ifFree),
  /** A read returned other JSON than its result. A proxy may have sent it, so it is read once more. */
  other_shape: row('unknown', onceIfFree),
  /** An error that does not reveal whether work had begun. */
  undecided: row('unknown', never),
  /** The gateway or the provider rejected the content, and may bill for having read it. */
  content_refused: row(
    'unknown',
    never,
    'The gateway rejected the content, and may charge for that; change it before you send it again.',
  ),
  /** The redirect may lead to the result of the work. */
  redirected_after_work: row(
    'unknown',
    never,
    `Usually baseURL is wrong and nothing was done, but some servers return this after doing the work; ${checkFirst}`,
  ),
  redirected: row(
    'rejected',
    never,
    'Requests are not forwarded to another URL, and nothing was done.',
  ),
  /** Rejected by status, or with an error code that recurs for the same request. */
  refused: row('rejected', never),
  /** With an idempotency key, the first attempt is still running. */
  conflict: row('rejected', ifKeyed),
  unauthorized: row('rejected', all('refresh')),
  too_early: row('rejected', onceIfCharged),
  /** A 429: nothing was done, and the request may be repeated after the requested pause. */
  rate_limited: row('rejected', always, limited),
  /** A 429 without a body or `Retry-After` comes from a proxy. */
  bare_rate_limited: row('rejected', onceIfCharged, limited),
} satisfies Record<string, Row>;

/** The kinds of failures of an attempt. */
export type FailureKind = keyof typeof failures;

/** Details of a failed attempt. */
export interface FailedAttempt {
  readonly kind: FailureKind;
  /** `local` if nothing was sent, for whatever reason. */
  readonly phase: Phase;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  /** Set if the failure is the proxy's, with the status of its response. */
  readonly proxy?: { readonly status?: number | undefined } | undefined;
  /** Host and port of what failed, if that is a proxy or something unknown. */
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
  /** The exception of the platform; never an error of an HTTP library, which would contain the request. */
  readonly cause?: unknown;
  readonly headers?: Headers | undefined;
  readonly body?: ErrorBody | undefined;
  /** `true` if an error response was read to its end. */
  readonly isErrorComplete?: boolean | undefined;
  /** The text of the body of a success response. */
  readonly text?: string | undefined;
  /** The exceeded time limit in milliseconds. */
  readonly timeout?: number | undefined;
  /** The problem with a success response. */
  readonly problem?: string | undefined;
  /** Differences from the expected response, and the response itself. */
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/** State of the call that the decision depends on. */
export interface RetryState {
  readonly charge: ChargeClass;
  /** The option of that name; `undefined` if not set. */
  readonly retryUnknownOutcome: boolean | undefined;
  /** `true` if the gateway does the work once, however often the request is sent. */
  readonly idempotent?: boolean;
  readonly maxRetries: number;
  /** Retries made so far. */
  readonly retries: number;
  /** `true` if the key comes from a function, so that a 401 may be repeated with a new key. */
  readonly canRefresh: boolean;
  /** `true` if the body can be sent again. Streams can't. */
  readonly replayable: boolean;
  /** The value of `x-should-retry`, if the response has one. */
  readonly shouldRetry?: boolean | undefined;
}

function findColumn({ idempotent, charge, retryUnknownOutcome }: RetryState): Column {
  if (idempotent) return 'keyed';
  if (charge === 'free' || retryUnknownOutcome === undefined) return charge;
  return retryUnknownOutcome ? 'allowed' : 'charged';
}

/** Returns the outcome that a failure proves. */
export function getOutcome({ kind, phase }: Pick<FailedAttempt, 'kind' | 'phase'>): Outcome {
  return phase === 'local' ? 'not_sent' : failures[kind].outcome;
}

/**
 * Returns the rule of the table, adjusted by `x-should-retry`, which can't allow a retry of a call that may
 * have been charged.
 */
function findRule(kind: FailureKind, column: Column, shouldRetry: boolean | undefined): Rule {
  const { rules: byColumn, outcome } = failures[kind];
  const rule = byColumn[column];
  if (shouldRetry === undefined || rule === 'refresh') return rule;
  if (!shouldRetry) return 'throw';
  const isRepeatable = column === 'free' || column === 'keyed';
  const costsNothing = isRepeatable || (column !== 'charged' && outcome === 'rejected');
  return costsNothing ? 'retry' : rule;
}

/** Decides whether a failed attempt is repeated. A pure function. */
export function decideRetry(
  { kind, phase }: Pick<FailedAttempt, 'kind' | 'phase'>,
  state: RetryState,
): 'retry' | 'refresh' | 'throw' {
  const column = findColumn(state);
  const rule = findRule(kind, column, state.shouldRetry);
  // Once a response has begun, the work is done and billed.
  const isBilled = phase === 'body' && column !== 'free' && column !== 'keyed';
  if (!state.replayable || isBilled || phase === 'local' || rule === 'throw') return 'throw';
  if (rule === 'refresh') return state.canRefresh ? 'refresh' : 'throw';
  const limit = rule === 'once' ? Math.min(1, state.maxRetries) : state.maxRetries;
  return state.retries < limit ? 'retry' : 'throw';
}

const firstPause = 500;
const longestPause = 8_000;

/** The most that is added to a requested wait, in milliseconds. */
const longestSpread = 1_000;

/**
 * Returns the pause before a retry in milliseconds, or `undefined` if the server requests too long a wait.
 * Up to half of a requested wait is added, at most a second. Without one, the pause grows with each retry and has
 * full jitter. So calls that failed together aren't repeated together.
 *
 * @param retries - Number of retries before this one.
 */
export function pauseBefore(
  { kind, status, headers, body }: FailedAttempt,
  retries: number,
): number | undefined {
  const retryAfter = readRetryAfter(headers, status, body);
  if (retryAfter !== undefined) {
    if (retryAfter > longestRetryAfter) return undefined;
    // All calls that were rejected together have the same wait.
    return Math.round(retryAfter + Math.min(longestSpread, retryAfter / 2) * Math.random());
  }
  const pause = Math.round(Math.min(longestPause, firstPause * 2 ** retries) * Math.random());
  // Wait at least a second for a proxy that sends no `Retry-After`.
  return kind === 'bare_rate_limited' ? Math.max(1_000, pause) : pause;
}

/** The number of successes that give one retry back. */
const successesPerRetry = 5;

/**
 * A token bucket shared by all calls of a client, so that retries don't multiply the load in an outage.
 *
 * Each retry takes from it, and each success returns a part. While most calls succeed, it never runs dry. If all
 * calls fail, retries stop after a while and each call fails immediately.
 */
export class RetryBudget {
  readonly #capacity: number;
  /** In parts of a retry. */
  #left: number;

  /** @param retries - How many retries it holds. */
  constructor(retries: number) {
    this.#capacity = retries * successesPerRetry;
    this.#left = this.#capacity;
  }

  /** Takes one retry, or two after a timeout. Returns `false` if too few are left. */
  take(afterTimeout: boolean): boolean {
    const cost = successesPerRetry * (afterTimeout ? 2 : 1);
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }

  /** Gives a part back after a successful call. */
  refund(): void {
    this.#left = Math.min(this.#capacity, this.#left + 1);
  }
}
