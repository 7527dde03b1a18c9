import type { AttemptEvidence } from '../errors/gateway-error.ts';
import type { Change } from '../http/request.ts';
import { check } from '../options/check.ts';
import type { OpenResponse } from './open-response.ts';

/** A parsed response and the raw one. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** The gateway's request id, or `null` if the response has none. */
  request_id: string | null;
  /**
   * The attempts that failed before the response, as `error.evidence.attempts` has them. One that was lost may
   * have been charged too.
   */
  attempts: readonly AttemptEvidence[];
}

/** State of a call, shared by all its promises. */
interface CallState<T> {
  readonly opened: Promise<OpenResponse<T>>;
  parsed: Promise<T> | undefined;
  raw: Response | undefined;
}

// Defined outside the constructor, whose closures would share a scope and keep the call in memory longer.
const neverSettle = (): void => {};
const returning =
  <T>(value: T): (() => T) =>
  () =>
    value;

/**
 * A promise for a parsed response that also gives access to the raw `Response`.
 *
 * The request is sent immediately, even if the promise is never awaited.
 */
export class GatewayPromise<T> extends Promise<T> {
  /**
   * Returns the state. A property instead of a private field, because tracing wrappers return a proxy of this
   * promise, and its methods are then called with the proxy as `this`.
   *
   * @internal
   */
  declare readonly state: () => CallState<T>;

  constructor(opened: Promise<OpenResponse<T>>) {
    // `then` is overridden, so the inner promise is never used and never settles.
    super(neverSettle);
    // Not enumerable: hidden from `console.log` and from equality checks.
    Reflect.defineProperty(this, 'state', {
      value: returning({ opened, parsed: undefined, raw: undefined }),
    });
  }

  /**
   * Returns the same call as a promise of a subclass.
   *
   * @internal
   */
  static of<T, Own>(
    this: new (opened: Promise<OpenResponse<T>>) => Own,
    call: GatewayPromise<T>,
  ): Own {
    return new this(call.state().opened);
  }

  /**
   * `then` returns plain promises, because derived promises have no response.
   *
   * @internal
   */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /**
   * Returns the raw `Response` once headers with a success status are received. The body is neither read nor
   * checked; read it, cancel it, or await the promise to parse it.
   *
   * @throws the same errors as awaiting the promise, up to the headers
   */
  async asResponse(): Promise<Response> {
    const state = this.state();
    const opened = await state.opened;
    if (state.parsed !== undefined) return opened.response;
    state.raw ??= opened.raw();
    return state.raw;
  }

  /**
   * Returns the parsed response, the raw `Response` (its body is consumed), the request id and the attempts that
   * failed before.
   */
  async withResponse(): Promise<WithResponse<T>> {
    const state = this.state();
    const data = await parsed(state);
    const opened = await state.opened;
    const { response, requestId } = opened;
    return { data, response, request_id: requestId ?? null, attempts: opened.failed() };
  }

  /**
   * Returns the same call with a transformed result. Instrumentations of `openai` call this method.
   *
   * @internal
   */
  _thenUnwrap<Result>(transform: (data: T) => Result | Promise<Result>): GatewayPromise<Result> {
    return transformCall(this.state(), transform);
  }

  /** @internal */
  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise: awaiting is what reads the body
  override then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return parsed(this.state()).then(onFulfilled, onRejected);
  }
}

/** Returns how the request of the response differs from the caller's. Await the result of the call first. */
export async function readChange(call: GatewayPromise<unknown>): Promise<Change> {
  const { change } = await call.state().opened;
  return change;
}

/** Reads the body once for all promises of the call. */
function parsed<T>(state: CallState<T>): Promise<T> {
  state.parsed ??= state.opened.then((opened) => {
    const { raw } = state;
    const isTaken = raw?.bodyUsed === true || raw?.body?.locked === true;
    const problem = 'was read through asResponse(), so its body cannot be parsed.';
    check(!isTaken, 'response', problem);
    return opened.parse();
  });
  return state.parsed;
}

// Defined outside the class, because bundlers rename classes that refer to themselves.
function transformCall<T, Result>(
  state: CallState<T>,
  transform: (data: T) => Result | Promise<Result>,
): GatewayPromise<Result> {
  const opened = state.opened.then((open) =>
    open.readBy(async () => transform(await parsed(state))),
  );
  return new GatewayPromise(opened);
}
