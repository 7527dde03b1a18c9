import { untilAborted } from './until-aborted.ts';

/** The most that is read of a body that belongs to an error. */
export const errorBodyLimit = 65_536;

/** The chunks of a body. Ends with the signal's reason as soon as it is aborted. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Reads a whole body as text. Rejects when it breaks off or the signal is aborted. */
export async function readAll(response: Response, signal: AbortSignal): Promise<string> {
  const { body } = response;
  // Some runtimes have no stream here.
  if (!(body instanceof ReadableStream)) return untilAborted(response.text(), signal);
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(body, signal)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Reads at most `limit` bytes and lets go of the rest. Never rejects: what was read counts. */
export async function readBounded(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<string> {
  const { body } = response;
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    if (!(body instanceof ReadableStream)) {
      const whole = await untilAborted(response.text(), signal);
      return whole.slice(0, limit);
    }
    for await (const chunk of chunksOf(body, signal)) {
      const part = chunk.subarray(0, limit - size);
      size += part.byteLength;
      text += decoder.decode(part, { stream: true });
      if (size >= limit) return text;
    }
    return text + decoder.decode();
  } catch {
    return text;
  }
}
