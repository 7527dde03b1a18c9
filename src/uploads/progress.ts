import type { RequestOptions } from '../options.ts';
import type { FilePart, TextPart } from './form-stream.ts';

/** The same parts, and tells how much of their files was read. */
export function toldOf(
  parts: readonly (TextPart | FilePart)[],
  tell: NonNullable<RequestOptions['onUploadProgress']>,
): (TextPart | FilePart)[] {
  const sizes = parts.map((part) => ('text' in part ? 0 : part.size));
  const total = sizes.reduce<number | undefined>(
    (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
  /** Of each file, as one that is sent again is read again. */
  const read = sizes.map(() => 0);
  return parts.map((part, index) => {
    if ('text' in part) return part;
    const count = (bytes: number): void => {
      read[index] = bytes;
      try {
        tell({ sent: read.reduce((sum, one) => sum + one, 0), total });
      } catch {
        // What is sent may be charged; it does not end for a display that fails.
      }
    };
    return { ...part, content: counted(part.content, count) };
  });
}

/** The same content, counting the bytes from its beginning whenever it is read. */
function counted(
  content: FilePart['content'],
  count: (bytes: number) => void,
): FilePart['content'] {
  if (content instanceof Blob) return new CountedBlob(content, count);
  let bytes = 0;
  return async () => {
    const piece = await content();
    if (piece !== undefined) count((bytes += piece.byteLength));
    return piece;
  };
}

const pieceLength = 65_536;

class CountedBlob extends Blob {
  readonly #source: Blob;
  readonly #count: (bytes: number) => void;

  constructor(source: Blob, count: (bytes: number) => void) {
    super([source], { type: source.type });
    this.#source = source;
    this.#count = count;
  }

  override stream(): ReturnType<Blob['stream']> {
    const reader = this.#source.stream().getReader();
    let rest: Uint8Array<ArrayBuffer> | undefined;
    let bytes = 0;
    return new ReadableStream(
      {
        pull: async (output) => {
          const piece = rest ?? (await reader.read()).value;
          if (piece === undefined) {
            output.close();
            return;
          }
          // What is in memory comes in one piece, and would be told of only once.
          const next = piece.subarray(0, pieceLength);
          rest = next.length < piece.length ? piece.subarray(pieceLength) : undefined;
          this.#count((bytes += next.length));
          output.enqueue(next);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}
