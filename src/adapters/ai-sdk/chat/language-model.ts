import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import {
  UnexpectedResponseError,
  type ChatCompletionChunk,
  type Gateway,
  type Stream,
} from '../../../index.ts';
import {
  convertMessage,
  convertFinishReason,
  responseMetadata,
  convertUsage,
  mergeExtracted,
} from './answer.ts';
import { chatCall, transformCall } from './params.ts';
import { convertErrors, isAbort, toAISDKError } from '../errors.ts';
import { providerName, toHeaders } from '../options.ts';
import type { ChatModelSettings } from '../settings.ts';
import { findJSONText } from './json-text.ts';
import { PartMaker } from './stream-parts.ts';

const operation = 'chat.completions.create';

/**
 * Creates a chat model.
 *
 * @param connect - Returns the client, at the first call.
 */
export function languageModel(
  connect: () => Gateway,
  modelId: string,
  settings: ChatModelSettings,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.chat`,
    modelId,
    // The provider behind the gateway fetches these URLs; otherwise the files would pass through this process.
    supportedUrls: settings.supportedUrls?.() ?? {
      'image/*': [/^https?:/],
      'video/*': [/^https?:/],
    },
    doGenerate: (options) => generate(connect(), modelId, options, settings),
    doStream: (options) => stream(connect(), modelId, options, settings),
  };
}

/** Returns the schema of a response that is JSON; `undefined` if it is text, or JSON without a schema. */
const findSchema = ({ responseFormat: format }: LanguageModelV4CallOptions): object | undefined =>
  format?.type === 'json' ? format.schema : undefined;

async function generate(
  client: Gateway,
  modelId: string,
  options: LanguageModelV4CallOptions,
  settings: ChatModelSettings,
): Promise<LanguageModelV4GenerateResult> {
  const { params, warnings, ...call } = chatCall(modelId, options, settings);
  const { body, request } = transformCall(params, { ...call, warnings }, settings);
  const failed = { client, operation, signal: options.abortSignal } as const;
  const { data, response } = await convertErrors(failed, () =>
    client.chat.completions.create(body, request).withResponse(),
  );
  const [choice] = data.choices;
  if (choice === undefined) {
    const { status, headers } = response;
    const init = { outcome: 'unknown', status, headers, data } as const;
    throw toAISDKError(new UnexpectedResponseError('The response has no choices.', init), failed);
  }
  const hasRefused = Boolean(choice.message.refusal);
  const schema = findSchema(options);
  const content = convertMessage(choice.message, choice.finish_reason);
  for (const part of content) {
    if (part.type === 'text' && schema) part.text = await findJSONText(part.text, schema);
  }
  const finishReason = convertFinishReason(choice.finish_reason, hasRefused);
  // A model may name tool calls as the reason, although it sent none that can be read.
  const isCalling = content.some(({ type }) => type === 'tool-call');
  const isEmpty = content.every(({ type }) => type === 'reasoning');
  if (finishReason.unified === 'tool-calls' && isEmpty) {
    throw toAISDKError(unreadableCalls(response, data), failed);
  }
  return {
    content,
    finishReason:
      finishReason.unified === 'tool-calls' && !isCalling
        ? { ...finishReason, unified: 'stop' }
        : finishReason,
    ...mergeExtracted(
      convertUsage(data.usage, response.headers, settings.convertUsage),
      await settings.metadataExtractor?.extractMetadata({ parsedBody: data }),
    ),
    request: { body },
    response: { ...responseMetadata(data), headers: toHeaders(response), body: data },
    warnings,
  };
}

/** Creates the error of a response that should have tool calls, and has neither a call nor text. */
function unreadableCalls({ status, headers }: Response, data: unknown): UnexpectedResponseError {
  const message = 'The response ends in a tool call, but has none, or one without a name.';
  return new UnexpectedResponseError(message, { outcome: 'unknown', status, headers, data });
}

async function stream(
  client: Gateway,
  modelId: string,
  options: LanguageModelV4CallOptions,
  settings: ChatModelSettings,
): Promise<LanguageModelV4StreamResult> {
  const { params, warnings, ...call } = chatCall(modelId, options, settings);
  const usage = settings.includeUsage !== false && { stream_options: { include_usage: true } };
  const streamed = { ...params, stream: true, ...usage } as const;
  const { body, request } = transformCall(streamed, { ...call, warnings }, settings);
  const failed = { client, operation, signal: options.abortSignal } as const;
  const { data, response } = await convertErrors(failed, () =>
    client.chat.completions.create({ ...body, stream: true }, request).withResponse(),
  );
  async function* parts(): AsyncGenerator<LanguageModelV4StreamPart, void> {
    yield { type: 'stream-start', warnings };
    const maker = new PartMaker(options.includeRawChunks === true, settings, findSchema(options));
    try {
      for await (const chunk of data) yield* maker.add(chunk);
    } catch (error) {
      const shown = toAISDKError(error, failed);
      // The AI SDK ends an aborted stream itself if reading fails with such an error.
      if (isAbort(error)) throw shown;
      yield* await maker.flush();
      yield* maker.fail(shown, error, data.usage);
      return;
    }
    const message = data.partial?.choices[0]?.message;
    yield* await maker.flush();
    if (maker.lacksCall(message?.tool_calls ?? [])) {
      const error = unreadableCalls(response, data.partial);
      yield* maker.fail(toAISDKError(error, failed), error, data.usage);
      return;
    }
    const calls = message && (message.tool_calls ?? []);
    yield* maker.end(data.verdict === 'complete', data.usage, calls);
  }
  return {
    stream: toReadableStream(parts(), data),
    request: { body },
    response: { headers: toHeaders(response) },
  };
}

/** Creates a stream that reads only on demand, and closes the connection when it is cancelled. */
function toReadableStream(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void>,
  source: Stream<ChatCompletionChunk>,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        source.close();
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
