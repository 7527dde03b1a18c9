import { untilAborted } from './until-aborted.ts';

/** A body that is being read, and what was read of it so far. */
export interface OpenBody {
  readonly first: Uint8Array | undefined;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
}

/** Reads the first chunk that is not empty; `first` stays `undefined` when the body has none. */
export async function peekBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<OpenBody> {
  const reader = body.getReader();
  return { first: await nextChunk(reader, signal), reader };
}

/** Reads on until `length` bytes are there or the body ends; all of it stays in `first`. */
export async function peekFurther(
  { first, reader }: OpenBody,
  length: number,
  signal: AbortSignal,
): Promise<OpenBody> {
  const chunks = first === undefined ? [] : [first];
  let size = first?.byteLength ?? 0;
  while (size < length) {
    const chunk = await nextChunk(reader, signal);
    if (chunk === undefined) break;
    chunks.push(chunk);
    size += chunk.byteLength;
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return { first: whole, reader };
}

async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return undefined;
      if (value.byteLength > 0) return value;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** The body again, from its first byte. Nothing is read ahead. */
export function reopenBody({ first, reader }: OpenBody): ReadableStream<Uint8Array> {
  let pending = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending !== undefined) {
          controller.enqueue(pending);
          pending = undefined;
          return;
        }
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The beginning of a body as text, without a byte order mark and white space. */
export function beginningOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 256));
  return text.replace(/^\uFEFF/, '').trimStart();
}

/** The first character that is not white space, read as text; `""` when there is none. */
export function firstCharacter(bytes: Uint8Array): string {
  return beginningOf(bytes).slice(0, 1);
}
