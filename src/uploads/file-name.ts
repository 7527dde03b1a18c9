import {
  audioFormats,
  decodePercents,
  extensionForType,
  findFormatByBytes,
  findFormatByExtension,
  findFormatByType,
  imageFormats,
  defaultExtension,
} from '../answers/bytes.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** The purpose of a file, which determines the accepted formats. */
export type FilePurpose = 'image' | 'audio' | 'any';

/** Returns the last segment of a path with either kind of slash; `undefined` if it is empty. */
export const baseName = (path: string): string | undefined =>
  path.replace(/^.*[\\/]/s, '') || undefined;

/** Removes control characters, because the form parser of Go rejects the whole form for one in a file name. */
// oxlint-disable-next-line no-control-regex -- these are the characters to remove
const withoutControls = (name: string): string => name.replaceAll(/[\0-\x1f\x7f]/g, '');

/** Types that are not registered, with those that gateways know. */
const typeAliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'audio/m4a': 'audio/mp4',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-m4a': 'audio/mp4',
  'audio/x-wav': 'audio/wav',
};

/** Common extensions that the gateway does not support, with equivalent ones. */
const aliases: Readonly<Record<string, string>> = {
  jfif: 'jpg',
  mpga: 'mp3',
  mpeg: 'mp3',
  wave: 'wav',
  mov: 'mp4',
  m4v: 'mp4',
};

/** Returns the audio extensions that the gateway supports, in lower case. */
export const audioExtensions = (): readonly string[] => [
  ...new Set(audioFormats.flatMap(({ types }) => Object.keys(types))),
];

/** Facts about a file before it is sent. */
interface FileFacts {
  /** The parameter with the file, for errors and as the default file name. */
  readonly field: string;
  readonly purpose: FilePurpose;
  /** Name and type according to the caller or the source. */
  readonly name: string | undefined;
  readonly type?: string | undefined;
  /** The first bytes of the file. */
  readonly head: Uint8Array;
}

const unknownType = 'application/octet-stream';

/**
 * Determines the name and the MIME type of a file, so that they match each other and the content.
 *
 * The gateway identifies a file only by its extension: it labels images by it, and rejects audio with an
 * unknown extension. So an extension that contradicts the content (a JPEG called `photo.png`) is replaced,
 * upper case becomes lower case, and `.mpga` and similar ones become an extension that the gateway supports.
 * The content is never changed. Only content with an unambiguous format overrides the name; the first bits of
 * MP3 or AAC don't. With the purpose `any`, extensions of other than media formats are kept.
 *
 * @throws `InvalidInputError` if audio has no supported extension and its format is unknown
 */
export function describeFile({ field, purpose, head, ...input }: FileFacts): {
  readonly name: string;
  readonly type: string;
} {
  // A type with a line break would inject headers.
  const declared = /^[\x20-\x7e]*$/.test(input.type ?? '') ? (input.type ?? '') : '';
  const essence = (declared.split(';')[0] ?? '').trim().toLowerCase();
  const isDeclared = !/^$|\/(octet-stream|unknown)$/.test(essence);
  const originalName = baseName(withoutControls(input.name ?? ''));
  const name = originalName ?? baseName(field.replace(/\[[^[\]]*\]$/, '')) ?? 'file';
  const extension = getExtension(name);
  const lower = extension.toLowerCase();

  const isAny = purpose === 'any';
  const byType = findFormatByType(essence);
  // Aliases such as `.mpeg` only refer to audio if audio is expected.
  const byName = findFormatByExtension(isAny ? lower : (aliases[lower] ?? lower));
  const byBytes = findFormatByBytes(head);
  // A declared type outside the table means that the file is not media.
  const hints = isAny && isDeclared && byType === undefined ? [] : [byName, byBytes];
  const candidates = [byBytes?.isGuess === true ? undefined : byBytes, byType, ...hints].filter(
    (format) => format !== undefined,
  );
  const allowed = purpose === 'image' ? imageFormats : audioFormats;
  const chosen =
    candidates.find((format) => isAny || allowed.includes(format)) ??
    // A video passed as a reference image is still a video.
    (purpose === 'audio' ? undefined : candidates[0]);
  if (chosen === undefined) {
    if (purpose !== 'audio') return { name, type: isDeclared ? declared : unknownType };
    const subject =
      originalName === undefined ? 'the file has no name' : `"${name}" has no audio extension`;
    throw new InvalidInputError(
      field,
      'is not recognized as audio: gateways detect the format by the file extension, ' +
        `${subject}, and its first bytes are not a known audio format. Pass a name with one ` +
        `of .${audioExtensions().join(' .')}, for example toFile(data, "speech.mp3").`,
    );
  }

  const stem = extension === '' ? name : name.slice(0, -extension.length - 1);
  const typeExtension = extensionForType(chosen, essence);
  const isKnown = Object.hasOwn(chosen.types, lower);
  // OpenAI and new-api reject Ogg under its other names, which voice notes have.
  const isOgg = purpose === 'audio' && Object.hasOwn(chosen.types, 'ogg');
  const named = isKnown ? lower : (typeExtension ?? defaultExtension(chosen));
  const wanted = isOgg ? 'ogg' : named;
  const declaredType = typeAliases[essence] ?? declared;
  const type = (typeExtension === undefined ? chosen.types[wanted] : declaredType) ?? unknownType;
  if (isKnown || byName !== undefined) return { name: `${stem}.${wanted}`, type };
  // `.2026-01-31` at the end of a name is not an extension, so nothing is removed.
  return { name: isAny && extension !== '' ? name : `${name}.${wanted}`, type };
}

/** Returns the extension without its dot, in its original case, or `''`. A name such as `.env` has none. */
function getExtension(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1) : '';
}

/** Returns the MIME type for the extension of a file name, or `undefined`. */
export function typeForName(name: string): string | undefined {
  const extension = getExtension(name).toLowerCase();
  return findFormatByExtension(extension)?.types[extension];
}

function nameFromURL(url: string): string | undefined {
  // A data URL has no name, and a blob URL ends in a random id.
  if (/^(data|blob):/i.test(url)) return undefined;
  return baseName(URL.canParse(url) ? decodePercents(baseName(new URL(url).pathname) ?? '') : url);
}

/** Returns the file name in a `content-disposition` header (RFC 6266), or `undefined`. */
export function nameFromDisposition(header: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const [, quoted, plain = ''] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return baseName(
    extended === undefined
      ? (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain)
      : decodePercents(extended),
  );
}

/**
 * Returns the file name of a value: its `name` or `filename`, the `content-disposition` or URL of a response,
 * or the `path` of an fs stream. Folders are removed. `undefined` if there is none.
 */
export function findFileName(value: object): string | undefined {
  const readProperty = (name: string): string | undefined => {
    const property: unknown = Reflect.get(value, name);
    // The path of an fs stream may be bytes.
    const text = property instanceof Uint8Array ? new TextDecoder().decode(property) : property;
    return typeof text === 'string' && text !== '' ? text : undefined;
  };
  const explicit = readProperty('name') ?? readProperty('filename');
  if (explicit !== undefined) return baseName(explicit);
  const headers: unknown = Reflect.get(value, 'headers');
  const disposition = headers instanceof Headers ? headers.get('content-disposition') : null;
  const url = readProperty('url');
  return (
    nameFromDisposition(disposition ?? '') ??
    (url === undefined ? baseName(readProperty('path') ?? '') : nameFromURL(url))
  );
}
