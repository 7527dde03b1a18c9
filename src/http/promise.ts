import { check } from '../check.ts';

/** An answer whose headers have come, and the two ways to read its body. */
export interface OpenAnswer<T> {
  /** Replaced when a read that broke off was repeated. */
  response: Response;
  requestId: string | undefined;
  /** Reads the body. Called at most once. */
  parse(): Promise<T>;
  /** Hands the body over unread; when it stays so, it can still be parsed. */
  raw(): Response;
}

/** A parsed answer together with the raw one. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** The gateway's request id, or `null` when none could be read. */
  request_id: string | null;
}

/** The call behind a `GatewayPromise`, shared by every promise of it. */
interface CallState<T> {
  readonly answer: Promise<OpenAnswer<T>>;
  parsed: Promise<T> | undefined;
  raw: Response | undefined;
}

// Outside of the constructor, whose closures would share one scope and keep the call in memory longer.
const neverSettle = (): void => {};
const returning =
  <T>(value: T): (() => T) =>
  () =>
    value;

/**
 * A promise for a parsed answer that also gives access to the raw `Response`.
 *
 * The request is sent at once, whether or not the promise is awaited.
 */
export class GatewayPromise<T> extends Promise<T> {
  /**
   * Returns the state. A property rather than a private field: tracing wrappers return a proxy of this
   * promise, and its methods are then called with the proxy as `this`.
   *
   * @internal
   */
  declare readonly state: () => CallState<T>;

  constructor(answer: Promise<OpenAnswer<T>>) {
    // `then` is overridden, so the inner promise is never looked at and never settles.
    super(neverSettle);
    // Not enumerable: hidden from `console.log` and from equality checks.
    Reflect.defineProperty(this, 'state', {
      value: returning({ answer, parsed: undefined, raw: undefined }),
    });
  }

  /**
   * Returns the same call as a promise of a subclass.
   *
   * @internal
   */
  static of<T, Own>(
    this: new (answer: Promise<OpenAnswer<T>>) => Own,
    call: GatewayPromise<T>,
  ): Own {
    return new this(call.state().answer);
  }

  /**
   * `then` returns plain promises: a derived promise has no response of its own.
   *
   * @internal
   */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /**
   * The raw `Response`, as soon as its headers have come and its status is a success. The body is
   * not read and not checked; read it, cancel it, or await the promise to have it parsed.
   *
   * @throws the same errors as awaiting the promise, up to the headers
   */
  async asResponse(): Promise<Response> {
    const state = this.state();
    const answer = await state.answer;
    if (state.parsed !== undefined) return answer.response;
    state.raw ??= answer.raw();
    return state.raw;
  }

  /** The parsed answer, the raw `Response` (its body is used up) and the request id. */
  async withResponse(): Promise<WithResponse<T>> {
    const state = this.state();
    const data = await parsed(state);
    const { response, requestId } = await state.answer;
    return { data, response, request_id: requestId ?? null };
  }

  /**
   * Returns the same call with its answer transformed. Instrumentations of `openai` call this method.
   *
   * @internal
   */
  _thenUnwrap<Result>(transform: (data: T) => Result): GatewayPromise<Result> {
    return transformed(this.state(), transform);
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

/** Reads the body, once for all promises of the call. */
function parsed<T>(state: CallState<T>): Promise<T> {
  state.parsed ??= state.answer.then((answer) => {
    const { raw } = state;
    const isTaken = raw?.bodyUsed === true || raw?.body?.locked === true;
    const problem =
      'was returned by asResponse() and read there, so its body cannot be parsed here as well.';
    check(!isTaken, 'response', problem);
    return answer.parse();
  });
  return state.parsed;
}

// Outside of the class: bundlers rename classes that name themselves.
function transformed<T, Result>(
  state: CallState<T>,
  transform: (data: T) => Result,
): GatewayPromise<Result> {
  const answer = state.answer.then((open) => ({
    get response() {
      return open.response;
    },
    requestId: open.requestId,
    parse: async () => transform(await parsed(state)),
    raw: () => open.raw(),
  }));
  return new GatewayPromise(answer);
}
