import { withBodyFault } from './body-faults.ts';
import { requestsStream, readFields, fileURL, type Call } from '../server/call.ts';
import { ConnectionLoss } from '../server/byte-stream.ts';
import { streamHeaders } from '../server/event-stream.ts';
import {
  contentRefusal,
  errorBody,
  refusal,
  taskRefusal,
  withRequestId,
  type ErrorDetails,
  type ErrorEnvelope,
} from '../server/errors.ts';
import type { AnswerFault } from './faults.ts';
import { findVendor } from '../control/models.ts';
import { failedResponse, responseUsage } from '../responses/failed.ts';
import { gatewayUsage } from '../routes/usage.ts';
import { delay, untilAborted } from '../../http/abort.ts';

const page = (title: string): string =>
  `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;

function html(status: number, title: string): Response {
  return new Response(page(title), {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}

/** Returns the index page of the gateway's web console, the response to every path outside the API. */
export function consolePage(): Response {
  const response = html(200, 'Model gateway console');
  response.headers.set('cache-control', 'no-cache');
  return response;
}

const reasons: Readonly<Record<number, string>> = {
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Time-out',
  524: 'A timeout occurred',
};

/**
 * Returns the headers of an error with a JSON body. The gateway sets the content type of a stream before
 * it calls the vendor, so a vendor's error in a stream has that type too.
 */
function errorHeaders(call: Call, { type = 'new_api_error' }: ErrorDetails) {
  const isLabelled =
    type !== 'new_api_error' && /^(chat|responses|messages|generate)\./.test(call.operation);
  return isLabelled && requestsStream(call)
    ? streamHeaders
    : { 'content-type': 'application/json' };
}

/** Returns the format of new-api's errors on a route. */
function ownEnvelope({ operation }: Call): ErrorEnvelope {
  if (operation === 'messages.create') return 'anthropic';
  const isTask = operation.startsWith('videos.') && operation !== 'videos.downloadContent';
  return isTask ? 'task' : 'openai';
}

function errorResponse(fault: AnswerFault & { type: 'error' }, call: Call): Response {
  const { status, contentType, headers, message, code, param } = fault;
  const envelope = fault.envelope ?? call.world.errors.envelope ?? ownEnvelope(call);
  const words = message ?? 'The emulator was told to fail.';
  const details = { message: words, type: fault.errorType, code, param };
  const full = withRequestId(envelope, details, call.requestId);
  const body = errorBody(envelope, status, { ...details, message: full });
  const labels = {
    ...errorHeaders(call, details),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  return new Response(JSON.stringify(body), { status, headers: { ...labels, ...headers } });
}

/** Returns whether a real gateway charges for an error in a response with status 200. */
function isErrorCharged({ operation }: Call, model: string, isTyped: boolean): boolean {
  switch (operation) {
    case 'chat.completions.create':
    case 'responses.create':
    case 'embeddings.create':
    case 'embeddings.createForEngine':
      return !isTyped;
    case 'images.generate':
    case 'images.edit':
      return !model.startsWith('gpt-image');
    case 'audio.speech.create':
    case 'audio.translations.create':
    case 'generate.content':
      return true;
    default:
      return false;
  }
}

/** Details of a vendor's error that a gateway with one format for all errors passes on. */
const providerError: ErrorDetails = {
  message: 'Provider returned error',
  type: 'provider_error',
  metadata: { provider_name: 'Emulator', raw: 'The vendor failed' },
};

async function errorInSuccess(call: Call, isTyped: boolean, work: () => Promise<Response>) {
  const { operation } = call;
  const fields = readFields(call);
  const isStream = operation === 'chat.completions.create' && requestsStream(call);
  // In a stream, only the gateway's own usage chunk remains.
  if (isStream) return work();
  if (isErrorCharged(call, fields.string('model') ?? '', isTyped)) await work();
  if (operation === 'generate.contentStream') return new Response('', { headers: streamHeaders });
  const { envelope } = call.world.errors;
  if (envelope !== undefined) return Response.json(errorBody(envelope, 502, providerError));
  // The gateway reads the whole body and passes on the error with a status of its own.
  if (operation === 'messages.create') {
    return Response.json(errorBody('anthropic', 500, providerError), { status: 500 });
  }
  if (operation.startsWith('videos.')) {
    const message = 'Throttling.RateQuota: Requests rate limit exceeded, please try again later.';
    return Response.json(errorBody('task', 200, { message, code: 'ali_api_error' }));
  }
  const message = 'Provider returned error';
  if (isTyped) {
    // On routes whose body the gateway parses, it rewrites the error without `null`.
    const param = /^(chat|responses|embeddings)\./.test(operation) ? '' : null;
    const details = { message, type: 'provider_error', param, code: 'provider_failed' };
    return Response.json(errorBody('openai', 200, details));
  }
  if (operation === 'responses.create') {
    const usage = responseUsage({ prompt: 16, completion: 0, reasoning: 0 });
    return Response.json({ ...failedResponse({ code: 'server_error', message }), usage });
  }
  const error = { code: 502, message, metadata: { provider_name: 'x' } };
  const usage = gatewayUsage({ prompt: 16, completion: 0, reasoning: 0 }, undefined);
  return Response.json(operation.startsWith('chat.') ? { error, usage } : { error });
}

/** Returns OpenAI's error details for a status, which the gateway passes on. */
function vendorDetails(status: number): ErrorDetails {
  switch (status) {
    case 401:
      return {
        message: 'Incorrect API key provided',
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      };
    case 429:
      return {
        message: 'Rate limit reached',
        type: 'requests',
        code: 'rate_limit_exceeded',
      };
    default: {
      const type = status < 500 ? 'invalid_request_error' : 'server_error';
      return { message: 'The vendor refused', type, code: null };
    }
  }
}

/** Returns the error of a video submission; a vendor's 429 contains no part of the vendor's message. */
function rejectSubmission(status: number): Response {
  const { message: reason, type, code: reasonCode } = vendorDetails(status);
  const error = { message: reason, type, param: null, code: reasonCode };
  const message = status === 429 ? '当前分组上游负载已饱和，请稍后再试' : JSON.stringify({ error });
  const code = 'fail_to_fetch_task';
  return Response.json(errorBody('task', status, { message, code }), { status });
}

/** Returns a 429 with the wait where the fault puts it. */
function rateLimited(fault: AnswerFault & { type: 'rate-limit' }, call: Call): Response {
  const { retryAfter, place = 'header' } = fault;
  const message = 'Rate limit reached';
  if (place === 'retry-info') {
    const retryDelay = `${retryAfter}s`;
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
    const error = { code: 429, message, status: 'RESOURCE_EXHAUSTED', details };
    return Response.json({ error }, { status: 429 });
  }
  const spoken = place === 'message' ? `${message}. Please try again in ${retryAfter}s.` : message;
  const refused = refusal(429, 'rate_limit_exceeded', spoken);
  const answer = call.world.errors.toResponse(refused, call.requestId);
  if (place === 'header') answer.headers.set('retry-after', String(retryAfter));
  if (place === 'reset') {
    answer.headers.set('x-ratelimit-remaining-requests', '0');
    answer.headers.set('x-ratelimit-reset-requests', `${retryAfter}s`);
  }
  return answer;
}

/** Returns the gateway's version of a vendor's error. */
function rejectByVendor(fault: AnswerFault & { type: 'vendor-refusal' }, call: Call): Response {
  const { status, body } = fault;
  const { operation, requestId, parameters, world } = call;
  const { envelope } = world.errors;
  if (envelope !== undefined) {
    return Response.json(errorBody(envelope, status, providerError), { status });
  }
  if (operation === 'videos.downloadContent') {
    const message = `Upstream service returned status ${status}`;
    return contentRefusal(502, message).toResponse(requestId);
  }
  if (operation.startsWith('videos.')) return rejectSubmission(status);
  const unread = { message: 'openai_error', type: 'bad_response_status_code' };
  const vendor = findVendor(world.models, parameters['model'] ?? '');
  const isGoogle = operation.startsWith('generate.') && vendor !== 'openai';
  const known = vendorDetails(status);
  const relayed = isGoogle ? { ...known, type: 'upstream_error', code: status } : known;
  const details = body === 'html' ? { ...unread, code: unread.type } : relayed;
  return new Response(JSON.stringify(errorBody(ownEnvelope(call), status, details)), {
    status,
    headers: errorHeaders(call, details),
  });
}

function missingTask({ operation }: Call): Error {
  return operation === 'videos.downloadContent'
    ? contentRefusal(404, 'Task not found')
    : taskRefusal(400, 'task_not_exist', 'task_not_exist');
}

/** Path of the file that a redirect without a location leads to: the content of the task, if it exists. */
function redirectPath({ parameters, world }: Call): string {
  return world.tasks.get(parameters['task_id'] ?? '')?.filePath ?? '/files/elsewhere';
}

/**
 * Responds to a call with its fault.
 *
 * @param work - Does the work and charges for it. Applies the faults of event streams and tasks itself.
 */
export async function answerWithFault(
  call: Call,
  work: () => Promise<Response>,
): Promise<Response> {
  const { fault, request } = call;
  if (fault !== undefined && 'charged' in fault && fault.charged === true) await work();
  switch (fault?.type) {
    case 'reset':
      if (fault.when === 'after-charge') await work();
      throw ConnectionLoss.beforeAnswer();
    case 'hang':
      return untilAborted(new Promise<never>(() => {}), request.signal);
    case 'slow':
      await delay(fault.milliseconds, request.signal);
      return work();
    case 'error':
      return errorResponse(fault, call);
    case 'html':
      return fault.status < 300
        ? consolePage()
        : html(fault.status, `${fault.status} ${reasons[fault.status] ?? 'Error'}`);
    case 'bare':
      return new Response(null, { status: fault.status, headers: { ...fault.headers } });
    case 'rate-limit':
      return rateLimited(fault, call);
    case 'redirect': {
      const location = fault.location ?? fileURL(call, redirectPath(call), 'other');
      return new Response(null, { status: fault.status ?? 302, headers: { location } });
    }
    case 'error-in-200':
      return errorInSuccess(call, fault.typed !== false, work);
    case 'vendor-refusal':
      return rejectByVendor(fault, call);
    case 'cut':
    case 'stall':
    case 'drip':
      return withBodyFault(await work(), fault, request.signal);
    case 'task-not-exist':
      throw missingTask(call);
    default:
      return work();
  }
}
