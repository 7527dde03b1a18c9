import { withBodyFault } from './body-faults.ts';
import { fieldsOf, fileURL, type Call } from '../server/call.ts';
import { ConnectionLoss } from '../server/byte-stream.ts';
import {
  contentRefusal,
  errorBody,
  refusal,
  taskRefusal,
  withRequestId,
} from '../server/errors.ts';
import type { AnswerFault } from './faults.ts';
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

/** The index page of the gateway's web console, which answers every path that is not an API path. */
export function consolePage(): Response {
  return html(200, 'Model gateway console');
}

const reasons: Readonly<Record<number, string>> = {
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Time-out',
  524: 'A timeout occurred',
};

function errorResponse(fault: AnswerFault & { type: 'error' }, call: Call): Response {
  const { status, contentType = 'application/json', headers, message, code, param } = fault;
  const isTask =
    call.operation.startsWith('videos.') && call.operation !== 'videos.downloadContent';
  const envelope = fault.envelope ?? (isTask ? 'task' : 'openai');
  const words = message ?? 'The emulator was told to fail.';
  const details = { message: words, type: fault.errorType, code, param };
  const full = withRequestId(envelope, details, call.requestId);
  const body = errorBody(envelope, status, { ...details, message: full });
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': contentType, ...headers },
  });
}

/** Whether the books of a real gateway showed a charge for an error inside of a 200. */
function isChargedInside({ operation }: Call, model: string, isTyped: boolean): boolean {
  switch (operation) {
    case 'chat.completions.create':
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

async function errorInside(call: Call, isTyped: boolean, work: () => Promise<Response>) {
  const { operation } = call;
  const fields = fieldsOf(call);
  const isStream = operation === 'chat.completions.create' && fields.raw('stream') === true;
  // Of a stream only the gateway's own count is left.
  if (isStream) return work();
  if (isChargedInside(call, fields.string('model') ?? '', isTyped)) await work();
  if (operation === 'generate.contentStream') {
    return new Response('', { headers: { 'content-type': 'text/event-stream' } });
  }
  if (operation.startsWith('videos.')) {
    const message = 'Throttling.RateQuota: Requests rate limit exceeded, please try again later.';
    return Response.json(errorBody('task', 200, { message, code: 'ali_api_error' }));
  }
  const message = 'Provider returned error';
  if (isTyped) {
    // Where the gateway reads the body it writes the error anew, and without a `null`.
    const param = /^(chat|embeddings)\./.test(operation) ? '' : null;
    const details = { message, type: 'provider_error', param, code: 'provider_failed' };
    return Response.json(errorBody('openai', 200, details));
  }
  const error = { code: 502, message, metadata: { provider_name: 'x' } };
  const usage = gatewayUsage({ prompt: 16, completion: 0, reasoning: 0 }, undefined);
  return Response.json(operation.startsWith('chat.') ? { error, usage } : { error });
}

/** What a gateway makes of a vendor's refusal; of a 429 only its own sentence stays. */
function refusedByVendor(status: number): Response {
  const details = { message: 'The vendor refused', type: 'server_error', param: null, code: null };
  const message =
    status === 429 ? '当前分组上游负载已饱和，请稍后再试' : JSON.stringify({ error: details });
  const code = 'fail_to_fetch_task';
  return Response.json(errorBody('task', status, { message, code }), { status });
}

function missingTask({ operation }: Call): Error {
  return operation === 'videos.downloadContent'
    ? contentRefusal(404, 'Task not found')
    : taskRefusal(400, 'task_not_exist', 'task_not_exist');
}

/** The file that a redirect without a location leads to: the content of the task, if there is one. */
function elsewhere({ parameters, world }: Call): string {
  return world.tasks.get(parameters['task_id'] ?? '')?.filePath ?? '/files/elsewhere';
}

/**
 * Answers a call with its fault.
 *
 * @param work - Does the work and charges for it. Faults of event streams and of tasks happen in there.
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
    case 'rate-limit': {
      const refused = refusal(429, 'rate_limit_exceeded', 'Rate limit reached');
      const answer = refused.toResponse(call.requestId);
      answer.headers.set('retry-after', String(fault.retryAfter));
      return answer;
    }
    case 'redirect': {
      const location = fault.location ?? fileURL(call, elsewhere(call), 'other');
      return new Response(null, { status: fault.status ?? 302, headers: { location } });
    }
    case 'error-in-200':
      return errorInside(call, fault.typed !== false, work);
    case 'vendor-refusal':
      return refusedByVendor(fault.status);
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
