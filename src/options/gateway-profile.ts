import type { Operation } from '../endpoints.ts';
import type { JsonObject } from '../types.ts';
import type { Balance, ChargeEntry, ModelPrice } from '../answers/account.ts';

/** The gateways that the package knows by name. */
export type GatewayName = 'new-api' | 'openrouter' | 'litellm' | 'openai';

/** Rules for the request of one operation. */
export interface RequestRules {
  /**
   * The encoding of the body, if the operation supports two.
   * @defaultValue `multipart` for videos; for image edits, `multipart` for files and `json` for references
   */
  readonly body?: 'json' | 'multipart' | undefined;
  /**
   * `POST` for a read that the gateway serves so, such as the status of a task. The parameters that its path omits
   * are in the JSON body, under their `names`; `task_id`, for example.
   */
  readonly method?: 'POST' | undefined;
  /**
   * The gateway's parameter names, by the name in this package. `null` if the gateway does not support the
   * parameter: a call with it throws an `InvalidInputError` before anything is sent. Parameters that are not
   * listed keep their names.
   */
  readonly names?: Readonly<Record<string, string | null>> | undefined;
  /**
   * Returns the JSON body from the parameters under the gateway's names. Fields of `extraBody` are added
   * afterwards. Throw to reject a call: nothing is sent.
   *
   * `params` are the path parameters; for `videos.remix`, `video_id`, and `model` if it is known. The body of
   * images and videos may contain files anywhere; they are sent as data URLs.
   */
  readonly write?:
    | ((body: JsonObject, params: Readonly<Record<string, string>>) => JsonObject)
    | undefined;
}

/** Paths of fields in responses about video tasks, such as `data.status` or `urls[0]`. */
export interface VideoRules {
  readonly id?: string | undefined;
  readonly status?: string | undefined;
  /** Meanings of the gateway's status words, in lower case. Other words keep their default meaning. */
  readonly statuses?:
    | Readonly<Record<string, 'queued' | 'in_progress' | 'completed' | 'failed'>>
    | undefined;
  readonly url?: string | undefined;
  readonly error?: string | undefined;
  /**
   * The id for `videos.downloadContent` in the status of a completed task, if it is not the task's, such as
   * `generations[0].id`. A download that has only the id or the handle of a task reads its status first.
   */
  readonly contentId?: string | undefined;
}

/** The problem with a response that could not be read, as the end of a sentence. */
type Finding = string;

/** An entry of a usage log, with fields for `settle()`. */
export interface UsageLogEntry extends ChargeEntry {
  /** `true` if the entry belongs to a video task. */
  readonly isTask?: boolean | undefined;
  /** The final cost of a task, in an entry that corrects its price. */
  readonly finalQuota?: number | undefined;
  /** `true` if the request ended well, and no other entry of it follows: an amount of 0 means that it was free. */
  readonly isEnded?: boolean | undefined;
}

/** A route of the account. Paths are as in `GatewayProfile.paths`. */
interface AccountRoute<T> {
  readonly path: string;
  /** Returns the parsed response, or the problem with it. A list is passed as `{ list }`. */
  readonly read: (answer: JsonObject) => T | Finding;
  /** `true` if the gateway limits reads, so that a 429 throws a `UsageLogLimitError`. */
  readonly isLimited?: boolean | undefined;
}

/**
 * Routes that `client.account` reads, all free. Reading an omitted route throws `UnsupportedByGatewayError`.
 */
export interface AccountRules {
  /**
   * Returns whether the usage log uses a request id. Ids that proxies add do not appear in it.
   * @defaultValue every id is used
   */
  readonly isLogged?: ((requestId: string) => boolean) | undefined;
  /** The usage log of the key, for `charges()`, and for `settle()` if `charge` is omitted. */
  readonly charges?: AccountRoute<readonly UsageLogEntry[]> | undefined;
  /**
   * The entries of one request; `{id}` in the path or its query is the request id. For `settle()` and
   * `charges({ requestId })`. An empty list or a 404 means that the log does not have the request (yet).
   */
  readonly charge?: AccountRoute<UsageLogEntry | readonly UsageLogEntry[]> | undefined;
  /** Ways to read the balance, tried in order. Each reads all of its paths. */
  readonly balance?:
    | readonly {
        readonly paths: readonly string[];
        readonly read: (...answers: JsonObject[]) => Omit<Balance, 'asOf'> | Finding;
        readonly isLimited?: boolean | undefined;
      }[]
    | undefined;
  /**
   * Returns whether an error of these routes means that the gateway does not serve them, or not to this key.
   * It becomes an `UnsupportedByGatewayError`; 404, 405 and 501 always do.
   */
  readonly isUnsupported?:
    | ((error: { readonly status: number | undefined; readonly message: string }) => boolean)
    | undefined;
  /** The price list. */
  readonly prices?:
    | AccountRoute<{
        readonly models: readonly ModelPrice[];
        readonly groupRatios: Readonly<Record<string, number>>;
      }>
    | undefined;
}

