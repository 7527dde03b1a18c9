import type { Operation, ResponseKind } from '../endpoints.ts';
import type { Change, OperationRequest } from '../http/request.ts';
import type { OutputMode } from '../options/options.ts';
import type { ResultFormat, OutputModes } from './gateway-request.ts';

/** How an operation can request JSON. */
export interface OutputRules<Params> extends OutputModes {
  /** Returns the parameters as the mode sends them. */
  inMode(params: Params, mode: OutputMode): Params;
}

/** How a resource writes the requests of an operation and reads their responses. */
export interface OperationParts<
  Name extends Operation,
  Params,
  T,
  Kind extends ResponseKind = ResponseKind,
> {
  /**
   * Checks parameters and writes their request. Must not have side effects: the request may never be sent.
   *
   * @param params - The parameters of the request: those of the caller, with `change.params`, in the mode
   * `change.output`.
   */
  write(params: Params, change: Change): OperationRequest<Name>;
  readonly kind: Kind;
  /** Returns the format of the response to a request with these parameters, which are checked. */
  format(params: Params, change: Change): ResultFormat<T, Kind>;
  /** Set if the request is for JSON. */
  readonly output?: OutputRules<Params> | undefined;
  /** Parameters of the request that only add to its response, so that it can be sent again without one. */
  readonly optional?: readonly string[] | undefined;
}
