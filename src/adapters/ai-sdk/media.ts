import { findProblem } from '../../answers/received-file.ts';
import { InvalidInputError, UnexpectedResponseError, type Gateway } from '../../index.ts';
import { isAbort } from './errors.ts';

/** Bytes as the AI SDK passes them: raw, or in base64. */
export type Bytes = Uint8Array | string;

/** Decodes base64. */
export function toBytes(data: Bytes): Uint8Array<ArrayBuffer> {
  if (typeof data !== 'string') return new Uint8Array(data);
  // Also accept base64url.
  const text = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Encodes bytes in base64, in chunks because the number of arguments of a call is limited. */
function toBase64(data: Bytes): string {
  if (typeof data === 'string') return data;
  let text = '';
  for (let at = 0; at < data.length; at += 8192) {
    text += String.fromCharCode(...data.subarray(at, at + 8192));
  }
  return btoa(text);
}

/** Creates a data URL. */
export function dataURL(data: Bytes, type: string): string {
  return `data:${type};base64,${toBase64(data)}`;
}

/** A file as the AI SDK passes it. */
type MediaFile =
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly data: Bytes; readonly mediaType: string };

/** Returns the URL of a file, or a data URL with its content. */
export function toReference(file: MediaFile): string {
  return file.type === 'url' ? file.url : dataURL(file.data, file.mediaType);
}

/** Returns the URL of a file, or its content for an upload. */
export function toUpload(file: MediaFile): string | { data: Uint8Array; type: string } {
  if (file.type === 'url') return file.url;
  return { data: toBytes(file.data), type: file.mediaType };
}

/** Returns the base64 content of a data URL; `undefined` for other URLs. */
export function dataURLContent(url: string): string | undefined {
  return /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
}

/** Signatures of image formats, in base64. */
const signatures: readonly (readonly [string, string])[] = [
  ['iVBORw', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** Detects the media type of an image by its signature. */
export function detectImageType(data: Bytes): string | undefined {
  const beginning = toBase64(data.slice(0, 12));
  return signatures.find(([text]) => beginning.startsWith(text))?.[1];
}

/** Maximum number of attempts to read a file. Reading is free, and the file is already paid for. */
const attempts = 3;

/**
 * Downloads a file that the gateway refers to, from any host, with the retries and limits of the client.
 * The key and the client's headers and query are not sent to that host.
 *
 * @throws a `GatewayError` if the download fails
 */
export async function download(
  client: Gateway,
  address: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UnexpectedResponseError('The gateway returned a URL that is not an http(s) URL.', {
      outcome: 'unknown',
    });
  }
  const host = client.withOptions({
    baseURL: url.origin,
    apiKey: () => 'none',
    defaultHeaders: {},
    defaultQuery: {},
  });
  const headers = { authorization: null, accept: '*/*' };
  for (let attempt = 1; ; attempt += 1) {
    const response = await host.get(url.pathname + url.search, { signal, headers }).asResponse();
    try {
      const bytes = new Uint8Array(await response.arrayBuffer());
      const problem = findProblem(bytes, !response.headers.has('content-length'));
      if (problem === undefined) return bytes;
      throw new UnexpectedResponseError(`The file is unusable: ${problem}`, { outcome: 'unknown' });
    } catch (error) {
      const isOver = isAbort(error) || InvalidInputError.isInstance(error);
      if (isOver || attempt === attempts) throw error;
    }
  }
}
