import type { Operation } from '../../endpoints.ts';
import { endpoints } from '../../endpoints.ts';
import type { JsonObject } from '../../types.ts';
import { pricePerCall, type LogEntry } from '../control/usage-log.ts';
import { record } from '../control/json.ts';
import { findVendor, knownModelBody } from '../control/models.ts';
import type { StreamEvent } from '../faults/stream-faults.ts';
import { createResponse } from '../responses/responses.ts';
import { completeChat } from '../routes/chat.ts';
import { authenticate } from '../server/auth.ts';
import { reportedCharge, unitsPerDollar, type Call, type World } from '../server/call.ts';
import { Refusal, type ErrorDialect } from '../server/errors.ts';
import type { AnswerDialect } from '../server/event-stream.ts';
import { handlers } from '../server/handlers.ts';
import { createRouter } from '../server/router.ts';
import type { Family } from './family.ts';

/** Operations that LiteLLM serves on their usual paths. */
const served: readonly Operation[] = [
  'models.list',
  'models.retrieve',
  'chat.completions.create',
  'responses.create',
  'messages.create',
  'generate.content',
  'generate.contentStream',
  'embeddings.create',
  'rerank.create',
  'images.generate',
  'images.edit',
  'audio.speech.create',
  'audio.transcriptions.create',
  'videos.create',
  'videos.retrieve',
  'videos.downloadContent',
  'videos.remix',
];

const paths: Partial<Record<Operation, string>> = {
  'embeddings.createForEngine': '/engines/{model}/embeddings',
};
for (const operation of served) paths[operation] = endpoints[operation].path;

/**
 * Operations whose cost LiteLLM reports only for models in its own price list, whatever the prices of the
 * deployment are.
 */
const pricedByList: ReadonlySet<Operation> = new Set<Operation>([
  'generate.content',
  'images.edit',
  'audio.speech.create',
  'videos.create',
  'videos.remix',
]);

function reportsCost({ operation, requestId, world }: Call): boolean {
  const charged = world.ledger.charges.find((known) => known.requestId === requestId);
  const isListed = findVendor([], charged?.model ?? '') !== undefined;
  return isListed || !pricedByList.has(operation);
}

const findOperation = createRouter(paths);

/** Reports the cost of a stream in its usage. LiteLLM does not add new-api's own count. */
function withStreamCost(call: Call, event: StreamEvent): readonly StreamEvent[] {
  const { role, data } = event;
  if (role === 'count') return [];
  const cost = reportedCharge(call);
  const { usage, response } = record(data);
  if (cost === undefined) return [event];
  if (usage) return [{ ...event, data: { ...record(data), usage: { ...record(usage), cost } } }];
  const { usage: total } = record(response);
  if (!total) return [event];
  const counted = { ...record(response), usage: { ...record(total), cost } };
  return [{ ...event, data: { ...record(data), response: counted } }];
}

const withCosts = (call: Call): AnswerDialect => ({
  whole: (body) => body,
  event: (event) => withStreamCost(call, event),
});

/** The entry of a request in `LiteLLM_SpendLogs`. */
function spendLog(id: string, line: LogEntry): JsonObject {
  const { tokens: [prompt, completion] = [0, 0], type, model, quota, at } = line;
  const time = new Date(at).toISOString();
  return {
    request_id: `emulator-${id}`,
    litellm_call_id: id,
    spend: type === 'error' ? 0 : quota / unitsPerDollar,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    startTime: time,
    endTime: time,
    model: `openai/${model}`,
    model_group: model,
    status: type === 'error' ? 'failure' : 'success',
    metadata: {
      attempted_retries: 0,
      error_information: type === 'error' ? { error_message: line.content ?? '' } : null,
    },
  };
}

function readSpendLogs({ ledger, clock, quirks, tasks }: World, query: URLSearchParams): unknown {
  tasks.settle();
  const id = query.get('request_id') ?? '';
  const line = ledger.usageLog.find(id, clock.now(), quirks.usageLogDelay);
  return line === undefined ? [] : [spendLog(id, line)];
}

function readKey({ ledger, tasks, credit }: World): unknown {
  tasks.settle();
  const info = {
    key_alias: null,
    spend: ledger.total / unitsPerDollar,
    max_budget: Number.isFinite(credit) ? credit / unitsPerDollar : null,
    expires: null,
    litellm_budget_table: null,
    status: 'active',
  };
  return { key: 'emulator', info };
}

