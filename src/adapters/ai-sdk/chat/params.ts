import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  InvalidInputError,
  type ChatCompletionCreateInput,
  type ChatCompletionResponseFormat,
  type ChatCompletionTool,
  type ChatCompletionToolChoiceOption,
  type RequestOptions,
} from '../../../index.ts';
import { isJSONObject, readOption, readCall, unsupported } from '../options.ts';
import { convertPrompt } from './prompt.ts';
import type { ChatCompletionBody, ChatModelSettings } from '../settings.ts';

/** A call of the AI SDK, converted for the client. */
export interface ChatCall {
  readonly params: ChatCompletionCreateInput;
  readonly request: RequestOptions;
  readonly warnings: SharedV4Warning[];
}

/**
 * Converts a call of the AI SDK.
 *
 * @throws `InvalidInputError` or an error of the AI SDK if the call is not supported; nothing is sent
 */
export function chatCall(
  model: string,
  options: LanguageModelV4CallOptions,
  settings: ChatModelSettings,
): ChatCall {
  const { request, providerOptions, warnings } = readCall(options, [
    'strictJsonSchema',
    'reasoningEffort',
  ]);
  const { responseFormat } = options;
  const isStrict = readOption(providerOptions, 'strictJsonSchema', 'boolean') ?? true;
  const hasSchemas = settings.supportsStructuredOutputs ?? true;
  if (!hasSchemas && responseFormat?.type === 'json' && responseFormat.schema !== undefined) {
    const details = 'The schema was not sent, because of supportsStructuredOutputs: false.';
    warnings.push(unsupported('responseFormat', details));
  }
  const params: ChatCompletionCreateInput = {
    model,
    messages: convertPrompt(options.prompt, warnings, settings.supportsMultiPartToolContent),
    ...pickSet({
      max_tokens: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      top_k: options.topK,
      frequency_penalty: options.frequencyPenalty,
      presence_penalty: options.presencePenalty,
      stop: options.stopSequences,
      seed: options.seed,
      reasoning_effort: readEffort(providerOptions, options.reasoning),
      response_format: convertFormat(responseFormat, isStrict, hasSchemas),
    }),
    ...(options.tools && convertTools(options.tools, options.toolChoice, warnings)),
  };
  return { params, request, warnings };
}

/** Returns the effort of the provider options, or that of the call. `null` is sent as `null`. */
function readEffort(
  providerOptions: JSONObject,
  reasoning: LanguageModelV4CallOptions['reasoning'],
): string | null | undefined {
  if (providerOptions['reasoningEffort'] === null) return null;
  const effort = readOption(providerOptions, 'reasoningEffort', 'string');
  return effort ?? (reasoning === 'provider-default' ? undefined : reasoning);
}

/**
 * Returns the body and options of a request after `transformRequestBody`, which sees the whole body.
 *
 * @param body - The body without the fields of `request.extraBody`.
 */
export function transformCall<Params extends ChatCompletionCreateInput | StreamParams>(
  body: Params,
  { request, warnings }: Pick<ChatCall, 'request' | 'warnings'>,
  { transformRequestBody: transform }: ChatModelSettings,
): { readonly body: Params; readonly request: RequestOptions } {
  if (transform === undefined) return { body, request };
  const { extraBody, ...others } = request;
  const changed: unknown = transform(toBody({ ...body, ...extraBody }), warnings);
  if (isJSONObject(changed)) return { body: asParams(changed, body), request: others };
  throw new InvalidInputError('transformRequestBody', 'must return the body of the request.');
}

type StreamParams = Omit<ChatCompletionCreateInput, 'stream'> & { readonly stream: true };

/** Types a body as the fields that a transformation may read. */
function toBody(body: object): ChatCompletionBody;
function toBody(body: unknown): unknown {
  return body;
}

/** Types a transformed body as the parameters that it was made from; the client checks them. */
function asParams<Params>(body: object, original: Params): Params;
function asParams(body: unknown): unknown {
  return body;
}

/** Returns the fields that are set. */
function pickSet<Fields extends object>(fields: Fields): Partial<Fields> {
  const picked: Partial<Fields> = {};
  let name: keyof Fields;
  for (name in fields) if (fields[name] !== undefined) picked[name] = fields[name];
  return picked;
}

function convertFormat(
  format: LanguageModelV4CallOptions['responseFormat'],
  strict: boolean,
  hasSchemas: boolean,
): ChatCompletionResponseFormat | undefined {
  if (format?.type !== 'json') return undefined;
  const { schema, name = 'response', description } = format;
  if (schema === undefined || !hasSchemas) return { type: 'json_object' };
  const json_schema = { name, description, strict, schema: { ...schema } };
  return { type: 'json_schema', json_schema };
}

function convertTools(
  tools: readonly (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[],
  choice: LanguageModelV4ToolChoice | undefined,
  warnings: SharedV4Warning[],
): Pick<ChatCompletionCreateInput, 'tools' | 'tool_choice'> {
  const known = tools.flatMap((tool): ChatCompletionTool[] => {
    if (tool.type === 'provider') {
      warnings.push(unsupported(`provider-defined tool ${tool.id}`));
      return [];
    }
    if (tool.inputExamples !== undefined) {
      warnings.push(unsupported(`inputExamples of tool ${tool.name}`));
    }
    const { name, description, inputSchema, strict } = tool;
    const described = { name, description, parameters: { ...inputSchema }, strict };
    return [{ type: 'function', function: described }];
  });
  if (known.length === 0) return {};
  return { tools: known, tool_choice: choice && convertChoice(choice) };
}

function convertChoice(choice: LanguageModelV4ToolChoice): ChatCompletionToolChoiceOption {
  if (choice.type !== 'tool') return choice.type;
  return { type: 'function', function: { name: choice.toolName } };
}
