import { checkRequestOptions } from '../check.ts';
import type { OperationReturning, ResponseKind } from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import { type AnswerFormat, type Caller, LogicalCall } from './call.ts';
import type { Calls } from '../observing/calls.ts';
import { GatewayPromise, type OpenAnswer } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, specOf } from './request.ts';
import { baseOf, type ClientSettings, mergeCallSettings } from './settings.ts';
import { buildQuery } from './url.ts';

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

  /** The same as `call`, for a resource that has a promise class of its own. */
  send<Name extends OperationReturning<Kind>, Kind extends ResponseKind, T>(
    operation: Name,
    request: RequestSource<Name>,
    format: AnswerFormat<T, Kind>,
    options: RequestOptions | undefined,
  ): Promise<OpenAnswer<T>> {
    return LogicalCall.run(
      () => new LogicalCall(specOf(operation, request, format.kind, options), this),
      format,
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
}
