import type {
  JSONObject,
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4Source,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import {
  type AnswerUsage,
  type ChatCompletion,
  type ChatCompletionMessage,
  type CompletionUsage,
  usageOf,
} from '../../../index.ts';
import { isCallReason, isNaturalEnd } from '../../../answers/finish-reasons.ts';
import { dataURLContent, detectImageType } from '../media.ts';
import { isJSONObject, providerName } from '../options.ts';
import { reasoningMetadata, signatureMetadata } from './prompt.ts';
import type { ChatModelSettings } from '../settings.ts';

const unknownUsage: LanguageModelV4Usage = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/**
 * Converts the usage of a response. Counts are `undefined` if the gateway does not report usage. The provider
 * metadata has the counts without a field in the AI SDK, and the cost in US dollars if the gateway reports it.
 */
export function convertUsage(
  raw: CompletionUsage | null | undefined,
  headers?: Headers,
  convert?: ChatModelSettings['convertUsage'],
): { usage: LanguageModelV4Usage; providerMetadata: SharedV4ProviderMetadata } {
  const { cost, ...counts } = usageOf(raw, headers);
  const { accepted_prediction_tokens: accepted, rejected_prediction_tokens: rejected } =
    raw?.completion_tokens_details ?? {};
  return {
    usage: convert?.(raw) ?? (raw ? convertCounts(raw, counts) : unknownUsage),
    providerMetadata: {
      [providerName]: {
        ...(typeof accepted === 'number' && { acceptedPredictionTokens: accepted }),
        ...(typeof rejected === 'number' && { rejectedPredictionTokens: rejected }),
        ...(cost !== undefined && { cost }),
      },
    },
  };
}

/** Adds metadata that an extractor returned. */
export function mergeExtracted<Result extends { providerMetadata: SharedV4ProviderMetadata }>(
  result: Result,
  extracted: SharedV4ProviderMetadata | undefined,
): Result {
  if (extracted === undefined) return result;
  const metadata = { ...result.providerMetadata[providerName], ...extracted[providerName] };
  return { ...result, providerMetadata: { ...extracted, [providerName]: metadata } };
}

function convertCounts(raw: unknown, counts: Omit<AnswerUsage, 'cost'>): LanguageModelV4Usage {
  const { inputTokens = 0, outputTokens = 0, reasoningTokens: reasoning = 0 } = counts;
  const { cacheReadTokens: cacheRead = 0, cacheWriteTokens: cacheWrite } = counts;
  return {
    inputTokens: {
      total: inputTokens,
      noCache: Math.max(0, inputTokens - cacheRead - (cacheWrite ?? 0)),
      cacheRead,
      cacheWrite,
    },
    outputTokens: {
      total: outputTokens,
      text: Math.max(0, outputTokens - reasoning),
      reasoning,
    },
    ...(isJSONObject(raw) && { raw }),
  };
}

/** Returns the reason of the AI SDK. Words for the end of a turn and for calls are those of the client. */
function unifyReason(raw: string): LanguageModelV4FinishReason['unified'] {
  if (isCallReason(raw)) return 'tool-calls';
  if (isNaturalEnd(raw)) return 'stop';
  if (raw === 'length') return 'length';
  return raw === 'content_filter' ? 'content-filter' : 'other';
}

/** Converts the finish reason. A refusal counts as filtered although its reason is `stop`. */
export function convertFinishReason(
  raw: string | null,
  hasRefused: boolean,
): LanguageModelV4FinishReason {
  const unified = hasRefused && raw === 'stop' ? 'content-filter' : unifyReason(raw ?? '');
  return { unified, raw: raw || undefined };
}

/** Converts the response metadata; omits fields that the gateway does not report. */
export function responseMetadata({
  id,
  model,
  created,
}: Pick<ChatCompletion, 'id' | 'model' | 'created'>): LanguageModelV4ResponseMetadata {
  return {
    ...(id !== '' && { id }),
    ...(model !== '' && { modelId: model }),
    ...(created !== 0 && { timestamp: new Date(created * 1000) }),
  };
}

/** Converts annotations to sources: the pages that a response cites. */
export function convertSources(annotations: unknown, prefix: string): LanguageModelV4Source[] {
  if (!Array.isArray(annotations)) return [];
  const found: readonly unknown[] = annotations;
  return found.flatMap((annotation, index): LanguageModelV4Source[] => {
    const cited = isJSONObject(annotation) ? annotation['url_citation'] : undefined;
    if (!isJSONObject(cited) || typeof cited['url'] !== 'string') return [];
    const { url, title } = cited;
    const titled = typeof title === 'string' && { title };
    return [{ type: 'source', sourceType: 'url', id: `${prefix}${index}`, url, ...titled }];
  });
}

/** Converts images to files. Adds none for URLs that are not valid. */
export function convertImages(images: unknown): LanguageModelV4File[] {
  if (!Array.isArray(images)) return [];
  const found: readonly unknown[] = images;
  return found.flatMap((image): LanguageModelV4File[] => {
    const holder = isJSONObject(image) ? image['image_url'] : undefined;
    const url = isJSONObject(holder) ? holder['url'] : holder;
    if (typeof url !== 'string' || !URL.canParse(url)) return [];
    const content = dataURLContent(url);
    const named = /^data:(image\/[\w.+-]+)/.exec(url)?.[1];
    if (content === undefined) {
      return [{ type: 'file', mediaType: 'image/*', data: { type: 'url', url: new URL(url) } }];
    }
    const mediaType = named ?? detectImageType(content) ?? 'image/png';
    return [{ type: 'file', mediaType, data: { type: 'data', data: content } }];
  });
}

/** Merges metadata of this provider; `undefined` if there is none. */
export function mergeMetadata(
  ...all: readonly ({ readonly [providerName]: JSONObject } | undefined)[]
): SharedV4ProviderMetadata | undefined {
  const known = all.filter((metadata) => metadata !== undefined);
  if (known.length === 0) return undefined;
  return { [providerName]: Object.assign({}, ...known.map((metadata) => metadata[providerName])) };
}

/**
 * Converts a message to content parts, in the same order as in a stream.
 *
 * @param reason - The finish reason.
 */
export function convertMessage(
  message: ChatCompletionMessage,
  reason: string | null,
): LanguageModelV4Content[] {
  const thoughts = message.reasoning_content ?? message.reasoning;
  const texts = [message.content, message.refusal].filter((text) => Boolean(text));
  const functionCalls = message.tool_calls?.filter((call) => call.type === 'function') ?? [];
  // The AI SDK reports arguments that are not JSON to the model, but would run a call with empty ones.
  const isFinished = /^(stop|tool-calls)$/.test(convertFinishReason(reason, false).unified);
  const calls = functionCalls.filter(
    ({ incomplete, function: called }) =>
      incomplete !== true || (isFinished && called.arguments.trim() !== ''),
  );
  const details = reasoningMetadata(message);
  const keeper = thoughts ? 'reasoning' : calls.length > 0 ? 'tool-call' : 'text';
  const kept = (type: string) => type === keeper && details && { providerMetadata: details };
  return [
    ...(thoughts ? [{ type: 'reasoning' as const, text: thoughts, ...kept('reasoning') }] : []),
    ...texts.map((text, index) => ({
      type: 'text' as const,
      text: text ?? '',
      ...(index === 0 && kept('text')),
    })),
    ...convertImages(message.images),
    ...convertSources(message.annotations, 'source-'),
    ...calls.map((call, index) => {
      const providerMetadata = mergeMetadata(
        signatureMetadata(call),
        index === 0 && keeper === 'tool-call' ? details : undefined,
      );
      return {
        type: 'tool-call' as const,
        toolCallId: call.id || `call-${index}`,
        toolName: call.function.name,
        input: call.function.arguments,
        ...(providerMetadata && { providerMetadata }),
      };
    }),
  ];
}
