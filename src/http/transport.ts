import { ownCause } from '../answers/objects.ts';
import { checkOptions, checkSignal, toInputError } from '../check.ts';
import type { OperationReturning, ResponseKind } from '../endpoints.ts';
import { APIConnectionTimeoutError, APIUserAbortError } from '../errors/api-errors.ts';
import { asGiven } from '../given.ts';
import type { Later } from '../load.ts';
import type { RequestOptions } from '../options.ts';
import { CallScope } from './abort.ts';
import { type AnswerFormat, type Caller, LogicalCall } from './call.ts';
import type { Calls } from '../observing/calls.ts';
import { GatewayPromise } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, specOf } from './request.ts';
import { baseOf, type ClientSettings, settingsOfCall } from './settings.ts';
import { buildQuery } from './url.ts';

/** What is looked at of options until a part is there. */
type Stoppable = Pick<RequestOptions, 'signal' | 'totalTimeout'> | null | undefined;

/** What a part is asked with: by whom, and what the caller gave. */
type Asked<Given, Options> = [transport: Transport, given: Given, options: Options];

/**
 * Starts a call, and rejects in place of throwing: one `catch` serves for all.
 *
 * @param input - The caller's, whose getters may throw.
 */
export function startCall<T>(input: unknown, start: () => GatewayPromise<T>): GatewayPromise<T> {
  try {
    return start();
  } catch (cause) {
    return rejectCall(cause, input);
  }
}

/** Returns a call that rejects because its input could not be read. */
export function rejectCall(cause: unknown, input: unknown): GatewayPromise<never> {
  return new GatewayPromise(Promise.reject(toInputError(cause, input)));
}

/**
 * Waits for a part, but no longer than until the caller's signal is aborted or the time of the call is over.
 *
 * @throws `APIUserAbortError` or `APIConnectionTimeoutError`, as nothing was sent yet
 */
export async function partFor<Part>(
  load: Later<Part>,
  signal: AbortSignal | null | undefined,
  totalTimeout: number | null = null,
  askedAt?: number,
): Promise<Part> {
  if (load.part) return load.part;
  checkSignal(signal);
  const scope = new CallScope(signal, totalTimeout, askedAt);
  try {
    return await scope.until(load());
  } catch (cause) {
    if (scope.stopped === undefined) throw cause;
    const advice =
      'Nothing was sent: the part of model-gateway that makes the call had not come yet.';
    const init = { outcome: 'not_sent', advice, cause: ownCause(cause) } as const;
    if (scope.stopped === 'signal') throw new APIUserAbortError('The call was aborted.', init);
    throw new APIConnectionTimeoutError(`The call took longer than ${totalTimeout} ms.`, init);
  } finally {
    scope.release();
  }
}

/** What a ledger keeps of the only request of a submission. */
export interface SubmittedRequest {
  readonly requestId?: string | undefined;
  /** Whether its error response was read to its end. */
  readonly isAnswered?: boolean | undefined;
}

/** What the account does for calls (see `Caller`), in a part that is loaded when it is needed. */
export interface AccountPart {
  keepWithin(call: LogicalCall, transport: Transport): Promise<void>;
  fold(calls: Calls): void;
  /** Looks up in the usage log whether a submission with an unknown outcome was charged. */
  settleCall(
    transport: Transport,
    callId: string,
    request: SubmittedRequest,
    signal: AbortSignal | null | undefined,
  ): Promise<{
    readonly verdict: 'charged' | 'refunded' | 'not_charged' | 'unknowable';
    readonly taskId?: string | undefined;
    readonly why: string;
  }>;
}

/** All that a resource knows of HTTP. */
export class Transport implements Caller {
  /** What the next call goes by. A call that is under way keeps what it began with. */
  client: ClientSettings;
  readonly account: () => Promise<AccountPart>;
  /** Transports that have it in common also wait in one line for downloads. */
  calls: Calls;
  readonly askedAt: number | undefined;

