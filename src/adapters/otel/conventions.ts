import type { Attributes } from '@opentelemetry/api';
import { type Endpoint, findEndpoint } from '../../endpoints.ts';
import { type ObservedCall, type ObservedEnd, usageOf } from '../../index.ts';

/**
 * Edition of the semantic conventions for generative AI: `1.41` of OpenTelemetry's general conventions, or
 * `0.1.0` of those for generative AI alone. Both are unstable, and their metric names differ.
 */
export type Edition = '1.41' | '0.1.0';

/** An operation in terms of the semantic conventions. */
interface OperationName {
  /** `gen_ai.operation.name`. */
  readonly name: 'chat' | 'generate_content' | 'embeddings' | 'fetch_response';
  /** `gen_ai.output.type`, for media. */
  readonly output?: 'image' | 'speech' | 'text' | 'video';
}

const image: OperationName = { name: 'generate_content', output: 'image' };
const video: OperationName = { name: 'generate_content', output: 'video' };
const read: OperationName = { name: 'fetch_response', output: 'video' };

/** The names of operations by their group. */
const groupNames: { readonly [Group in Endpoint['group']]?: OperationName } = {
  texts: { name: 'chat' },
  uploads: { name: 'generate_content', output: 'text' },
  embeddings: { name: 'embeddings' },
  images: image,
  edits: image,
  submissions: video,
  remixes: video,
};

/** Those of operations that differ from their group. */
const otherNames: Readonly<Record<string, OperationName>> = {
  'generate.content': { name: 'generate_content' },
  'generate.contentStream': { name: 'generate_content' },
  'audio.speech.create': { name: 'generate_content', output: 'speech' },
};

/** Returns the conventional name of an operation; `undefined` if it is not about generative AI. */
export function operationName({ operation }: ObservedCall): OperationName | undefined {
  const endpoint = findEndpoint(operation);
  if (endpoint?.task === 'reads') return read;
  return otherNames[operation] ?? (endpoint && groupNames[endpoint.group]);
}

/** Returns whether a call submits a task. */
export const submitsTask = ({ operation }: ObservedCall): boolean =>
  findEndpoint(operation)?.task === 'creates';

/** Returns whether a call reads the status of a task. */
export function isPoll({ operation }: ObservedCall): boolean {
  const { task, responses } = findEndpoint(operation) ?? {};
  return task === 'reads' && responses?.includes('json') === true;
}

/** Returns the span name: the operation and the model, if known. */
export function spanName(call: ObservedCall): string {
  const { name = call.operation } = operationName(call) ?? {};
  return call.model === undefined ? name : `${name} ${call.model}`;
}

/** Removes attributes without a value. */
function known(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Returns the attributes of metrics, which have few distinct values to keep metrics small. */
export function commonAttributes(call: ObservedCall, provider: string | undefined): Attributes {
  const { hostname, port, protocol } = new URL(call.baseURL);
  const isGemini = call.operation.startsWith('generate.');
  return known({
    'gen_ai.operation.name': operationName(call)?.name,
    // Defaults to the vendor of the wire format, as the conventions require: the real provider is unknown.
    'gen_ai.provider.name': provider ?? (isGemini ? 'gcp.gen_ai' : 'openai'),
    'gen_ai.request.model': call.model,
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? ports[protocol] : Number(port),
  });
}

/** Returns a parameter of a generation: by its name in OpenAI's format, or by that in Gemini's. */
function numberIn(params: ObservedCall['params'], name: string, inGemini: string) {
  return toNumber(params[name] ?? params[`generationConfig.${inGemini}`]);
}

/** Returns the requested effort of reasoning. */
function reasoningLevel(params: ObservedCall['params']): string | undefined {
  return toText(params['reasoning_effort'] ?? params['reasoning.effort']);
}

/** Returns the attributes known at the start of a call, so that samplers can use them. */
export function requestAttributes(call: ObservedCall, edition: Edition): Attributes {
  const { operation, chargeClass, callId, params, stream } = call;
  const { name, output } = operationName(call) ?? {};
  const isEmbedding = name === 'embeddings';
  const count = numberIn(params, 'n', 'candidateCount');
  const isNewer = edition === '0.1.0';
  const format = toText(params['encoding_format']);
  return known({
    'gen_ai.output.type': output,
    'gen_ai.request.stream': stream || undefined,
    'gen_ai.request.max_tokens':
      toNumber(params['max_completion_tokens'] ?? params['max_tokens']) ??
      numberIn(params, 'max_output_tokens', 'maxOutputTokens'),
    'gen_ai.request.temperature': numberIn(params, 'temperature', 'temperature'),
    'gen_ai.request.top_p': numberIn(params, 'top_p', 'topP'),
    'gen_ai.request.top_k': numberIn(params, 'top_k', 'topK'),
    'gen_ai.request.frequency_penalty': numberIn(params, 'frequency_penalty', 'frequencyPenalty'),
    'gen_ai.request.presence_penalty': numberIn(params, 'presence_penalty', 'presencePenalty'),
    'gen_ai.request.seed': numberIn(params, 'seed', 'seed'),
    'gen_ai.request.choice.count': count === 1 ? undefined : count,
    'gen_ai.request.reasoning.level': isNewer ? reasoningLevel(params) : undefined,
    'gen_ai.request.previous_response.id': isNewer
      ? toText(params['previous_response_id'])
      : undefined,
    'gen_ai.embeddings.dimension.count': isEmbedding ? toNumber(params['dimensions']) : undefined,
    'gen_ai.request.encoding_formats': isEmbedding && format !== undefined ? [format] : undefined,
    'model_gateway.operation': operation,
    'model_gateway.charge_class': chargeClass,
    'model_gateway.call_id': callId,
    'model_gateway.video.task_id': toText(params['task_id'] ?? params['video_id']),
  });
}

/** Returns the value of `error.type`: the class of the error, so that there are few values. */
export function errorType(error: unknown): string {
  return error instanceof Error ? error.name : '_OTHER';
}

/** Returns the attributes known at the end of a call. */
export function responseAttributes(
  end: ObservedEnd,
  edition: Edition,
  { attempts, firstChunk }: { readonly attempts: number; readonly firstChunk: number | undefined },
): Attributes {
  const { finishReasons, error } = end;
  const usage = usageOf(end.usage);
  const written = edition === '0.1.0' ? 'cache_write' : 'cache_creation';
  return known({
    'gen_ai.response.id': end.responseId,
    'gen_ai.response.model': end.responseModel,
    'gen_ai.response.finish_reasons': finishReasons.length > 0 ? [...finishReasons] : undefined,
    'gen_ai.response.time_to_first_chunk': firstChunk,
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    [`gen_ai.usage.${written}.input_tokens`]: usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'error.type': error === undefined ? undefined : errorType(error),
    'model_gateway.cost': end.cost,
    'model_gateway.outcome': end.outcome,
    'model_gateway.attempts': attempts,
    'model_gateway.possible_charges': end.possibleCharges > 0 ? end.possibleCharges : undefined,
    'model_gateway.request_id': end.requestId,
  });
}
