import { check, toInputError } from '../options/check.ts';
import { isObject } from '../answers/objects.ts';
import { misplaced, misplacedWarning } from '../options/option-names.ts';
import { checkIdempotencyKey } from '../options/idempotency.ts';
import {
  areChecked,
  checkOptions,
  type ResolvedOptions,
  withDefaults,
} from '../options/resolve.ts';
import type { Method } from '../options/methods.ts';
import {
  endpoints,
  type Operation,
  type OperationReturning,
  type ResponseKind,
} from '../endpoints.ts';
import type { AttemptEvidence } from '../errors/gateway-error.ts';
import type { GatewayOptions, GatewayPolicy, RequestOptions } from '../options/options.ts';
import { copyOptions, copyParams } from '../options/snapshot.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';
import {
  type Change,
  type RouteSpec,
  applyHeaders,
  createSpec,
  unchanged,
  withoutChanged,
} from '../http/request.ts';
import { buildQuery, buildURL } from '../http/url.ts';
import { Call } from './call.ts';
import type { Listener } from './events.ts';
import type { OperationParts } from './operation.ts';
import { GatewayPromise } from './promise.ts';
import type { Send } from './send-each.ts';
import { type ResultFormat, GatewayRequest, type OutputModes } from './gateway-request.ts';
import { sendWithRetries } from './retries.ts';
import { requireBase, type ClientSettings } from './settings.ts';

/**
 * Starts a call, and rejects instead of throwing.
 *
 * @param input - The caller's input, whose getters may throw.
 */
export function startCall<T>(input: unknown, start: () => GatewayPromise<T>): GatewayPromise<T> {
  try {
    return start();
  } catch (cause) {
    return new GatewayPromise(Promise.reject(toInputError(cause, input)));
  }
}

/** Returns a listener for a request, or `undefined` to ignore it. */
export type Subscriber = (request: GatewayRequest, transport: Transport) => Listener | undefined;

/** Stands for this copy of the package: its other module format, or another version, has another one. */
export const thisCopy: object = {};

/** What a policy may read of the parts of an operation. */
interface AskingParts {
  readonly output?: OutputModes | undefined;
  readonly optional?: readonly string[] | undefined;
}

/** A feature that stands around a call (`wrap`), or listens to each of its requests (`listen`). */
export interface Policy<Option extends string = string> extends GatewayPolicy<Option> {
  /** The copy of the package whose requests and errors it knows; default: any. */
  readonly copy?: object;
  /**
   * Returns the function that listens to the requests of a client with these options; `undefined` if they don't
   * ask for the policy. The context of a policy further inside encloses those of others.
   *
   * @throws `InvalidInputError` naming the invalid option
   */
  readonly listen?: (options: GatewayOptions) => Subscriber | undefined;
  /**
   * Returns whether a call uses `wrap`. Called with the caller's own options, before anything is copied or
   * checked, so reading them may throw; use `peek`.
   */
  readonly asks?: (
    client: ClientSettings,
    options: RequestOptions | undefined,
    parts: AskingParts,
  ) => boolean;
  /** Returns a function that sends a call, usually by calling `next`. */
  readonly wrap?: (next: Send) => Send;
}

/** What the gateway's usage log has of a submission with an unknown outcome. */
export interface SettledSubmission {
  readonly verdict: 'charged' | 'refunded' | 'not_charged' | 'unknowable';
  readonly taskId?: string | undefined;
  readonly model?: string | undefined;
  readonly reason: string;
}

/** Looks up in the usage log whether a submission was charged. */
export type SettleSubmission = (
  transport: Transport,
  callId: string,
  request: Pick<AttemptEvidence, 'requestId' | 'isErrorComplete'>,
  signal: AbortSignal,
) => Promise<SettledSubmission>;

/** The features of a client. */
export interface Features {
  /** The context of a later subscriber encloses those of earlier ones. */
  readonly subscribers: readonly Subscriber[];
  /** Policies around a call, the outermost first. */
  readonly policies: readonly Policy[];
  /** Options whose policy the client lacks, each with the way to add it. */
  readonly missing: ReadonlyMap<string, string>;
  /** `undefined` if the client has no account. */
  readonly settle?: SettleSubmission | undefined;
}

const none: Features = { subscribers: [], policies: [], missing: new Map() };

/** @throws `InvalidInputError` if an option has no effect because its policy is missing */
export function requirePolicies(
  missing: ReadonlyMap<string, string>,
  options: object | null | undefined,
): void {
  if (!options) return;
  for (const [name, advice] of missing) {
    const value: unknown = Reflect.get(options, name);
    check((value ?? undefined) === undefined, name, `needs ${advice} of createGateway().`);
  }
}

/** Makes the calls of one client for its resources. */
export class Transport {
  /** The settings for new calls. Running calls keep theirs. */
  client: ClientSettings;
  readonly features: Features;

  constructor(client: ClientSettings, features: Features = none) {
    this.client = client;
    this.features = features;
  }

  /** Returns a copy with the current settings, for work of several calls that must go to the same gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.features);
  }

  /** The root URL of the gateway. */
  get baseURL(): string {
    return requireBase(this.client).root;
  }

