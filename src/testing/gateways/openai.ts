import { endpoints, type Operation, operations } from '../../endpoints.ts';
import { Refusal, type ErrorDialect } from '../server/errors.ts';
import { handlers } from '../server/handlers.ts';
import { createRouter } from '../server/router.ts';
import type { Family } from './family.ts';

/** Excludes the routes of Gemini, Anthropic, engines and vendors, which are not part of OpenAI's API. */
const isOpenAIs = (operation: Operation): boolean =>
  !/^(generate|messages)\.|createForEngine|FromVendor/.test(operation);

const paths: Partial<Record<Operation, string>> = {};
for (const operation of operations.filter(isOpenAIs)) paths[operation] = endpoints[operation].path;

/** Status and code of errors that differ from new-api's, by their code. */
const errorKinds: Readonly<Record<string, readonly [status: number, code: string]>> = {
  insufficient_user_quota: [429, 'insufficient_quota'],
  model_not_found: [404, 'model_not_found'],
};

const errors: ErrorDialect = {
  envelope: 'openai-plain',
  toResponse({ status, details }, requestId) {
    const { message, param } = details;
    const fallback = status === 401 ? 'invalid_api_key' : (details.code ?? null);
    const [ownStatus, code] = errorKinds[String(details.code)] ?? [status, fallback || null];
    const type = code === 'insufficient_quota' ? code : undefined;
    return new Refusal(ownStatus, 'openai-plain', { message, param, code, type }).toResponse(
      requestId,
    );
  },
};

/** OpenAI, and servers with only OpenAI's API. */
export const openAICompatible: Family = {
  paths,
  otherPaths: [],
  handlers,
  findRoute: createRouter(paths),
  operationFor: (operation) => operation,
  answerOther({ method, url }) {
    const message = `Invalid URL (${method} ${new URL(url).pathname})`;
    throw new Refusal(404, 'openai-plain', { message });
  },
  errors,
  nextRequestId: (ids) => ids.next('req_', 32),
  headers: (requestId) => (requestId === undefined ? {} : { 'x-request-id': requestId }),
  quirks: { videoPollError: 'none', contentNeedsKey: true, contentLimit: 0 },
};
