/** The first bytes of media files, enough to detect their format. */
function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

const rest = '\0'.repeat(80);

export const mediaHeads = {
  png: bytes(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${rest}`),
  jpeg: bytes(`\xff\xd8\xff\xe0\0\x10JFIF${rest}`),
  webp: bytes(`RIFF\x24\0\0\0WEBPVP8 ${rest}`),
  gif: bytes(`GIF89a\x01\0\x01\0${rest}`),
  avif: bytes(`\0\0\0\x1cftypavif\0\0\0\0${rest}`),
  heic: bytes(`\0\0\0\x1cftypheic\0\0\0\0${rest}`),
  mp4: bytes(`\0\0\0\x20ftypisom\0\0\x02\0${rest}`),
  mov: bytes(`\0\0\0\x14ftypqt  \0\0\x02\0${rest}`),
  m4a: bytes(`\0\0\0\x20ftypM4A \0\0\x02\0${rest}`),
  unknownBrand: bytes(`\0\0\0\x1cftypjxl \0\0\0\0${rest}`),
  webm: bytes(`\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm${rest}`),
  mkv: bytes(`\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska${rest}`),
  mp3: bytes(`ID3\x04\0\0\0\0\0\0${rest}`),
  mp3Frame: bytes(`\xff\xfb\x90\x64${rest}`),
  aac: bytes(`\xff\xf1\x50\x80${rest}`),
  wav: bytes(`RIFF\x24\0\0\0WAVEfmt ${rest}`),
  flac: bytes(`fLaC\0\0\0\x22${rest}`),
  ogg: bytes(`OggS\0\x02\0\0${rest}`),
  aiff: bytes(`FORM\0\0\0\x2eAIFFCOMM${rest}`),
  aifc: bytes(`FORM\0\0\0\x2eAIFCFVER${rest}`),
  unknown: bytes(`plain text, nothing else${rest}`),
} as const;
