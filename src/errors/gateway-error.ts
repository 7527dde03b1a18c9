/**
 * The outcome of a failed request.
 *
 * - `not_sent`: provably, no complete request reached a server. Sending it again cannot pay twice.
 * - `rejected`: the gateway rejected the request. No charge is expected.
 * - `unknown`: the request was or may have been sent, without a definite response. It may have been charged.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** The phase of an attempt that failed. */
export type Phase = 'local' | 'connect' | 'sent' | 'headers' | 'body';

/** The facts about one attempt. */
export interface AttemptEvidence {
  /** The last phase of the attempt. */
  readonly phase: Phase;
  /** The runtime's error code, for example `ECONNRESET`, or the gateway's own error code. */
  readonly code?: string | undefined;
  /** Host and port that failed, if that is not the gateway: a proxy, or what a custom `fetch` requested. */
  readonly address?: string | undefined;
  /** HTTP status, if one was received. */
  readonly status?: number | undefined;
  /** The gateway's request id, if one was received. */
  readonly requestId?: string | undefined;
  /** `true` if an error response was read to its end, so the gateway has finished the request. */
  readonly isErrorComplete?: boolean | undefined;
  /** The requested model, if the call may request several; see `fallback`. */
  readonly model?: string | undefined;
}

/** The facts that `GatewayError.outcome` is based on. */
export interface Evidence extends AttemptEvidence {
  /**
   * Every attempt of the call, in order. Empty if nothing was sent, or if no attempt failed, as when a video
   * task fails.
   */
  readonly attempts: readonly AttemptEvidence[];
}

/** Fields of every error of this package. */
export interface GatewayErrorInit {
  readonly outcome: Outcome;
  readonly evidence?: Evidence | undefined;
  readonly callId?: string | undefined;
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

const kinds = Symbol.for('model-gateway.error.kinds');

/** The advice for errors without a more specific one. */
export const defaultAdvice: Readonly<Record<Outcome, string>> = {
  not_sent: 'Nothing was sent, so it is safe to send the request again.',
  rejected: 'The gateway rejected the request, so no charge is expected.',
  unknown:
    'The request may have been accepted and charged. Check the account before sending it again.',
};

/** Returns the message of an error with advice. The text of a gateway often ends without a full stop. */
export function withAdvice(summary: string, advice: string): string {
  if (advice === '') return summary;
  // A bracket ends no sentence: "(request id: 2026)".
  const hasEnd = /\p{P}$/u.test(summary) && !summary.endsWith(')');
  return `${summary}${hasEnd ? '' : '.'} ${advice}`;
}

/**
 * The base class of all errors that this package throws.
 *
 * Errors contain no headers, prompt or key of the request.
 */
export class GatewayError extends Error {
  /** The name of the class, kept through minification and across copies of the package. */
  static readonly kind: string = 'GatewayError';

  // Fields are declared with `declare`, because the constructors set them.

  /** `not_sent`, `rejected`, or `unknown` if the request may have been charged. */
  declare readonly outcome: Outcome;
  /** The facts that `outcome` is based on. */
  declare readonly evidence: Evidence;
  /** Identifies the call, with all its attempts, in errors and logs. */
  declare readonly callId: string | undefined;
  /** The recommended next step, in one or two sentences; also the end of `message`. */
  declare readonly advice: string;
  /** `message` without `advice`. Not enumerable. */
  declare readonly summary: string;

  /** @param summary - What failed. `message` is this text with the advice. */
  constructor(summary: string, init: GatewayErrorInit) {
    const advice = init.advice ?? defaultAdvice[init.outcome];
    const options = init.cause === undefined ? undefined : { cause: init.cause };
    super(withAdvice(summary, advice), options);
    Object.defineProperty(this, 'summary', { value: summary });
    this.name = new.target.kind;
    this.outcome = init.outcome;
    this.evidence = init.evidence ?? { phase: 'local', attempts: [] };
    this.callId = init.callId;
    this.advice = advice;
  }

  /** `true` if sending the request again could pay twice. OpenAI's agents SDK reads this field. */
  get unsafeToReplay(): boolean {
    return this.outcome === 'unknown';
  }

  /** Returns the name, the message and the fields for `JSON.stringify()`, without the cause. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { name: this.name, message: this.message };
    return Object.assign(json, this);
  }

  /**
   * Returns whether `value` is an error of this class or a subclass.
   *
   * Unlike `instanceof`, it also recognises errors of another copy of this package.
   */
  static isInstance<Class extends abstract new (...parameters: never) => GatewayError>(
    this: Class & { readonly kind: string },
    value: unknown,
  ): value is InstanceType<Class> {
    if (typeof value !== 'object' || value === null) return false;
    try {
      const found: unknown = kinds in value ? value[kinds] : undefined;
      return Array.isArray(found) && found.includes(this.kind);
    } catch {
      // A proxy may throw on any access.
      return false;
    }
  }

  /** @internal The names of the classes that this error belongs to. */
  get [kinds](): readonly string[] {
    const names: string[] = [];
    let level: object = this.constructor;
    for (; 'kind' in level; level = Object.getPrototypeOf(level)) names.push(String(level.kind));
    return names;
  }
}

/** Changes what an error says about its whole call, after further requests of the call. */
export function revise(
  error: GatewayError,
  change: Pick<GatewayErrorInit, 'advice'> &
    Partial<Pick<GatewayErrorInit, 'outcome' | 'evidence'>>,
): void {
  const advice = change.advice ?? error.advice;
  Object.assign(error, change, { advice, message: withAdvice(error.summary, advice) });
}

/**
 * A parameter or option is invalid. Nothing was sent.
 *
 * The message names the field and the fix.
 */
export class InvalidInputError extends GatewayError {
  static override readonly kind: string = 'InvalidInputError';

  /** The invalid parameter or option, for example `"baseURL"` or `"messages"`. */
  declare readonly field: string;
  /** The problem and its fix: `message` without `field`. Not enumerable. */
  declare readonly problem: string;

  constructor(field: string, problem: string, options: { cause?: unknown } = {}) {
    super(`${field}: ${problem}`, { outcome: 'not_sent', advice: '', cause: options.cause });
    this.field = field;
    Object.defineProperty(this, 'problem', { value: problem });
  }
}
