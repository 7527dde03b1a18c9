import type { ChatCompletionCreateParamsStreaming, Gateway } from '../index.ts';
import { type LiveCall, countTokens } from './live-call.ts';

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
  try {
    for await (const { choices, usage } of stream) {
      const [choice] = choices;
      const text = (choice?.delta.content ?? '') + (choice?.delta.refusal ?? '');
      const thought = choice?.delta.reasoning_content ?? choice?.delta.reasoning ?? '';
      if (text !== '' || thought !== '') call.add(text, thought);
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
  }
}
