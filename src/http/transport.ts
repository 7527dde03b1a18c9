import { ownCause } from '../answers/objects.ts';
import { checkRequestOptions } from '../check.ts';
import type { OperationReturning, ResponseKind } from '../endpoints.ts';
import { APIConnectionTimeoutError, APIUserAbortError } from '../errors/api-errors.ts';
import { optionsAsGiven } from '../given.ts';
import type { Later } from '../load.ts';
import type { RequestOptions } from '../options.ts';
import { CallScope } from './abort.ts';
import { type AnswerFormat, type Caller, LogicalCall } from './call.ts';
import type { Calls } from '../observing/calls.ts';
import { GatewayPromise } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, specOf } from './request.ts';
import { baseOf, type ClientSettings, mergeCallSettings } from './settings.ts';
import { buildQuery } from './url.ts';

/** Waits for a part, but no longer than the call that needs it may take. */
async function untilStopped<Part>(
  load: Later<Part>,
  { call }: ClientSettings,
  options: RequestOptions | undefined,
): Promise<Part> {
  checkRequestOptions(options);
  const { totalTimeout } = mergeCallSettings(call, options);
  const scope = new CallScope(options?.signal, totalTimeout);
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

/** All that a resource knows of HTTP. */
export class Transport implements Caller {
  /** What the next call goes by. A call that is under way keeps what it began with. */
  client: ClientSettings;
  readonly account: Caller['account'];
  /** Transports that have it in common also wait in one line for downloads. */
  calls: Calls;

  constructor(
    client: ClientSettings,
    account: Caller['account'],
    calls: Calls = { records: [], lost: 0 },
  ) {
    this.client = client;
    this.account = account;
    this.calls = calls;
  }

  /** The same as it is now, for work of several calls that must all go to one gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.account, this.calls);
  }

  /** The root of the gateway, or `""` while it is missing. */
  get root(): string {
    return this.client.findBase()?.root ?? '';
  }

  /** The root of the gateway, for work that needs it. */
  get baseURL(): string {
    return baseOf(this.client).root;
  }

  /** How this client's video submissions travel. */
  get bodyFormat(): 'form' | 'json' {
    return this.client.bodyFormat;
  }

  /**
   * Checks the options of calls that are made later, if at all.
   *
   * @throws `InvalidInputError` naming the option that cannot work
   */
  checkOptions(options: RequestOptions): void {
    checkRequestOptions(options);
    mergeCallSettings(this.client.call, options);
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

  /**
   * A call that a part of this package makes, which is loaded first.
   *
   * @param start - Makes it, by the client and the options as they were when the caller asked.
   */
  late<Part, Options extends RequestOptions | undefined, T>(
    load: Later<Part>,
    options: Options,
    start: (part: Part, transport: Transport, own: Options) => GatewayPromise<T>,
  ): GatewayPromise<T> {
    const transport = this.snapshot();
    const own = optionsAsGiven(options);
    return GatewayPromise.when(transport.load(load, own), (part) => start(part, transport, own));
  }

  /** Loads a part, and waits for it no longer than the call that needs it may take. */
  load<Part>(load: Later<Part>, options: RequestOptions | undefined): Promise<Part> {
    return load.part ? load() : untilStopped(load, this.client, options);
  }

  raw<T>(
    makeSpec: (client: ClientSettings) => CallSpec,
    format: AnswerFormat<T>,
  ): GatewayPromise<T> {
    return new GatewayPromise(
      LogicalCall.run(() => new LogicalCall(makeSpec(this.client), this), format),
    );
  }
}
