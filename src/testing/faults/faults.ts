import type { Operation } from '../../endpoints.ts';
import type { ErrorDetails, ErrorEnvelope } from '../server/errors.ts';
import type { ReceivedRequest } from '../control/request-log.ts';

/** A fault to inject. */
export type Fault = ConnectionFault | AnswerFault | BodyFault | StreamFault | TaskFault;

/** Connection faults before a response. */
export type ConnectionFault =
  | {
      /**
       * Resets the connection without a response: before the body is read, after it was read but before the
       * charge, or after the work was done and charged.
       */
      readonly type: 'reset';
      readonly when: 'before-body' | 'before-charge' | 'after-charge';
    }
  | {
      /** Never responds; if `charged` is set, the work is done and charged. */
      readonly type: 'hang';
      readonly charged?: boolean | undefined;
    }
  | {
      /** Delays the response headers. */
      readonly type: 'slow';
      readonly milliseconds: number;
    };

/** Faults that replace the response. With `charged` the work is still done and charged. */
export type AnswerFault =
  | ({
      /** An error in one of the gateway's formats, also with status 200. */
      readonly type: 'error';
      readonly status: number;
      /** @defaultValue that of the gateway: of new-api "task" for video operations, otherwise "openai" */
      readonly envelope?: ErrorEnvelope | undefined;
      /**
       * The content type. @defaultValue "application/json"; "text/event-stream" for a vendor's error
       * (`errorType` other than "new_api_error") if chat or generate requested a stream
       */
      readonly contentType?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The `type` of the error; `new_api_error` marks the gateway's own errors. @defaultValue "new_api_error" */
      readonly errorType?: string | undefined;
      readonly charged?: boolean | undefined;
    } & Partial<Omit<ErrorDetails, 'type'>>)
  | {
      /**
       * A vendor's error in a response with status 200, with the body and the charge of a real gateway:
       * charged for chat without a `type`, streamed chat, images (not `gpt-image`), speech, translations and
       * generate; free for typed chat, embeddings, streamed generate, and video submissions, which are
       * rejected in the task envelope, and Anthropic's messages, which fail with 500.
       */
      readonly type: 'error-in-200';
      /** Include a `type` in the error. @defaultValue true */
      readonly typed?: boolean | undefined;
    }
  | {
      /**
       * An error of the vendor, as the gateway relays it: without a charge and without the vendor's
       * `Retry-After`. Video submissions fail with `fail_to_fetch_task` in the task envelope, with any status
       * of the vendor, including 201. Other routes return the vendor's error as JSON, which in streams of chat
       * and generate is labelled `text/event-stream`. Content downloads fail with 502.
       */
      readonly type: 'vendor-refusal';
      readonly status: number;
      /**
       * The vendor's body: an error as JSON, or an HTML page, which the gateway replaces with
       * `bad_response_status_code`. @defaultValue "json"
       */
      readonly body?: 'json' | 'html' | undefined;
    }
  | {
      /**
       * An HTML page: the error page of a proxy in front of the gateway (502), or the console's index page
       * (200). For a page of the vendor use `vendor-refusal` with `body: 'html'`.
       */
      readonly type: 'html';
      readonly status: number;
      readonly charged?: boolean | undefined;
    }
  | {
      /** A status with an empty body, as the rate limiter sends with 429. */
      readonly type: 'bare';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly charged?: boolean | undefined;
    }
  | {
      /** Status 429 with `Retry-After`, in seconds or as a date. */
      readonly type: 'rate-limit';
      readonly retryAfter: number | string;
      /**
       * Puts the seconds elsewhere: into the message, Google's `RetryInfo` in the body, or a header of the
       * limit. @defaultValue "header"
       */
      readonly place?: 'header' | 'message' | 'retry-info' | 'reset' | undefined;
    }
  | {
      /** A redirect; without `location`, to a file on another origin. @defaultValue 302 */
      readonly type: 'redirect';
      readonly status?: 301 | 302 | 303 | 307 | 308 | undefined;
      readonly location?: string | undefined;
    };

