import {
  fill,
  hasValue,
  isText,
  listObjects,
  normalizeItems,
  toNumber,
} from '../../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../../answers/reader.ts';
import type { JsonObject } from '../../types.ts';
import { namelessCall } from '../../structured/calls.ts';
import { isHollowItem, isNamelessItem, normalizeItem, outputText } from './output.ts';
import type { ModelResponse, ResponseStreamEvent, ResponseUsage } from './types.ts';

const usage: FieldsOf<ResponseUsage> = {
  input_tokens: 'number',
  input_tokens_details: 'object',
  output_tokens: 'number',
  output_tokens_details: 'object',
  total_tokens: 'number',
};

export const usageSchema: ResponseSchema<ResponseUsage> = { fields: usage };

const response = {
  id: 'string',
  object: 'string',
  created_at: numeric,
  model: 'string',
  status: 'string',
  output: 'array',
  output_text: 'string',
  incomplete_details: 'object',
  error: 'any',
  usage,
  instructions: 'string or array',
  previous_response_id: 'string',
  conversation: 'any',
  background: 'boolean',
  completed_at: numeric,
  max_output_tokens: 'number',
  max_tool_calls: 'number',
  metadata: 'object',
  parallel_tool_calls: 'boolean',
  reasoning: 'object',
  service_tier: 'string',
  store: 'boolean',
  temperature: 'number',
  text: 'object',
  tool_choice: 'string or object',
  tools: 'array',
  top_logprobs: 'number',
  top_p: 'number',
  truncation: 'any',
  prompt_cache_key: 'string',
  safety_identifier: 'string',
  user: 'string',
} satisfies FieldsOf<ModelResponse>;

const statuses = /^(completed|incomplete|in_progress|queued|cancelled)$/;

export function isFailedResponse({ object, output, status, error }: JsonObject): boolean {
  const isResponse = object === 'response' || output !== undefined;
  return isResponse && (status === 'failed' || hasValue(error));
}

/** Returns whether a value is a response that did not fail. A queued one may lack its output. */
export function isModelResponse(value: JsonObject): boolean {
  const { object, output, output_text: text, status, id, error } = value;
  if (status === 'failed' || hasValue(error)) return false;
  // A relay whose vendor failed sends a completed response without output.
  if (status === 'completed' && !hasValue(text) && (output ?? undefined) === undefined)
    return false;
  if (object === 'response') return true;
  const isNamed = typeof id === 'string' && id !== '';
  if (Array.isArray(output)) return isNamed || output.length > 0;
  return isNamed && typeof status === 'string' && statuses.test(status);
}

export const responseSchema: ResponseSchema<ModelResponse> = {
  fields: response,
  result: { name: 'response', isIn: isModelResponse },
  normalize(value) {
    fill(value, {
      id: '',
      object: 'response',
      created_at: 0,
      model: '',
      error: null,
      incomplete_details: null,
    });
    toNumber(value, 'created_at');
    const { output, output_text: sent } = value;
    const items = normalizeItems(value, 'output', normalizeItem);
    const isOver = value['status'] !== 'in_progress';
    if (isOver && items.some(isHollowItem)) {
      value['output'] = items.filter((item) => !isHollowItem(item));
    }
    value['output_text'] = outputText(items) || ([sent, output].find(isText) ?? '');
  },
  fault: ({ output }) =>
    listObjects(output).some(isNamelessItem) ? { problem: namelessCall } : undefined,
};

export const eventSchema: ResponseSchema<ResponseStreamEvent> = {
  fields: {
    type: 'string',
    sequence_number: 'number',
    item_id: 'string',
    output_index: 'number',
    content_index: 'number',
    summary_index: 'number',
    response: 'object',
    item: 'object',
    part: 'object',
    delta: 'string',
    text: 'string',
    arguments: 'string',
    annotation: 'object',
  },
};
