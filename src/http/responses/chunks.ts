/** The text of a body that ends within a surrogate pair, by the reader of the body. */
const cutPairs = new WeakMap<object, string>();

/**
 * Returns a chunk of a body as bytes. Those of a custom `fetch` may be text, or lists of numbers.
 *
 * @param reader - The reader of the body, or what stands for it: text may be cut within a surrogate pair.
 * @throws `TypeError` if the chunk is anything else
 */
export function toBytes(chunk: unknown, reader: object): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') {
    const text = (cutPairs.get(reader) ?? '') + chunk;
    const isCut = /[\uD800-\uDBFF]$/.test(text);
    cutPairs.set(reader, isCut ? text.slice(-1) : '');
    return new TextEncoder().encode(isCut ? text.slice(0, -1) : text);
  }
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  const isList = Array.isArray(chunk) && chunk.every((byte) => typeof byte === 'number');
  if (!isList) throw new TypeError('fetch returned a body whose chunks are neither bytes nor text');
  return Uint8Array.from(chunk);
}