/** Faults in the body of an otherwise valid response. The work is done and charged. */
export type BodyFault =
  | {
      /** Ends the body after a number of bytes, with a connection reset or a regular end. */
      readonly type: 'cut';
      readonly bytes: number;
      /** @defaultValue "reset" */
      readonly how?: 'reset' | 'end' | undefined;
    }
  | {
      /** Stops sending after a number of bytes and keeps the connection open. */
      readonly type: 'stall';
      readonly bytes: number;
    }
  | {
      /** Sends the body in chunks, with a delay before each. */
      readonly type: 'drip';
      readonly milliseconds: number;
      /** Chunk size. @defaultValue 1024 */
      readonly bytes?: number | undefined;
    }
  | {
      /** Status 200 without a result: no audio bytes, no items, or an event stream with only its end. */
      readonly type: 'empty';
    };

/** Faults in an event stream. The work is done and charged. Other responses are unchanged. */
export type StreamFault =
  | {
      /** Stops after a number of events, or sends only heartbeats from then on. */
      readonly type: 'stall-events';
      readonly after: number;
      /** Milliseconds between heartbeats; without it nothing is sent. */
      readonly heartbeat?: number | undefined;
    }
  | {
      /** Resets the connection after a number of events. */
      readonly type: 'cut-events';
      readonly after: number;
    }
  | {
      /** Omits the finish reason: the stream ends after a number of events, with or without `[DONE]`. */
      readonly type: 'no-finish';
      /** Number of events; by default all except the one with the finish reason. */
      readonly after?: number | undefined;
      /** Send `[DONE]`. */
      readonly done: boolean;
    }
  | {
      /**
       * Sends an error after a number of events: `error-data` is `data: {"error":...}`, after which chat
       * continues with usage and `[DONE]`, `no-choices` a chunk without choices, which the gateway creates
       * from an error of Gemini, `blank-chunk` a chunk with all fields empty, `error-event` an `event: error`,
       * `typed-data` is `data: {"type":"error",...}` and `[DONE]`, `bare-json` a JSON line without `data:`,
       * `plain-text` a line of text. For `responses.create`, `no-choices` and `blank-chunk` are
       * `response.failed`, and the other errors have no fields around them. For `messages.create`, every shape is
       * Anthropic's `error`. OpenRouter has only one shape: a chunk with `error` and the finish reason
       * `error`, then the usage.
       */
      readonly type: 'stream-error';
      readonly after: number;
      readonly shape:
        | 'error-data'
        | 'no-choices'
        | 'blank-chunk'
        | 'error-event'
        | 'typed-data'
        | 'bare-json'
        | 'plain-text';
      readonly message?: string | undefined;
      /** The code of the error. @defaultValue null */
      readonly code?: string | number | null | undefined;
    }
  | {
      /** Sends an event with invalid JSON after a number of events, then continues. */
      readonly type: 'garbled-event';
      readonly after: number;
    }
  | {
      /** Chat responds with JSON to a streaming request, and with a stream to a non-streaming one. */
      readonly type: 'other-mode';
    };

/** Faults of the video routes. */
export type TaskFault =
  | {
      /** Status 400 `task_not_exist`, as for a task that does not exist (yet). */
      readonly type: 'task-not-exist';
    }
  | {
      /** Replaces the status of the task. */
      readonly type: 'status-word';
      readonly word: string;
    }
  | {
      /** Status 410: the content has expired. */
      readonly type: 'expired-content';
    };

/** Specifies when a fault applies. */
export interface FaultRule {
  readonly fault: Fault;
  /** The operation, several, or `"*"` for all. @defaultValue "*" */
  readonly operation?: Operation | readonly Operation[] | '*' | undefined;
  /** Number of requests to affect. @defaultValue 1 */
  readonly times?: number | undefined;
  /** Number of matching requests to skip first. @defaultValue 0 */
  readonly after?: number | undefined;
  /** Filter for requests. Ignored for `reset` with `before-body`. */
  readonly when?: ((request: ReceivedRequest) => boolean) | undefined;
}

/** An injected fault. */
export interface ActiveFault {
  readonly rule: FaultRule;
  /** Number of requests affected so far. */
  readonly hits: number;
  /** Number of requests still to be affected. */
  readonly remaining: number;
  /** Removes the fault. */
  remove(): void;
}