  constructor(
    client: ClientSettings,
    account: () => Promise<AccountPart>,
    calls: Calls = { records: [], lost: 0 },
    askedAt?: number,
  ) {
    this.client = client;
    this.account = account;
    this.calls = calls;
    this.askedAt = askedAt;
  }

  /**
   * The same as it is now, for work of several calls that must all go to one gateway.
   *
   * @param askedAt - When the caller asked, where time limits count from then.
   */
  snapshot(askedAt?: number): Transport {
    return new Transport(this.client, this.account, this.calls, askedAt);
  }

  async keepWithin(call: LogicalCall): Promise<void> {
    await (await this.account()).keepWithin(call, this);
  }

  async fold(): Promise<void> {
    (await this.account()).fold(this.calls);
  }

  /** The root of the gateway, for work that needs it. */
  get baseURL(): string {
    return baseOf(this.client).root;
  }

  /** Refuses options that are misspelt, and warns of those that have no effect. */
  checkNames(options: unknown): void {
    this.client.log.warnOnce(checkOptions(options).values());
  }

  /**
   * Checks the options of calls that are made later, if at all.
   *
   * @throws `InvalidInputError` naming the option that cannot work
   */
  checkOptions(options: RequestOptions): void {
    settingsOfCall(this.client, options);
    applyHeaders(new Headers(), options.headers, 'headers');
    buildQuery(options.query);
  }

  /**
   * Calls an operation.
   *
   * @param format - How its answer is read: one of the kinds that the operation has.
   */
  call<Name extends OperationReturning<Kind>, Kind extends ResponseKind, T>(
    operation: Name,
    request: RequestSource<Name>,
    format: AnswerFormat<T, Kind>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    return new GatewayPromise(
      LogicalCall.run(
        () => new LogicalCall(specOf(operation, request, format.kind, options), this),
        format,
      ),
    );
  }

  raw<T>(
    makeSpec: (client: ClientSettings) => CallSpec,
    format: AnswerFormat<T>,
  ): GatewayPromise<T> {
    return new GatewayPromise(
      LogicalCall.run(() => new LogicalCall(makeSpec(this.client), this), format),
    );
  }

  /** Loads a part, and waits for it no longer than the call that needs it may take. */
  async load<Part>(load: Later<Part>, options: RequestOptions | null | undefined): Promise<Part> {
    const { totalTimeout } = settingsOfCall(this.client, options);
    return partFor(load, options?.signal, totalTimeout, this.askedAt);
  }

  /** One call that a part makes. It begins at once when the part is there. */
  late<Part, Given, Options extends Stoppable, T>(
    load: Later<Part>,
    work: (part: Part) => (...asked: Asked<Given, Options>) => GatewayPromise<T>,
    given: Given,
    options: Options,
  ): GatewayPromise<T> {
    const { part } = load;
    if (part === undefined) {
      const ready = this.whenThere(load, given, options, performance.now());
      return GatewayPromise.when(ready, ([there, ...asked]) =>
        startCall(given, () => work(there)(...asked)),
      );
    }
    return startCall(given, () => work(part)(this, given, options));
  }

  /**
   * Waits for a part, and gives it with the client and what the caller gave, as they are now.
   *
   * @param askedAt - Of one call: its time counts from then.
   */
  async whenThere<Part, Given, Options extends Stoppable>(
    load: Later<Part>,
    given: Given,
    options: Options,
    askedAt?: number,
  ): Promise<[Part, ...Asked<Given, Options>]> {
    const streams: { destroy(): unknown }[] = [];
    const own = asGiven(options);
    const asked: Asked<Given, Options> = [this.snapshot(askedAt), asGiven(given, streams), own];
    try {
      const [transport] = asked;
      const isOneCall = askedAt !== undefined;
      const there = isOneCall ? transport.load(load, own) : partFor(load, own?.signal);
      return [await there, ...asked];
    } catch (error) {
      // Nobody else closes what nobody reads.
      for (const stream of streams) stream.destroy();
      throw error;
    }
  }
}
