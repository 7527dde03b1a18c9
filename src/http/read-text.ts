import { untilAborted } from './until-aborted.ts';

/** The most that is read of a body that belongs to an error. */
export const errorBodyLimit = 65_536;

/** Collects the chunks of a body up to `limit` bytes; gives whether that was all of it. */
async function collect(
  body: ReadableStream<Uint8Array>,
  chunks: Uint8Array[],
  signal: AbortSignal,
  limit: number,
): Promise<boolean> {
  const reader = body.getReader();
  const readOn = async (): Promise<boolean> => {
    for (let left = limit; ;) {
      const { done, value } = await reader.read();
      if (done) return true;
      chunks.push(value.subarray(0, left));
      left -= value.byteLength;
      if (left < 0) return false;
    }
  };
  try {
    // One listener for the whole body: one for each read costs more than parsing a short answer.
    return await untilAborted(readOn(), signal);
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Making one for each answer costs more than decoding a short one. */
const decoder = new TextDecoder();

/** The text of chunks. Decoding them in one piece is several times faster than one by one. */
function decode(chunks: readonly Uint8Array[], isCut: boolean): string {
  const [first] = chunks;
  const whole = first !== undefined && chunks.length === 1 ? first : joinBytes(chunks);
  // A character that is cut at the end is left out; elsewhere it is shown as unreadable.
  return isCut ? new TextDecoder().decode(whole, { stream: true }) : decoder.decode(whole);
}

const buffer: unknown = Reflect.get(globalThis, 'Buffer');
const concat: unknown = typeof buffer === 'function' ? Reflect.get(buffer, 'concat') : undefined;

/** The bytes of chunks in one piece. Node's own way is faster: it clears no memory beforehand. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (typeof concat === 'function') return Reflect.apply(concat, buffer, [chunks]);
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** What was read of a body. */
export interface BodyText {
  readonly text: string;
  /** Whether that is all of it, or there is more than the limit, or it broke off. */
  readonly end: 'whole' | 'limit' | 'broken';
  /** What it broke off with. */
  readonly cause?: unknown;
}

/**
 * Reads at most `limit` bytes of a body as text, and lets go of the rest. Ends with the signal's reason
 * as soon as that is aborted. Never rejects: what was read counts.
 */
export async function readBody(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<BodyText> {
  const { body } = response;
  const chunks: Uint8Array[] = [];
  try {
    if (body instanceof ReadableStream) {
      const isWhole = await collect(body, chunks, signal, limit);
      return { text: decode(chunks, !isWhole), end: isWhole ? 'whole' : 'limit' };
    }
    // Some runtimes have no stream here.
    const text = await untilAborted(response.text(), signal);
    return { text: text.slice(0, limit), end: text.length <= limit ? 'whole' : 'limit' };
  } catch (cause) {
    return { text: decode(chunks, true), end: 'broken', cause };
  }
}
