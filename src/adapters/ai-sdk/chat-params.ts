import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionResponseFormat,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
  Gateway,
  RequestOptions,
} from '../../index.ts';
import { readOption, readCall, unsupported } from './options.ts';
import { convertPrompt } from './prompt.ts';

/** A call of the AI SDK, converted for the client. */
export interface ChatCall {
  readonly params: ChatCompletionCreateParamsNonStreaming;
  readonly request: RequestOptions;
  readonly warnings: SharedV4Warning[];
}

/**
 * Converts a call of the AI SDK.
 *
 * @throws `InvalidInputError` or an error of the AI SDK if the call is not supported; nothing is sent
 */
export function chatCall(
  client: Gateway,
  model: string,
  options: LanguageModelV4CallOptions,
): ChatCall {
  const warnings: SharedV4Warning[] = [];
  const { request, own } = readCall(client, options, ['strictJsonSchema']);
  const { reasoning, responseFormat } = options;
  const isStrict = readOption(own, 'strictJsonSchema', 'boolean') ?? true;
  const params: ChatCompletionCreateParamsNonStreaming = {
    model,
    messages: convertPrompt(options.prompt, warnings),
    ...pickSet({
      max_tokens: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      top_k: options.topK,
      frequency_penalty: options.frequencyPenalty,
      presence_penalty: options.presencePenalty,
      stop: options.stopSequences,
      seed: options.seed,
      reasoning_effort: reasoning === 'provider-default' ? undefined : reasoning,
      response_format: convertFormat(responseFormat, isStrict),
    }),
    ...(options.tools && convertTools(options.tools, options.toolChoice, warnings)),
  };
  return { params, request, warnings };
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
): ChatCompletionResponseFormat | undefined {
  if (format?.type !== 'json') return undefined;
  const { schema, name = 'response', description } = format;
  if (schema === undefined) return { type: 'json_object' };
  const json_schema = { name, description, strict, schema: { ...schema } };
  return { type: 'json_schema', json_schema };
}

function convertTools(
  tools: readonly (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[],
  choice: LanguageModelV4ToolChoice | undefined,
  warnings: SharedV4Warning[],
): Pick<ChatCompletionCreateParamsNonStreaming, 'tools' | 'tool_choice'> {
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
