import { checkOptions, toInputError } from '../check.ts';
import type { OperationReturning, ResponseKind } from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import { type AnswerFormat, type Caller, LogicalCall } from './call.ts';
import type { Calls } from '../observing/calls.ts';
import { GatewayPromise } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, specOf } from './request.ts';
import { baseOf, type ClientSettings, settingsOfCall } from './settings.ts';
import { buildQuery } from './url.ts';

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

/** What a ledger keeps of the only request of a submission. */
export interface SubmittedRequest {
  readonly requestId?: string | undefined;
  /** Whether its error response was read to its end. */
  readonly isAnswered?: boolean | undefined;
}

/** What the account does for calls; see `Caller`. */
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
  readonly account: AccountPart;
  /** Transports that have it in common also wait in one line for downloads. */
  calls: Calls;

  constructor(
    client: ClientSettings,
    account: AccountPart,
    calls: Calls = { records: [], lost: 0 },
  ) {
    this.client = client;
    this.account = account;
    this.calls = calls;
  }

  /** Returns a copy with the current settings, for work of several calls that must all go to one gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.account, this.calls);
  }

  async keepWithin(call: LogicalCall): Promise<void> {
    await this.account.keepWithin(call, this);
  }

  fold(): void {
    this.account.fold(this.calls);
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
}
