import type { ChargeClass } from '../endpoints.ts';
import type { DefinedGateway, GatewayName, GatewayProfile } from './gateway-profile.ts';
import type { Drift } from '../answers/reader.ts';
import type { AttemptEvidence, Phase } from '../errors/gateway-error.ts';
import type { JsonObject } from '../types.ts';

/** Log levels, from silent to most verbose. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/**
 * Receives log messages: a text, then an object with details. `console`, winston, consola and signale work
 * unchanged. pino and bunyan take the object first, which the client detects.
 */
export interface Logger {
  error(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  debug(message: string, ...details: unknown[]): void;
}

/** A bearer key, or a function that returns one. The function is called for every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** The `fetch` that this client calls. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The fields of a response that the client checks first. Its `body` is a web stream or a Node stream. */
export interface ForeignResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Missing in React Native, where a response only has methods such as `text()`. */
  readonly body?: unknown;
}

/**
 * A `fetch` whose types differ from those of the runtime, such as that of undici, node-fetch or cross-fetch. It
 * is called with a URL and the options of `fetch`.
 */
export interface ForeignFetch {
  (url: string): Promise<ForeignResponse>;
  // A generic overload, so that TypeScript infers a function literal's parameters from `Fetch`.
  <Url extends string>(url: Url | NoInfer<Url>): Promise<ForeignResponse>;
}

/** Extra options for `fetch`, for example undici's `dispatcher` or Bun's `proxy`. */
export interface FetchOptions {
  readonly [option: string]: unknown;
}

/**
 * Headers, also as a list of pairs, where the last pair of a name counts; `null` removes a header that the
 * client sets.
 */
export type HeaderValues =
  | Headers
  | Readonly<Record<string, string | null | undefined>>
  | readonly (readonly [name: string, value: string | null | undefined])[];

/** A query parameter, encoded as in the `openai` package: lists as `name[]`, objects as `name[key]`. */
export type QueryValue =
  | string
  | number
  | boolean
  | Date
  | null
  | undefined
  | readonly QueryValue[]
  | { readonly [name: string]: QueryValue };

/**
 * Query parameters. `null` removes a parameter that the client sets. To repeat a name, write it into the path.
 */
export type QueryValues = Readonly<Record<string, QueryValue>>;

/** The idempotency keys of calls. */
export interface Idempotency {
  /** The name of the header, for example `"Idempotency-Key"`. */
  readonly header: string;
  /**
   * `true` if the gateway provably does the work of a key once. A `budget` then counts a call once, however often
   * it is sent. Most gateways ignore the header, so otherwise each attempt that may have been charged counts.
   * @defaultValue false
   */
  readonly honored?: boolean | undefined;
}

/** The beginning of a call, as passed to observers. */
export interface ObservedCall {
  /** For example `chat.completions.create`; for an undocumented route `POST /v1/some/route`. */
  readonly operation: string;
  readonly chargeClass: ChargeClass;
  /** The id of the call: the same for all attempts, and in errors, logs and handles of video tasks. */
  readonly callId: string;
  readonly model: string | undefined;
  /** The root of the gateway. */
  readonly baseURL: string;
  /** `true` if a stream of events is requested. */
  readonly stream: boolean;
  /**
   * The path parameters, and all parameters that are text, numbers or booleans, for example `max_tokens`, also
   * those directly inside an object, for example `reasoning.effort`.
   */
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** `CallObserver.trace` of the call that submitted the video task of this call. */
  readonly trace: string | undefined;
  /** The model that failed before, if this one is its fallback. */
  readonly fallbackFrom: string | undefined;
}

