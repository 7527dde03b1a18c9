/** A body that is being read, and the chunk that was read of it so far. */
export interface OpenBody {
  readonly first: Uint8Array | undefined;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
}

/** Reads the first chunk that is not empty; `first` stays `undefined` when the body has none. */
export async function peekBody(body: ReadableStream<Uint8Array>): Promise<OpenBody> {
  const reader = body.getReader();
  for (;;) {
    // eslint-disable-next-line no-await-in-loop -- empty chunks are legal and mean nothing
    const { done, value } = await reader.read();
    if (done) return { first: undefined, reader };
    if (value.byteLength > 0) return { first: value, reader };
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

/** The first character that is not white space, read as text; `""` when there is none. */
export function firstCharacter(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 256));
  return text
    .replace(/^\uFEFF/, '')
    .trimStart()
    .slice(0, 1);
}
