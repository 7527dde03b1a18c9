import { InvalidInputError, UnexpectedResponseError, type Gateway } from '../index.ts';
import { isAbort } from './errors.ts';

/** Bytes as the AI SDK hands them over: as they are, or in base64. */
export type Bytes = Uint8Array | string;

/** The bytes themselves. */
export function bytesOf(data: Bytes): Uint8Array<ArrayBuffer> {
  if (typeof data !== 'string') return new Uint8Array(data);
  // Some write base64 for URLs.
  const text = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Bytes in base64. Done in pieces, as a call takes only so many arguments. */
function base64Of(data: Bytes): string {
  if (typeof data === 'string') return data;
  let text = '';
  for (let at = 0; at < data.length; at += 8192) {
    text += String.fromCharCode(...data.subarray(at, at + 8192));
  }
  return btoa(text);
}

/** Bytes as a URL that holds them. */
export function dataURL(data: Bytes, type: string): string {
  return `data:${type};base64,${base64Of(data)}`;
}

/** The base64 in a `data:` URL, if it is one. */
export function base64In(url: string): string | undefined {
  return /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
}

/** How files of known types begin, in base64. */
const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** The type of a picture, by how it begins. */
export function typeOf(data: Bytes): string | undefined {
  const beginning = base64Of(data.slice(0, 12));
  return beginnings.find(([text]) => beginning.startsWith(text))?.[1];
}

/** How often a file is read in all. Reading is free, and what is read is paid for. */
const attempts = 3;

/**
 * Reads a file that the gateway refers to, at whichever host, with the retries and limits of the
 * client. Neither the key nor any header or query of the client's is sent there.
 *
 * @throws a `GatewayError` when that fails
 */
export async function download(
  client: Gateway,
  address: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UnexpectedResponseError('The gateway sent an address that is none of the web.', {
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
      if (bytes.length > 0) return bytes;
      throw new UnexpectedResponseError('The file is empty.', { outcome: 'unknown' });
    } catch (error) {
      const isOver = isAbort(error) || InvalidInputError.isInstance(error);
      if (isOver || attempt === attempts) throw error;
    }
  }
}