/** An attempt that is about to be sent. */
export interface ObservedRequest extends Pick<ObservedCall, 'operation' | 'callId'> {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Wait since the previous attempt in milliseconds. */
  readonly delayMs: number;
  /** How long the attempt waited for its turn within `limits`, in milliseconds; `undefined` without limits. */
  readonly waitMs: number | undefined;
  readonly method: string;
  /** The URL without its query, which may contain secrets. */
  readonly url: string;
  /** The request headers. Secrets such as the key are replaced by `[key]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as it is sent, or the fields of a form; `undefined` if there is no body or it is a file. */
  readonly body:
    | string
    | readonly (readonly [name: string, value: string | number | boolean | Blob])[]
    | undefined;
}

/** The result of an attempt. */
export interface ObservedResponse {
  /** `undefined` if there was no response. */
  readonly status: number | undefined;
  /** The response headers without cookies. Empty if there was no response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
  /** For a failed attempt: how far it came. */
  readonly phase: Phase | undefined;
  /** For a failed attempt: the gateway's error code, or the connection's, such as `ECONNRESET`. */
  readonly code: string | undefined;
  /** For a failed attempt: the gateway's error message. */
  readonly message: string | undefined;
  /**
   * A copy of the error body: parsed JSON or text. `undefined` for a success, whose body only the call reads.
   */
  readonly body: unknown;
  /** Time from sending to the response headers, or to the end of an error body, in milliseconds. */
  readonly durationMs: number;
}

/** A failed attempt that is repeated after a wait. */
export interface ObservedRetry {
  /** Number of the retry, from 1. */
  readonly retry: number;
  /** The most retries of the call: its option `maxRetries`. */
  readonly maxRetries: number;
  /** Wait before the next attempt, in milliseconds. */
  readonly delayMs: number;
}

/** The result of a call. */
export interface ObservedEnd {
  /**
   * `completed`; `incomplete` without an error, if the caller left the stream, never read the response, or a
   * truncated stream is allowed; else the `outcome` of the error.
   */
  readonly outcome: 'completed' | 'incomplete' | 'not_sent' | 'rejected' | 'unknown';
  /** The error that the caller receives; not a copy. */
  readonly error: unknown;
  /**
   * A copy of the caller's result, for a stream the assembled response; `undefined` for files. Created when
   * it is first read, so an observer that does not read it costs nothing.
   */
  readonly answer: unknown;
  /** The token usage as the gateway sent it, including that of a failed stream. */
  readonly usage: JsonObject | undefined;
  /**
   * The cost in US dollars that the response reports. For a video, `end` has it for the poll that reports it
   * and for each later poll.
   */
  readonly cost: number | undefined;
  readonly finishReasons: readonly string[];
  /** For a submission, the id of its video task. */
  readonly responseId: string | undefined;
  readonly responseModel: string | undefined;
  readonly requestId: string | undefined;
  /** The attempts that failed, as in `error.evidence.attempts`. With a fallback, those to this model. */
  readonly attempts: readonly AttemptEvidence[];
  /**
   * The number of attempts that may have been charged without a response: lost ones that were repeated, and the last
   * one if its outcome is `unknown`.
   */
  readonly possibleCharges: number;
  /** The budget of the client after the call, in US dollars; `undefined` without one. */
  readonly budget:
    | { readonly limit: number; readonly spent: number; readonly reserved: number }
    | undefined;
}

/** Listens to one call. Every member is optional. */
export interface CallObserver {
  /** Stored in the handle of the video task that this call submits; see `ObservedCall.trace`. */
  readonly trace?: string | undefined;
  /** Calls `work` immediately, in its own context. */
  run?(work: () => void): void;
  /** An attempt is about to be sent. The returned function is called with its result. */
  attempt?(request: ObservedRequest): ((response: ObservedResponse) => void) | void;
  /** The attempt failed, and the next one follows after a wait. Called before the wait. */
  retry?(retry: ObservedRetry): void;
  /** The first event of a stream was received. */
  firstChunk?(): void;
  /** Events of a stream were received, also the first one. Events that arrive together are one chunk. */
  chunk?(): void;
  /**
   * The call ended. Called exactly once: when the response is read, or when a stream or a file ended, was
   * closed, was aborted or timed out. A response that is never read ends after `timeout`.
   */
  end?(end: ObservedEnd): void;
}

