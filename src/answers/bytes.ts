/** A media format that is recognised by its extension, its MIME type or its first bytes. */
export interface FileFormat {
  /** The MIME type that goes with each extension. A file without one gets the first extension. */
  readonly types: Readonly<Record<string, string>>;
  /** How files of the format begin, a character for each byte. */
  readonly signature: RegExp;
  /** Whether other formats may begin so too, so that the name of a file is the better witness. */
  readonly isGuess?: boolean;
}

export const imageFormats: readonly FileFormat[] = [
  { types: { png: 'image/png' }, signature: /^\x89PNG\r\n/ },
  { types: { jpg: 'image/jpeg', jpeg: 'image/jpeg' }, signature: /^\xff\xd8\xff/ },
  { types: { webp: 'image/webp' }, signature: /^RIFF.{4}WEBP/s },
  { types: { gif: 'image/gif' }, signature: /^GIF8[79]a/ },
  { types: { avif: 'image/avif' }, signature: /^.{4}ftypavi[fs]/s },
  {
    types: { heic: 'image/heic', heif: 'image/heif' },
    signature: /^.{4}ftyp(hei[cxms]|hevc|m[is]f1)/s,
  },
];

/** Sound, and films, of which the gateway takes the sound. It knows no other extensions of audio. */
export const audioFormats: readonly FileFormat[] = [
  {
    types: { mp3: 'audio/mpeg' },
    // FLAC and AAC files may begin with an ID3 tag too; else there are only the sync bits of a frame.
    signature: /^(ID3|\xff[\xe2\xe3\xea\xeb\xf2\xf3\xfa\xfb][^\xf0-\xff])/,
    isGuess: true,
  },
  { types: { wav: 'audio/wav' }, signature: /^RIFF.{4}WAVE/s },
  { types: { flac: 'audio/flac' }, signature: /^fLaC/ },
  // The ISO media container holds films and sound; its brand says which. Others than these are unknown.
  {
    types: { mp4: 'video/mp4', m4a: 'audio/mp4' },
    signature: /^.{4}ftyp(iso[m2-9]|mp4[12]|avc1|dash|qt {2}|M4V|3g[p2])/s,
  },
  { types: { m4a: 'audio/mp4', mp4: 'video/mp4' }, signature: /^.{4}ftypM4[AB]/s },
  {
    types: { ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg' },
    signature: /^OggS/,
  },
  {
    types: { aiff: 'audio/aiff', aif: 'audio/aiff' },
    signature: /^FORM.{4}AIFF/s,
  },
  { types: { webm: 'video/webm' }, signature: /^.E\xdf\xa3.*webm/s },
  { types: { aac: 'audio/aac' }, signature: /^\xff[\xf0\xf1\xf8\xf9]/, isGuess: true },
];

/** Made when it is asked for: a page that sends no files then leaves the tables out. */
const formats = (): readonly FileFormat[] => [...imageFormats, ...audioFormats];

/** How many bytes of a file are enough to recognise it. */
export const sniffLength = 64;

/** The format that the first {@link sniffLength} bytes of a file speak for, or `undefined`. */
export function formatOfBytes(head: Uint8Array): FileFormat | undefined {
  const text = String.fromCharCode(...head.subarray(0, sniffLength));
  return formats().find(({ signature }) => signature.test(text));
}

/** The format that has an extension, given without its dot in lower case, or `undefined`. */
export function formatOfExtension(extension: string): FileFormat | undefined {
  return formats().find(({ types }) => Object.hasOwn(types, extension));
}

/** The format that has a MIME type, given without parameters in lower case, or `undefined`. */
export function formatOfType(type: string): FileFormat | undefined {
  return formats().find((format) => extensionOfType(format, type) !== undefined);
}

/** The extension that a MIME type asks for within a format, or `undefined` when it is not of it. */
export function extensionOfType({ types }: FileFormat, type: string): string | undefined {
  const exact = Object.keys(types).find((extension) => types[extension] === type);
  // Others are named after an extension: `audio/x-wav`, `image/jpg`.
  const subtype = type.replace(/^.*\/(x-)?/, '');
  return exact ?? (Object.hasOwn(types, subtype) ? subtype : undefined);
}

/** The extension of a file that has none. */
export function mainExtension({ types }: FileFormat): string {
  return Object.keys(types)[0] ?? '';
}

/** The MIME type that the first bytes of a file speak for, or `undefined`. */
export function typeOfBytes(head: Uint8Array): string | undefined {
  const format = formatOfBytes(head);
  return format?.types[mainExtension(format)];
}

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

/** Returns whether a value is bytes in memory, also of another realm such as a test runner's. */
export function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return (
    ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object ArrayBuffer]'
  );
}

/** Returns the same memory as bytes, or a copy of shared memory, which blobs and requests refuse. */
export function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(buffer, byteOffset, byteLength).slice();
}
