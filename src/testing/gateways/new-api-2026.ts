import { isObject, listObjects } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';
import { record, text } from '../control/json.ts';
import { findVendor, type EmulatorModel } from '../control/models.ts';
import { completeChat } from '../routes/chat.ts';
import { generateContent, generateContentStream } from '../routes/gemini.ts';
import type { Call, World } from '../server/call.ts';
import { Refusal } from '../server/errors.ts';
import type { AnswerDialect } from '../server/event-stream.ts';
import { handlers } from '../server/handlers.ts';
import type { Family } from './family.ts';
import { newApi } from './new-api.ts';

/** Messages about keys. */
const messages: Readonly<Record<string, string>> = {
  'Token not provided': '未提供令牌',
  'Invalid token': '无效的令牌',
};

/** Returns the error of Go's decoder for a field with another type; other messages unchanged. */
function toGoMessage(message: string): string {
  const [, field, expected, received] =
    /^invalid type for field "(\w+)": expected (\w+), got (\w+)$/.exec(message) ?? [];
  if (field === undefined) return messages[message] ?? message;
  return `json: cannot unmarshal ${received} into Go struct field GeneralOpenAIRequest.${field} of type ${expected}`;
}

const refundType = 6;

/** Adds a request id, which belongs to no call, to the log entries of refunds. */
async function withRefundIds(response: Response): Promise<Response> {
  const body: unknown = await response.json();
  const { data, ...fields } = record(body);
  const entries = listObjects(data).map((entry) => {
    if (entry['type'] !== refundType) return entry;
    return {
      ...entry,
      request_id: `${text(entry['created_at']) ?? ''}refund${String(entry['id'])}`,
    };
  });
  return Response.json({ ...fields, data: entries }, response);
}

/** Handles routes of the account and undocumented paths. */
function answerOther(request: Request, world: World, apiKey: string): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isLog = request.method === 'GET' && pathname === '/api/log/token';
  if (isLog && searchParams.has('key') && !request.headers.has('authorization')) {
    return Response.json({ success: false, message: messages['Token not provided'] });
  }
  const response = newApi.answerOther(request, world, apiKey);
  if (response instanceof Response && response.status === 404) {
    const message = 'The requested resource was not found';
    const error = { message, type: 'invalid_request_error', param: '', code: '' };
    return Response.json({ error }, response);
  }
  return isLog && response instanceof Response && response.ok ? withRefundIds(response) : response;
}

/** Returns the kinds of routes that serve a model. */
function endpointTypes({ id, type, vendor }: EmulatorModel): string[] {
  if (type === 'image' || type === 'video') {
    return [type === 'image' ? 'image-generation' : 'openai-video'];
  }
  if (/embed/.test(id)) return ['embeddings'];
  const knownVendor = vendor ?? findVendor([], id);
  if (knownVendor === 'google') return ['gemini', 'openai'];
  return knownVendor === 'anthropic' ? ['anthropic', 'openai'] : ['openai'];
}

/** Lists the models with the kinds of their routes, unless those are set. */
function listModels(call: Call): Response {
  const models = call.world.models.map((model) => ({
    ...model,
    supported_endpoint_types: model.supported_endpoint_types ?? endpointTypes(model),
  }));
  return handlers['models.list']({ ...call, world: { ...call.world, models } });
}

/** Sora's channel accepts a number for `seconds` in JSON. */
function createVideo(call: Call): Response | Promise<Response> {
  const fields = record(call.body.kind === 'json' ? call.body.value : undefined);
  const { seconds, model } = fields;
  const vendor = findVendor(call.world.models, text(model) ?? '');
  if (typeof seconds !== 'number' || vendor !== 'openai') return handlers['videos.create'](call);
  const value = { ...fields, seconds: String(seconds) };
  return handlers['videos.create']({ ...call, body: { kind: 'json', value } });
}

/** Adds the vendor's own counts to the usage in a field of responses. */
function withBilling(field: string, bill: (usage: JsonObject) => JsonObject): AnswerDialect {
  const add = (body: unknown): unknown => {
    const usage = record(body)[field];
    if (!isObject(usage)) return body;
    return { ...record(body), [field]: { ...usage, billing_usage: bill(usage) } };
  };
  return {
    whole: (body) => record(add(body)),
    event: (event) => [{ ...event, data: add(event.data) }],
  };
}

const chatBilling = {
  anthropic: withBilling('usage', (usage) => ({
    claude_usage: {
      input_tokens: usage['prompt_tokens'],
      output_tokens: usage['completion_tokens'],
    },
  })),
  google: withBilling('usage', (usage) => ({
    gemini_usage_metadata: {
      promptTokenCount: usage['prompt_tokens'],
      candidatesTokenCount: usage['completion_tokens'],
      totalTokenCount: usage['total_tokens'],
    },
  })),
};

const generateBilling = withBilling('usageMetadata', (usage) => ({
  openai_usage: {
    prompt_tokens: usage['promptTokenCount'],
    completion_tokens: usage['candidatesTokenCount'],
    total_tokens: usage['totalTokenCount'],
  },
}));

function completeBilledChat(call: Call): Response {
  const { body, world } = call;
  const { model } = record(body.kind === 'json' ? body.value : undefined);
  const vendor = findVendor(world.models, text(model) ?? '');
  const dialect = vendor === 'anthropic' || vendor === 'google' ? chatBilling[vendor] : undefined;
  return completeChat(call, dialect);
}

/** Returns the dialect of a call in Gemini's format, which is converted for models of OpenAI. */
const generateDialect = ({ parameters, world }: Call): AnswerDialect | undefined =>
  findVendor(world.models, parameters['model'] ?? '') === 'openai' ? generateBilling : undefined;

/**
 * new-api at v1.0.0-rc.25, the build of November 2026. It differs from stable releases: its own validation
 * answers 500, content needs a key, images are streamed, and texts of errors are others.
 */
export const newApi2026: Family = {
  ...newApi,
  handlers: {
    ...newApi.handlers,
    'models.list': listModels,
    'chat.completions.create': completeBilledChat,
    'generate.content': (call) => generateContent(call, generateDialect(call)),
    'generate.contentStream': (call) => generateContentStream(call, generateDialect(call)),
    'videos.create': createVideo,
  },
  answerOther,
  errors: {
    envelope: undefined,
    toResponse({ status, envelope, details }, requestId) {
      const message = toGoMessage(details.message);
      return new Refusal(status, envelope, { ...details, message }).toResponse(requestId);
    },
  },
  headers: (requestId) => ({
    ...newApi.headers(requestId),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
  }),
  quirks: { invalidRequestStatus: 500, imageStream: 'partial', contentNeedsKey: true },
};