  /** The kind of gateway; `undefined` if unknown. */
  get gateway(): DefinedGateway | undefined {
    return this.client.findBase()?.gateway;
  }

  /** Returns whether the profile, or the last price list that was read, says that a model makes images or videos. */
  readonly isMedia = (model: string): boolean =>
    this.client.shared.mediaModels?.has(model) === true ||
    this.gateway?.profile.isMediaModel?.(model) === true;

  /** Returns the URL of an operation's requests, with its parameters as placeholders. */
  operationURL(operation: Operation): string {
    const base = requireBase(this.client);
    const path = base.gateway?.profile.paths?.[operation] ?? endpoints[operation].path;
    return buildURL(base, path, '');
  }

  /**
   * Checks the options of a method that makes several calls, once for all of them.
   *
   * @param params - The parameters of the method.
   * @throws `InvalidInputError` naming the invalid option
   */
  checkOptions<M extends Method, Options extends object>(
    method: M,
    options: Options | null | undefined,
    params?: object,
  ): ResolvedOptions<M, Options>;
  checkOptions(
    method: Method,
    options: RequestOptions | null | undefined,
    params?: object,
  ): object {
    const { call, log } = this.client;
    const { values, warnings } = checkOptions(options, method, method, params);
    log.warnOnce(warnings);
    requirePolicies(this.features.missing, options);
    const { headers, query, idempotency = call.idempotency }: RequestOptions = options ?? {};
    checkIdempotencyKey(options ?? {}, idempotency);
    applyHeaders(new Headers(), headers, 'headers');
    buildQuery(query);
    return withDefaults(method, values);
  }

  /**
   * Calls an operation.
   *
   * @param parts - Writes the requests and reads the responses, in one of the kinds that the operation has.
   * @param gateway - The kind of gateway; default: the client's.
   */
  operate<Name extends OperationReturning<Kind>, Params, Kind extends ResponseKind, T>(
    operation: Name,
    params: Params,
    parts: OperationParts<Name, Params, T, Kind>,
    options: RequestOptions | undefined,
    gateway = this.gateway,
  ): GatewayPromise<T> {
    const { kind, output, optional } = parts;
    try {
      const { send, mayChange, copied } = this.#enter(options, parts);
      // The caller may change them before the next request.
      const original = mayChange ? copyParams(params) : params;
      const write = (change: Change) => {
        const changed = change === unchanged ? original : { ...original, ...change.params };
        const { output: mode } = change;
        const sent = mode === undefined ? changed : (output?.inMode(changed, mode) ?? changed);
        const request = parts.write(sent, change);
        const kept = change === unchanged ? copied : withoutChanged(copied, change);
        const spec = createSpec(operation, request, kind, kept, gateway, this.isMedia);
        return { spec, format: parts.format(changed, change) };
      };
      // Invalid parameters are reported before invalid options.
      const written = write(unchanged);
      const call = new Call(this.client, copied, operation, params);
      this.#warnOfMisplaced(params);
      const source = { write, output, optional, listen: this.#listen };
      return new GatewayPromise(send(new GatewayRequest(call, source, written)));
    } catch (cause) {
      return new GatewayPromise(Promise.reject(toInputError(cause)));
    }
  }

  /** Calls a route by its path. Its parameters cannot change. */
  raw<T>(
    makeSpec: (client: ClientSettings) => RouteSpec,
    format: ResultFormat<T>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    try {
      const { send, copied } = this.#enter(options, {});
      const spec = { ...makeSpec(this.client), options: copied };
      const call = new Call(this.client, copied, spec.operation);
      const source = { listen: this.#listen };
      return new GatewayPromise(send(new GatewayRequest(call, source, { spec, format })));
    } catch (cause) {
      return new GatewayPromise(Promise.reject(toInputError(cause)));
    }
  }

  /**
   * Returns the function that sends a call through the policies that it asks for, and a copy of its options: the
   * caller may change its own.
   */
  #enter(options: RequestOptions | undefined, parts: AskingParts) {
    const { policies, missing } = this.features;
    if (missing.size > 0) requirePolicies(missing, options);
    const used = policies.filter(({ asks }) => asks?.(this.client, options, parts) === true);
    return {
      send: used.reduceRight<Send>((next, { wrap }) => wrap?.(next) ?? next, sendWithRetries),
      mayChange: used.length > 0,
      copied: options && areChecked(options) ? options : copyOptions(options),
    };
  }

  /** Warns about parameters that other packages take as options. */
  #warnOfMisplaced(params: unknown): void {
    for (const [name, value] of isObject(params) ? Object.entries(params) : []) {
      const isGiven = value !== undefined && value !== null;
      const isMisplaced = isGiven && misplaced.get(name) === 'warn';
      if (isMisplaced) this.client.log.warnOnce([misplacedWarning(name)]);
    }
  }

  /** Returns the listeners to a request. */
  readonly #listen = (request: GatewayRequest): readonly Listener[] => {
    const listeners: Listener[] = [];
    for (const subscribe of this.features.subscribers) {
      const listener = subscribe(request, this);
      if (listener !== undefined) listeners.push(listener);
    }
    return listeners;
  };
}
