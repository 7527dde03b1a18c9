import type { PreparedBody } from './body.ts';
import type { CallScope } from './call-scope.ts';
import type { CallSpec } from './call-spec.ts';
import { classifyStatus, classifyThrown } from './classify.ts';
import { readErrorText } from '../answers/error-body.ts';
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
import type { FailedAttempt } from './retry.ts';
import { untilAborted } from './until-aborted.ts';

/** What an attempt needs of its call. */
export interface Attempted {
  readonly id: string;
  readonly spec: CallSpec;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly scope: CallScope;
  readonly url: string;
  /** The idempotency key of the call, when the gateway honours one. */
  readonly idempotencyKey: string | undefined;
  readonly redaction: Redaction;
}

/** A failure, corrected when it was we who stopped the attempt. */
export function explainStop(
  failed: FailedAttempt,
  { scope, settings }: Pick<Attempted, 'scope' | 'settings'>,
): FailedAttempt {
  const { stopped, signal } = scope;
  if (stopped === undefined) return failed;
  if (stopped === 'signal') return { ...failed, kind: 'aborted', cause: signal?.reason };
  const { timeout, totalTimeout } = settings;
  return {
    ...failed,
    kind: 'timed_out',
    code: undefined,
    cause: undefined,
    timeout: stopped === 'total' ? (totalTimeout ?? timeout) : timeout,
  };
}

/** The failure of a call that was stopped, or could not be made, before anything was sent. */
export function neverSent(
  cause: unknown,
  call: Pick<Attempted, 'scope' | 'settings'>,
): FailedAttempt {
  return explainStop({ kind: 'invalid_input', phase: 'local', cause }, call);
}

/** Adds what else a request carries to the headers with its key. */
function fillHeaders(headers: Headers, call: Attempted, body: PreparedBody): void {
  const { spec, client, settings, idempotencyKey: key, redaction } = call;
  headers.set('accept', spec.accept);
  // The promised length is of the bytes as they travel, and only of these it can be told that they are
  // all there.
  if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
  applyHeaders(headers, client.headers, 'defaultHeaders');
  applyHeaders(headers, spec.options?.headers ?? undefined, 'headers');
  redaction.remember(headers, call.url);
  // Its type is a fact of the body: the gateway skips a body that is labelled as something else, and
  // the runtime itself writes the boundary of a form.
  headers.delete('content-type');
  if (settings.idempotency !== null && key !== undefined)
    headers.set(settings.idempotency.header, key);
  for (const [name, value] of Object.entries(body.headers)) headers.set(name, value);
}

/** Sends once. Gives the answer when its status is a success, and a failure otherwise. */
export async function performAttempt(
  call: Attempted,
  body: PreparedBody,
): Promise<Answer | FailedAttempt> {
  const { scope, spec, client, settings, url } = call;
  if (scope.stopped === 'signal' || scope.stopped === 'total') return neverSent(undefined, call);
  const signal = scope.startAttempt(settings.timeout);
  const headers = new Headers();
  try {
    const authorized = client.credential.authorize(headers);
    if (authorized !== undefined) await untilAborted(authorized, signal);
    fillHeaders(headers, call, body);
  } catch (cause) {
    return neverSent(cause, call);
  }
  const request: OutgoingRequest = {
    url,
    method: spec.method,
    headers,
    body: body.body,
    redirect: 'manual',
    signal,
    fetch: client.fetch,
    fetchOptions: { ...client.fetchOptions, ...spec.options?.fetchOptions },
  };
  const { response, failure } = await send(request);
  let error = failure?.error;
  if (failure === undefined) {
    try {
      return await settle(call, response, request);
    } catch (cause) {
      error = cause;
    }
  } else {
    if (!failure.dispatched) return neverSent(error, call);
    const sourceError = body.sourceError?.();
    if (sourceError !== undefined && scope.stopped === undefined) {
      return neverSent(sourceError, call);
    }
  }
  const foreignURL = client.fetch === globalFetch ? undefined : url;
  return explainStop(classifyThrown(error, foreignURL), call);
}

async function settle(
  call: Attempted,
  first: Response,
  request: OutgoingRequest,
): Promise<Answer | FailedAttempt> {
  const { operation, charge, task } = call.spec;
  const response = await landingOf(operation, first, request);
  if (!('ok' in response)) return explainStop(response, call);
  if (!response.ok) return readFailure(call, response, request);
  // The gateway itself answered first; a redirect leads to the storage of somebody else.
  const requestId =
    requestIdOf(first.headers) ?? (response === first ? undefined : requestIdOf(response.headers));
  return { response, requestId, operation, charge, task, signal: request.signal };
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
  call: Attempted,
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
  return call.scope.stopped === 'signal' ? explainStop(failed, call) : failed;
}
