import { openaiCompletion, openaiEvents } from '../lib/answers.ts';

/** A successful response of the service. */
export interface Answer {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export function json(value: unknown): Answer {
  return { contentType: 'application/json', body: JSON.stringify(value) };
}

/** Server-sent events: each with its name, or without one. */
export function events(
  ...list: readonly { readonly event?: string; readonly data: unknown }[]
): Answer {
  const text = list.map(({ event, data }) => {
    const name = event === undefined ? '' : `event: ${event}\n`;
    return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  });
  return { contentType: 'text/event-stream', body: text.join('') };
}

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Images in OpenAI's shape. */
export const images = json({ created: 1_760_000_000, data: [{ b64_json: png }] });

/** An image that is streamed: two partial pictures, then the whole one. */
export function imageEvents(operation: 'image_generation' | 'image_edit'): Answer {
  const partial = `${operation}.partial_image`;
  const completed = `${operation}.completed`;
  return events(
    ...[0, 1].map((index) => ({
      event: partial,
      data: { type: partial, partial_image_index: index, b64_json: png },
    })),
    {
      event: completed,
      data: {
        type: completed,
        created_at: 1_760_000_000,
        b64_json: png,
        usage: { input_tokens: 5, output_tokens: 100, total_tokens: 105 },
      },
    },
  );
}

/** A video task that was accepted, in OpenAI's shape. */
export const video = json({
  id: 'video_1',
  task_id: 'video_1',
  object: 'video',
  model: 'video-model',
  status: 'queued',
  progress: 0,
  created_at: 1_760_000_000,
  seconds: '4',
  size: '1280x720',
});

/** A chat completion in OpenAI's shape. */
export const chat = json(openaiCompletion);

/** The same chat completion, streamed. */
export const chatEvents: Answer = { contentType: 'text/event-stream', body: openaiEvents(8) };
