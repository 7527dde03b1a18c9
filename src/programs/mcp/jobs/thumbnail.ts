import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createInflate } from 'node:zlib';
import { convertIndexedToRgb, decode as decodePNG } from 'fast-png';
import jpeg from 'jpeg-js';
import { maxThumbnailTime } from './make-thumbnail.ts';
import { readRegular } from './opened.ts';

/** The longer side of a thumbnail, in pixels. */
const side = 320;

/** The most memory that the process of a thumbnail may use, in bytes. */
const maxMemory = 512 * 1_024 * 1_024;

/** The largest file to decode, in bytes. */
const maxFile = 64 * 1_024 * 1_024;

/** The largest image to decode: in pixels, and in bytes once inflated. fast-png keeps three copies of those. */
const maxPixels = 36_000_000;
const maxInflated = 100_000_000;

interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  /** One number for each channel of each pixel, without padding. */
  readonly data: ArrayLike<number>;
  /** The number of white. */
  readonly white: number;
}

const signatureLength = 8;

/** The chunks that a picture needs. Others, such as colour profiles and texts, can inflate to any size. */
const neededChunks = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

interface Chunk {
  readonly type: string;
  readonly whole: Buffer;
  readonly data: Buffer;
}

/** Returns the needed chunks of a PNG. */
function readChunks(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = signatureLength; start + 12 <= png.length;) {
    const end = start + 12 + png.readUInt32BE(start);
    const type = png.toString('latin1', start + 4, start + 8);
    const whole = png.subarray(start, end);
    if (neededChunks.has(type))
      chunks.push({ type, whole, data: png.subarray(start + 8, end - 4) });
    start = end;
  }
  return chunks;
}

const channelsByColorType: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Returns the most bytes that the pixels of a PNG inflate to, by its header; `undefined` if they are too many. */
function readInflatedSize(header: Buffer): number | undefined {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, colorType] = [header.readUInt8(8), header.readUInt8(9)];
  const bits = depth * (channelsByColorType[colorType] ?? 4);
  // Up to four bytes a row for filters and, in interlaced images, the ends of partial rows.
  const size = (Math.ceil((width * bits) / 8) + 4) * height;
  return width * height > maxPixels || size > maxInflated ? undefined : size;
}

/** @throws if the pixels inflate to more than the header says */
async function checkPixels(chunks: readonly Chunk[], maxSize: number): Promise<void> {
  const pixels = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  let size = 0;
  await pipeline(Readable.from(pixels), createInflate(), async (inflated) => {
    for await (const { length } of inflated) {
      size += length;
      if (size > maxSize) throw new Error('The image is larger than its header says.');
    }
  });
}

async function readPNG(png: Buffer): Promise<Bitmap | undefined> {
  const chunks = readChunks(png);
  const [header] = chunks;
  const size = header?.type === 'IHDR' ? readInflatedSize(header.data) : undefined;
  if (size === undefined) return undefined;
  await checkPixels(chunks, size);
  const signature = png.subarray(0, signatureLength);
  const image = decodePNG(Buffer.concat([signature, ...chunks.map(({ whole }) => whole)]));
  const { width, height, depth, channels } = image;
  if (image.palette !== undefined) {
    const data = convertIndexedToRgb(image);
    return { width, height, channels: image.palette[0]?.length ?? 3, data, white: 255 };
  }
  if (depth < 8) return undefined;
  return { width, height, channels, data: image.data, white: 2 ** depth - 1 };
}

async function readImage(bytes: Buffer): Promise<Bitmap | undefined> {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return readPNG(bytes);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  const limits = { maxResolutionInMP: maxPixels / 1_000_000, maxMemoryUsageInMB: 400 };
  const { width, height, data } = jpeg.decode(bytes, { useTArray: true, ...limits });
  return { width, height, channels: 4, data, white: 255 };
}

/** Scales an image down by averaging, on a white background. Returns RGBA. */
function scaleDown(image: Bitmap, width: number, height: number): Uint8Array {
  const { channels, data, white } = image;
  const colors = channels >= 3 ? 3 : 1;
  const hasAlpha = channels === 2 || channels === 4;
  const scaled = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    const top = Math.floor((y * image.height) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * image.height) / height));
    for (let x = 0; x < width; x += 1) {
      const left = Math.floor((x * image.width) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * image.width) / width));
      const sum = [0, 0, 0];
      for (let row = top; row < bottom; row += 1) {
        for (let column = left; column < right; column += 1) {
          const at = (row * image.width + column) * channels;
          const alpha = hasAlpha ? (data[at + channels - 1] ?? white) / white : 1;
          for (let color = 0; color < 3; color += 1) {
            const value = data[at + (colors === 3 ? color : 0)] ?? white;
            sum[color] = (sum[color] ?? 0) + value * alpha + white * (1 - alpha);
          }
        }
      }
      const count = ((bottom - top) * (right - left) * white) / 255;
      const target = (y * width + x) * 4;
      for (let color = 0; color < 3; color += 1) scaled[target + color] = (sum[color] ?? 0) / count;
      scaled[target + 3] = 255;
    }
  }
  return scaled;
}

/**
 * Returns a small JPEG of a PNG or JPEG image, as base64; `undefined` for other formats, huge images, and
 * images that cannot be decoded.
 */
export async function createThumbnail(bytes: Buffer): Promise<string | undefined> {
  try {
    const image = await readImage(bytes);
    if (image === undefined) return undefined;
    const scale = Math.min(1, side / Math.max(image.width, image.height));
    const width = Math.max(1, Math.round(image.width * scale));
    const height = Math.max(1, Math.round(image.height * scale));
    const data = scaleDown(image, width, height);
    return jpeg.encode({ width, height, data }, 75).data.toString('base64');
  } catch {
    // The image is saved; only its preview is missing.
    return undefined;
  }
}

/** Ends this process once it exceeds its limits. Decoding blocks the main thread, and no heap limit counts pixels. */
async function limitProcess(): Promise<void> {
  const end = "process.kill(process.pid, 'SIGKILL')";
  const watch = `
    setInterval(() => { if (process.memoryUsage.rss() > ${maxMemory}) ${end}; }, 10);
    setTimeout(() => { ${end}; }, ${maxThumbnailTime});`;
  const thread = new Worker(watch, { eval: true, execArgv: [] });
  await once(thread, 'online');
  thread.unref();
}

/** Creates the thumbnail of a file within the limits of this process, which ends if it exceeds them. */
export async function createThumbnailOf(path: string): Promise<string | undefined> {
  await limitProcess();
  return createThumbnail(await readRegular(path, maxFile));
}
