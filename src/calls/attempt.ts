import { isJSON, readErrorText } from '../answers/failure.ts';
import { classifyStatus, classifyThrown } from '../http/classify.ts';
import { findProxy } from '../http/node/proxy.ts';
import {
  type OutgoingRequest,
  type PreparedBody,
  applyHeaders,
  jsonBody,
} from '../http/request.ts';
import {
  type IncomingResponse,
  discardBody,
  errorBodyLimit,
  exposeResponse,
  findRequestId,
  ReadFailure,
  readBody,
} from '../http/responses/response-body.ts';
import type { FailedAttempt } from '../http/retry.ts';
import { globalFetch, isRedirect, resolveRedirect, send } from '../http/send.ts';
import { OpenResponse } from './open-response.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { requireBase } from './settings.ts';

/** Encodes the body of a request, once, and awaits the listeners. */
export async function prepare(request: GatewayRequest): Promise<PreparedBody> {
  const { scope, client, listeners } = request;
  try {
    const body = (request.body = await encode(request));
    if (body.warning !== undefined) client.log.warnOnce([body.warning]);
    for (const listener of listeners) {
      const allowed = listener.beforeRequest?.();
      if (allowed !== undefined) await scope.until(allowed);
    }
    return body;
  } catch (cause) {
    if (scope.stopped === undefined) throw cause;
    throw request.makeError(request.redaction.attempt(request.localFailure(cause)));
  }
}

function encode({ spec, scope }: GatewayRequest): PreparedBody | Promise<PreparedBody> {
  const { method, json, jsonField = '', form, options } = spec;
  const extra = options?.extraBody ?? undefined;
  if (form === undefined) return jsonBody(method, json, extra, jsonField);
  return form.encode(extra, scope.controller.signal, options?.onUploadProgress);
}

/**
 * Sends a request once: writes its headers, sends it, and reads the status. Returns the unread response if the status
 * is a success, a failure otherwise. Never rejects.
 */
export async function attempt(
  request: GatewayRequest,
  body: PreparedBody,
): Promise<IncomingResponse | FailedAttempt> {
  const { scope, spec, client, settings, address } = request;
  if (scope.isOver) return request.localFailure(undefined);
  scope.startAttempt(settings.timeout);
  let outgoing: OutgoingRequest | undefined;
  let sentId: string | undefined;
  try {
    const headers = new Headers();
    if (spec.fileURL === undefined) {
      const authorized = client.credential.authorize(headers);
      if (authorized !== undefined) await scope.until(authorized);
    }
    addHeaders(request, headers, body);
    sentId = nameRequest(request, headers);
    outgoing = {
      url: request.url,
      method: spec.method,
      headers,
      body: body.body,
      redirect: 'manual',
      scope,
      fetch: client.fetch,
      fetchOptions: { ...client.fetchOptions, ...spec.options?.fetchOptions },
      log: client.log,
      isSent: false,
    };
    request.outgoing = outgoing;
    request.emit('sent', { headers, body });
    const direct = await send(outgoing);
    const response = isRedirect(direct) ? await resolveRedirect(spec, direct, outgoing) : direct;
    if ('kind' in response) return request.explain(response);
    if (!response.ok) return await readError(request, response);
    // A website has a page for every path.
    if (address.isTrial && response.headers.get('content-type')?.includes('html')) {
      discardBody(response.body);
      return { kind: 'refused', phase: 'headers', status: response.status };
    }
    address.learn();
    // The request id of the gateway comes first; after a redirect, `response` is from another host.
    const requestId =
      findOwnId(request, direct) ??
      (response === direct ? undefined : findOwnId(request, response));
    return { response, requestId, spec, scope };
  } catch (error) {
    if (outgoing?.isSent !== true) return request.localFailure(error);
    if (ReadFailure.is(error)) {
      const { headers } = error.failed;
      const requestId = (headers && findOwnId(request, { headers })) ?? sentId;
      return request.explain({ ...error.failed, requestId });
    }
    const sourceError = body.sourceError?.();
    if (sourceError !== undefined && scope.stopped === undefined) {
      return request.localFailure(sourceError);
    }
    const proxy = findProxy(request.url, outgoing.fetchOptions);
    const route = { url: request.url, proxy, isTrusted: client.fetch === globalFetch };
    return request.explain({ ...classifyThrown(error, route), requestId: sentId });
  }
}

