import { getTag } from './objects.ts';

/** A media format that is recognised by its extension, its MIME type or its first bytes. */
export interface FileFormat {
  /** MIME types by extension. The first extension is the default. */
  readonly types: Readonly<Record<string, string>>;
  /** Pattern for the beginning of a file, one character per byte. */
  readonly signature: RegExp;
  /** `true` if other formats may begin the same way, so that the file name takes precedence. */
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

/** Formats of audio, and of video with an audio track. The gateway supports no other audio extensions. */
export const audioFormats: readonly FileFormat[] = [
  {
    types: { mp3: 'audio/mpeg' },
    // FLAC and AAC files may begin with an ID3 tag too; otherwise there are only the sync bits of a frame.
    signature: /^(ID3|\xff[\xe2\xe3\xea\xeb\xf2\xf3\xfa\xfb][^\xf0-\xff])/,
    isGuess: true,
  },
  { types: { wav: 'audio/wav' }, signature: /^RIFF.{4}WAVE/s },
  { types: { flac: 'audio/flac' }, signature: /^fLaC/ },
  // The ISO media container contains video or audio, depending on its brand. Other brands are unknown.
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

/** A function, so that pages that send no files don't bundle the tables. */
const formats = (): readonly FileFormat[] => [...imageFormats, ...audioFormats];

/** Number of bytes that identify a file's format. */
export const sniffLength = 64;

/** Detects the format by the first {@link sniffLength} bytes of a file. */
export function findFormatByBytes(head: Uint8Array): FileFormat | undefined {
  const text = String.fromCharCode(...head.subarray(0, sniffLength));
  return formats().find(({ signature }) => signature.test(text));
}

/** Finds the format of a lower-case extension without its dot. */
export function findFormatByExtension(extension: string): FileFormat | undefined {
  return formats().find(({ types }) => Object.hasOwn(types, extension));
}

/** Finds the format of a lower-case MIME type without parameters. */
export function findFormatByType(type: string): FileFormat | undefined {
  return formats().find((format) => extensionForType(format, type) !== undefined);
}

/** Returns the extension for a MIME type of this format, or `undefined` if it is of another format. */
export function extensionForType({ types }: FileFormat, type: string): string | undefined {
  const exact = Object.keys(types).find((extension) => types[extension] === type);
  // Other types contain the extension: `audio/x-wav`, `image/jpg`.
  const subtype = type.replace(/^.*\/(x-)?/, '');
  return exact ?? (Object.hasOwn(types, subtype) ? subtype : undefined);
}

/** Returns the default extension of a format. */
export function defaultExtension({ types }: FileFormat): string {
  return Object.keys(types)[0] ?? '';
}

/** Detects the MIME type by the first bytes of a file. */
export function detectType(head: Uint8Array): string | undefined {
  const format = findFormatByBytes(head);
  return format?.types[defaultExtension(format)];
}

/** Returns the extension for the MIME type of an image, such as `svg`; `undefined` for any other type. */
export function imageTypeExtension(type: string | undefined): string | undefined {
  const [, name] = /^image\/(?:x-)?([a-z\d]+)/i.exec(type ?? '') ?? [];
  return name?.toLowerCase().replace('jpeg', 'jpg');
}

/** The required methods of Node's `Buffer`, which some other runtimes have too. */
interface NodeBuffer {
  from(bytes: ArrayBuffer): { write(text: string, encoding: 'base64'): number };
}

const nodeBuffer: NodeBuffer | undefined = Reflect.get(globalThis, 'Buffer');

/** Returns the number of base64 digits, without padding. */
function countDigits(text: string): number {
  return text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
}

/** Returns the number of bytes that base64 without white space encodes. */
export function decodedLength(text: string): number {
  return Math.floor((countDigits(text) * 3) / 4);
}

/** Bytes in plain base64, with their media type if the gateway sent it beside them. */
export interface EncodedBytes {
  readonly base64: string;
  readonly type?: string | undefined;
}

/** The part of a data URL before its content. */
const dataURLHead = /^\s*data:([^,]*),/i;

/** Splits a data URL; `undefined` for other text. */
function splitDataURL(text: string) {
  const [head, parameters = ''] = dataURLHead.exec(text.slice(0, 1_024)) ?? [];
  if (head === undefined) return undefined;
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(parameters.trim())?.[0]?.toLowerCase();
  const isBase64 = /;\s*base64\s*$/i.test(parameters);
  return { type, isBase64, content: text.slice(head.length) };
}

/** Reverses percent encoding; returns text unchanged that has none, or has it malformed. */
export function decodePercents(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/**
 * Reads bytes in any of the forms in which gateways send base64: plain, URL-safe, with line breaks, without
 * padding, or as a data URL. Returns plain base64; `undefined` if the text is neither base64 nor a data URL.
 */
export function readBase64(text: string): EncodedBytes | undefined {
  const url = splitDataURL(text);
  if (url !== undefined && !url.isBase64) {
    const bytes = new TextEncoder().encode(decodePercents(url.content));
    return { base64: encodeBase64(bytes), type: url.type };
  }
  const digits = url === undefined ? text : decodePercents(url.content);
  const plain = /[\s_-]/.test(digits)
    ? digits.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
    : digits;
  const bare = plain.slice(0, countDigits(plain));
  if (bare === '' || bare.length % 4 === 1 || /[^A-Za-z\d+/]/.test(bare)) return undefined;
  return { base64: bare + '='.repeat((4 - (bare.length % 4)) % 4), type: url?.type };
}

/** Bytes that are encoded at once: few enough for the call stack, and a multiple of three, so that pieces can be joined. */
export const encodedPiece = 24_576;

export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += encodedPiece) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + encodedPiece)));
  }
  return text;
}

