import { InvalidInputError } from '../errors/gateway-error.ts';
import { decodeDataURL } from './data-url.ts';
import { digestOf, type Digest } from './digests.ts';
import { isEncoded } from './versions.ts';

/** An image as `images.generate()` gives it: its bytes as base64, or where it is. */
export interface SavableImage {
  readonly b64_json?: string | null | undefined;
  readonly url?: string | null | undefined;
}

/** Where the bytes of a result come from. */
export type Savable = Response | Blob | Uint8Array | SavableImage;

/** Bytes to be saved, and what is known of them. */
export interface OpenBody {
  /** The next bytes, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Lets go of what is left; a read that is under way ends. */
  cancel(): void;
  /** Their number, where it is known. */
  readonly total: number | undefined;
  /** Of the whole file, where it is known. */
  readonly digest: Digest | undefined;
  /** Whether these are the bytes that were sent, and not decoded ones. */
  readonly isAsSent: boolean;
}

type Source = Pick<OpenBody, 'read' | 'cancel'>;

function openStream(stream: ReadableStream<Uint8Array>): Source {
  const reader = stream.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}),
  };
}

const dataPrefix = 'data:';

/**
 * Opens the body of an answer. Some gateways send the text of a data URL in place of the file that it
 * stands for; its bytes come out then.
 */
export async function openResponse(response: Response): Promise<OpenBody> {
  checkResponse(response);
  const { body, headers, status } = response;
  const source = body === null ? openBytes(new Uint8Array()) : openStream(body);
  const first: Uint8Array[] = [];
  const head = (): string => Buffer.concat(first).toString('latin1', 0, dataPrefix.length);
  while (head().length < dataPrefix.length && dataPrefix.startsWith(head().toLowerCase())) {
    const bytes = await source.read();
    if (bytes === undefined) break;
    first.push(bytes);
  }
  const { cancel } = source;
  const read = async (): Promise<Uint8Array | undefined> => first.shift() ?? source.read();
  if (head().toLowerCase() === dataPrefix) {
    const text: Uint8Array[] = [];
    for (let bytes = await read(); bytes !== undefined; bytes = await read()) text.push(bytes);
    const whole = Buffer.concat(text);
    return openBytes(decodeDataURL(whole.toString('latin1')) ?? whole);
  }
  // What the headers say is about the body as it travels.
  const isAsSent = !isEncoded(headers);
  const length = headers.get('content-length') ?? '';
  return {
    read,
    cancel,
    total: /^\d+$/.test(length) && isAsSent ? Number(length) : undefined,
    digest: isAsSent ? digestOf(headers, status === 200) : undefined,
    isAsSent,
  };
}

/** The body of an answer that holds the rest of a file of which so much is known. */
export function openRest(
  { body, headers }: Response,
  { total, digest }: Pick<OpenBody, 'total' | 'digest'>,
): OpenBody {
  const source = body === null ? openBytes(new Uint8Array()) : openStream(body);
  return { ...source, total, digest: digestOf(headers, false) ?? digest, isAsSent: true };
}

export function openBytes(bytes: Uint8Array): OpenBody {
  const left = [bytes];
  return {
    read: async () => left.shift(),
    cancel: () => {},
    total: bytes.byteLength,
    digest: undefined,
    isAsSent: false,
  };
}

/** Reads an image from where it is. No key goes along: it is stored with somebody else. */
async function openURL(url: string, signal: AbortSignal | undefined): Promise<OpenBody> {
  const bytes = decodeDataURL(url);
  if (bytes !== undefined) return openBytes(bytes);
  if (!/^https?:\/\//i.test(url)) throw new InvalidInputError('url', 'is no http(s) or data URL.');
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (response.ok) return openResponse(response);
  await response.body?.cancel();
  throw new InvalidInputError(
    'url',
    `answered with status ${response.status}; it may have expired.`,
  );
}

function isResponse(source: object): source is Response {
  return 'headers' in source && 'bodyUsed' in source && 'body' in source;
}

/**
 * Checks what is to be saved before a file is made for it.
 *
 * @throws `InvalidInputError` saying what is wrong with it
 */
export function checkSavable(source: unknown): void {
  if (source instanceof Uint8Array || source instanceof Blob) return;
  if (typeof source === 'object' && source !== null) {
    if (isResponse(source)) return checkResponse(source);
    const { b64_json: base64, url }: SavableImage = { ...source };
    const texts: readonly unknown[] = [base64, url];
    if (texts.some((text) => typeof text === 'string' && text !== '')) return;
  }
  throw new InvalidInputError('source', 'must be a response, a Blob, bytes or an image.');
}

function checkResponse({ body, bodyUsed, ok, status }: Response): void {
  if (!ok) {
    const problem = `has status ${status}, so its body is an error and no file.`;
    throw new InvalidInputError('response', problem);
  }
  if (body === null || bodyUsed || body.locked) {
    throw new InvalidInputError('response', 'has no body left to save; it was already read.');
  }
}

/** Opens whatever can be saved, and was checked. */
export async function openSavable(
  source: Savable,
  signal: AbortSignal | undefined,
): Promise<OpenBody> {
  if (source instanceof Uint8Array) return openBytes(source);
  if (source instanceof Blob) {
    return {
      ...openStream(source.stream()),
      total: source.size,
      digest: undefined,
      isAsSent: true,
    };
  }
  if (isResponse(source)) return openResponse(source);
  const { b64_json: base64, url } = source;
  return typeof base64 === 'string' && base64 !== ''
    ? openBytes(Buffer.from(base64, 'base64'))
    : openURL(url ?? '', signal);
}

/** Lets go of a body that nobody will read. */
export function discard(source: Savable): void {
  if ('body' in source) source.body?.cancel().catch(() => {});
}