/**
 * Observes every call of a client.
 *
 * It cannot change a call. If it throws, the call continues and the error is logged. Input errors before a
 * call begins are not reported.
 */
export interface Observer {
  start(call: ObservedCall): CallObserver | undefined | void;
}

/** A model to request if the previous one fails, with the parameters that differ for it. */
export interface FallbackModel {
  readonly model: string;
  /** Replaces the parameter of that name, also in `extraBody`. `undefined` leaves it out. */
  readonly [parameter: string]: unknown;
}

/**
 * A reason to request the next model of `fallback`:
 *
 * - `limits`: a rate limit or quota (429, or a provider's `insufficient_quota`).
 * - `model`: the model or its channel is missing, disabled, or not allowed for this key, or its provider
 *   rejected the key of the gateway.
 * - `context`: the prompt is longer than the context of the model.
 * - `overload`: a 5xx, a lost connection, or an unusable response. Only metered calls.
 * - `timeout`: `timeout`, `firstByteTimeout`, `idleTimeout` or `chunkTimeout`, or a time limit of `fetch`. Only
 *   metered calls.
 * - `content`: the gateway or the provider refused the content.
 */
export type FallbackReason = 'limits' | 'model' | 'context' | 'overload' | 'timeout' | 'content';

/** A model failed, and the next one is requested. */
export interface FallbackEvent {
  /** The model that failed, as it was requested; `undefined` if the call named none. */
  readonly from: string | undefined;
  /** The model that is requested next. */
  readonly to: string;
  /** The error that the caller would have received. */
  readonly error: Error;
}

/**
 * How calls with a schema request JSON:
 *
 * - `json_schema`: the provider receives the schema, and may enforce it.
 * - `json_object`: the provider enforces JSON, and the prompt contains the schema.
 * - `prompt`: only the prompt requests JSON, with the schema.
 * - `auto`: in this order, until the provider does not reject it.
 */
export type StructuredOutput = 'auto' | 'json_schema' | 'json_object' | 'prompt';

/** A feature around the calls of a client of `createGateway()`; created by `withFallback()` and similar functions. */
export interface GatewayPolicy<Option extends string = string> {
  readonly name: string;
  /** The options that have an effect only with this policy. */
  readonly options: readonly Option[];
}

/** How one request asks for JSON. */
export type OutputMode = Exclude<StructuredOutput, 'auto'>;

