import { InvalidInputError } from '../errors/gateway-error.ts';
import { baseName, extensionOf } from './file-input.ts';

/** What a file is for. It decides which formats its name may stand for. */
export type FilePurpose = 'image' | 'audio' | 'any';

/** A media format that is recognised by its extension, its MIME type or its first bytes. */
interface FileFormat {
  /** MIME type per extension. The first extension is the one that a file without one gets. */
  readonly types: Readonly<Record<string, string>>;
  /** How files of the format begin, a character for each byte. */
  readonly signature?: RegExp;
  /** Whether other formats may begin so too, so that the name of a file is the better witness. */
  readonly isGuess?: boolean;
}

const imageFormats: readonly FileFormat[] = [
  { types: { png: 'image/png' }, signature: /^\x89PNG\r\n/ },
  { types: { jpg: 'image/jpeg', jpeg: 'image/jpeg' }, signature: /^\xff\xd8\xff/ },
  { types: { webp: 'image/webp' }, signature: /^RIFF.{4}WEBP/s },
  { types: { gif: 'image/gif' }, signature: /^GIF8[79]a/ },
  { types: { avif: 'image/avif' }, signature: /^.{4}ftypavi[fs]/s },
  {
    types: { heic: 'image/heic', heif: 'image/heif' },
    signature: /^.{4}ftyp(hei[cxms]|hevc|m[is]f1)/s,
  },
  { types: { bmp: 'image/bmp' } },
  { types: { tiff: 'image/tiff', tif: 'image/tiff' }, signature: /^(II\*\0|MM\0\*)/ },
];

