import type { ChargeClass } from './endpoints.ts';
import type { JsonObject, ResponseIssue } from './types.ts';

/** Log levels, from silent to most verbose. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Where log lines go. `console`, pino, winston, bunyan, consola and signale fit as they are. */
export interface Logger {
  error(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  debug(message: string, ...details: unknown[]): void;
}

/** An answer that differs from what this client expects. See `onDrift`. */
export interface Drift extends ResponseIssue {
  /** The operation that answered, for example `chat.completions.create`. */
  readonly operation: string;
}

/** A bearer key, or a function that gives one. The function is called for every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** The `fetch` that this client calls. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Extra options for `fetch`, for example undici's `dispatcher` or Bun's `proxy`. */
export interface FetchOptions {
  readonly [option: string]: unknown;
}

/**
 * Header values, also as a list of pairs, of which the last of a name counts; `null` removes a header that
 * an outer level set.
 */
export type HeaderValues =
  | Headers
  | Readonly<Record<string, string | null | undefined>>
  | readonly (readonly [name: string, value: string | null | undefined])[];

/** A query parameter, written as the `openai` package writes it: lists as `name[]`, objects as `name[key]`. */
export type QueryValue =
  | string
  | number
  | boolean
  | Date
  | null
  | undefined
  | readonly QueryValue[]
  | { readonly [name: string]: QueryValue };

/** Query parameters. `null` removes one that an outer level set. To repeat a name, write it into the path. */
export type QueryValues = Readonly<Record<string, QueryValue>>;

/** How a gateway that promises to honour an idempotency key wants it. */
export interface Idempotency {
  /** The name of the header, for example `"Idempotency-Key"`. */
  readonly header: string;
}

/** A call that begins, as an observer is told of it. */
export interface ObservedCall {
  /** For example `chat.completions.create`; of a route that is not documented `POST /v1/some/route`. */
  readonly operation: string;
  readonly chargeClass: ChargeClass;
  /** The same over all attempts, and on errors, in logs and in handles of video tasks. */
  readonly callId: string;
  readonly model: string | undefined;
  /** The root of the gateway. */
  readonly baseURL: string;
  /** Whether a stream of events is asked for. */
  readonly stream: boolean;
  /** What the caller gave as text, numbers and booleans, for example `max_tokens`, and what the path holds. */
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** What `CallObserver.trace` was of the call that submitted the video task which this one is about. */
  readonly trace: string | undefined;
}

/** One attempt that is about to be sent. */
export interface ObservedRequest extends Pick<ObservedCall, 'operation' | 'callId'> {
  /** 1 for the first. */
  readonly attempt: number;
  /** How long was waited before it, in milliseconds. */
  readonly delayMs: number;
  readonly method: string;
  /** Without its query, which may hold what gives access. */
  readonly url: string;
  /** In place of values that give access, such as the key, stands `[key]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as it is sent, or the fields of a form; `undefined` when there is none or it is a file. */
  readonly body:
    | string
    | readonly (readonly [name: string, value: string | number | boolean | Blob])[]
    | undefined;
}

/** What became of one attempt. */
export interface ObservedResponse {
  /** `undefined` when no answer came. */
  readonly status: number | undefined;
  /** Without cookies. Empty when no answer came. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
  /** The gateway's code, or that of the connection such as `ECONNRESET`, of an attempt that failed. */
  readonly code: string | undefined;
  /** What the gateway said of an attempt that failed. */
  readonly message: string | undefined;
  /** A copy of the error body: parsed JSON or text. `undefined` for a success: the call itself reads it. */
  readonly body: unknown;
  /** From sending it to the headers of the answer, or to the end of an error, in milliseconds. */
  readonly durationMs: number;
}

/** How a call ended. */
export interface ObservedEnd {
  /**
   * `completed`; or, without an error, `incomplete`: the caller left it, nobody read it, or a stream
   * that was cut is allowed. Else the `outcome` of the error.
   */
  readonly outcome: 'completed' | 'incomplete' | 'not_sent' | 'rejected' | 'unknown';
  /** The error that the caller gets, itself and not a copy. */
  readonly error: unknown;
  /**
   * A copy of what the caller gets, of a stream what it adds up to; `undefined` for files. It is made when
   * it is first read, so an observer that does not read it costs nothing.
   */
  readonly answer: unknown;
  /** The token usage as the gateway sent it, also of a stream that failed. */
  readonly usage: JsonObject | undefined;
  readonly finishReasons: readonly string[];
  /** Of a submission the id of its video task. */
  readonly responseId: string | undefined;
  readonly responseModel: string | undefined;
  readonly requestId: string | undefined;
}

/** What an observer does with one call. Every part may be left out. */
export interface CallObserver {
  /** Kept in the handle of a video task that this call submits: see `ObservedCall.trace`. */
  readonly trace?: string | undefined;
  /** Calls `work` at once, in a context of its own. */
  run?(work: () => void): void;
  /** An attempt is about to be sent. The function that it returns is called with what became of it. */
  attempt?(request: ObservedRequest): ((response: ObservedResponse) => void) | void;
  /** The first event of a stream has come. */
  firstChunk?(): void;
  /**
   * The call is over. Called exactly once: when the answer is read, and of a stream or a file when it has
   * ended, was closed, was aborted or timed out. An answer that nobody reads is over after `timeout`.
   */
  end?(end: ObservedEnd): void;
}

/**
 * Is told of every call of a client.
 *
 * It cannot change a call, and when it throws, the call goes on and the log tells. It is not told of bad
 * input that is refused before a call begins.
 */
export interface Observer {
  start(call: ObservedCall): CallObserver | undefined | void;
}

/** Options that hold for a client and can be changed for one call. */
export interface SharedOptions {
  /**
   * How often a failed attempt may be repeated. Integer, 0 to 100; 0 for never.
   *
   * Charged calls (images, videos) are repeated only when the request provably never left or was
   * refused before work; metered calls (chat, generation, embeddings, audio) also on 408, 425, 429,
   * 5xx, time-outs and lost connections before the first byte of the answer, where both attempts may
   * be billed. See `retryUnknownOutcome`.
   * @defaultValue 2
   */
  maxRetries?: number | undefined;
  /**
   * How long one attempt may take, in milliseconds: from asking for the key until the whole answer is
   * read, or until the first byte when the answer is a download, or until the headers when it is a
   * stream. It holds also where `fetch` ignores its signal. 1 to 2147483647.
   * @defaultValue 600000
   */
  timeout?: number | undefined;
  /**
   * How long a stream may take from its headers to its first byte, in milliseconds; `null` for no
   * limit. 1 to 2147483647.
   * @defaultValue 300000
   */
  firstByteTimeout?: number | null | undefined;
  /**
   * How long a stream or a download may be silent, in milliseconds; `null` for no limit. Heartbeats
   * (SSE comments) count as life. 1 to 2147483647.
   * @defaultValue 300000
   */
  idleTimeout?: number | null | undefined;
  /**
   * How long a stream may go without an event, in milliseconds; heartbeats do not count. `null` for
   * no limit. 1 to 2147483647.
   * @defaultValue null
   */
  chunkTimeout?: number | null | undefined;
  /**
   * How long a call may take in all, over every attempt and to the end of a stream, in milliseconds;
   * `null` for no limit. 1 to 2147483647.
   * @defaultValue null
   */
  totalTimeout?: number | null | undefined;
  /**
   * Whether a call may be repeated when it is not known if the gateway accepted it. `true` may pay
   * twice; `false` puts metered calls under the strict rule of charged ones.
   * @defaultValue `true` for metered calls, `false` for charged calls
   */
  retryUnknownOutcome?: boolean | undefined;
  /**
   * Only for gateways that promise to do the work of one key once: sends the same key with every
   * attempt of one call, and repeats calls whose outcome is unknown, charged ones too. A gateway that
   * ignores the header then charges twice. `null` for no key.
   * @defaultValue null
   */
  idempotency?: Idempotency | null | undefined;
  /**
   * What to do with a stream that ends without proof that it is whole: throw
   * `StreamTruncatedError`, log a warning, or accept it silently.
   * @defaultValue "throw"
   */
  onTruncated?: 'throw' | 'warn' | 'allow' | undefined;
  /**
   * The largest server-sent event that is accepted, in bytes. 1024 to 1073741824.
   * @defaultValue 134217728 (128 MiB, the gateway's own limit)
   */
  maxEventBytes?: number | undefined;
  /**
   * The largest answer in JSON or text that is read, in bytes; files and streams may be of any size.
   * Past it the call throws `UnexpectedResponseError` and closes its connection; the request may have
   * been charged. 1024 to 536870888, the longest text of many runtimes.
   * @defaultValue 134217728 (128 MiB)
   */
  maxResponseBytes?: number | undefined;
  /**
   * Whether a stream keeps all that it has given, for `stream.partial` and the `partial` of its errors.
   * `false` keeps none of it, so that a loop over a stream of any length takes little memory. Helpers
   * with events and answers in one piece keep theirs.
   * @defaultValue true
   */
  partial?: boolean | undefined;
  /**
   * How answers are checked: report differences and go on, throw `UnexpectedResponseError`, or do
   * not look. Of a stream the first 20 events are checked, and with `"strict"` every one.
   * @defaultValue "tolerant"
   */
  validation?: 'tolerant' | 'strict' | 'off' | undefined;
}

/** What a client may spend, by the price list of its gateway: estimates, in US dollars. */
export interface Budget {
  /** The most that may be spent. At least 0. */
  readonly limit: number;
  /**
   * Whether a call whose price is unknown before it is sent is refused, or sent and counted as soon as its
   * price is known. Images, videos, transcriptions and undocumented routes with a price by token count as
   * unknown; see `perCall`.
   * @defaultValue "refuse"
   */
  readonly onMissingPrice?: 'refuse' | 'allow' | undefined;
  /**
   * The most that one call of a model costs, in US dollars, by the name of the model: one image, one video,
   * or one call of any other operation. It is reserved in place of a price, and counts unless the answer
   * shows another cost.
   */
  readonly perCall?: Readonly<Record<string, number>> | undefined;
  /** The group that the key belongs to, where prices differ by it. */
  readonly group?: string | undefined;
}

/** Options of the client. */
export interface GatewayOptions extends SharedOptions {
  /**
   * The bearer key, or a function (it may be async) that gives one. The function is called for every
   * attempt, and once more after a 401. `null` sends none: a server of your own in between adds it. When
   * it is missing, calls reject; making the client does not throw, as frameworks build without their
   * environment.
   * @defaultValue the environment variable `GATEWAY_API_KEY`
   */
  apiKey?: ApiKey | null | undefined;
  /**
   * The root of the gateway, for example `https://gateway.example.com`. A trailing `/`, `/v1`,
   * `/v1beta` or route such as `/v1/chat/completions` is taken off. In a page a path of its own server, such as `/api`, is too. There is no
   * default host; when it is missing, calls reject.
   * @defaultValue the environment variable `GATEWAY_BASE_URL`
   */
  baseURL?: string | URL | null | undefined;
  /**
   * Sent as the header `openai-organization`, for gateways that hand it on to OpenAI. `null` or `""` for
   * none. The environment variables of OpenAI are not read.
   * @defaultValue null
   */
  organization?: string | null | undefined;
  /**
   * Sent as the header `openai-project`, for gateways that hand it on to OpenAI. `null` or `""` for none.
   * @defaultValue null
   */
  project?: string | null | undefined;
  /** Headers for every request. `null` removes one that this client sets. */
  defaultHeaders?: HeaderValues | undefined;
  /** Query parameters for every request. */
  defaultQuery?: QueryValues | undefined;
  /**
   * The `fetch` to call instead of the global one.
   * @defaultValue `globalThis.fetch`
   */
  fetch?: Fetch | undefined;
  /** Extra options for every `fetch`, for example `{ dispatcher }` in Node. */
  fetchOptions?: FetchOptions | undefined;
  /**
   * Where log lines go.
   * @defaultValue `console`
   */
  logger?: Logger | undefined;
  /**
   * What is logged: at `info` a line for each attempt with its status, at `debug` also the error messages
   * of the gateway. Keys, prompts and bodies are never logged.
   * @defaultValue the environment variable `GATEWAY_LOG`, or `"warn"`
   */
  logLevel?: LogLevel | undefined;
  /**
   * Allows a key given as a string in a browser, where every visitor can read it. A key function is
   * always allowed.
   * @defaultValue false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
  /**
   * How video submissions travel, unless a call says otherwise: as a form, or as JSON for gateways that
   * want it. Nothing is sent again in the other form by itself.
   *
   * Many gateways ignore `seconds` in JSON, and charge for the length that the vendor then takes by
   * itself. JSON cannot hold files.
   * @defaultValue "form"
   */
  bodyFormat?: 'form' | 'json' | undefined;
  /**
   * What this client may spend. Before a call is sent, what it may cost is reserved; a call that would
   * exceed the limit, or whose price is unknown, is refused with `BudgetError`. Calls whose outcome is
   * unknown count as spent. Chat and the like are refused once the limit is reached, because the length of
   * an answer isn't known before. At 80 % a warning is logged.
   *
   * The price list is read once in ten minutes. Clients with the same budget object share it, like those
   * of `withOptions()`.
   */
  budget?: Budget | null | undefined;
  /** Called once for each place where answers of an operation differ from what is expected. */
  onDrift?: ((drift: Drift) => void) | undefined;
  /**
   * Is told of every call, its attempts and its end: for traces, metrics and totals. Also a list of
   * several. `model-gateway/otel` has one for OpenTelemetry.
   */
  observer?: Observer | readonly Observer[] | undefined;
  /**
   * Called before each attempt, with what is sent. It cannot change the request, and when it throws, the
   * call goes on and the log tells.
   */
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /** Called when an attempt was answered or has failed. The same holds when it throws. */
  onResponse?: ((response: ObservedResponse, request: ObservedRequest) => void) | undefined;
}

/** How far the upload of the files of a request has come. */
export interface UploadProgress {
  /** Bytes of files that were read to be sent; they begin anew when an attempt is repeated. */
  readonly sent: number;
  /** Bytes of all files, or `undefined` when the length of one is not known. */
  readonly total: number | undefined;
}

/** Options of one call. They override those of the client. */
export interface RequestOptions extends SharedOptions {
  /** Aborts the call, also while it waits between attempts or streams. */
  signal?: AbortSignal | null | undefined;
  /** Headers for this call. `null` removes one. */
  headers?: HeaderValues | undefined;
  /** Query parameters for this call. */
  query?: QueryValues | undefined;
  /** Fields to add to the body: request fields that this package does not know. They win. */
  extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Extra options for `fetch`. */
  fetchOptions?: FetchOptions | undefined;
  /**
   * The key of this call, for the option `idempotency`. Give the same one to repeat a call later.
   * @defaultValue a fresh key for each call
   */
  idempotencyKey?: string | undefined;
  /**
   * Identifies the call in errors, logs and handles of tasks.
   * @defaultValue a fresh id
   */
  callId?: string | undefined;
  /**
   * Called while the files of a form are sent, piece by piece, in Node and Deno. Elsewhere only streams
   * are told of: no other runtime lets a program see how far it has sent a file. What it throws is
   * dropped, as the upload may be paid for.
   */
  onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
}
