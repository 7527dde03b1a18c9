import { isObject } from '../../answers/objects.ts';
import type { OutputRules } from '../../calls/plan.ts';
import type { Change } from '../../http/request.ts';
import { peek } from '../../options/snapshot.ts';
import { outputInstruction } from '../../structured/json.ts';
import type { JsonObject } from '../../types.ts';
import type { ChatCompletionCreateParamsBase, ChatCompletionMessageParam } from './params.ts';

/** Returns the JSON Schema of a `response_format`, if it has one. */
export function findSchema(format: unknown): JsonObject | undefined {
  if (!isObject(format) || format['type'] !== 'json_schema') return undefined;
  const { json_schema: named } = format;
  const schema = isObject(named) ? named['schema'] : undefined;
  return isObject(schema) ? schema : undefined;
}

/** Returns how requests with a schema ask for JSON; `undefined` if these parameters have none. */
export function findOutput(params: {
  response_format?: unknown;
  tools?: unknown;
}): OutputRules | undefined {
  const schema = findSchema(peek(params, 'response_format'));
  if (schema === undefined) return undefined;
  const kind = `chat ${peek(params, 'tools') ? 'tools' : ''}`;
  // Providers' JSON mode returns objects only.
  const isAnyObject = schema['type'] === undefined || schema['type'] === 'object';
  return {
    kind,
    order: isAnyObject ? ['json_schema', 'json_object', 'prompt'] : ['json_schema', 'prompt'],
  };
}

/** Adds an instruction to the first system message, or to a new one. */
function withInstruction(
  messages: readonly ChatCompletionMessageParam[],
  text: string,
): ChatCompletionMessageParam[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system' && first?.role !== 'developer') {
    return [{ role: 'system', content: text }, ...messages];
  }
  const { content } = first;
  const joined: typeof content =
    typeof content === 'string' ? `${content}\n\n${text}` : [...content, { type: 'text', text }];
  return [{ ...first, content: joined }, ...rest];
}

/** Returns the parameters with the schema in the prompt, unless the mode sends it to the provider. */
export function applyOutputMode<Params extends ChatCompletionCreateParamsBase>(
  params: Params,
  { output: mode }: Change,
): Params {
  if (mode === undefined || mode === 'json_schema') return params;
  const { response_format: format, messages } = params;
  const schema = findSchema(format);
  if (schema === undefined || !Array.isArray(messages)) return params;
  return {
    ...params,
    response_format: mode === 'json_object' ? { type: 'json_object' } : undefined,
    messages: withInstruction(messages, outputInstruction(schema)),
  };
}
