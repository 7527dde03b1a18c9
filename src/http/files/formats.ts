/** What a file is for. It decides which formats its name may stand for. */
export type FilePurpose = 'image' | 'audio' | 'any';

/** A media format that is recognised by its extension, its MIME type or its first bytes. */
export interface FileFormat {
  readonly kinds: readonly ('image' | 'audio' | 'video')[];
  /** MIME type per extension. The first extension is the one that a file without one gets. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Extensions that mean this format, but that the gateway does not know. */
  readonly aliases: readonly string[];
  /** Other MIME types of this format, each with the extension that it asks for. */
  readonly otherTypes: Readonly<Record<string, string>>;
}

/** The extensions by which the gateway recognises audio. Lower case only. */
export const audioExtensions: readonly string[] = [
  'mp3',
  'wav',
  'flac',
  'm4a',
  'mp4',
  'ogg',
  'oga',
  'opus',
  'aif',
  'aiff',
  'aifc',
  'webm',
  'aac',
];

export const formats = {
  png: format(['image'], { png: 'image/png' }),
  jpeg: format(['image'], { jpg: 'image/jpeg', jpeg: 'image/jpeg' }, ['jpe', 'jfif', 'pjpeg'], {
    'image/jpg': 'jpg',
    'image/pjpeg': 'jpg',
  }),
  webp: format(['image'], { webp: 'image/webp' }),
  gif: format(['image'], { gif: 'image/gif' }),
  avif: format(['image'], { avif: 'image/avif' }),
  heic: format(['image'], { heic: 'image/heic', heif: 'image/heif' }),
  bmp: format(['image'], { bmp: 'image/bmp' }, ['dib'], { 'image/x-ms-bmp': 'bmp' }),
  tiff: format(['image'], { tiff: 'image/tiff', tif: 'image/tiff' }),
  mp3: format(['audio'], { mp3: 'audio/mpeg' }, ['mpga', 'mpeg', 'mp2'], {
    'audio/mp3': 'mp3',
    'audio/x-mp3': 'mp3',
    'audio/mpeg3': 'mp3',
    'audio/x-mpeg': 'mp3',
  }),
  wav: format(['audio'], { wav: 'audio/wav' }, ['wave'], {
    'audio/wave': 'wav',
    'audio/x-wav': 'wav',
    'audio/vnd.wave': 'wav',
  }),
  flac: format(['audio'], { flac: 'audio/flac' }, [], { 'audio/x-flac': 'flac' }),
  aac: format(['audio'], { aac: 'audio/aac' }, [], { 'audio/aacp': 'aac', 'audio/x-aac': 'aac' }),
  aiff: format(['audio'], { aiff: 'audio/aiff', aif: 'audio/aiff', aifc: 'audio/aiff' }, [], {
    'audio/x-aiff': 'aiff',
  }),
  ogg: format(['audio'], { ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg' }, [], {
    'application/ogg': 'ogg',
    'video/ogg': 'ogg',
    'audio/opus': 'opus',
  }),
  mp4: format(
    ['audio', 'video'],
    { mp4: 'video/mp4', m4a: 'audio/mp4' },
    ['m4b', 'm4v', 'mov', '3gp'],
    {
      'audio/m4a': 'm4a',
      'audio/x-m4a': 'm4a',
      'application/mp4': 'mp4',
      'video/x-m4v': 'mp4',
      'video/quicktime': 'mp4',
    },
  ),
  webm: format(['audio', 'video'], { webm: 'video/webm' }, [], { 'audio/webm': 'webm' }),
  matroska: format(['video'], { mkv: 'video/x-matroska' }, [], { 'audio/x-matroska': 'mkv' }),
} as const satisfies Readonly<Record<string, FileFormat>>;

function format(
  kinds: FileFormat['kinds'],
  extensions: Readonly<Record<string, string>>,
  aliases: readonly string[] = [],
  otherTypes: Readonly<Record<string, string>> = {},
): FileFormat {
  return { kinds, extensions, aliases, otherTypes };
}

const allFormats: readonly FileFormat[] = Object.values(formats);

/** Whether a file of this format can serve the purpose. */
export function fitsPurpose(candidate: FileFormat, purpose: FilePurpose): boolean {
  return purpose === 'any' || candidate.kinds.includes(purpose);
}

/** The format that an extension stands for, or `undefined`. */
export function formatOfExtension(extension: string, purpose: FilePurpose): FileFormat | undefined {
  // An alias such as `.mpeg` means audio only where audio is wanted.
  return allFormats.find(
    ({ extensions, aliases }) =>
      Object.hasOwn(extensions, extension) || (purpose !== 'any' && aliases.includes(extension)),
  );
}

/** The format that a MIME type stands for, or `undefined`. */
export function formatOfType(type: string): FileFormat | undefined {
  return allFormats.find((candidate) => extensionForType(candidate, type) !== undefined);
}

/** The extension that a MIME type asks for within a format, or `undefined` when it is not of it. */
export function extensionForType(candidate: FileFormat, type: string): string | undefined {
  const own = Object.entries(candidate.extensions).find(([, known]) => known === type)?.[0];
  if (own !== undefined) return own;
  return Object.hasOwn(candidate.otherTypes, type) ? candidate.otherTypes[type] : undefined;
}

/** The extension that a file of this format gets when nothing else is known of it. */
export function mainExtension(candidate: FileFormat): string {
  return Object.keys(candidate.extensions)[0] ?? '';
}
