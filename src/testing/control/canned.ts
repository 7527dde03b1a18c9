import type { Operation } from '../../endpoints.ts';
import type { ReceivedRequest } from './request-log.ts';

/** Creates a custom response. */
export type Responder = (request: ReceivedRequest) => Response | Promise<Response>;

/**
 * The output of the model, for chat and generate. The emulator sends it as requested: complete or streamed, in
 * OpenAI's or Gemini's format, and charges for it.
 */
export interface ModelAnswer {
  /** @defaultValue "" */
  readonly text?: string | undefined;
  /** Sent before the text, if the request allows reasoning. */
  readonly reasoning?: string | undefined;
  /** @defaultValue `[]` */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[] | undefined;
  /** `length` ends the response as if it were cut at `max_tokens`. @defaultValue "stop" */
  readonly finishReason?: 'stop' | 'length' | 'content_filter' | undefined;
}

/** Options of `respondOnce()`. */
export interface RespondOptions {
  /** Do the work, and charge for it, before responding. @defaultValue false */
  readonly charged?: boolean | undefined;
}

/** A custom response waiting for its request. */
export interface Canned {
  readonly operation: Operation | '*';
  readonly respond: Responder | ModelAnswer;
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
