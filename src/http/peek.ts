import { joinBytes } from './read-text.ts';
import { untilAborted } from './until-aborted.ts';

/** What an answer begins with, and the answer itself, from its first byte on. */
interface Peeked {
  readonly first: Uint8Array;
  readonly response: Response;
}

/** Reads until `length` bytes are there or the body ends. Of the rest nothing is read ahead. */
export async function peek(response: Response, signal: AbortSignal, length = 1): Promise<Peeked> {
  const chunks: Uint8Array[] = [];
  if (response.body === null) return { first: joinBytes(chunks), response };
  const reader = response.body.getReader();
  try {
    for (let size = 0; size < length;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) break;
      chunks.push(value);
      size += value.byteLength;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  const first = joinBytes(chunks);
  let pending = first.byteLength > 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = pending ? { value: first } : await reader.read();
        pending = false;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { first, response: withBody(response, body) };
}

/** The beginning of a body as text, without a byte order mark and white space. */
export function beginningOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 256));
  return text.replace(/^\uFEFF/, '').trimStart();
}

/** A response with another body and everything else the same. */
export function withBody(response: Response, body: ReadableStream<Uint8Array> | null): Response {
  const copy = new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
  // The constructor has no way to set these two.
  Object.defineProperty(copy, 'url', { value: response.url });
  Object.defineProperty(copy, 'redirected', { value: response.redirected });
  return copy;
}
