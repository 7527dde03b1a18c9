import { isObject, listObjects, omit } from '../../answers/objects.ts';
import type { OutputRules } from '../../calls/operation.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { checkList, checkModel } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import type { RequestOptions } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import { eventFormat } from '../../streams/open-stream.ts';
import type { Stream } from '../../streams/stream.ts';
import { withJSON } from '../../structured/calls.ts';
import { deliverWithChoices } from './delivery.ts';
import { readParts } from './normalize.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import { chatProtocolFor, countChoices, formatsFor } from './protocol.ts';
import type { ChatCompletion, ChatCompletionChunk } from './types.ts';

/** Removes the fields that this package adds to messages of a model. */
function toRequestMessage(message: unknown): unknown {
  if (!isObject(message) || message['role'] !== 'assistant') return message;
  const { parsed: _, content_parts: parts, audio, ...sent } = message;
  // Gateways accept the id of audio, not its data.
  if (audio) sent['audio'] = isObject(audio) ? { id: audio['id'] } : audio;
  // OpenRouter reads annotations of files, so that it does not parse them again.
  const isFile = listObjects(sent['annotations']).some(({ type }) => type === 'file');
  if (!isFile) delete sent['annotations'];
  // Strict providers reject fields that only responses have, even if they are null.
  for (const [name, value] of Object.entries(sent)) {
    if (value === null && name !== 'content' && name !== 'tool_calls') delete sent[name];
  }
  if (Array.isArray(parts)) {
    const { text, thoughts } = readParts(parts);
    // The caller may have changed the text.
    if (sent['content'] === text) sent['content'] = parts;
    if (sent['reasoning_content'] === thoughts) delete sent['reasoning_content'];
  }
  if (sent['tool_calls']) {
    sent['tool_calls'] = listObjects(sent['tool_calls']).map((call) => {
      const rest = omit(call, 'incomplete', 'index');
      if (!isObject(rest['function'])) return rest;
      return { ...rest, function: withJSON(omit(rest['function'], 'parsed_arguments')) };
    });
  }
  if (isObject(sent['function_call'])) sent['function_call'] = withJSON(sent['function_call']);
  return sent;
}

/**
 * Checks parameters and returns the body of their request.
 *
 * `include_usage: false` is never sent: gateways then drop the chunk with the finish reason of many
 * providers, and a complete response would look like a truncated one.
 */
export function writeCompletion(params: ChatCompletionCreateParamsBase): { readonly json: object } {
  checkParams('chat.completions.create', params);
  checkModel(params.model);
  checkList('messages', params.messages, 'a message such as { role: "user", content: "Hello!" }');
  const body = { ...params, messages: params.messages.map(toRequestMessage) };
  if (params.stream_options?.include_usage !== false) return { json: body };
  const stream_options = { ...params.stream_options, include_usage: true };
  return { json: { ...body, stream_options } };
}

export function createCompletion(
  transport: Transport,
  params: ChatCompletionCreateParamsBase,
  options: RequestOptions | undefined,
  output?: OutputRules<ChatCompletionCreateParamsBase>,
): GatewayPromise<ChatCompletion> {
  const format = (changed: ChatCompletionCreateParamsBase) =>
    formatsFor(countChoices(changed, options)).format;
  const parts = { kind: 'json', write: writeCompletion, format, output } as const;
  return transport.operate('chat.completions.create', params, parts, options);
}

export function streamCompletion(
  transport: Transport,
  params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
  options: RequestOptions | undefined,
  output?: OutputRules<ChatCompletionCreateParamsBase>,
): GatewayPromise<Stream<ChatCompletionChunk>> {
  const includesUsage = peek(peek(params, 'stream_options') ?? {}, 'include_usage') === true;
  const streamOptions =
    peek(params, 'stream_options') ?? peek(peek(options, 'extraBody'), 'stream_options');
  return transport.operate(
    'chat.completions.create',
    params,
    {
      kind: 'events',
      write: (changed) => ({ json: { ...writeCompletion(changed).json, stream: true } }),
      format: (changed) =>
        eventFormat({
          ...chatProtocolFor(countChoices(changed, options)),
          deliver: (emit) => deliverWithChoices(emit, includesUsage),
        }),
      output,
      optional: streamOptions ? ['stream_options'] : undefined,
    },
    options,
  );
}