/** Options of a client that can be overridden per call. */
export interface SharedOptions {
  /**
   * Maximum number of retries. Integer, 0 to 100; 0 disables retries.
   *
   * Charged calls (images, videos, and text calls that make them) are repeated only if the request provably was
   * not sent or was rejected before any work; metered calls (chat, generation, embeddings, audio) also on 408, 425, 429, 5xx and lost
   * connections before the first byte of the response, where both attempts may be billed; only free calls
   * after a `timeout`. See `retryUnknownOutcome`.
   * @defaultValue 2
   */
  maxRetries?: number | undefined;
  /**
   * Time limit of one attempt in milliseconds: from requesting the key until the whole response is read,
   * until the first byte of a download, or until the headers of a stream. It also applies if `fetch` ignores
   * its signal. 1 to 2147483647.
   *
   * Gateways finish and bill a call whose client has disconnected. So only free calls are repeated after it,
   * others with `retryUnknownOutcome: true` or `idempotency`.
   * @defaultValue 600000
   */
  timeout?: number | undefined;
  /**
   * Time limit of a stream from its headers to its first byte, in milliseconds; `null` for no limit. 1 to
   * 2147483647.
   * @defaultValue 300000
   */
  firstByteTimeout?: number | null | undefined;
  /**
   * Time limit without any byte of a stream or a download, in milliseconds; `null` for no limit. Heartbeats
   * (SSE comments) reset it. 1 to 2147483647.
   * @defaultValue 300000
   */
  idleTimeout?: number | null | undefined;
  /**
   * Time limit without an event of a stream, in milliseconds; heartbeats do not reset it. `null` for no
   * limit. 1 to 2147483647.
   * @defaultValue null
   */
  chunkTimeout?: number | null | undefined;
  /**
   * Time limit of the whole call, including all attempts and the end of a stream, in milliseconds; `null` for
   * no limit. 1 to 2147483647.
   * @defaultValue null
   */
  totalTimeout?: number | null | undefined;
  /**
   * Allows a call to be repeated if it is unknown whether the gateway accepted it. `true` may pay twice;
   * `false` applies the strict rule of charged calls to metered ones.
   * @defaultValue `true` for metered calls except after `timeout`, `false` for charged calls
   */
  retryUnknownOutcome?: boolean | undefined;
  /**
   * Only for gateways that guarantee to do the work of a key once: sends the same key with every attempt of a
   * call, and repeats calls with an unknown outcome, including charged ones. A gateway that ignores the
   * header then charges twice. `null` for no key.
   * @defaultValue null
   */
  idempotency?: Idempotency | null | undefined;
  /**
   * Models to request one after the other if the first model cannot answer, each as a name or with the
   * parameters that differ. At most 10, all different. `null` for none.
   *
   * The next model is requested once the retries of the previous one have ended, and only if that provably did
   * nothing and another model may do better; see `fallbackOn`. Metered calls (chat, generation, audio) also
   * request it after an unknown outcome, where both may be billed, unless `retryUnknownOutcome` is `false`.
   * Charged calls (images, videos) never do. A stream requests it only before its first content.
   *
   * The error of the last model has the worst outcome and the attempts of all models. Not for embeddings,
   * because vectors of different models cannot be compared, remixes and calls by path.
   * @defaultValue null
   */
  fallback?: readonly (string | FallbackModel)[] | null | undefined;
  /**
   * The failures after which the next model of `fallback` is requested. All other failures end the call: invalid
   * requests, a rejected key, missing credit, an unreachable host, aborts and `totalTimeout`.
   * @defaultValue `['limits', 'model', 'context', 'overload', 'timeout']`
   */
  fallbackOn?: readonly FallbackReason[] | undefined;
  /**
   * Called before the next model of `fallback` is requested. If it throws, the call continues and the error is
   * logged.
   */
  onFallback?: ((event: FallbackEvent) => void) | undefined;
  /**
   * How `parse()`, `stream()` and `runTools()` with a schema, and `generate` with `responseSchema` or
   * `responseJsonSchema`, request JSON. The response is validated in every mode.
   *
   * With `auto`, a 400, 422 or 501 that rejects `response_format`, a JSON schema, JSON mode or structured
   * output is followed by a request in the next mode. The rejected request is free, and counts neither as a
   * retry nor against `maxRetries`. The client, and its copies by `withOptions()`, remember for each model
   * which mode worked.
   * @defaultValue "auto"
   */
  structuredOutput?: StructuredOutput | undefined;
  /**
   * Handling of a stream that ends without proof that it is complete: throw `StreamTruncatedError`, log a
   * warning, or accept it silently.
   * @defaultValue "throw"
   */
  onTruncated?: 'throw' | 'warn' | 'allow' | undefined;
  /**
   * Maximum size of a server-sent event in bytes. 1024 to 1073741824.
   * @defaultValue 134217728 (128 MiB, the gateway's own limit)
   */
  maxEventBytes?: number | undefined;
  /**
   * Maximum size of a JSON or text response in bytes; files and streams may have any size. Beyond it, the
   * call throws `UnexpectedResponseError` and closes its connection; the request may have been charged. 1024
   * to 536870888, the maximum length of text in many runtimes.
   * @defaultValue 134217728 (128 MiB)
   */
  maxResponseBytes?: number | undefined;
  /**
   * Stores the streamed content, for `stream.partial` and the `partial` of its errors. `false` stores
   * nothing, so that a stream of any length takes little memory. Helpers with events and responses that are
   * not streamed always store theirs.
   * @defaultValue true
   */
  partial?: boolean | undefined;
  /**
   * Validation of responses: report differences and continue, throw `UnexpectedResponseError`, or skip
   * validation. The first 20 events of a stream are validated, with `"strict"` all of them.
   * @defaultValue "tolerant"
   */
  validation?: 'tolerant' | 'strict' | 'off' | undefined;
}

