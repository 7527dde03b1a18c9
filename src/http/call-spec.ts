import {
  endpoints,
  type BodyKind,
  type ChargeClass,
  type Endpoint,
  type Operation,
  type PathParameter,
  type ResponseKind,
} from '../endpoints.ts';
import type { TaskRole } from '../answers/error-body.ts';
import { check } from '../check.ts';
import type { RequestOptions } from '../options.ts';
import type { BodyEncoding } from './body.ts';
import { buildQuery, fillPath, resolvePath, type BaseURL } from './url.ts';
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
  readonly task: TaskRole;
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

/** Every operation of videos is about a task; what is charged makes one. */
function taskRoleOf(operation: Operation, charge: ChargeClass): TaskRole {
  if (!operation.startsWith('videos.')) return undefined;
  return charge === 'charged' ? 'creates' : 'reads';
}

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
    task: taskRoleOf(operation, endpoint.charge),
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

/** The methods that `request` takes. */
export type HTTPMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Options of a call to a route that this package does not know. */
export interface RawRequestOptions extends RequestOptions {
  /** The JSON body. */
  body?: unknown;
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110, 9.2.2: these methods may be repeated; of any other it is not known what it costs. */
const repeatable: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Makes the call of a route that is not documented. A `POST` counts as charged. */
export function undocumentedSpec(
  method: HTTPMethod,
  path: string,
  version: BaseURL['version'],
  options: RawRequestOptions | undefined,
): CallSpec {
  check(methods.includes(method), 'method', `must be one of ${methods.join(', ')}.`);
  const isRead = method === 'GET';
  check(!isRead || options?.body === undefined, 'body', 'cannot go with a GET; use query instead.');
  const resolved = resolvePath(path, version);
  const charge: ChargeClass = repeatable.includes(method) ? 'free' : 'charged';
  return {
    operation: `${method} ${resolved.split('?', 1)[0]}`,
    method,
    path: resolved,
    query: undefined,
    charge,
    task: 'reads',
    accept: 'application/json',
    json: options?.body,
    options,
  };
}
