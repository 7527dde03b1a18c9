type Chunk = readonly [type: string, data: Buffer];

/** Returns a PNG with these chunks, without checksums. @param colorType - 0 is gray, 2 RGB, 6 RGBA. */
export function toPNG(
  width: number,
  height: number,
  chunks: readonly Chunk[],
  depth = 8,
  colorType = 0,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colorType], 8);
  const all: readonly Chunk[] = [['IHDR', header], ...chunks, ['IEND', Buffer.alloc(0)]];
  const written = all.map(([type, data]) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  });
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...written]);
}