/** Spending limit of a client, by the price list of its gateway: estimates, in US dollars. */
export interface Budget {
  /** Maximum spending. At least 0. */
  readonly limit: number;
  /**
   * Handling of a call with an unknown price: reject it, or allow it and count its price once it is known.
   * Images, videos, transcriptions and undocumented routes with a price by token count as unknown; see
   * `perCall`.
   * @defaultValue "refuse"
   */
  readonly onMissingPrice?: 'refuse' | 'allow' | undefined;
  /**
   * The least that a call counts as, by model name, in US dollars for each image, each video, or each other call:
   * the higher of it and the cost by price list or response is reserved, and counted if the call may have been
   * charged. It is the price of models without one.
   */
  readonly perCall?: Readonly<Record<string, number>> | undefined;
  /** The key's group, if prices differ by group. */
  readonly group?: string | undefined;
  /**
   * What was spent before, for example by an earlier process, in US dollars: a number of at least 0, or a function
   * that is called before the first call with this budget. If it fails, the call fails with `BudgetError`, and the
   * next call calls it again.
   * @defaultValue 0
   */
  readonly spent?: number | (() => number | PromiseLike<number>) | undefined;
}

/** Limits for the requests of a client, or for those to one model. Each is a whole number of at least 1. */
export interface ModelLimits {
  /** Maximum number of requests that start within any 60 seconds. */
  readonly requestsPerMinute?: number | null | undefined;
  /**
   * Maximum number of tokens of the requests that start within any 60 seconds. They are estimated from the
   * characters of a request, and corrected when its response reports `usage`. A request with more tokens than
   * the limit starts alone. Requests that are never charged count no tokens.
   */
  readonly tokensPerMinute?: number | null | undefined;
  /**
   * Maximum number of requests at the same time. A stream, or a `Response` whose body you read, counts until
   * its end.
   */
  readonly concurrency?: number | null | undefined;
}

/** Limits for the requests of a client. See `limits`. */
export interface ClientLimits extends ModelLimits {
  /** Further limits by model name. A request must be within those of its model and those of the client. */
  readonly models?: Readonly<Record<string, ModelLimits | null | undefined>> | null | undefined;
}

