import type { Operation } from '../../endpoints.ts';
import type { ErrorDetails, ErrorEnvelope } from '../server/errors.ts';
import type { ReceivedRequest } from '../control/request-log.ts';

/** One thing that goes wrong. */
export type Fault = ConnectionFault | AnswerFault | BodyFault | StreamFault | TaskFault;

/** Faults of the connection, before an answer. */
export type ConnectionFault =
  | {
      /**
       * The connection is reset without an answer: before the body is read, after it was read but
       * before the charge, or after the work was done and charged.
       */
      readonly type: 'reset';
      readonly when: 'before-body' | 'before-charge' | 'after-charge';
    }
  | {
      /** No answer ever comes; the work is done and charged if `charged` is set. */
      readonly type: 'hang';
      readonly charged?: boolean | undefined;
    }
  | {
      /** The answer's headers come late; everything else is as usual. */
      readonly type: 'slow';
      readonly milliseconds: number;
    };

/** Faults that replace the answer. `charged` does the work, and charges for it, all the same. */
export type AnswerFault =
  | ({
      /** An error in one of the gateway's shapes; a 200 is possible too. */
      readonly type: 'error';
      readonly status: number;
      /** @defaultValue "task" for video operations, otherwise "openai" */
      readonly envelope?: ErrorEnvelope | undefined;
      /**
       * The content type. @defaultValue "application/json"; "text/event-stream" for a vendor's error
       * (`errorType` is not "new_api_error") when chat or generate asked for a stream
       */
      readonly contentType?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The `type` inside of the error; `new_api_error` marks the gateway's own. @defaultValue "new_api_error" */
      readonly errorType?: string | undefined;
      readonly charged?: boolean | undefined;
    } & Partial<Omit<ErrorDetails, 'type'>>)
  | {
      /**
       * A vendor's error inside of a 200, in the body that a real gateway then sends, and charged as its
       * books say: charged for chat without a `type`, streamed chat, images (not `gpt-image`), speech,
       * translations and generate; free for typed chat, embeddings, streamed generate, and a submission
       * of a video, which is refused in the task envelope.
       */
      readonly type: 'error-in-200';
      /** Whether the error has a `type`. @defaultValue true */
      readonly typed?: boolean | undefined;
    }
  | {
      /**
       * The vendor behind the gateway answers with an error, as the gateway relays it. Not charged, and
       * without the vendor's `Retry-After`. A video submission gets `fail_to_fetch_task` in the task
       * envelope with any status of the vendor, 201 too. Other routes get the vendor's error as JSON;
       * in streams of chat and generate that JSON is labelled `text/event-stream`. A download of
       * content gets a 502.
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
       * An HTML page: the error page of a proxy in front of the gateway (502), or the console's index
       * page (200). A page of the vendor behind it is `vendor-refusal` with `body: 'html'`.
       */
      readonly type: 'html';
      readonly status: number;
      readonly charged?: boolean | undefined;
    }
  | {
      /** An empty body with a status, as the rate limiter sends with 429. */
      readonly type: 'bare';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly charged?: boolean | undefined;
    }
  | {
      /** 429 with `Retry-After`, in seconds or as a date. */
      readonly type: 'rate-limit';
      readonly retryAfter: number | string;
    }
  | {
      /** A redirect; without a location to a file on another origin. @defaultValue 302 */
      readonly type: 'redirect';
      readonly status?: 301 | 302 | 303 | 307 | 308 | undefined;
      readonly location?: string | undefined;
    };

/** Faults of the body of an answer that is otherwise right. The work is done and charged. */
export type BodyFault =
  | {
      /** The body ends after some bytes: by a reset of the connection, or by a regular end. */
      readonly type: 'cut';
      readonly bytes: number;
      /** @defaultValue "reset" */
      readonly how?: 'reset' | 'end' | undefined;
    }
  | {
      /** The body goes silent after some bytes and stays open. */
      readonly type: 'stall';
      readonly bytes: number;
    }
  | {
      /** The body comes in pieces with a wait before each. */
      readonly type: 'drip';
      readonly milliseconds: number;
      /** Size of a piece. @defaultValue 1024 */
      readonly bytes?: number | undefined;
    }
  | {
      /** A 200 without a result: no audio bytes, no items, an event stream with only its end. */
      readonly type: 'empty';
    };

/** Faults of an event stream. The work is done and charged. Answers that are no stream stay as they are. */
export type StreamFault =
  | {
      /** The stream goes silent after some events, or sends only heartbeats from then on. */
      readonly type: 'stall-events';
      readonly after: number;
      /** Milliseconds between heartbeats; without it the stream is silent. */
      readonly heartbeat?: number | undefined;
    }
  | {
      /** The stream is cut after some events by a reset of the connection. */
      readonly type: 'cut-events';
      readonly after: number;
    }
  | {
      /** The finish reason never comes: the stream ends after some events, with `[DONE]` or without. */
      readonly type: 'no-finish';
      /** Events before the end; without it every event but the finishing one. */
      readonly after?: number | undefined;
      /** Whether `[DONE]` is sent. */
      readonly done: boolean;
    }
  | {
      /**
       * An error after some events:
       * `error-data` is `data: {"error":...}`, after which chat goes on with usage and `[DONE]`,
       * `no-choices` a chunk without choices, as the gateway makes of an error of Gemini,
       * `blank-chunk` a chunk with every field empty, `error-event` an `event: error`, `typed-data` is `data: {"type":"error",...}` and
       * `[DONE]`, `bare-json` a JSON line without `data:`, `plain-text` a line of text.
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
      /** The code in the error. @defaultValue null */
      readonly code?: string | number | null | undefined;
    }
  | {
      /** An event whose data is not JSON, after some events. The rest follows as usual. */
      readonly type: 'garbled-event';
      readonly after: number;
    }
  | {
      /** Chat answers with JSON where a stream was asked for, and with a stream where JSON was. */
      readonly type: 'other-mode';
    };

/** Faults of the video routes. */
export type TaskFault =
  | {
      /** 400 `task_not_exist`, as for a task that is not there (yet). */
      readonly type: 'task-not-exist';
    }
  | {
      /** A status word in place of the task's own. */
      readonly type: 'status-word';
      readonly word: string;
    }
  | {
      /** 410: the content is no longer there. */
      readonly type: 'expired-content';
    };

/** When a fault happens. */
export interface FaultRule {
  readonly fault: Fault;
  /** The operation, or several, or `"*"` for every one. @defaultValue "*" */
  readonly operation?: Operation | readonly Operation[] | '*' | undefined;
  /** How many requests it hits. @defaultValue 1 */
  readonly times?: number | undefined;
  /** How many matching requests pass before it begins. @defaultValue 0 */
  readonly after?: number | undefined;
  /** Which requests it hits. Not asked for `reset` with `before-body`. */
  readonly when?: ((request: ReceivedRequest) => boolean) | undefined;
}

/** A fault that was set. */
export interface ActiveFault {
  readonly rule: FaultRule;
  /** How many requests it has hit. */
  readonly hits: number;
  /** How many more it will hit. */
  readonly remaining: number;
  /** Takes it away. */
  remove(): void;
}
