const encoder = new TextEncoder();

/** Makes every `fetch` of this process answer from memory. To be called before a client is loaded. */
export function answerFromMemory(answer: (request: RequestInit | undefined) => Response): void {
  globalThis.fetch = async (_input, init) => answer(init);
}

/** A maker of JSON answers whose bytes are ready. */
export function jsonAnswer(value: unknown): () => Response {
  const bytes = encoder.encode(JSON.stringify(value));
  return () => new Response(bytes, { headers: { 'content-type': 'application/json' } });
}

/** A maker of long JSON answers, which arrive in pieces. */
export function longAnswer(value: unknown): () => Response {
  return splitText(JSON.stringify(value), 65_536, 'application/json');
}

/** A maker of event streams that arrive in pieces of a given size, as they do from a network. */
export function streamAnswer(text: string, pieceSize: number): () => Response {
  return splitText(text, pieceSize, 'text/event-stream');
}

function splitText(text: string, pieceSize: number, type: string): () => Response {
  const bytes = encoder.encode(text);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += pieceSize) {
    pieces.push(bytes.slice(start, start + pieceSize));
  }
  return () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[next++];
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    return new Response(body, { headers: { 'content-type': type } });
  };
}

/** Pads the JSON of an event through its `pad` field until the event is `size` bytes long. */
function sized(prefix: string, size: number, make: (pad: string) => object): string {
  const event = (pad: string): string => `${prefix}${JSON.stringify(make(pad))}\n\n`;
  return event('x'.repeat(Math.max(0, size - event('').length)));
}

/** Bytes of one event of a streamed answer, as gateways send them for a word or two. */
const eventSize = 170;

const id = 'chatcmpl-8sQz0k';

function openaiChunk(delta: object, finishReason: string | null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id, object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt', choices };
}

/** A streamed chat completion in OpenAI's format. */
export function openaiEvents(count: number): string {
  const event = sized('data: ', eventSize, (content) => openaiChunk({ content }, null));
  const end = `data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`;
  return event.repeat(count) + end;
}

function responseEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...fields })}\n\n`;
}

/** A streamed response of the Responses API. */
export function responseEvents(count: number): string {
  const base = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] };
  const event = responseEvent;
  const type = 'response.output_text.delta';
  const delta = sized(`event: ${type}\ndata: `, eventSize, (pad) => ({
    type,
    sequence_number: 1,
    ...base,
    delta: pad,
  }));
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  return [
    event('response.created', { response }),
    event('response.output_item.added', { output_index: 0, item }),
    delta.repeat(count),
    event('response.completed', { response: { ...response, status: 'completed' } }),
  ].join('');
}

function anthropicEvent(name: string, fields: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...fields })}\n\n`;
}

/** A streamed message in Anthropic's format. */
export function anthropicEvents(count: number): string {
  const event = anthropicEvent;
  const message = { id, type: 'message', role: 'assistant', model: 'claude', content: [] };
  const usage = { input_tokens: 9, output_tokens: 1 };
  const text = sized('event: content_block_delta\ndata: ', eventSize, (pad) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: pad },
  }));
  return [
    event('message_start', { message: { ...message, stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    text.repeat(count),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    event('message_stop', {}),
  ].join('');
}

function geminiChunk(text: string, rest: object): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...rest }],
    modelVersion: 'gemini',
  };
}

/** A streamed generation in Gemini's format. */
export function geminiEvents(count: number): string {
  const chunk = geminiChunk;
  const event = sized('data: ', eventSize, (text) => chunk(text, {}));
  return `${event.repeat(count)}data: ${JSON.stringify(chunk('', { finishReason: 'STOP' }))}\n\n`;
}

const sentence =
  'Light takes the path of least time, and that path bends where its speed changes. ';

/** A whole chat completion in OpenAI's format, about 1 KiB. */
export const openaiCompletion = {
  id,
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'gpt',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: sentence.repeat(8), refusal: null },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 130, total_tokens: 142 },
};

export const anthropicMessage = {
  id,
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: sentence.repeat(8) }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 130 },
};

export const geminiResponse = {
  candidates: [
    {
      content: { parts: [{ text: sentence.repeat(8) }], role: 'model' },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 130, totalTokenCount: 142 },
  modelVersion: 'gemini',
};
