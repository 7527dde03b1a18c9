import {
  audioFormats,
  extensionOfType,
  formatOfBytes,
  formatOfExtension,
  formatOfType,
  imageFormats,
  mainExtension,
} from '../answers/bytes.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** What a file is for. It decides which formats its name may stand for. */
export type FilePurpose = 'image' | 'audio' | 'any';

/** The last segment of a path, whichever slash it uses; `undefined` when there is none. */
export const baseName = (path: string): string | undefined =>
  path.replace(/^.*[\\/]/s, '') || undefined;

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
export const audioExtensions = (): readonly string[] => [
  ...new Set(audioFormats.flatMap(({ types }) => Object.keys(types))),
];

/** What is known of a file before it is sent. */
interface FileFacts {
  /** The parameter that holds the file, for errors and for the name of a file that has none. */
  readonly field: string;
  readonly purpose: FilePurpose;
  /** What the caller or the source say of it. */
  readonly name: string | undefined;
  readonly type?: string | undefined;
  /** The first bytes of the file. */
  readonly head: Uint8Array;
}

const unknownType = 'application/octet-stream';

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
export function describeFile({ field, purpose, head, ...given }: FileFacts): {
  readonly name: string;
  readonly type: string;
} {
  // A type with a line break in it would be read as more headers.
  const declared = /^[\x20-\x7e]*$/.test(given.type ?? '') ? (given.type ?? '') : '';
  const essence = (declared.split(';')[0] ?? '').trim().toLowerCase();
  const isDeclared = !/^$|\/(octet-stream|unknown)$/.test(essence);
  const givenName = baseName(given.name ?? '');
  const name = givenName ?? baseName(field.replace(/\[[^[\]]*\]$/, '')) ?? 'file';
  const extension = extensionOf(name);
  const lower = extension.toLowerCase();

  const isAny = purpose === 'any';
  const byType = formatOfType(essence);
  // An alias such as `.mpeg` means audio only where audio is wanted.
  const byName = formatOfExtension(isAny ? lower : (aliases[lower] ?? lower));
  const byBytes = formatOfBytes(head);
  // A type that is not in the table still says that the file is something else than media.
  const hints = isAny && isDeclared && byType === undefined ? [] : [byName, byBytes];
  const candidates = [byBytes?.isGuess === true ? undefined : byBytes, byType, ...hints].filter(
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
        `of .${audioExtensions().join(' .')}, for example toFile(data, "speech.mp3").`,
    );
  }

  const stem = extension === '' ? name : name.slice(0, -extension.length - 1);
  const typeExtension = extensionOfType(chosen, essence);
  const isKnown = Object.hasOwn(chosen.types, lower);
  const wanted = isKnown ? lower : (typeExtension ?? mainExtension(chosen));
  const type = (typeExtension === undefined ? chosen.types[wanted] : declared) ?? unknownType;
  if (isKnown || byName !== undefined) return { name: `${stem}.${wanted}`, type };
  // What follows the last dot of `talk.2026-01-31` is no extension, so nothing is cut off.
  return { name: isAny && extension !== '' ? name : `${name}.${wanted}`, type };
}

/** The extension without its dot, as written, or `''`. A name such as `.env` has none. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1) : '';
}

/** The MIME type that the name of a file speaks for, or `undefined`. */
export function typeOfName(name: string): string | undefined {
  const extension = extensionOf(name).toLowerCase();
  return formatOfExtension(extension)?.types[extension];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function nameFromURL(url: string): string | undefined {
  // A data URL has no name, and a blob URL ends in a random id.
  if (/^(data|blob):/i.test(url)) return undefined;
  return baseName(URL.canParse(url) ? decoded(baseName(new URL(url).pathname) ?? '') : url);
}

/** The file name in a `content-disposition` header (RFC 6266), or `undefined`. */
export function nameFromDisposition(header: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const [, quoted, plain = ''] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return baseName(
    extended === undefined ? (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain) : decoded(extended),
  );
}

/**
 * The file name that a value carries: `name` or `filename`, the `content-disposition` and URL of a
 * response, or the `path` of an fs stream. Folders are dropped. `undefined` when there is none.
 */
export function nameOf(value: object): string | undefined {
  const textOf = (property: string): string | undefined => {
    const found: unknown = Reflect.get(value, property);
    // The path of an fs stream can be bytes.
    const text = found instanceof Uint8Array ? new TextDecoder().decode(found) : found;
    return typeof text === 'string' && text !== '' ? text : undefined;
  };
  const explicit = textOf('name') ?? textOf('filename');
  if (explicit !== undefined) return baseName(explicit);
  const headers: unknown = Reflect.get(value, 'headers');
  const disposition = headers instanceof Headers ? headers.get('content-disposition') : null;
  const url = textOf('url');
  return (
    nameFromDisposition(disposition ?? '') ??
    (url === undefined ? baseName(textOf('path') ?? '') : nameFromURL(url))
  );
}
