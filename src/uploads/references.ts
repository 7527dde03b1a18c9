import { findFormatByBytes, imageFormats } from '../answers/bytes.ts';
import { check, checkText } from '../options/check.ts';
import type { GatewayProfile } from '../options/gateway-profile.ts';

/** Text that a server can fetch or decode. */
const address = /^(https?:\/\/[^\s/]|data:[^\s,]*,.)/i;

/** Media types of data URLs that are not images; without a type, a data URL is text. */
const otherData = /^data:(?:,|text\/|audio\/|application\/(?:json|pdf|xml|javascript|zip))/i;
/** Returns whether a data URL has a character that base64 has not, near its start. */
function isBrokenData(text: string): boolean {
  const comma = text.indexOf(',');
  const isBase64 = /^data:\S*;base64$/i.test(text.slice(0, comma));
  return isBase64 && /[^\w+/=%\s-]/.test(text.slice(comma + 1, comma + 102));
}

const path =
  /^(file:|[.~]{1,2}[\\/]|[a-z]:[\\/])|^[^\s:]*\.(png|jpe?g|webp|gif|avif|hei[cf]|bmp|tiff?)$/i;

const base64 = /^(?:[\w+/-]{4})*[\w+/-]{2,4}={0,2}\s*$/;
/** Shorter text without spaces is more often an id. */
const shortBase64 = 40;

const openPath = 'fileFromPath(path) of model-gateway/node';
const decode = "Buffer.from(x, 'base64')";

/** Describes what text is that is not an address, and what to pass instead. */
function problemWith(text: string): string {
  if (otherData.test(text)) return 'is a data URL, but not of an image.';
  if (isBrokenData(text)) return 'is a data URL whose data is not base64.';
  if (path.test(text)) return `is a path; pass ${openPath}.`;
  const isLong = text.length >= shortBase64 || /=\s*$/.test(text);
  if (isLong && base64.test(text)) {
    return `is base64; pass ${decode}, or a data URL such as data:image/png;base64,…`;
  }
  return `must be an http(s) URL or a data URL if it is text, because gateways ignore other text but charge for the result; ${openPath} opens a file, and ${decode} decodes base64.`;
}

/**
 * Checks a reference image that is sent as text.
 *
 * @throws `InvalidInputError` if it is neither an http(s) URL nor a data URL, nor allowed by the profile
 */
export function checkImageText(
  field: string,
  text: string,
  profile: Pick<GatewayProfile, 'imageReferences'> | undefined,
): void {
  checkText(field, text, 'an http(s) URL or a data URL');
  const { imageReferences = [] } = profile ?? {};
  const isAddress = address.test(text) && !otherData.test(text) && !isBrokenData(text);
  const isAllowed = isAddress || imageReferences.some((start) => text.startsWith(start));
  check(isAllowed, field, problemWith(text));
}

/** Beginnings of image formats that are text: SVG, and those of Unix tools. */
const textFormats = /^\s*(<\?xml|<svg|<!--|P[1-7]\s|#\?RADIANCE|\/\* XPM|#define )/i;
const otherFormats = /^(%PDF-|PK)/;

/** Returns whether bytes are text in UTF-8. The last character may be cut. */
function isUTF8(head: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex -- images contain control characters, and text does not
    return !/[\0-\x08\x0e-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}

/**
 * Checks the first bytes of an image. Unknown formats pass.
 *
 * @throws `InvalidInputError` if they are evidently not an image: text, audio, video, PDF or an archive
 */
export function checkImageBytes(field: string, head: Uint8Array): void {
  const format = findFormatByBytes(head);
  const start = String.fromCharCode(...head);
  const isMedia = format !== undefined && format.isGuess !== true && !imageFormats.includes(format);
  check(!isMedia && !otherFormats.test(start), field, 'is not an image.');
  if (format !== undefined || textFormats.test(start) || !isUTF8(head)) return;
  const isEncoded = head.byteLength >= shortBase64 && base64.test(start);
  const fix = isEncoded ? `decode it with ${decode}` : `${openPath} opens a file`;
  check(false, field, `contains text, not an image; ${fix}.`);
}
