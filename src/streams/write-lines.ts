/** Writes items as bytes, one line of JSON each, as fast as they are read. */
export function writeLines(
  iterator: AsyncIterator<unknown, undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(readable) {
        const result = await iterator.next();
        if (result.done === true) readable.close();
        else readable.enqueue(encoder.encode(`${JSON.stringify(result.value)}\n`));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
