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

/**
 * A promise for a parsed answer that also gives access to the raw `Response`.
 *
 * The request is sent at once, whether or not the promise is awaited.
 */
export class GatewayPromise<T> extends Promise<T> {
  readonly #answer: Promise<OpenAnswer<T>>;
  #parsed: Promise<T> | undefined;
  #raw: Response | undefined;

  constructor(answer: Promise<OpenAnswer<T>>) {
    // `then` is overridden, so the inner promise is never looked at and never settles.
    super(() => {});
    this.#answer = answer;
  }

  /**
   * A promise of a call that can begin only when something is there.
   *
   * @internal
   */
  static when<Needed, T>(
    needed: Promise<Needed>,
    start: (needed: Needed) => GatewayPromise<T>,
  ): GatewayPromise<T> {
    return new GatewayPromise(needed.then((value) => start(value).#answer));
  }

  /**
   * The same call as a promise of another class.
   *
   * @internal
   */
  static of<T, Own>(
    this: new (answer: Promise<OpenAnswer<T>>) => Own,
    call: GatewayPromise<T>,
  ): Own {
    return new this(call.#answer);
  }

  /**
   * `then` must give plain promises: a derived promise has no response of its own.
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
    const answer = await this.#answer;
    if (this.#parsed !== undefined) return answer.response;
    this.#raw ??= answer.raw();
    return this.#raw;
  }

  /** The parsed answer, the raw `Response` (its body is used up) and the request id. */
  async withResponse(): Promise<WithResponse<T>> {
    const data = await this.#data();
    const { response, requestId } = await this.#answer;
    return { data, response, request_id: requestId ?? null };
  }

  /** @internal */
  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise: awaiting is what reads the body
  override then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#data().then(onFulfilled, onRejected);
  }

  #data(): Promise<T> {
    this.#parsed ??= this.#answer.then((answer) => {
      const isTaken = this.#raw?.bodyUsed === true || this.#raw?.body?.locked === true;
      const problem =
        'was handed out by asResponse() and read there, so its body cannot be parsed here as well.';
      check(!isTaken, 'response', problem);
      return answer.parse();
    });
    return this.#parsed;
  }
}
