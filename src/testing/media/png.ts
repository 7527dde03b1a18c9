import { concat, utf8, word, type Bytes } from './bytes.ts';

/** An image: four bytes (red, green, blue, alpha) per pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}

function chunk(name: string, content: Uint8Array): Bytes {
  const named = concat([utf8(name), content]);
  return concat([word(content.length), named, word(checksum(named))]);
}

async function through(
  bytes: Bytes,
  stream: CompressionStream | DecompressionStream,
): Promise<Bytes> {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** Encodes an image as PNG. */
export async function encodePng({ width, height, data }: Pixels): Promise<Bytes> {
  const stride = width * 4;
  const rows = new Uint8Array((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const to = row * (stride + 1);
    // Store each row as its difference to the row above, which makes plain areas small.
    rows[to] = 2;
    for (let at = 0; at < stride; at += 1) {
      const above = row === 0 ? 0 : (data[(row - 1) * stride + at] ?? 0);
      rows[to + 1 + at] = (data[row * stride + at] ?? 0) - above;
    }
  }
  const header = concat([word(width), word(height), Uint8Array.of(8, 6, 0, 0, 0)]);
  return concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', await through(rows, new CompressionStream('deflate'))),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

interface Chunks {
  readonly header: DataView;
  readonly palette: Uint8Array;
  readonly opacity: Uint8Array;
  readonly data: Bytes;
}

function readChunks(bytes: Uint8Array): Chunks {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Map<string, Uint8Array[]>();
  for (let at = 8; at + 8 <= bytes.length; at += 12 + view.getUint32(at)) {
    const name = new TextDecoder().decode(bytes.subarray(at + 4, at + 8));
    // Copy into a new buffer, which `slice` of Node's `Buffer` would not do.
    const content = new Uint8Array(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
    found.set(name, [...(found.get(name) ?? []), content]);
  }
  const first = (name: string): Uint8Array => found.get(name)?.[0] ?? new Uint8Array(0);
  const header = first('IHDR');
  return {
    header: new DataView(header.buffer),
    palette: first('PLTE'),
    opacity: first('tRNS'),
    data: concat(found.get('IDAT') ?? []),
  };
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const toLeft = Math.abs(guess - left);
  const toAbove = Math.abs(guess - above);
  const toCorner = Math.abs(guess - corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** Predicts a byte from its neighbours. */
function predictByte(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4:
      return paeth(left, above, corner);
    default:
      return 0;
  }
}

/** Reverses the row filters and removes the filter bytes. */
function unfilter(rows: Uint8Array, stride: number, height: number, depth: number): Uint8Array {
  const plain = new Uint8Array(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = rows[row * (stride + 1)] ?? 0;
    for (let at = 0; at < stride; at += 1) {
      const to = row * stride + at;
      const left = at < depth ? 0 : (plain[to - depth] ?? 0);
      const above = row === 0 ? 0 : (plain[to - stride] ?? 0);
      const corner = at < depth || row === 0 ? 0 : (plain[to - stride - depth] ?? 0);
      const raw = rows[row * (stride + 1) + 1 + at] ?? 0;
      plain[to] = raw + predictByte(filter, left, above, corner);
    }
  }
  return plain;
}

// Channels by colour type: grey, RGB, palette, grey with alpha, RGB with alpha.
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Decodes a PNG with 8 bits per channel and without interlacing; returns `undefined` for other files. */
export async function decodePng(bytes: Uint8Array): Promise<Pixels | undefined> {
  if (signature.some((byte, index) => bytes[index] !== byte)) return undefined;
  const { header, palette, opacity, data } = readChunks(bytes);
  if (header.byteLength < 13) return undefined;
  const [width, height] = [header.getUint32(0), header.getUint32(4)];
  const type = header.getUint8(9);
  const depth = channels[type];
  if (header.getUint8(8) !== 8 || header.getUint8(12) !== 0 || depth === undefined)
    return undefined;
  const rows = await through(data, new DecompressionStream('deflate'));
  const plain = unfilter(rows, width * depth, height, depth);
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const from = pixel * depth;
    const first = plain[from] ?? 0;
    if (type === 3) {
      pixels.set(palette.subarray(first * 3, first * 3 + 3), pixel * 4);
      pixels[pixel * 4 + 3] = opacity[first] ?? 255;
      continue;
    }
    if (depth >= 3) pixels.set(plain.subarray(from, from + depth), pixel * 4);
    else pixels.fill(first, pixel * 4, pixel * 4 + 3);
    if (depth === 2) pixels[pixel * 4 + 3] = plain[from + 1] ?? 255;
  }
  return { width, height, data: pixels };
}
