import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../answers/objects.ts';
import { check, checkFunction, checkObject, checkSignal, checkText } from '../check.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { explainFileError, checkTarget, GrowingFile } from './durable.ts';
import { isEncoded } from './parts.ts';

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
  /** Whether these are the bytes that were sent, and not decoded ones. */
  readonly isAsSent: boolean;
}

/** Options of {@link saveTo}. */
export interface SaveOptions {
  /** Stops the download. Nothing is left behind. */
  signal?: AbortSignal | undefined;
  /**
   * Called after each chunk with the bytes so far, and the total where the answer tells it. It is
   * awaited; if it throws, the download ends with its error.
   */
  onProgress?: ((progress: SaveProgress) => unknown) | undefined;
}

/** How far a download has come. */
export interface SaveProgress {
  /** Bytes written so far. */
  readonly received: number;
  /** Bytes in all, or `undefined` when the answer does not tell. */
  readonly total: number | undefined;
}

/** A file that was written. */
export interface SavedFile {
  /** The absolute path. */
  readonly path: string;
  /** Its size in bytes. */
  readonly bytes: number;
}

/**
 * Writes a result to disk.
 *
 * The bytes stream into a temporary file beside `path`, which takes its place only when everything
 * has come, so `path` never holds half a file. The length is checked. Memory stays flat whatever the size, except for base64 and data URLs.
 *
 * @param source - What `audio.speech.create()` or `videos.downloadContent()` returned, an image of
 * `images.generate()`, or bytes. The URL of an image is fetched without the key.
 * @param path - The file to write. An existing one is replaced.
 * @throws `FileError` when the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` when the body breaks off, or is not as long as announced
 *
 * @example
 * await saveTo(await client.audio.speech.create({ model, voice, input }), 'speech.mp3');
 */
export async function saveTo(
  source: Savable,
  path: string,
  options: SaveOptions = {},
): Promise<SavedFile> {
  const target = checkPath('path', path);
  checkObject('options', options);
  const given = options ?? {};
  checkSaveOptions(given);
  const temporary = join(dirname(target), `.${randomBytes(12).toString('hex')}.part`);
  let body: OpenBody | undefined;
  let file: GrowingFile | undefined;
  try {
    await checkTarget(target);
    file = await GrowingFile.create(temporary);
    body = await openSavable(source, given.signal);
    await receive(body, file, given);
    await checkWhole(body, file);
    await file.finish(target);
    return { path: target, bytes: file.size };
  } catch (error) {
    if (body !== undefined) body.cancel();
    else if (isResponse(source)) source.body?.cancel().catch(() => {});
    await file?.close();
    await rm(temporary, { force: true });
    throw explainFileError(error, target);
  }
}

/** The absolute path of a file to be written. */
export function checkPath(field: string, path: unknown): string {
  const text = checkText(field, path, 'the path of the file to write');
  check(!text.includes('\0'), field, 'may not hold a zero character.');
  return resolve(text);
}

/** Checks the options of whatever is saved. */
export function checkSaveOptions({ signal, onProgress }: SaveOptions): void {
  checkSignal(signal);
  checkFunction('onProgress', onProgress);
}

/** The error for what is not, or not all of, the file. */
export function notWhole(problem: string): UnexpectedResponseError {
  const advice = 'Downloads are free, so it is safe to repeat them.';
  return new UnexpectedResponseError(`The file is not whole: ${problem}`, {
    outcome: 'unknown',
    advice,
  });
}

/** Writes a body to the end of a file. */
export async function receive(
  body: Pick<OpenBody, 'read' | 'cancel' | 'total'>,
  file: GrowingFile,
  { signal, onProgress }: SaveOptions,
): Promise<void> {
  // Not every body ends by itself when its caller aborts.
  const cancel = (): void => body.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const bytes = await body.read();
      signal?.throwIfAborted();
      if (bytes === undefined) return;
      await file.append(bytes);
      // It could go on until the disk is full.
      if (body.total !== undefined && file.size > body.total) {
        throw notWhole(`more than ${body.total} bytes have come.`);
      }
      await onProgress?.({ received: file.size, total: body.total });
    }
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Checks a file that was received. */
export async function checkWhole(
  { total }: Pick<OpenBody, 'total'>,
  file: GrowingFile,
): Promise<void> {
  if (total !== undefined && file.size !== total) {
    throw notWhole(`${file.size} of ${total} bytes have come.`);
  }
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
  const { body, headers } = response;
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
    isAsSent,
  };
}

/** Opens the body of a response that has the rest of a file of `total` bytes. */
export function openRest({ body }: Response, total: number | undefined): OpenBody {
  const source = body === null ? openBytes(new Uint8Array()) : openStream(body);
  return { ...source, total, isAsSent: true };
}

export function openBytes(bytes: Uint8Array): OpenBody {
  const left = [bytes];
  return {
    read: async () => left.shift(),
    cancel: () => {},
    total: bytes.byteLength,
    isAsSent: false,
  };
}

/** Reads an image from where it is. No key goes along: it is stored with somebody else. */
async function openURL(url: string, signal: AbortSignal | undefined): Promise<OpenBody> {
  const bytes = decodeDataURL(url);
  if (bytes !== undefined) return openBytes(bytes);
  check(/^https?:\/\//i.test(url), 'url', 'is no http(s) or data URL.');
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (response.ok) return openResponse(response);
  await response.body?.cancel();
  throw new InvalidInputError(
    'url',
    `answered with status ${response.status}; it may have expired.`,
  );
}

function isResponse(source: unknown): source is Response {
  return isObject(source) && 'headers' in source && 'bodyUsed' in source && 'body' in source;
}

function checkResponse({ body, bodyUsed, ok, status }: Response): void {
  check(ok, 'response', `has status ${status}, so its body is an error and no file.`);
  const isUnread = body !== null && !bodyUsed && !body.locked;
  check(isUnread, 'response', 'has no body left to save; it was already read.');
}

/** Opens whatever can be saved. */
async function openSavable(source: unknown, signal: AbortSignal | undefined): Promise<OpenBody> {
  if (source instanceof Uint8Array) return openBytes(source);
  if (source instanceof Blob) {
    const body = openStream(source.stream());
    return { ...body, total: source.size, isAsSent: true };
  }
  if (isResponse(source)) return openResponse(source);
  const { b64_json: base64, url } = isObject(source) ? source : {};
  if (typeof base64 === 'string' && base64 !== '') return openBytes(Buffer.from(base64, 'base64'));
  const isURL = typeof url === 'string' && url !== '';
  check(isURL, 'source', 'must be a response, a Blob, bytes or an image.');
  return openURL(url, signal);
}

/** The bytes of a data URL; `undefined` when the text is none. */
export function decodeDataURL(url: string): Uint8Array | undefined {
  const [, parameters = '', content] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (content === undefined) return undefined;
  if (/;\s*base64\s*$/i.test(parameters)) return Buffer.from(content, 'base64');
  try {
    return Buffer.from(decodeURIComponent(content));
  } catch {
    return undefined;
  }
}
