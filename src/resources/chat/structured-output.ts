import { isObject } from '../../answers/objects.ts';
import { peek } from '../../options/snapshot.ts';
import type { OutputDialect } from '../../structured/dialect.ts';
import type { JsonObject } from '../../types.ts';
import type { ChatCompletionCreateParamsBase, ChatCompletionMessageParam } from './params.ts';

/** Returns the JSON Schema of a `response_format`, if it has one. */
export function findSchema(format: unknown): JsonObject | undefined {
  if (!isObject(format) || format['type'] !== 'json_schema') return undefined;
  const { json_schema: named } = format;
  const schema = isObject(named) ? named['schema'] : undefined;
  return isObject(schema) ? schema : undefined;
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

/** How chat asks for JSON. */
export const chatOutput: OutputDialect<
  { response_format?: unknown },
  ChatCompletionCreateParamsBase
> = {
  name: 'chat',
  findSchema: (params) => findSchema(peek(params, 'response_format')),
  // Providers' JSON mode returns objects only.
  allowsJSONMode: ({ type }) => type === undefined || type === 'object',
  withInstruction(params, instruction, isJSONMode) {
    const { messages } = params;
    if (!Array.isArray(messages)) return params;
    return {
      ...params,
      response_format: isJSONMode ? { type: 'json_object' } : undefined,
      messages: withInstruction(messages, instruction),
    };
  },
};