function readModels({ models }: World): unknown {
  const data = models.map(({ id, type }) => {
    const mode = type === 'image' || type === 'video' ? `${type}_generation` : null;
    const price = mode
      ? { output_cost_per_image: pricePerCall }
      : { input_cost_per_token: 2e-6, output_cost_per_token: 2e-6 };
    return {
      model_name: id,
      litellm_params: { model: `openai/${id}` },
      model_info: { mode, ...price },
    };
  });
  return { data };
}

const accountRoutes: Readonly<Record<string, (world: World, query: URLSearchParams) => unknown>> = {
  '/spend/logs': readSpendLogs,
  '/key/info': readKey,
  '/model/info': readModels,
};

function answerOther(request: Request, world: World, apiKey: string): Response {
  const { pathname, searchParams } = new URL(request.url);
  const isKnown = request.method === 'GET' && Object.hasOwn(accountRoutes, pathname);
  const read = isKnown ? accountRoutes[pathname] : undefined;
  if (read === undefined) return Response.json({ detail: 'Not Found' }, { status: 404 });
  authenticate(request, apiKey);
  const headers = { date: new Date(world.clock.now()).toUTCString() };
  return Response.json(read(world, searchParams), { headers });
}

/** Status and type of errors that differ from new-api's, by their code, or by their message. */
const errorKinds: Readonly<Record<string, readonly [status: number, type: string]>> = {
  insufficient_user_quota: [422, 'budget_exceeded'],
  model_not_found: [400, 'invalid_request_error'],
  'Token not provided': [401, 'auth_error'],
  // The vendor in its place answers for an id that is not one of the proxy.
  task_not_exist: [500, 'internal_server_error'],
  'Task not found': [500, 'internal_server_error'],
};

const errors: ErrorDialect = {
  envelope: 'litellm',
  toResponse({ status, details }, requestId) {
    const { message, code } = details;
    const unknownKey = status === 401 ? 'token_not_found_in_db' : details.type;
    const kind = errorKinds[String(code)] ?? errorKinds[message];
    const [ownStatus, type] = kind ?? [status, unknownKey];
    return new Refusal(ownStatus, 'litellm', { message, type }).toResponse(requestId);
  },
};

/** The model of the path is used, whatever the body names. */
function embedForEngine(call: Call): Response {
  const { body, parameters } = call;
  const fields = record(body.kind === 'json' ? body.value : undefined);
  const value = { ...fields, model: parameters['model'] };
  return handlers['embeddings.create']({ ...call, body: { kind: 'json', value } });
}

function retrieveModel(call: Call): Response {
  const { parameters, world } = call;
  const { model: id = '' } = parameters;
  if (knownModelBody(world.models, id) !== undefined) return handlers['models.retrieve'](call);
  const detail = `The model \`${id}\` does not exist or is not accessible`;
  return Response.json({ detail }, { status: 404 });
}

/** `/v1/audio/speech` passes on an unknown model as FastAPI does. */
async function speak(call: Call): Promise<Response> {
  try {
    return await handlers['audio.speech.create'](call);
  } catch (error) {
    const isUnknown = error instanceof Refusal && error.details.code === 'model_not_found';
    if (!isUnknown) throw error;
    return Response.json({ detail: { error: error.message } }, { status: 400 });
  }
}

/** The LiteLLM proxy with a database. The responses equal those of the real proxy, which test/litellm runs. */
export const liteLLM: Family = {
  paths,
  otherPaths: Object.keys(accountRoutes),
  handlers: {
    ...handlers,
    'chat.completions.create': (call) => completeChat(call, withCosts(call)),
    'responses.create': (call) => createResponse(call, withCosts(call)),
    'embeddings.createForEngine': embedForEngine,
    'models.retrieve': retrieveModel,
    'audio.speech.create': speak,
  },
  findRoute: (method, path) =>
    Object.hasOwn(accountRoutes, path) ? undefined : findOperation(method, path),
  operationFor: (operation) => operation,
  answerOther,
  errors,
  nextRequestId: (ids, _, { headers }) => headers.get('x-litellm-call-id') ?? ids.next('call-', 32),
  headers: (requestId) => ({
    ...(requestId === undefined ? {} : { 'x-litellm-call-id': requestId }),
    'x-litellm-version': 'emulator',
    // The proxy allows any header. Browsers send only those that the client needs.
    'access-control-allow-headers': 'authorization, content-type, accept, x-litellm-call-id',
  }),
  reportsCost,
  quirks: {
    reportedCost: 'header',
    videoPollError: 'none',
    contentNeedsKey: true,
    contentLimit: 0,
  },
};
