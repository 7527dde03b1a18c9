import type { JsonObject } from '../../types.ts';
import { list, present, record, text } from '../control/json.ts';
import { missingModel } from '../control/models.ts';
import type { StreamEvent } from '../faults/stream-faults.ts';
import { dataURL } from '../media/bytes.ts';
import { paint } from '../media/painting.ts';
import { encodePng } from '../media/png.ts';
import { completeChat } from '../routes/chat.ts';
import type { Call } from '../server/call.ts';
import type { AnswerDialect } from '../server/event-stream.ts';
import { costedUsage } from './usage.ts';

/** Returns the first of the requested models that is available. */
function chooseModel(value: JsonObject, { models, strictModels }: Call['world']): unknown {
  const wanted = [value['model'], ...list(value['models'])].filter((name) => name !== undefined);
  const isServed = (name: unknown): boolean =>
    name !== missingModel && (!strictModels || models.some(({ id }) => id === name));
  return wanted.find(isServed) ?? wanted[0];
}

/** Returns the provider that the routing preferences select. */
function chooseProvider(value: JsonObject): string {
  const { order, only } = record(value['provider']);
  return text(list(order)[0]) ?? text(list(only)[0]) ?? 'Emulator';
}

type Image = { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** Returns the images of a response, if images were requested. */
async function answerImages(value: JsonObject): Promise<readonly Image[]> {
  if (!list(value['modalities']).includes('image')) return [];
  const message = list(value['messages']).map(record).at(-1);
  const picture = paint(JSON.stringify(message?.['content'] ?? ''), 256, 256);
  const url = dataURL('image/png', await encodePng(picture));
  return [{ type: 'image_url', image_url: { url } }];
}

/** Adds the details of reasoning, and the images, to a message or a delta. */
function withDetails(owner: unknown, images: readonly Image[]): JsonObject {
  const message = record(owner);
  const reasoning = text(message['reasoning']);
  const detail = { type: 'reasoning.text', text: reasoning, format: 'unknown', index: 0 };
  return present({
    ...message,
    reasoning_details: reasoning === undefined ? undefined : [detail],
    images: images.length === 0 ? undefined : images,
  });
}

/** Converts chat responses in the common format to OpenRouter's. */
function chatDialect(
  head: JsonObject,
  images: readonly Image[],
  systemFingerprint: null | undefined,
): AnswerDialect {
  const convert = (value: unknown, content: readonly Image[]): JsonObject => {
    const { service_tier: _, obfuscation: _padding, usage, ...body } = record(value);
    const choices = list(body['choices'])
      .map(record)
      .map(({ finish_reason: reason, ...choice }) =>
        present({
          ...choice,
          finish_reason: reason,
          native_finish_reason: reason,
          message: choice['message'] && withDetails(choice['message'], content),
          delta: choice['delta'] && withDetails(choice['delta'], content),
        }),
      );
    const counts = usage ? costedUsage(usage) : undefined;
    return present({
      ...body,
      ...head,
      system_fingerprint: systemFingerprint,
      choices,
      usage: counts,
    });
  };
  const imageEvent = ({ data }: StreamEvent): StreamEvent => {
    const choice = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
    return { role: 'delta', data: convert({ ...record(data), choices: [choice] }, images) };
  };
  return {
    whole: (body) => convert(body, images),
    event: (event) => {
      if (event.role === 'done') return [event];
      const converted = { ...event, data: convert(event.data, []) };
      const withImages = event.role === 'finish' && images.length > 0;
      return withImages ? [imageEvent(event), converted] : [converted];
    },
  };
}

/** `POST /api/v1/chat/completions`. */
export async function completeOpenRouterChat(call: Call): Promise<Response> {
  const value = record(call.body.kind === 'json' ? call.body.value : undefined);
  const routed =
    call.body.kind === 'json' ? { ...value, model: chooseModel(value, call.world) } : {};
  const head = { id: call.requestId, provider: chooseProvider(value) };
  const isStream = value['stream'] === true;
  const dialect = chatDialect(head, await answerImages(value), isStream ? undefined : null);
  const body = call.body.kind === 'json' ? { kind: 'json' as const, value: routed } : call.body;
  return completeChat({ ...call, body }, dialect);
}