/** Decodes hexadecimal digits; `undefined` if the text is anything else. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text === '' || text.length % 2 !== 0 || !/^[\da-f]+$/i.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  }
  return bytes;
}

/**
 * Returns whether text is certainly hexadecimal digits. Base64 of that length has other letters too, and that of
 * silence has no digits.
 */
export function isHex(text: string): boolean {
  const isLong = text.length >= 32 && text.length % 2 === 0;
  return isLong && /\d/.test(text) && (/^[\da-f]+$/.test(text) || /^[\dA-F]+$/.test(text));
}

/** Bytes with their media type, if it is known. */
export interface TypedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string | undefined;
}

/** Decodes bytes in any form that `readBase64` reads. Returns `undefined` if the text is not base64. */
export function decodeBytes(text: string): TypedBytes | undefined {
  const { base64, type } = readBase64(text) ?? {};
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  return bytes === undefined || bytes.length === 0 ? undefined : { bytes, type };
}

/** Decodes a data URL; `undefined` for any other text. */
export function decodeDataURL(text: string): TypedBytes | undefined {
  return dataURLHead.test(text.slice(0, 1_024)) ? decodeBytes(text) : undefined;
}

/**
 * Decodes base64, ignoring white space. Returns `undefined` if the text is not base64.
 *
 * Decodes into the final buffer, because copying takes longer than decoding.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(decodedLength(text));
  // A single remaining digit encodes no byte, so it would not be checked.
  if (decodeInto(text, bytes) === bytes.length && countDigits(text) % 4 !== 1) return bytes;
  return /\s/.test(text) ? decodeBase64(text.replaceAll(/\s/g, '')) : undefined;
}

/** Decodes into an existing buffer, and returns the number of decoded bytes. */
function decodeInto(text: string, bytes: Uint8Array<ArrayBuffer>): number {
  // Ten times faster than `atob`. It skips invalid characters, and so decodes fewer bytes.
  if (nodeBuffer !== undefined) return nodeBuffer.from(bytes.buffer).write(text, 'base64');
  try {
    const binary = atob(text);
    for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
    return binary.length;
  } catch {
    return -1;
  }
}

/** Returns whether a value is a buffer or view, including those of another realm such as a test runner's. */
export function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || getTag(value) === 'ArrayBuffer';
}

/** Returns a view of the same memory, or a copy of shared memory, which blobs and requests reject. */
export function toBytes(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(buffer, byteOffset, byteLength).slice();
}