/**
 * The differences of one kind of gateway from OpenAI's API, as plain data and pure functions. All fields except
 * `name` are optional.
 */
export interface GatewayProfile {
  /** The name in errors, in the doctor and in task handles. */
  readonly name: string;
  /** Public hosts that `gateway: 'auto'` recognizes; `example.com` includes its subdomains. */
  readonly hosts?: readonly string[] | undefined;
  /**
   * The path of the API, if `baseURL` has none.
   * @defaultValue `/v1`
   */
  readonly basePath?: string | undefined;
  /**
   * Paths of operations that differ. `/v1` at the beginning is replaced by the version at the end of
   * `baseURL`; any other path is below its root. `{name}` is a path parameter, `{+name}` a path parameter that
   * keeps its slashes. Paths of POST requests may omit parameters, if `write` puts them into the body. A
   * query such as `?type=all` is a default: the options `query` and `defaultQuery` replace its parameters.
   */
  readonly paths?: Readonly<Partial<Record<Operation, string>>> | undefined;
  /** Operations that the gateway does not serve, each with a sentence that names the alternative. */
  readonly unsupported?: Readonly<Partial<Record<Operation, string>>> | undefined;
  /** Rules for requests that differ. */
  readonly requests?: Readonly<Partial<Record<Operation, RequestRules>>> | undefined;
  /**
   * Functions that convert a response to OpenAI's format, by operation. If a function throws or does not
   * return an object, the original response is used, because it may be paid for.
   */
  readonly answers?:
    | Readonly<Partial<Record<Operation, (answer: JsonObject, headers: Headers) => JsonObject>>>
    | undefined;
  /** Paths of fields in responses of video operations. */
  readonly video?: VideoRules | undefined;
  /**
   * Beginnings of texts, besides http(s) and data URLs, that the gateway accepts as reference images: `gs://`,
   * for example, or `''` for any text, such as base64 or ids of files. Other text is rejected before it is sent,
   * because gateways ignore it but charge for the result.
   */
  readonly imageReferences?: readonly string[] | undefined;
  /**
   * Returns whether a model makes images or videos, for models whose names do not say so. Chat, generation and
   * responses with such a model are charged calls, whose lost response is not requested again.
   */
  readonly isMediaModel?: ((model: string) => boolean) | undefined;
  /** The path of an image task, with `{id}`, for gateways that return a task instead of images. */
  readonly imageTask?: string | undefined;
  /**
   * Response headers with the gateway's request id, the best first.
   * @defaultValue the headers of the gateways that the package knows
   */
  readonly requestIdHeaders?: readonly string[] | undefined;
  /**
   * A request header with an id that the client generates and the gateway uses as its request id. Each attempt
   * that may be charged gets one, so that `settle()` finds it even without a response.
   */
  readonly sentIdHeader?: string | undefined;
  /**
   * Returns the charge for a call in US dollars, if its response reports it; for a stream, `answer` contains
   * only `usage`. A budget then counts this amount, even if it is less than the reserved one; 0 only for free
   * models.
   * @defaultValue reads `usage.cost` and the header `x-litellm-response-cost`. That may be the price of a
   * vendor behind the gateway, so a budget counts it only if it is higher than its own estimate.
   */
  readonly readCost?: ((answer: unknown, headers: Headers) => number | undefined) | undefined;
  /** The account of the key. */
  readonly account?: AccountRules | undefined;
}

/** The request of an operation in a gateway's format, with the function that converts its response. */
export interface WrittenRequest {
  readonly path: string;
  /** Set if it is another one than that of the operation. */
  readonly method?: 'POST';
  readonly json: object | undefined;
  readonly adapt: ((answer: object, headers: Headers) => unknown) | undefined;
}

/** A gateway with a checked profile, as `defineGateway()` returns it. */
export interface DefinedGateway {
  readonly profile: GatewayProfile;
  /**
   * @internal
   * @throws `UnsupportedByGatewayError` and `InvalidInputError` if the gateway does not support the operation or a parameter
   */
  readonly write: (
    operation: Operation,
    request: {
      readonly json?: object | undefined;
      readonly form?:
        | { readonly fields?: Iterable<readonly [string, unknown, ...unknown[]]> }
        | undefined;
      readonly isWritten?: boolean | undefined;
      readonly params?: Readonly<Record<string, string>> | undefined;
    },
  ) => WrittenRequest;
}
