import {
  endpoints,
  type BodyKind,
  type ChargeClass,
  type Endpoint,
  type Operation,
  type PathParameter,
  type ResponseKind,
} from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import type { BodyEncoding } from './body.ts';
import { buildQuery, fillPath } from './url.ts';
import type { QueryValues } from '../options.ts';

interface BodyFields {
  none: { readonly json?: undefined; readonly form?: undefined };
  json: { readonly json: object; readonly form?: undefined };
  multipart: { readonly json?: undefined; readonly form: BodyEncoding };
}

type BodyOf<Name extends Operation> = BodyFields[(typeof endpoints)[Name]['bodies'][number] &
  BodyKind];

type ParametersOf<Name extends Operation> = [PathParameter<Name>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<PathParameter<Name>, string>> };

/** What is known of the video that a call downloads. */
interface Download {
  /** Whether its task is known to be completed, so that the content is there. */
  readonly isCompleted: boolean;
  /** The error that says more of the task than the answer to the download does, if there is one. */
  explain(error: Error): Error | undefined;
}

/** What a resource says of one call: the path parameters and the body that its endpoint has. */
export type OperationRequest<Name extends Operation> = ParametersOf<Name> &
  BodyOf<Name> & { readonly download?: Download };

/** A request, or what makes it. A function may throw: bad input then rejects the call. */
export type RequestSource<Name extends Operation> =
  | OperationRequest<Name>
  | (() => OperationRequest<Name>);

/** One logical call, ready to be sent any number of times. */
export interface CallSpec {
  /** The operation, or `METHOD path` of an undocumented route. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: QueryValues | undefined;
  readonly charge: ChargeClass;
  readonly accept: string;
  readonly json?: unknown;
  readonly form?: BodyEncoding | undefined;
  readonly download?: Download | undefined;
  readonly options: RequestOptions | undefined;
}

const accepted: Readonly<Record<ResponseKind, string>> = {
  json: 'application/json',
  text: '*/*',
  binary: '*/*',
  events: 'text/event-stream',
};

/** Makes the call of a documented operation. */
export function specOf<Name extends Operation>(
  operation: Name,
  source: RequestSource<Name>,
  kind: ResponseKind,
  options: RequestOptions | undefined,
): CallSpec {
  const endpoint: Endpoint = endpoints[operation];
  const request = typeof source === 'function' ? source() : source;
  return {
    operation,
    method: endpoint.method,
    path: fillPath(endpoint.path, request.params),
    query: endpoint.query,
    charge: endpoint.charge,
    accept: accepted[kind],
    json: request.json,
    form: request.form,
    download: request.download,
    options,
  };
}

/** The query string of a call: the client's, then the operation's, then the caller's. */
export function queryOf(spec: CallSpec, defaultQuery: QueryValues | undefined): string {
  const own = spec.options?.query;
  if (defaultQuery === undefined && spec.query === undefined && own === undefined) return '';
  return buildQuery(defaultQuery, spec.query, own);
}