/** Options of the client. */
export interface GatewayOptions extends SharedOptions {
  /**
   * The bearer key, or a function (sync or async) that returns one. The function is called for every attempt,
   * and once more after a 401. `null` sends no key, for a server of yours that adds it. If the key is missing,
   * calls reject; creating the client does not throw, because frameworks build without their environment.
   * @defaultValue the environment variable `GATEWAY_API_KEY`
   */
  apiKey?: ApiKey | null | undefined;
  /**
   * The root of the gateway, for example `https://gateway.example.com`, with or without `/v1`, `/v1beta`, a
   * trailing `/`, or a route such as `/v1/chat/completions`. A path that contains another version, or ends in a
   * folder of OpenAI's routes, such as `/v1beta/openai`, `/api/v3/bots` or `/deployments/name`, is used
   * unchanged. Other paths get `/v1`; if that is a 404, the request is sent once more without it, which is free,
   * and the client remembers the address that worked. A query, such as `?api-version=…`, is sent with every request. In a page, a path of the page's
   * server, such as `/api`, works too. There is no default host; if it is missing, calls reject.
   * @defaultValue the environment variable `GATEWAY_BASE_URL`
   */
  baseURL?: string | URL | null | undefined;
  /**
   * The kind of gateway at `baseURL`: a name or your own profile. It determines the paths, parameters and
   * encodings that differ, and what `account` can read. `"auto"` recognizes public hosts such as
   * `openrouter.ai`, and treats others as `"new-api"`. Clients of `createGateway()` accept only `"auto"` and
   * `defineGateway(profile)`.
   * @defaultValue the environment variable `GATEWAY_PROFILE`, or `"auto"`
   */
  gateway?: 'auto' | GatewayName | GatewayProfile | DefinedGateway | null | undefined;
  /**
   * Sent as the header `openai-organization`, for gateways that forward it to OpenAI. `null` or `""` for
   * none. The environment variables of OpenAI are not read.
   * @defaultValue null
   */
  organization?: string | null | undefined;
  /**
   * Sent as the header `openai-project`, for gateways that forward it to OpenAI. `null` or `""` for none.
   * @defaultValue null
   */
  project?: string | null | undefined;
  /** Headers for every request. `null` removes a header that this client sets. */
  defaultHeaders?: HeaderValues | undefined;
  /** Query parameters for every request. */
  defaultQuery?: QueryValues | undefined;
  /**
   * The `fetch` to call instead of the global one, for example undici's.
   * @defaultValue `globalThis.fetch`
   */
  fetch?: Fetch | ForeignFetch | undefined;
  /** Extra options for every `fetch`, for example `{ dispatcher }` in Node. */
  fetchOptions?: FetchOptions | undefined;
  /**
   * Receives log messages.
   * @defaultValue `console`
   */
  logger?: Logger | undefined;
  /**
   * The log level: `info` logs each attempt with its status, `debug` also the error messages of the gateway, which
   * may quote a part of a prompt. Keys and bodies are never logged.
   * @defaultValue the environment variable `GATEWAY_LOG`, or `"warn"`
   */
  logLevel?: LogLevel | undefined;
  /**
   * Allows a key as a string in a browser, where every visitor can read it. A key function is always allowed.
   * @defaultValue false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
  /**
   * Encoding of video submissions, unless a call overrides it: a form, or JSON for gateways that require it.
   * A submission is never repeated automatically in the other encoding.
   *
   * Many gateways ignore `seconds` in JSON, and charge for the vendor's default length. JSON cannot contain
   * files.
   * @defaultValue that of the gateway's profile, else "form"
   */
  bodyFormat?: 'form' | 'json' | undefined;
  /**
   * The spending limit of this client. The possible cost of a call is reserved before it is sent; a call that
   * would exceed the limit, or with an unknown price, is rejected with `BudgetError`. Calls with an unknown
   * outcome and failed tasks count as spent. If a chat or similar call sets no maximum of tokens, its cost isn't
   * known before, so it is rejected only once the limit is reached. At 80 % a warning is logged.
   *
   * The price list is read once in ten minutes. Clients with the same budget object share it, like clients
   * created by `withOptions()`.
   */
  budget?: Budget | null | undefined;
  /**
   * Rate limits of this client. They apply to every attempt of every call, including polls and downloads.
   * Requests start in order; a request that waits for the limits of its model doesn't delay other models.
   * The wait counts towards `totalTimeout`, not `timeout`, and ends if the call is aborted.
   *
   * The client also follows the gateway's limits: after a 429 with `Retry-After` or `x-ratelimit-reset-*`,
   * requests to the model wait that long (at most 60 seconds). Then 1, 2, 4, … of them start in each half second,
   * faster with each success. After `x-ratelimit-remaining-*: 0` they wait until the reset (at most 60 seconds). `{}` sets no
   * limits but these.
   *
   * Clients created by `withOptions()` for the same `baseURL` share the limits; with `limits` they get their
   * own. `null` sets none.
   * @defaultValue none
   */
  limits?: ClientLimits | null | undefined;
  /**
   * Retries that this client, with its copies by `withOptions()`, may make while calls fail: an integer from 0, or
   * `null` for any number. A retry takes one, after a timeout two, and five successes give one back, so that
   * retries do not multiply the load while the gateway is down.
   * @defaultValue 100
   */
  retryBudget?: number | null | undefined;
  /** Called once for each difference between the responses of an operation and the expected type. */
  onDrift?: ((drift: Drift) => void) | undefined;
  /**
   * Observes every call, its attempts and its end, for traces, metrics and totals. Also a list of observers.
   * `model-gateway/otel` has one for OpenTelemetry.
   */
  observer?: Observer | readonly Observer[] | undefined;
  /**
   * Called before each attempt with the request. It cannot change the request. If it throws, the call
   * continues and the error is logged.
   */
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /**
   * Called when an attempt received a response or failed. If it throws, the call continues and the error is
   * logged.
   */
  onResponse?: ((response: ObservedResponse, request: ObservedRequest) => void) | undefined;
}

