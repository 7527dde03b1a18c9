/** The smallest PNG: one transparent pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function pngBytes(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
}

/** A WAV file of silence. */
export function wavBytes(seconds: number): Uint8Array<ArrayBuffer> {
  const rate = 8000;
  const bytes = new Uint8Array(44 + seconds * rate);
  const view = new DataView(bytes.buffer);
  const text = (offset: number, value: string): void =>
    bytes.set(new TextEncoder().encode(value), offset);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  text(36, 'data');
  view.setUint32(40, seconds * rate, true);
  bytes.fill(128, 44);
  return bytes;
}

/** Checks the first bytes of an MP4 file. */
export function isMp4(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.slice(4, 8)) === 'ftyp';
}
