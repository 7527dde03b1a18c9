import { formats, type FileFormat } from './formats.ts';

/** How many bytes of a file are enough to recognise it. */
export const sniffLength = 64;

/** A format that was recognised by the first bytes of a file. */
export interface SniffedFormat {
  readonly format: FileFormat;
  /** Whether the bytes prove the format. If not, the name of the file is the better witness. */
  readonly certain: boolean;
  /** The extension that these bytes ask for within the format; `undefined` for its main one. */
  readonly extension?: string | undefined;
}

/** Recognises a format by the first {@link sniffLength} bytes of a file, or returns `undefined`. */
export function sniff(head: Uint8Array): SniffedFormat | undefined {
  const text = String.fromCharCode(...head.subarray(0, sniffLength));
  const found = sniffText(text);
  if (found !== undefined) return { certain: true, ...found };
  // FLAC and AAC files may begin with an ID3 tag too.
  if (text.startsWith('ID3')) return { format: formats.mp3, certain: false };
  return sniffFrame(head);
}

function sniffText(text: string): Omit<SniffedFormat, 'certain'> | undefined {
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return { format: formats.png };
  if (text.startsWith('\xff\xd8\xff')) return { format: formats.jpeg };
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return { format: formats.gif };
  if (text.startsWith('II*\0') || text.startsWith('MM\0*')) return { format: formats.tiff };
  if (text.startsWith('fLaC')) return { format: formats.flac };
  if (text.startsWith('OggS')) return { format: formats.ogg };
  const subtype = text.slice(8, 12);
  if (text.startsWith('RIFF')) {
    if (subtype === 'WEBP') return { format: formats.webp };
    if (subtype === 'WAVE') return { format: formats.wav };
  }
  if (text.startsWith('FORM')) {
    if (subtype === 'AIFF') return { format: formats.aiff };
    if (subtype === 'AIFC') return { format: formats.aiff, extension: 'aifc' };
  }
  if (text.startsWith('\x1a\x45\xdf\xa3')) {
    if (text.includes('webm')) return { format: formats.webm };
    if (text.includes('matroska')) return { format: formats.matroska };
  }
  if (text.slice(4, 8) === 'ftyp') return sniffBrand(subtype);
  return undefined;
}

/** The ISO media container holds films, sound and pictures; its brand says which. */
function sniffBrand(brand: string): Omit<SniffedFormat, 'certain'> {
  if (brand === 'avif' || brand === 'avis') return { format: formats.avif };
  if (['heic', 'heix', 'heim', 'heis', 'hevc', 'mif1', 'msf1'].includes(brand)) {
    return { format: formats.heic };
  }
  return brand.startsWith('M4A') || brand.startsWith('M4B')
    ? { format: formats.mp4, extension: 'm4a' }
    : { format: formats.mp4 };
}

/** MPEG audio has no signature, only the sync bits of its first frame. */
function sniffFrame(head: Uint8Array): SniffedFormat | undefined {
  const [first = 0, second = 0, third = 0] = head;
  if (first !== 0xff) return undefined;
  // 12 sync bits, any MPEG version, layer 0: an ADTS frame.
  if ((second & 0xf6) === 0xf0) return { format: formats.aac, certain: false };
  // 11 sync bits, layer III, and neither the bit rate nor the sample rate is the reserved one.
  const isLayer3 = (second & 0xe6) === 0xe2;
  if (isLayer3 && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c) {
    return { format: formats.mp3, certain: false };
  }
  return undefined;
}
