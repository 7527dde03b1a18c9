import { untilAborted } from './until-aborted.ts';

/** The most that is read of a body that belongs to an error. */
export const errorBodyLimit = 65_536;

/**
 * Collects the chunks of a body until there are `limit` bytes. Ends with the signal's reason as soon
 * as it is aborted; what was read until then is in `chunks`.
 */
async function collect(
  body: ReadableStream<Uint8Array>,
  chunks: Uint8Array[],
  signal: AbortSignal,
  limit = Number.POSITIVE_INFINITY,
): Promise<void> {
  const reader = body.getReader();
  const readOn = async (): Promise<void> => {
    for (let left = limit; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      chunks.push(value.subarray(0, left));
      left -= value.byteLength;
    }
  };
  try {
    // One listener for the whole body: one for each read costs more than parsing a short answer.
    await untilAborted(readOn(), signal);
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Making one for each answer costs more than decoding a short one. */
const decoder = new TextDecoder();

/** The text of chunks. Decoding them in one piece is several times faster than one by one. */
function decode(chunks: readonly Uint8Array[], isCut: boolean): string {
  const [first] = chunks;
  const whole = first !== undefined && chunks.length === 1 ? first : join(chunks);
  // A character that is cut at the end is left out; elsewhere it is shown as unreadable.
  return isCut ? new TextDecoder().decode(whole, { stream: true }) : decoder.decode(whole);
}

const buffer: unknown = Reflect.get(globalThis, 'Buffer');
const concat: unknown = typeof buffer === 'function' ? Reflect.get(buffer, 'concat') : undefined;

/** The bytes of chunks in one piece. Node's own way is faster: it clears no memory beforehand. */
function join(chunks: readonly Uint8Array[]): Uint8Array {
  if (typeof concat === 'function') return Reflect.apply(concat, buffer, [chunks]);
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** Reads a whole body as text. Rejects when it breaks off or the signal is aborted. */
export async function readAll(response: Response, signal: AbortSignal): Promise<string> {
  const { body } = response;
  // Some runtimes have no stream here.
  if (!(body instanceof ReadableStream)) return untilAborted(response.text(), signal);
  const chunks: Uint8Array[] = [];
  await collect(body, chunks, signal);
  return decode(chunks, false);
}

/** Reads at most `limit` bytes and lets go of the rest. Never rejects: what was read counts. */
export async function readBounded(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<string> {
  const { body } = response;
  const chunks: Uint8Array[] = [];
  try {
    if (!(body instanceof ReadableStream)) {
      const whole = await untilAborted(response.text(), signal);
      return whole.slice(0, limit);
    }
    await collect(body, chunks, signal, limit);
  } catch {
    // The error is known by its status already.
  }
  return decode(chunks, true);
}