/** Progress of the upload of a request's files. */
export interface UploadProgress {
  /** Bytes read from files to be sent; starts again at 0 if an attempt is repeated. */
  readonly sent: number;
  /** Bytes of all files; `undefined` if the length of one is unknown. */
  readonly total: number | undefined;
}

/** Options of one call. They override those of the client. */
export interface RequestOptions extends SharedOptions {
  /**
   * Aborts the call, including waits between attempts and streams. With a `ledger`, a submission that was sent goes on
   * for up to 30 seconds.
   */
  signal?: AbortSignal | null | undefined;
  /** Headers for this call. `null` removes a header. */
  headers?: HeaderValues | undefined;
  /** Query parameters for this call. */
  query?: QueryValues | undefined;
  /** Additional fields of the body, which this package does not know. They override other fields. */
  extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Extra options for `fetch`. */
  fetchOptions?: FetchOptions | undefined;
  /**
   * The idempotency key of this call, for the option `idempotency`. Use the same key to repeat a call later.
   * Requests with another body get a key of their own: the second of `runTools()` that key with `-turn-2`.
   * @defaultValue `callId`, which is new for each call by default
   */
  idempotencyKey?: string | undefined;
  /**
   * Identifies the call in errors, logs and handles of tasks.
   * @defaultValue a new id
   */
  callId?: string | undefined;
  /**
   * Called while the files of a form are sent, piece by piece, in Node and Deno. Other runtimes report only
   * streams, because they don't reveal how much of a file was sent. Its errors are ignored, because the
   * upload may be paid for.
   */
  onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
}

/** Options of a call whose model no other one can replace, such as one for embeddings. */
export interface FixedModelOptions extends Omit<
  RequestOptions,
  'fallback' | 'fallbackOn' | 'onFallback'
> {}

/** Options of a call that only reads: its request has no body. */
export interface ReadOptions extends Omit<FixedModelOptions, 'extraBody' | 'onUploadProgress'> {}

/** Options of some methods, whose types are those of their resources. */
type OptionOfSomeMethods =
  | 'taskTimeout'
  | 'onSubmitted'
  | 'ledger'
  | 'onUnknown'
  | 'pollTimeout'
  | 'maxConsecutiveErrors'
  | 'onUpdate'
  | 'maxPollsPerSecond'
  | 'concurrency'
  | 'batchSize'
  | 'onProgress'
  | 'maxChatCompletions'
  | 'afterCompletion'
  | 'maxCalls'
  | 'onContent'
  | 'resultURL'
  | 'maxAge';

/** Options that some gateways know as parameters too. */
type OptionOrParameter =
  | 'gateway'
  | 'organization'
  | 'project'
  | 'timeout'
  | 'partial'
  | 'validation'
  | 'headers'
  | 'query';

/** Options that are refused among the parameters of a call, where they would do nothing: they belong after them. */
export interface NoOptions extends Partial<
  Record<
    Exclude<keyof GatewayOptions | keyof RequestOptions | OptionOfSomeMethods, OptionOrParameter>,
    undefined
  >
> {}
