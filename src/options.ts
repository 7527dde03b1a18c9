import type { ResponseIssue } from './types.ts';

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

/** Query parameters; lists repeat the name, `null` removes one that an outer level set. */
export type QueryValues = Readonly<
  Record<
    string,
    string | number | boolean | readonly (string | number | boolean)[] | null | undefined
  >
>;

/** How a gateway that promises to honour an idempotency key wants it. */
export interface Idempotency {
  /** The name of the header, for example `"Idempotency-Key"`. */
  readonly header: string;
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

/** Options of the client. */
export interface GatewayOptions extends SharedOptions {
  /**
   * The bearer key, or a function (it may be async) that gives one. The function is called for every
   * attempt, and once more after a 401.
   * @defaultValue the environment variable `GATEWAY_API_KEY`
   */
  apiKey?: ApiKey | undefined;
  /**
   * The root of the gateway, for example `https://gateway.example.com`. A trailing `/`, `/v1` or
   * `/v1beta` is understood. There is no default host.
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
   * What is logged. Keys and prompts never are, nor bodies; at `debug`, what errors of the gateway say is.
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
  /** Called once for each place where answers of an operation differ from what is expected. */
  onDrift?: ((drift: Drift) => void) | undefined;
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
}
