import type { ChatCompletionCreateParamsStreaming, Gateway, Image } from '../../../index.ts';
import { type LiveCall, countTokens } from '../live-call.ts';
import { keepImages } from './media.ts';

function toImage(url: string): Image {
  const base64 = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  return base64 === undefined ? { url } : { b64_json: base64 };
}

/** Streams an answer into the call. Text received before an error is kept. */
export async function runChat(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: ChatCompletionCreateParamsStreaming = call.params;
  const { data: stream, request_id: requestId } = await gateway.chat.completions
    .create(
      { ...params, stream: true, stream_options: { include_usage: true } },
      { signal: call.signal },
    )
    .withResponse();
  if (requestId !== null) call.set({ requestId });
  const images: Image[] = [];
  try {
    for await (const { choices, usage } of stream) {
      const [choice] = choices;
      const text = (choice?.delta.content ?? '') + (choice?.delta.refusal ?? '');
      const thought = choice?.delta.reasoning_content ?? choice?.delta.reasoning ?? '';
      if (text !== '' || thought !== '') call.add(text, thought);
      for (const { image_url: image } of choice?.delta.images ?? [])
        images.push(toImage(image.url));
      if (choice?.finish_reason != null) call.set({ finishReason: choice.finish_reason });
      if (usage) call.set({ usage: countTokens(usage) });
    }
  } finally {
    const [choice] = stream.partial?.choices ?? [];
    const toolCalls = (choice?.message.tool_calls ?? []).flatMap((tool) =>
      tool.type === 'function'
        ? [{ id: tool.id, name: tool.function.name, arguments: tool.function.arguments }]
        : [],
    );
    call.set({ verdict: stream.verdict, toolCalls });
    await keepImages(call, images);
  }
}
