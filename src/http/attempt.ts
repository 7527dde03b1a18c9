import type { PreparedBody } from './body.ts';
import type { CallScope } from './call-scope.ts';
import type { CallSpec } from './call-spec.ts';
import { classifyStatus } from './classify-status.ts';
import { classifyThrown } from './classify-throw.ts';
import { readErrorText } from '../schemas/error-body.ts';
import { applyHeaders } from './headers.ts';
import type { Answer } from './promise.ts';
import { errorBodyLimit, readBody } from './read-text.ts';
import {
  fetchFile,
  followRedirects,
  isRedirect,
  leadsToFile,
  refuseRedirect,
} from './redirects.ts';
import type { Redaction } from './redaction.ts';
import { requestIdOf } from './request-id.ts';
import { globalFetch, send, type OutgoingRequest } from './send.ts';
import type { CallSettings, ClientSettings } from './settings.ts';
import type { FailedAttempt } from './to-error.ts';
import { untilAborted } from './until-aborted.ts';

/** What one attempt needs of its call. */
export interface AttemptInput {
  readonly spec: CallSpec;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly scope: CallScope;
  readonly url: string;
  readonly body: PreparedBody;
  /** The idempotency key of the call, when the gateway honours one. */
  readonly key: string | undefined;
  readonly redaction: Redaction;
  readonly call: { readonly id: string };
}

/** The limit that ended an attempt, in milliseconds. */
function limitOf({ stopped }: CallScope, { timeout, totalTimeout }: CallSettings): number {
  return stopped === 'total' ? (totalTimeout ?? timeout) : timeout;
}

/** A failure, corrected when it was we who stopped the attempt. */
export function explainStop(
  failed: FailedAttempt,
  scope: CallScope,
  settings: CallSettings,
): FailedAttempt {
  if (scope.stopped === undefined) return failed;
  if (scope.stopped === 'signal') {
    return { ...failed, kind: 'aborted', cause: scope.signal?.reason };
  }
  const timeout = limitOf(scope, settings);
  return { ...failed, kind: 'timed_out', code: undefined, cause: undefined, timeout };
}

/** The failure of a call that was stopped before anything was sent, or `undefined`. */
export function stopBeforeSend(
  scope: CallScope,
  settings: CallSettings,
): FailedAttempt | undefined {
  if (scope.stopped === undefined) return undefined;
  if (scope.stopped === 'signal') {
    return { kind: 'aborted_before_send', phase: 'local', cause: scope.signal?.reason };
  }
  return { kind: 'timed_out_before_send', phase: 'local', timeout: limitOf(scope, settings) };
}

function headersOf(input: AttemptInput, authorization: string): Headers {
  const { spec, client, settings, body, key, redaction } = input;
  const headers = new Headers();
  headers.set('accept', spec.accept);
  headers.set('authorization', authorization);
  // The promised length is of the bytes as they travel, and only of these it can be told that they are
  // all there.
  if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
  applyHeaders(headers, client.headers, 'defaultHeaders');
  applyHeaders(headers, spec.options?.headers ?? undefined, 'headers');
  redaction.remember(headers);
  // Its type is a fact of the body: the gateway skips a body that is labelled as something else, and
  // the runtime itself writes the boundary of a form.
  headers.delete('content-type');
  if (settings.idempotency !== null && key !== undefined)
    headers.set(settings.idempotency.header, key);
  for (const [name, value] of Object.entries(body.headers)) headers.set(name, value);
  return headers;
}

/** Sends once. Gives the answer when its status is a success, and a failure otherwise. */
export async function performAttempt(input: AttemptInput): Promise<Answer | FailedAttempt> {
  const { scope, spec, client, settings, body } = input;
  if (scope.stopped === 'signal' || scope.stopped === 'total') {
    return stopBeforeSend(scope, settings) ?? neverSent(undefined);
  }
  const signal = scope.startAttempt(settings.timeout);
  let headers: Headers;
  try {
    const authorization = client.credential.authorization();
    headers = headersOf(
      input,
      typeof authorization === 'string' ? authorization : await untilAborted(authorization, signal),
    );
  } catch (cause) {
    return stopBeforeSend(scope, settings) ?? neverSent(cause);
  }
  const request: OutgoingRequest = {
    url: input.url,
    method: spec.method,
    headers,
    body: body.body,
    redirect: 'manual',
    signal,
    fetch: client.fetch,
    fetchOptions: { ...client.fetchOptions, ...spec.options?.fetchOptions },
  };
  const result = await send(request);
  const foreignURL = client.fetch === globalFetch ? undefined : input.url;
  if (result.failure === undefined) {
    try {
      return await settle(input, result.response, request);
    } catch (error) {
      return explainStop(classifyThrown(error, foreignURL), scope, settings);
    }
  }
  const { error, dispatched } = result.failure;
  if (!dispatched) return stopBeforeSend(scope, settings) ?? neverSent(error);
  const sourceError = body.sourceError?.();
  if (sourceError !== undefined && scope.stopped === undefined) return neverSent(sourceError);
  return explainStop(classifyThrown(error, foreignURL), scope, settings);
}

function neverSent(cause: unknown): FailedAttempt {
  return { kind: 'invalid_input', phase: 'local', cause };
}

async function settle(
  input: AttemptInput,
  first: Response,
  request: OutgoingRequest,
): Promise<Answer | FailedAttempt> {
  const { spec, scope, settings, call } = input;
  const response = await landingOf(spec.operation, first, request);
  if (!('ok' in response)) return explainStop(response, scope, settings);
  if (!response.ok) return readFailure(input, response, request);
  // The gateway itself answered first; a redirect leads to the storage of somebody else.
  const requestId =
    requestIdOf(first.headers) ?? (response === first ? undefined : requestIdOf(response.headers));
  const { operation, charge } = spec;
  return { response, requestId, operation, charge, call, signal: request.signal };
}

/** The answer behind a redirect. Only reads follow one: nothing paid for is sent a second time. */
async function landingOf(
  operation: string,
  first: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> {
  if (!isRedirect(first)) return first;
  if (request.method === 'GET') return followRedirects(first, request);
  if (leadsToFile(operation, request.url, first)) return fetchFile(first, request);
  return refuseRedirect(first, request.url);
}

async function readFailure(
  { scope, settings }: AttemptInput,
  response: Response,
  request: OutgoingRequest,
): Promise<FailedAttempt> {
  const { text } = await readBody(response, errorBodyLimit, request.signal);
  const body = readErrorText(text);
  const { status, headers } = response;
  const failed: FailedAttempt = {
    kind: classifyStatus(status, body, headers),
    phase: 'headers',
    status,
    headers,
    body,
    requestId: requestIdOf(headers, body.requestId),
  };
  // A time limit that passes while an error is read does not make the error less known.
  return scope.stopped === 'signal' ? explainStop(failed, scope, settings) : failed;
}
