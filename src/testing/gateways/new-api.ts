import { endpoints, type Operation, operations } from '../../endpoints.ts';
import { geminiModels } from '../control/models.ts';
import { consolePage } from '../faults/answer-faults.ts';
import { accountPaths, answerAccountRoute } from '../routes/account.ts';
import { authenticate } from '../server/auth.ts';
import type { World } from '../server/call.ts';
import type { Family } from './family.ts';
import { handlers } from '../server/handlers.ts';
import { createRouter } from '../server/router.ts';

const unimplementedPaths = /^\/v1\/(images\/variations|files|fine-tunes)(\/|$)/;
const authenticatedPaths =
  /^\/(v1|v1beta)\/models(\/|$)|^\/v1\/(images\/variations|files|fine-tunes)(\/|$)/;
const apiPaths = /^\/(v1|v1beta|api|assets)(\/|$)/;

/** Responds to an unknown path: JSON under the API's prefixes, the console's page elsewhere. */
function notFound({ method }: Request, pathname: string): Response {
  if (!apiPaths.test(pathname)) return consolePage();
  const message = `Invalid URL (${method} ${pathname})`;
  const error = { message, type: 'invalid_request_error', param: '', code: '' };
  const headers = { 'cache-control': 'max-age=604800' };
  return Response.json({ error }, { status: 404, headers });
}

/** Handles routes of the account and undocumented paths. */
function answerOther(request: Request, world: World, apiKey: string): Response {
  const { pathname } = new URL(request.url);
  const ofAccount = answerAccountRoute(request, world, apiKey);
  if (ofAccount !== undefined) return ofAccount;
  if (authenticatedPaths.test(pathname)) authenticate(request, apiKey);
  if (request.method === 'GET' && pathname === '/v1beta/models') {
    return Response.json(geminiModels(world.models));
  }
  if (unimplementedPaths.test(pathname)) {
    const error = { message: 'API not implemented', type: 'new_api_error', param: '' };
    return Response.json({ error: { ...error, code: 'api_not_implemented' } }, { status: 501 });
  }
  return notFound(request, pathname);
}

const paths: Partial<Record<Operation, string>> = {};
for (const operation of operations) paths[operation] = endpoints[operation].path;

/** new-api and its descendants. */
export const newApi: Family = {
  paths,
  otherPaths: accountPaths,
  handlers,
  findRoute: createRouter(paths),
  operationFor: (operation) => operation,
  answerOther,
  errors: {
    envelope: undefined,
    toResponse: (refusal, requestId) => refusal.toResponse(requestId),
  },
  nextRequestId: (ids, now) => ids.nextRequestId(now),
  headers: (requestId) => ({
    ...(requestId === undefined ? {} : { 'x-oneapi-request-id': requestId }),
    'x-new-api-version': 'emulator',
  }),
  quirks: {},
};
