import type { Operation } from '../../endpoints.ts';
import { endpoints } from '../../endpoints.ts';
import type { JsonObject } from '../../types.ts';
import { pricePerCall, type LogEntry } from '../control/usage-log.ts';
import { record } from '../control/json.ts';
import type { StreamEvent } from '../faults/stream-faults.ts';
import { completeChat } from '../routes/chat.ts';
import { authenticate } from '../server/auth.ts';
import { reportedCharge, unitsPerDollar, type Call, type World } from '../server/call.ts';
import { Refusal, type ErrorDialect } from '../server/errors.ts';
import { handlers } from '../server/handlers.ts';
import { createRouter } from '../server/router.ts';
import type { Family } from './family.ts';

/** Operations that LiteLLM serves on their usual paths. */
const served: readonly Operation[] = [
  'models.list',
  'models.retrieve',
  'chat.completions.create',
  'responses.create',
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

/** Operations whose responses have a header with their cost. */
const costHeaders: ReadonlySet<Operation> = new Set<Operation>([
  'chat.completions.create',
  'responses.create',
  'embeddings.create',
  'embeddings.createForEngine',
  'images.generate',
  'audio.transcriptions.create',
]);

const findOperation = createRouter(paths);

/** Reports the cost of a stream in its usage. LiteLLM does not add new-api's own count. */
function withStreamCost(call: Call, event: StreamEvent): readonly StreamEvent[] {
  const { role, data } = event;
  if (role === 'count') return [];
  const cost = reportedCharge(call);
  const { usage } = record(data);
  if (!usage || cost === undefined) return [event];
  return [{ ...event, data: { ...record(data), usage: { ...record(usage), cost } } }];
}

const completeLiteLLMChat = (call: Call): Response =>
  completeChat(call, {
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

/** Status and type of errors that differ from new-api's, by their code. */
const errorKinds: Readonly<Record<string, readonly [status: number, type: string]>> = {
  insufficient_user_quota: [422, 'budget_exceeded'],
  model_not_found: [400, 'invalid_request_error'],
};

const errors: ErrorDialect = {
  envelope: 'litellm',
  toResponse({ status, details }, requestId) {
    const { message, code } = details;
    const unknownKey = status === 401 ? 'token_not_found_in_db' : details.type;
    const [ownStatus, type] = errorKinds[String(code)] ?? [status, unknownKey];
    return new Refusal(ownStatus, 'litellm', { message, type }).toResponse(requestId);
  },
};

/** The LiteLLM proxy with a database. The responses equal those of the real proxy, which test/litellm runs. */
export const liteLLM: Family = {
  paths,
  otherPaths: Object.keys(accountRoutes),
  handlers: {
    ...handlers,
    'chat.completions.create': completeLiteLLMChat,
    'embeddings.createForEngine': handlers['embeddings.create'],
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
  costHeaders,
  quirks: {
    reportedCost: 'header',
    videoPollError: 'none',
    contentNeedsKey: true,
    contentLimit: 0,
  },
};
