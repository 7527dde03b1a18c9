import type { Operation } from '../../endpoints.ts';
import type { ReceivedRequest } from './request-log.ts';

/** Creates a custom response. */
export type Responder = (request: ReceivedRequest) => Response | Promise<Response>;

/** Options of `respondOnce()`. */
export interface RespondOptions {
  /** Do the work, and charge for it, before responding. @defaultValue false */
  readonly charged?: boolean | undefined;
}

/** A custom response waiting for its request. */
export interface Canned {
  readonly operation: Operation | '*';
  readonly respond: Responder;
  readonly charged: boolean;
}

/** Custom responses, each sent once, in order. */
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
