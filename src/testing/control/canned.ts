import type { Operation } from '../../endpoints.ts';
import type { ReceivedRequest } from './request-log.ts';

/** Makes an answer by hand. */
export type Responder = (request: ReceivedRequest) => Response | Promise<Response>;

/** How an answer made by hand is given. */
export interface RespondOptions {
  /** Whether the work is done, and charged for, before the answer. @defaultValue false */
  readonly charged?: boolean | undefined;
}

/** One answer made by hand that waits for its request. */
export interface Canned {
  readonly operation: Operation | '*';
  readonly respond: Responder;
  readonly charged: boolean;
}

/** Answers made by hand; each is given once, in order. */
export class CannedAnswers {
  #waiting: Canned[] = [];

  add(canned: Canned): void {
    this.#waiting.push(canned);
  }

  take(operation: Operation): Canned | undefined {
    const found = this.#waiting.find(
      (canned) => canned.operation === '*' || canned.operation === operation,
    );
    this.#waiting = this.#waiting.filter((canned) => canned !== found);
    return found;
  }

  clear(): void {
    this.#waiting = [];
  }
}
