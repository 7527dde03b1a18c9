/** Properties of an image file. */
interface PictureFacts {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

function jpegSize(view: DataView): { width: number; height: number } | undefined {
  let at = 2;
  while (at + 9 < view.byteLength) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Reads the format and, for simple formats, the size of an image. */
function readPicture(bytes: Uint8Array): PictureFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 24) return undefined;
  const start = view.getUint32(0);
  if (start === 0x89504e47) {
    return { format: 'PNG', width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (start >>> 8 === 0xffd8ff) return { format: 'JPEG', ...jpegSize(view) };
  if (start === 0x47494638) {
    return { format: 'GIF', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  const isWebP = start === 0x52494646 && view.getUint32(8) === 0x57454250;
  return isWebP ? { format: 'WebP' } : undefined;
}

/** Describes an image, for example `a PNG image of 640x480`. */
export function describePicture(bytes: Uint8Array | undefined): string {
  const facts = bytes === undefined ? undefined : readPicture(bytes);
  if (facts === undefined) return 'an image';
  const size = facts.width === undefined ? '' : ` of ${facts.width}x${facts.height}`;
  return `a ${facts.format} image${size}`;
}
