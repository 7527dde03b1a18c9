/** What is used of Node's `Buffer`, which other runtimes have or do not have. */
interface NodeBuffer {
  from(bytes: ArrayBuffer): { write(text: string, encoding: 'base64'): number };
}

const nodeBuffer: NodeBuffer | undefined = Reflect.get(globalThis, 'Buffer');

/**
 * The bytes that text stands for, or `undefined` when it is no base64. White space is passed over.
 *
 * They are written straight into their place: copying them takes longer than decoding them.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
  const bytes = new Uint8Array(Math.floor((digits * 3) / 4));
  // One digit is no byte, so nothing would tell whether it is a digit at all.
  if (write(text, bytes) === bytes.length && digits % 4 !== 1) return bytes;
  return /\s/.test(text) ? decodeBase64(text.replaceAll(/\s/g, '')) : undefined;
}

/** Decodes into bytes that are there already, and gives how many it made of the text. */
function write(text: string, bytes: Uint8Array<ArrayBuffer>): number {
  // Ten times faster than the other way. It passes over what is no base64, and so writes less.
  if (nodeBuffer !== undefined) return nodeBuffer.from(bytes.buffer).write(text, 'base64');
  try {
    const binary = atob(text);
    for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
    return binary.length;
  } catch {
    return -1;
  }
}
