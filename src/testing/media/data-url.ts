import { base64, fromBase64, type Bytes } from './bytes.ts';

/** The bytes of a base64 data URL, or nothing when the text is something else. */
export function readDataURL(url: string): Bytes | undefined {
  const content = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  return content === undefined ? undefined : fromBase64(content);
}

/** A data URL with some bytes. */
export function dataURL(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${base64(bytes)}`;
}
