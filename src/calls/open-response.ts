import type { AttemptEvidence } from '../errors/gateway-error.ts';
import { type Change, unchanged } from '../http/request.ts';

/** A response with received headers. Its fields may change: the one that was read last counts. */
export interface Opened {
  readonly response: Response;
  readonly requestId: string | undefined;
  /** How the request of this response differs from the caller's; default: not at all. */
  readonly change?: Change | undefined;
  /** Returns the attempts of the call that failed before this response; none if it is missing. */
  failed?(): readonly AttemptEvidence[];
  /** Returns the unread response. While it stays unread, it can still be parsed. */
  raw(): Response;
}

/** Returns another response after one could not be read, or throws. */
type Next<T> = (error: unknown) => Promise<OpenResponse<T>>;

/** A response with received headers, and two ways to read its body. */
export class OpenResponse<T> implements Opened {
  #opened: Opened;
  #read: () => Promise<T>;
  readonly #next: Next<T>[] = [];

  constructor(opened: Opened, read: () => Promise<T>) {
    this.#opened = opened;
    this.#read = read;
  }

  /** Creates one whose value is known. */
  static of<T>(response: Response, requestId: string | undefined, value: T): OpenResponse<T> {
    return new OpenResponse({ response, requestId, raw: () => response }, () =>
      Promise.resolve(value),
    );
  }

  get response(): Response {
    return this.#opened.response;
  }

  get requestId(): string | undefined {
    return this.#opened.requestId;
  }

  get change(): Change {
    return this.#opened.change ?? unchanged;
  }

  failed(): readonly AttemptEvidence[] {
    return this.#opened.failed?.() ?? [];
  }

  raw(): Response {
    return this.#opened.raw();
  }

  /** Returns the same response, read by this function. */
  readBy<Result>(read: () => Promise<Result>): OpenResponse<Result> {
    return new OpenResponse(this, read);
  }

  /** Adds a function that replaces this response if it cannot be read. They are called in the order added. */
  orElse(next: Next<T>): this {
    this.#next.push(next);
    return this;
  }

  /** Reads the body, or that of the response that replaces this one. Called at most once. */
  async parse(): Promise<T> {
    for (;;) {
      try {
        return await this.#read();
      } catch (error) {
        const other = await this.#replace(error);
        this.#opened = other;
        this.#read = () => other.parse();
      }
    }
  }

  async #replace(thrown: unknown): Promise<OpenResponse<T>> {
    let error = thrown;
    for (const next of this.#next) {
      try {
        return await next(error);
      } catch (cause) {
        error = cause;
      }
    }
    throw error;
  }
}
