import { InvalidInputError } from '../../errors/gateway-error.ts';
import { baseName, extensionOf } from './file-name.ts';
import {
  audioExtensions,
  extensionForType,
  fitsPurpose,
  formatOfExtension,
  formatOfType,
  mainExtension,
  type FileFormat,
  type FilePurpose,
} from './formats.ts';
import { sniff, type SniffedFormat } from './sniff.ts';

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

/** The format that the evidence speaks for: proof first, then what was declared, then a hint. */
function chooseFormat(
  purpose: FilePurpose,
  bytes: SniffedFormat | undefined,
  byType: FileFormat | undefined,
  byName: FileFormat | undefined,
): FileFormat | undefined {
  const proven = bytes?.certain === true ? bytes.format : undefined;
  const candidates = [proven, byType, byName, bytes?.format].filter(
    (candidate) => candidate !== undefined,
  );
  // A film that is passed as an image reference is still a film.
  return candidates.find((candidate) => fitsPurpose(candidate, purpose)) ?? candidates[0];
}

/** The name with an extension that the gateway takes for this format. */
function fitName(
  name: string,
  purpose: FilePurpose,
  chosen: FileFormat,
  wanted: string | undefined,
): string {
  const extension = extensionOf(name);
  const lower = extension.toLowerCase();
  const stem = extension === '' ? name : name.slice(0, -extension.length - 1);
  if (Object.hasOwn(chosen.extensions, lower)) return `${stem}.${lower}`;
  const replacement = wanted ?? mainExtension(chosen);
  if (formatOfExtension(lower, purpose) !== undefined) return `${stem}.${replacement}`;
  // What follows the last dot of `talk.2026-01-31` is no extension, so nothing is cut off.
  return purpose === 'any' && extension !== '' ? name : `${name}.${replacement}`;
}

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
export function describeFile(facts: FileFacts): FileDescription {
  const { field, purpose, head } = facts;
  // A type with a line break in it would be read as more headers.
  const declared = /^[\x20-\x7e]*$/.test(facts.type ?? '') ? (facts.type ?? '') : '';
  const essence = (declared.split(';')[0] ?? '').trim().toLowerCase();
  const isDeclared = !meaninglessTypes.has(essence);
  const givenName = baseName(facts.name ?? '');
  const name = givenName ?? baseName(field.replace(/\[[^[\]]*\]$/, '')) ?? 'file';

  const byType = isDeclared ? formatOfType(essence) : undefined;
  // A type that is not in the table still says that the file is something else than media.
  const isForeign = purpose === 'any' && isDeclared && byType === undefined;
  const sniffed = sniff(head);
  const bytes = isForeign && sniffed?.certain !== true ? undefined : sniffed;
  const extension = extensionOf(name).toLowerCase();
  const byName = isForeign ? undefined : formatOfExtension(extension, purpose);

  const chosen = chooseFormat(purpose, bytes, byType, byName);
  if (chosen === undefined) {
    if (purpose === 'audio') throw unknownAudio(field, givenName);
    return { name, type: isDeclared ? declared : unknownType };
  }
  const typeExtension = extensionForType(chosen, essence);
  const wanted = typeExtension ?? (chosen === bytes?.format ? bytes.extension : undefined);
  const fittedName = fitName(name, purpose, chosen, wanted);
  const fittedExtension = extensionOf(fittedName);
  if (purpose === 'audio' && !audioExtensions.includes(fittedExtension)) {
    throw unknownAudio(field, givenName);
  }
  if (typeExtension !== undefined) return { name: fittedName, type: declared };
  const type = chosen.extensions[fittedExtension] ?? chosen.extensions[mainExtension(chosen)];
  return { name: fittedName, type: type ?? unknownType };
}

function unknownAudio(field: string, name: string | undefined): InvalidInputError {
  const subject = name === undefined ? 'the file has no name' : `"${name}" has none that it knows`;
  return new InvalidInputError(
    field,
    'is not recognised as audio: the gateway goes by the extension of the file name, ' +
      `${subject}, and its first bytes are of no audio format that could be told. Name it with one ` +
      `of .${audioExtensions.join(' .')}, for example toFile(data, "speech.mp3").`,
  );
}
