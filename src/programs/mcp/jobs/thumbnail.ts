import { convertIndexedToRgb, decode as decodePNG } from 'fast-png';
import jpeg from 'jpeg-js';

/** The longer side of a thumbnail, in pixels. */
const side = 320;

/** The largest image to decode, in pixels, which takes about 400 MB of memory. */
const maxPixels = 50_000_000;

/** Eight bits for each channel of each pixel, without padding. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: ArrayLike<number>;
}

/** Returns the dimensions in the header of a PNG, to reject huge images before they are decoded. */
function pixelsOfPNG(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return view.getUint32(16) * view.getUint32(20);
}

function readPNG(bytes: Uint8Array): Bitmap | undefined {
  if (pixelsOfPNG(bytes) > maxPixels) return undefined;
  const image = decodePNG(bytes);
  const { width, height, depth } = image;
  if (image.palette !== undefined) {
    const channels = image.palette[0]?.length ?? 3;
    return { width, height, channels, data: convertIndexedToRgb(image) };
  }
  if (depth === 8) return { width, height, channels: image.channels, data: image.data };
  if (depth !== 16) return undefined;
  const data = Uint8Array.from(image.data, (value) => value >> 8);
  return { width, height, channels: image.channels, data };
}

function readImage(bytes: Uint8Array): Bitmap | undefined {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return readPNG(bytes);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  const limits = { maxResolutionInMP: maxPixels / 1_000_000, maxMemoryUsageInMB: 512 };
  const { width, height, data } = jpeg.decode(bytes, { useTArray: true, ...limits });
  return { width, height, channels: 4, data };
}

/** Scales an image down by averaging, on a white background. Returns RGBA. */
function scaleDown(image: Bitmap, width: number, height: number): Uint8Array {
  const { channels, data } = image;
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
          const alpha = hasAlpha ? (data[at + channels - 1] ?? 255) / 255 : 1;
          for (let color = 0; color < 3; color += 1) {
            const value = data[at + (colors === 3 ? color : 0)] ?? 255;
            sum[color] = (sum[color] ?? 0) + value * alpha + 255 * (1 - alpha);
          }
        }
      }
      const count = (bottom - top) * (right - left);
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
export function createThumbnail(bytes: Uint8Array): string | undefined {
  try {
    const image = readImage(bytes);
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