/** Wraps a success response. Reading it by the format of the request ends the request. */
export function open<T>(request: GatewayRequest<T>, incoming: IncomingResponse): OpenResponse<T> {
  const opened = {
    response: incoming.response,
    requestId: incoming.requestId,
    change: request.change,
    failed: () => request.history.evidence(),
    raw: () => (opened.response = exposeResponse(request, incoming)),
  };
  return new OpenResponse(opened, async () => {
    request.scope.keepAlive(true);
    const read = { ...incoming, response: opened.response };
    const { value, stays } = await request.format.read(request, read);
    if (stays !== true) request.release({ result: value, isWhole: true });
    return value;
  });
}

/** Adds all headers of a request besides the key. */
function addHeaders(
  { spec, client, settings, url, redaction, idempotencyKey: key }: GatewayRequest,
  headers: Headers,
  body: PreparedBody,
): void {
  headers.set('accept', spec.accept);
  // `content-length` counts encoded bytes, so only an unencoded body can be checked for completeness.
  if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
  if (spec.fileURL === undefined) {
    applyHeaders(headers, client.account, 'organization');
    applyHeaders(headers, client.headers, 'defaultHeaders');
  }
  applyHeaders(headers, spec.options?.headers, 'headers');
  const { 'openai-organization': organization, 'openai-project': project } = client.account;
  const customHeaders = client.headers ?? spec.options?.headers ?? organization ?? project;
  redaction.remember(headers, url, customHeaders !== undefined && customHeaders !== null);
  // Set from the body alone: gateways ignore a body with another label, and the runtime writes the boundary
  // of a form.
  headers.delete('content-type');
  if (settings.idempotency && key !== undefined) headers.set(settings.idempotency.header, key);
  for (const [name, value] of Object.entries(body.headers)) headers.set(name, value);
}

/**
 * Sets a request id if the gateway accepts one from the client, so that the id is known even without a
 * response.
 */
function nameRequest(request: GatewayRequest, headers: Headers): string | undefined {
  const name = requireBase(request.client).gateway?.profile.sentIdHeader;
  if (name === undefined || request.spec.charge === 'free') return undefined;
  const id = headers.get(name) ?? `${request.id}-${request.history.evidence().length + 1}`;
  headers.set(name, id);
  return id;
}

/** Returns the request id of a response, without the key. */
function findOwnId(
  { client, redaction }: GatewayRequest,
  { headers }: Pick<Response, 'headers'>,
  fromMessage?: string,
): string | undefined {
  const { gateway } = requireBase(client);
  const id = findRequestId(headers, fromMessage, gateway?.profile.requestIdHeaders);
  return id && redaction.id(id);
}

/** Reads an error response. */
async function readError(request: GatewayRequest, response: Response): Promise<FailedAttempt> {
  const { scope, spec } = request;
  const { text, end } = await readBody(response, errorBodyLimit, scope);
  const body = readErrorText(text);
  const { status, headers } = response;
  const kind = classifyStatus(status, body, headers, spec.charge);
  const requestId = findOwnId(request, response, body.requestId);
  // If the body ends with its connection, only valid JSON proves that it was not cut.
  const isErrorComplete = status >= 400 && end === 'whole' && isJSON(body);
  const details = { kind, status, headers, body, requestId, isErrorComplete };
  const failed: FailedAttempt = { phase: 'headers', ...details };
  // A timeout while reading an error does not invalidate the error.
  return scope.stopped === 'signal' ? request.explain(failed) : failed;
}
