import { consolePage } from '../faults/answer-faults.ts';
import { authenticate } from '../server/auth.ts';
import type { World } from '../server/call.ts';
import { geminiModels } from '../control/models.ts';

const absent = /^\/v1\/(images\/variations|files|fine-tunes)(\/|$)/;
const routed = /^\/(v1|v1beta)\/models(\/|$)|^\/v1\/(images\/variations|files|fine-tunes)(\/|$)/;
const apiPaths = /^\/(v1|v1beta|api|assets)(\/|$)/;

/** Whether an unknown path is answered by the API. */
export function isApiPath(path: string): boolean {
  return apiPaths.test(path);
}

/** Answers a path of the API that is not documented. */
export function answerOtherRoute(request: Request, world: World, apiKey: string): Response {
  const { pathname } = new URL(request.url);
  if (routed.test(pathname)) authenticate(request, apiKey);
  if (request.method === 'GET' && pathname === '/v1beta/models') {
    return Response.json(geminiModels(world.models));
  }
  if (absent.test(pathname)) {
    const error = { message: 'API not implemented', type: 'new_api_error', param: '' };
    return Response.json({ error: { ...error, code: 'api_not_implemented' } }, { status: 501 });
  }
  return notFound(request);
}

/** The answer to a path that is not there: JSON below the API's prefixes, the console's page elsewhere. */
export function notFound(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (!isApiPath(pathname)) return consolePage();
  const message = `Invalid URL (${request.method} ${pathname})`;
  const error = { message, type: 'invalid_request_error', param: '', code: '' };
  return Response.json({ error }, { status: 404 });
}
