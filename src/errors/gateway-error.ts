/**
 * What is known about a request that failed.
 *
 * - `not_sent`: proof that no complete request reached any server. Sending it again cannot pay twice.
 * - `rejected`: a definite answer that the work was refused. No charge is expected.
 * - `unknown`: sent, or possibly sent, without a readable definite answer. It may have been charged.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** How far an attempt had come when it failed. */
export type Phase = 'local' | 'connect' | 'sent' | 'headers' | 'body';

/** What one attempt left behind. */
export interface AttemptEvidence {
  /** How far the attempt had come. */
  readonly phase: Phase;
  /** The runtime's error code, for example `ECONNRESET`, or the gateway's own error code. */
  readonly code?: string | undefined;
  /** HTTP status, when a status line was read. */
  readonly status?: number | undefined;
  /** The gateway's request id, when one was read. */
  readonly requestId?: string | undefined;
  /** `true` when an error response was read to its end: the gateway was done with the request. */
  readonly isAnswered?: boolean | undefined;
}

/** Why the client believes what `GatewayError.outcome` says. */
export interface Evidence extends AttemptEvidence {
  /**
   * Every attempt of the logical call, in order. Empty when nothing was sent, and when no attempt went
   * wrong, as when a task failed.
   */
  readonly attempts: readonly AttemptEvidence[];
}

/** What every error of this package is made from. */
export interface GatewayErrorInit {
  readonly outcome: Outcome;
  readonly evidence?: Evidence | undefined;
  readonly callId?: string | undefined;
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

const kinds = Symbol.for('model-gateway.error.kinds');

/** What to do about a failure of which nothing more is known. */
export const defaultAdvice: Readonly<Record<Outcome, string>> = {
  not_sent: 'Nothing was sent, so it is safe to send it again.',
  rejected: 'The gateway refused the request, so no charge is expected.',
  unknown:
    'The request may have been accepted and charged. Check the account before sending it again.',
};

/**
 * The base of every error that this package throws.
 *
 * It never holds anything of the request: no headers, no prompt, no key.
 */
export class GatewayError extends Error {
  /** The name of the class, kept through minification and across copies of the package. */
  static readonly kind: string = 'GatewayError';

  // The fields of errors are only declared: their constructors set them, and pages load the rest for nothing.

  /** Whether the request was `not_sent`, was `rejected`, or has an `unknown` fate. */
  declare readonly outcome: Outcome;
  /** What `outcome` was concluded from. */
  declare readonly evidence: Evidence;
  /** Identifies the logical call, over all its attempts, in errors and in logs. */
  declare readonly callId: string | undefined;
  /** What to do now, in one or two sentences. It is also the end of `message`. */
  declare readonly advice: string;

  constructor(message: string, init: GatewayErrorInit) {
    const advice = init.advice ?? defaultAdvice[init.outcome];
    super(
      advice === '' ? message : `${message} ${advice}`,
      init.cause === undefined ? undefined : { cause: init.cause },
    );
    this.name = new.target.kind;
    this.outcome = init.outcome;
    this.evidence = init.evidence ?? { phase: 'local', attempts: [] };
    this.callId = init.callId;
    this.advice = advice;
  }

  /** Whether sending it again could pay twice: the word that agents of OpenAI's SDK look for. */
  get unsafeToReplay(): boolean {
    return this.outcome === 'unknown';
  }

  /** What `JSON.stringify()` writes: the name, the message and the fields, without the cause. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { name: this.name, message: this.message };
    return Object.assign(json, this);
  }

  /**
   * Whether `value` is an error of this class or of one below it.
   *
   * Unlike `instanceof` it also recognises errors of another copy of this package.
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
      // A proxy may throw whatever it is asked.
      return false;
    }
  }

  /** @internal The names of the classes that this error belongs to. */
  get [kinds](): readonly string[] {
    const names: string[] = [];
    let one: object = this.constructor;
    for (; 'kind' in one; one = Object.getPrototypeOf(one)) names.push(String(one.kind));
    return names;
  }
}

/**
 * A parameter or option that cannot work. Thrown before anything is sent.
 *
 * The message names the field and the fix.
 */
export class InvalidInputError extends GatewayError {
  static override readonly kind: string = 'InvalidInputError';

  /** The parameter or option at fault, for example `"baseURL"` or `"messages"`. */
  declare readonly field: string;

  constructor(field: string, problem: string, options: { cause?: unknown } = {}) {
    super(`${field}: ${problem}`, { outcome: 'not_sent', advice: '', cause: options.cause });
    this.field = field;
  }
}