const audioFormats: readonly FileFormat[] = [
  {
    types: { mp3: 'audio/mpeg' },
    // FLAC and AAC files may begin with an ID3 tag too; else there are only the sync bits of a frame.
    signature: /^(ID3|\xff[\xe2\xe3\xea\xeb\xf2\xf3\xfa\xfb][^\xf0-\xff])/,
    isGuess: true,
  },
  { types: { wav: 'audio/wav' }, signature: /^RIFF.{4}WAVE/s },
  { types: { flac: 'audio/flac' }, signature: /^fLaC/ },
  {
    types: { mp4: 'video/mp4', m4a: 'audio/mp4' },
    signature: /^.{4}ftyp(iso[m2-9]|mp4[12]|avc1|dash|qt {2}|M4[ABV]|3g[p2])/s,
  },
  { types: { ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg' }, signature: /^OggS/ },
  {
    types: { aiff: 'audio/aiff', aif: 'audio/aiff', aifc: 'audio/aiff' },
    signature: /^FORM.{4}AIFF/s,
  },
  { types: { webm: 'video/webm' }, signature: /^.E\xdf\xa3.*webm/s },
  { types: { aac: 'audio/aac' }, signature: /^\xff[\xf0\xf1\xf8\xf9]/, isGuess: true },
];

const formats = [...imageFormats, ...audioFormats];

/** Common extensions that the gateway does not know, with those that mean the same to it. */
const aliases: Readonly<Record<string, string>> = {
  jfif: 'jpg',
  mpga: 'mp3',
  mpeg: 'mp3',
  wave: 'wav',
  mov: 'mp4',
  m4v: 'mp4',
};

/** The extensions by which the gateway recognises audio. Lower case only. */
export const audioExtensions = audioFormats.flatMap(({ types }) => Object.keys(types));

/** How many bytes of a file are enough to recognise it. */
export const sniffLength = 64;

function mainExtension({ types }: FileFormat): string {
  return Object.keys(types)[0] ?? '';
}

/** Recognises a format by the first {@link sniffLength} bytes of a file, or returns `undefined`. */
function sniff(
  head: Uint8Array,
): { readonly format: FileFormat; readonly extension: string } | undefined {
  const text = String.fromCharCode(...head.subarray(0, sniffLength));
  const format = formats.find(({ signature }) => signature?.test(text));
  if (format === undefined) return undefined;
  // The ISO media container holds films and sound; its brand says which.
  return { format, extension: /^.{4}ftypM4[AB]/s.test(text) ? 'm4a' : mainExtension(format) };
}

/** The MIME type that the first bytes of a file speak for, or `undefined`. */
export function typeOfBytes(head: Uint8Array): string | undefined {
  const found = sniff(head);
  return found?.format.types[found.extension];
}

/** The MIME type that the name of a file speaks for, or `undefined`. */
export function typeOfName(name: string): string | undefined {
  const extension = extensionOf(name).toLowerCase();
  return formatOfExtension(extension)?.types[extension];
}

function formatOfExtension(extension: string): FileFormat | undefined {
  return formats.find(({ types }) => Object.hasOwn(types, extension));
}

/** The extension that a MIME type asks for within a format, or `undefined` when it is not of it. */
function extensionForType({ types }: FileFormat, type: string): string | undefined {
  const exact = Object.keys(types).find((extension) => types[extension] === type);
  // Others are named after an extension: `audio/x-wav`, `image/jpg`.
  const subtype = type.replace(/^.*\/(x-)?/, '');
  return exact ?? (Object.hasOwn(types, subtype) ? subtype : undefined);
}

/** What is known of a file before it is sent. */
export interface FileFacts {
  /** The parameter that holds the file, for errors and for the name of a file that has none. */
  readonly field: string;
  readonly purpose: FilePurpose;
  /** The name that the caller or the source gave, or `undefined`. */
  readonly name: string | undefined;
  /** The MIME type that the caller or the source gave, or `undefined`. */
  readonly type: string | undefined;
  /** The first bytes of the file. */
  readonly head: Uint8Array;
}

/** The name and the MIME type under which a file is sent. Both are never empty. */
export interface FileDescription {
  readonly name: string;
  readonly type: string;
}

const unknownType = 'application/octet-stream';
const meaninglessTypes = new Set(['', unknownType, 'binary/octet-stream', 'application/unknown']);

/**
 * Settles the name and the MIME type of a file, so that they agree with each other and its bytes.
 *
 * The gateway judges a file by its extension alone: it labels images by it, and refuses audio whose
 * extension it does not know. So an extension that contradicts the bytes (a JPEG called `photo.png`)
 * is replaced, upper case becomes lower case, and `.mpga` and its like become the extension that the
 * gateway knows. The bytes are never changed. Only bytes that prove their format do this: what looks
 * like MP3 or AAC by its first bits does not outweigh a name. A file for any purpose keeps an
 * extension that is not one of a media format.
 *
 * @throws `InvalidInputError` when audio has no extension that the gateway knows, and nothing tells
 * which one it should have.
 */
export function describeFile({ field, purpose, head, ...given }: FileFacts): FileDescription {
  // A type with a line break in it would be read as more headers.
  const declared = /^[\x20-\x7e]*$/.test(given.type ?? '') ? (given.type ?? '') : '';
  const essence = (declared.split(';')[0] ?? '').trim().toLowerCase();
  const isDeclared = !meaninglessTypes.has(essence);
  const givenName = baseName(given.name ?? '');
  const name = givenName ?? baseName(field.replace(/\[[^[\]]*\]$/, '')) ?? 'file';
  const extension = extensionOf(name);
  const lower = extension.toLowerCase();

  const isAny = purpose === 'any';
  const byType = formats.find((format) => extensionForType(format, essence) !== undefined);
  // An alias such as `.mpeg` means audio only where audio is wanted.
  const byName = formatOfExtension(isAny ? lower : (aliases[lower] ?? lower));
  const bytes = sniff(head);
  const isProof = bytes?.format.isGuess !== true;
  // A type that is not in the table still says that the file is something else than media.
  const hints = isAny && isDeclared && byType === undefined ? [] : [byName, bytes?.format];
  const candidates = [isProof ? bytes?.format : undefined, byType, ...hints].filter(
    (format) => format !== undefined,
  );
  const fitting = purpose === 'image' ? imageFormats : audioFormats;
  const chosen =
    candidates.find((format) => isAny || fitting.includes(format)) ??
    // A film that is passed as an image reference is still a film.
    (purpose === 'audio' ? undefined : candidates[0]);
  if (chosen === undefined) {
    if (purpose !== 'audio') return { name, type: isDeclared ? declared : unknownType };
    const subject =
      givenName === undefined ? 'the file has no name' : `"${name}" has none that it knows`;
    throw new InvalidInputError(
      field,
      'is not recognised as audio: the gateway goes by the extension of the file name, ' +
        `${subject}, and its first bytes are of no audio format that could be told. Name it with one ` +
        `of .${audioExtensions.join(' .')}, for example toFile(data, "speech.mp3").`,
    );
  }

  const stem = extension === '' ? name : name.slice(0, -extension.length - 1);
  const typeExtension = extensionForType(chosen, essence);
  const sniffed = chosen === bytes?.format ? bytes.extension : mainExtension(chosen);
  const isKnown = Object.hasOwn(chosen.types, lower);
  const wanted = isKnown ? lower : (typeExtension ?? sniffed);
  const type = (typeExtension === undefined ? chosen.types[wanted] : declared) ?? unknownType;
  if (isKnown || byName !== undefined) return { name: `${stem}.${wanted}`, type };
  // What follows the last dot of `talk.2026-01-31` is no extension, so nothing is cut off.
  return { name: isAny && extension !== '' ? name : `${name}.${wanted}`, type };
}
