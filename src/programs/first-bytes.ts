import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { findFormatByBytes, sniffLength } from '../answers/bytes.ts';

/** What a program saves. */
export type Medium = 'image' | 'video' | 'audio';

/** Beginnings of formats that the gateway does not accept as input, but a model may make; one character per byte. */
const otherFormats: Readonly<Record<Medium, RegExp>> = {
  image: /^(BM|II\*|MM.\*|.{4}JXL |\xff\n|8BPS|\s*<(\?xml|svg))/is,
  video: /^(.E\xdf\xa3|RIFF.{4}AVI |FLV|.{4}(moov|mdat|free|wide|skip))/s,
  audio: /^(#!AMR|caff|\.snd|.E\xdf\xa3|wvpk)/s,
};

const names: Readonly<Record<Medium, string>> = {
  image: 'a picture',
  video: 'a video',
  audio: 'sound',
};

/** Samples, which have no signature. */
const rawSamples = /^\.(pcm|raw)$/i;

function isMedium(head: Uint8Array, medium: Medium): boolean {
  const { types = {} } = findFormatByBytes(head) ?? {};
  const found = Object.values(types);
  // Sound may be in a container for video, and some models send a moving picture.
  const isKnown = found.some((type) => medium !== 'image' || type.startsWith('image/'));
  const isImage = medium !== 'image' && found.some((type) => type.startsWith('image/'));
  if (isKnown && !isImage) return true;
  return otherFormats[medium].test(String.fromCharCode(...head));
}

/**
 * Returns a sentence if a saved result does not begin like a file of its medium, so that no program may open it;
 * `undefined` if it does.
 */
export async function describeOddFile(path: string, medium: Medium): Promise<string | undefined> {
  if (rawSamples.test(extname(path))) return undefined;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffLength), 0, sniffLength, 0);
    const head = buffer.subarray(0, bytesRead);
    if (isMedium(head, medium)) return undefined;
    const text = head
      .toString('latin1')
      .replaceAll(/[^\x20-\x7e]+/g, ' ')
      .slice(0, 40)
      .trim();
    const shown = text === '' ? '' : `: it begins with ${JSON.stringify(text)}`;
    return `${path} is paid for, but is not ${names[medium]}${shown}.`;
  } finally {
    await file.close();
  }
}
