import { answerWithFault } from '../faults/answer-faults.ts';
import { authenticate } from './auth.ts';
import { observeBody, ConnectionLoss } from './byte-stream.ts';
import { logError, withCostHeader, type Call, type World } from './call.ts';
import type { CannedAnswers } from '../control/canned.ts';
import { answerControl, controlPrefix, type Controlled } from '../control/control.ts';
import { preflightResponse, withCommonHeaders } from './cors.ts';
import { Refusal } from './errors.ts';
import type { Family } from '../gateways/family.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import { answerImageTask } from '../images/accept.ts';
import { readBody } from './request-body.ts';
import { LoggedRequest, type RequestLog } from '../control/request-log.ts';
import type { Route } from './router.ts';

/** Components of the emulated gateway. */
export interface Gateway {
  readonly world: World;
  readonly family: Family;
  readonly apiKey: string;
  readonly log: RequestLog;
  readonly faults: FaultRules;
  readonly canned: CannedAnswers;
  readonly controlled: Controlled;
  isOtherOrigin(origin: string): boolean;
}

/** Returns the route of a request, unless it has another vendor prefix than this gateway. */
function matchRoute(request: Request, url: URL, { family, world }: Gateway): Route | undefined {
  const isInBody = world.quirks.videoStatusRoute === 'body';
  if (isInBody && request.method === 'POST' && url.pathname.endsWith('/videos/status')) {
    return { operation: 'videos.retrieve', parameters: {} };
  }
  const route = family.findRoute(request.method, url.pathname);
  if (isInBody && route?.operation === 'videos.retrieve') return undefined;
  const prefix = route?.parameters['vendor_prefix'];
  return prefix === undefined || prefix === world.vendorPrefix ? route : undefined;
}

/** Logs errors that the gateway itself returns. */
async function logErrors(call: Call, answering: () => Promise<Response>): Promise<Response> {
  try {
    const response = await answering();
    const { fault } = call;
    const isInside = fault?.type === 'error-in-200';
    // Pages and empty responses come from a proxy in front of the gateway.
    const isOwn = fault?.type === 'error' || fault?.type === 'vendor-refusal' || isInside;
    if (isOwn) logError(call, response.status, 'The vendor failed');
    return response;
  } catch (error) {
    // Requests rejected before they reach a model are not logged.
    const isNoted = error instanceof Refusal && error.envelope !== 'openai-routing';
    if (isNoted) logError(call, error.status, error.message);
    throw error;
  }
}

async function answerRoute(
  { world, family, apiKey, faults, canned }: Gateway,
  request: Request,
  { operation: routed, parameters }: Route,
  logged: LoggedRequest,
): Promise<Response> {
  logged.operation = routed;
  if (faults.takeEarly(routed)) throw ConnectionLoss.beforeAnswer();
  logged.body = await readBody(request);
  const operation = family.operationFor(routed, logged.body);
  logged.operation = operation;
  const needsKey = operation !== 'videos.downloadContent' || world.quirks.contentNeedsKey;
  if (needsKey) authenticate(request, apiKey);
  const made = canned.take(operation);
  const { respond } = made ?? {};
  const isResponder = typeof respond === 'function';
  const call: Call = {
    operation,
    request,
    url: new URL(request.url),
    parameters,
    body: logged.body,
    requestId: logged.id,
    fault: isResponder ? undefined : faults.take(operation, logged),
    modelAnswer: isResponder ? undefined : respond,
    world,
  };
  const handle = family.handlers[operation];
  if (handle === undefined) throw new RangeError(`No handler for ${operation}`);
  const { reportsCost = () => true } = family;
  const work = async (): Promise<Response> => {
    const response = await handle(call);
    return reportsCost(call) ? withCostHeader(response, call) : response;
  };
  if (!isResponder) return logErrors(call, () => answerWithFault(call, work));
  if (made?.charged === true) await work();
  return respond(logged);
}

async function answerFile({ world }: Gateway, request: Request, path: string): Promise<Response> {
  const file = request.method === 'GET' ? world.files.get(path) : undefined;
  if (file === undefined) return new Response('Not found\n', { status: 404 });
  if (file.isExpired?.() === true) {
    const xml = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
    return new Response(xml, { status: 403, headers: { 'content-type': 'application/xml' } });
  }
  const bytes = await file.bytes();
  const headers = { 'content-type': file.type, 'content-length': String(bytes.length) };
  return new Response(bytes, { headers });
}

async function answer(
  gateway: Gateway,
  request: Request,
  logged: LoggedRequest,
): Promise<Response> {
  const url = new URL(request.url);
  const isFile = url.pathname.startsWith('/files/');
  if (isFile || gateway.isOtherOrigin(url.origin))
    return answerFile(gateway, request, url.pathname);
  const route = matchRoute(request, url, gateway);
  if (route !== undefined) return answerRoute(gateway, request, route, logged);
  logged.body = await readBody(request);
  const ofImages = answerImageTask(request, gateway.world, gateway.apiKey);
  return ofImages ?? gateway.family.answerOther(request, gateway.world, gateway.apiKey);
}

/** Converts a thrown value to a response; rethrows a lost connection. */
function failure(
  error: unknown,
  { signal }: Request,
  requestId: string,
  { errors }: World,
): Response {
  if (error instanceof Refusal) return errors.toResponse(error, requestId);
  if (error instanceof ConnectionLoss || signal.aborted) throw error;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const panic = { message: `Panic detected, error: ${message}`, type: 'new_api_panic' };
  return Response.json({ error: panic }, { status: 500 });
}

/** Records status and end of a response in the log. */
function observed(whole: Response, logged: LoggedRequest, request: Request): Response {
  const { signal, method } = request;
  const response = method === 'HEAD' ? new Response(null, whole) : whole;
  logged.status = response.status;
  if (response.body === null) return response;
  let isEnded = false;
  const leave = (): void => {
    logged.disconnected ||= !isEnded;
  };
  signal.addEventListener('abort', leave, { once: true });
  const onEnd = (): void => {
    isEnded = true;
    // Referencing the request keeps it alive; if it is collected, its signal no longer fires.
    request.signal.removeEventListener('abort', leave);
  };
  const body = observeBody(response.body, { signal, onEnd, onCancel: leave });
  return new Response(body, { status: response.status, headers: response.headers });
}

/**
 * Handles a request like the gateway.
 *
 * @throws `ConnectionLoss` if a fault loses the connection, or the abort reason of the request's signal
 */
export async function dispatch(gateway: Gateway, request: Request): Promise<Response> {
  const { world, family, log } = gateway;
  if (new URL(request.url).pathname.startsWith(controlPrefix)) {
    return answerControl(gateway.controlled, request);
  }
  const now = world.clock.now();
  const id = family.nextRequestId(world.ids, now, request);
  const headers = family.headers(world.quirks.requestIdHeader ? id : undefined);
  if (request.method === 'OPTIONS') {
    log.addPreflight(request);
    return preflightResponse(headers);
  }
  const logged = new LoggedRequest(request, id, now);
  log.add(logged);
  try {
    const response = await answer(gateway, request, logged).catch((error: unknown) =>
      failure(error, request, logged.id, world),
    );
    return observed(withCommonHeaders(response, headers), logged, request);
  } catch (error) {
    logged.disconnected ||= request.signal.aborted;
    throw error;
  }
}
