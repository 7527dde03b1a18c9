import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { decodeBytes, decodeDataURL } from '../../answers/bytes.ts';
import { ContainerWalk } from '../../answers/container.ts';
import { readErrorText } from '../../answers/failure.ts';
import { isObject, isText, toFields } from '../../answers/objects.ts';
import {
  describeContent,
  describeEnd,
  type FileEnd,
  ReceivedFile,
  textLength,
} from '../../answers/received-file.ts';
import { check, checkFunction, checkObject, checkSignal, checkText } from '../../options/check.ts';
import { UnexpectedResponseError } from '../../errors/api-errors.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { explainFileError, checkTarget, GrowingFile } from './durable.ts';
import { isEncoded } from './parts.ts';

/** An image from `images.generate()`: base64 or a URL. */
export interface SavableImage {
  readonly b64_json?: string | null | undefined;
  readonly url?: string | null | undefined;
}

/** Source of the bytes to save. */
export type Savable = Response | Blob | Uint8Array | SavableImage;

/** An open source of bytes. */
export interface OpenBody {
  /** Returns the next bytes, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Discards the rest; a pending read ends. */
  cancel(): void;
  /** Number of bytes, if known. */
  readonly total: number | undefined;
  /** `true` if the bytes are as sent, without content decoding. */
  readonly isAsSent: boolean;
  /** The part of a file that a server sends, whose content and end are checked; absent for bytes of the caller. */
  readonly received?: 'whole' | 'rest' | undefined;
}

/** Options of {@link saveTo}. */
export interface SaveOptions {
  /** Aborts the download and removes the partial file. */
  signal?: AbortSignal | undefined;
  /**
   * Called and awaited after each chunk with the bytes received so far, and the total if the response
   * reports it. If it throws, the download fails with its error.
   */
  onProgress?: ((progress: SaveProgress) => unknown) | undefined;
}

/** Progress of a download. */
export interface SaveProgress {
  /** Number of bytes written so far. */
  readonly received: number;
  /** Total number of bytes; `undefined` if the response does not report it. */
  readonly total: number | undefined;
}

/** A written file. */
export interface SavedFile {
  /** The absolute path. */
  readonly path: string;
  /** Its size in bytes. */
  readonly bytes: number;
}

/**
 * Writes a result to a file.
 *
 * The bytes are streamed to a temporary file next to `path`, which replaces `path` once it is complete
 * and its length is correct, so `path` never contains a partial file. Memory use does not depend on the
 * size, except for base64 and data URLs.
 *
 * @param source - The result of `audio.speech.create()` or `videos.downloadContent()`, an image from
 * `images.generate()`, or bytes. Image URLs are fetched without the key.
 * @param path - The file to write. An existing file is replaced.
 * @throws `FileError` if the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` if the body is cut off, has an unexpected length, ends with an error of the
 * gateway, or is a page, XML or JSON although `path` does not end like one
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
  const saveOptions = options ?? {};
  checkSaveOptions(saveOptions);
  const temporary = join(dirname(target), `.${randomBytes(12).toString('hex')}.part`);
  let body: OpenBody | undefined;
  let file: GrowingFile | undefined;
  try {
    await checkTarget(target);
    file = await GrowingFile.create(temporary);
    body = await openSavable(source, saveOptions.signal);
    await receive(body, file, saveOptions);
    await checkLength(body, file);
    if (body.received !== undefined) await checkContent(file, target);
    await file.finish(target);
    return { path: target, bytes: file.size };
  } catch (error) {
    if (body !== undefined) body.cancel();
    else if (isResponse(source)) source.body?.cancel().catch(() => {});
    // The original error is more useful than one from the cleanup.
    await file?.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    throw explainFileError(error, target);
  }
}

/** Checks a path and returns it as an absolute one. */
export function checkPath(field: string, path: unknown): string {
  const text = checkText(field, path, 'the path of the file to write');
  check(!text.includes('\0'), field, 'must not contain a null character.');
  return resolve(text);
}

/** Checks the options that all downloads share. */
export function checkSaveOptions({ signal, onProgress }: SaveOptions): void {
  checkSignal(signal);
  checkFunction('onProgress', onProgress);
}

/** Creates the error for an incomplete or wrong file. */
export function incompleteError(problem: string): UnexpectedResponseError {
  const advice = 'Downloads are free, so it is safe to repeat them.';
  return new UnexpectedResponseError(`The file was not saved: ${problem}`, {
    outcome: 'unknown',
    advice,
  });
}

/** Appends a body to a file. */
export async function receive(
  body: Pick<OpenBody, 'read' | 'cancel' | 'total' | 'received'>,
  file: GrowingFile,
  { signal, onProgress }: SaveOptions,
): Promise<void> {
  const { total, received } = body;
  const isProof = received === 'whole' && total === undefined;
  const ending = received === undefined ? undefined : new ReceivedFile(isProof);
  // Not every body ends after an abort.
  const cancel = (): void => body.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const bytes = await body.read();
      signal?.throwIfAborted();
      if (bytes === undefined) break;
      await file.append(ending?.add(bytes) ?? bytes);
      // Stops an endless body before it fills the disk.
      if (total !== undefined && file.size > total) {
        throw incompleteError(`more than ${total} bytes were received.`);
      }
      await onProgress?.({ received: file.size, total });
    }
    if (ending !== undefined) await finishFile(file, ending.end());
  } catch (error) {
    cancel();
    // What was held back is a part of the file, which a download may continue.
    if (ending !== undefined) await file.append(ending.end().rest).catch(() => {});
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Writes the last bytes of a file. Throws if it ends too early. */
async function finishFile(file: GrowingFile, end: FileEnd): Promise<void> {
  await file.append(end.rest);
  const problem = describeEnd(end, file.size);
  if (problem !== undefined) throw incompleteError(problem);
}

/** Throws if a file that was received in several parts is longer than all of them. */
export async function checkContainer(file: GrowingFile): Promise<void> {
  const walk = new ContainerWalk();
  const stream: AsyncIterable<Uint8Array> = createReadStream(file.path);
  for await (const bytes of stream) walk.add(bytes);
  const { isCut } = walk;
  const problem = describeEnd({ rest: new Uint8Array(), isCut }, file.size);
  if (problem !== undefined) throw incompleteError(problem);
}

/** Names of files whose content may be text. */
const textFile = /\.(json|html?|xml|txt|md|csv|srt|vtt)$/i;

/** Throws if a server sent a page, XML, JSON or nothing at all instead of a file. */
async function checkContent(file: GrowingFile, target: string): Promise<void> {
  if (textFile.test(target)) return;
  const head = await open(file.path);
  try {
    const { buffer, bytesRead } = await head.read(Buffer.alloc(textLength), 0, textLength, 0);
    const beginning = buffer.toString('utf8', 0, bytesRead);
    const problem = describeContent(beginning);
    if (problem !== undefined) throw incompleteError(problem);
  } finally {
    await head.close();
  }
}

/** Throws if the length of a received file is wrong. */
export async function checkLength(
  { total }: Pick<OpenBody, 'total'>,
  file: GrowingFile,
): Promise<void> {
  if (total !== undefined && file.size !== total) {
    throw incompleteError(`${file.size} of ${total} bytes were received.`);
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
 * Opens the body of a response. Some gateways send the text of a data URL instead of the file; it is
 * decoded.
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
    return openBytes(decodeDataURL(whole.toString('latin1'))?.bytes ?? whole);
  }
  // `content-length` is the length of the encoded body.
  const isAsSent = !isEncoded(headers);
  const length = headers.get('content-length') ?? '';
  return {
    read,
    cancel,
    total: /^\d+$/.test(length) && isAsSent ? Number(length) : undefined,
    isAsSent,
    received: 'whole',
  };
}

/** Opens a response with the rest of a file of `total` bytes. */
export function openRest({ body }: Response, total: number | undefined): OpenBody {
  const source = body === null ? openBytes(new Uint8Array()) : openStream(body);
  return { ...source, total, isAsSent: true, received: 'rest' };
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

/** Fetches an image by its URL, without the key, because another host stores it. */
async function openURL(url: string, signal: AbortSignal | undefined): Promise<OpenBody> {
  const inline = decodeDataURL(url);
  if (inline !== undefined) return openBytes(inline.bytes);
  check(/^https?:\/\//i.test(url), 'url', 'is not an http(s) or data URL.');
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (response.ok) return openResponse(response);
  const { message } = readErrorText(await readBeginning(response));
  const reason = message === undefined ? 'it may have expired.' : `it says: ${message}`;
  throw new InvalidInputError('url', `responded with status ${response.status}; ${reason}`);
}

/** Returns the beginning of a body as text, and discards the rest. */
async function readBeginning({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= textLength) break;
    }
  } catch {
    // The status is known.
  }
  return Buffer.concat(chunks).toString('utf8', 0, textLength);
}

function isResponse(source: unknown): source is Response {
  return isObject(source) && 'headers' in source && 'bodyUsed' in source && 'body' in source;
}

function checkResponse({ body, bodyUsed, ok, status }: Response): void {
  check(ok, 'response', `has status ${status}, so its body is an error, not a file.`);
  const isUnread = body !== null && !bodyUsed && !body.locked;
  check(isUnread, 'response', 'was already read, so its body cannot be saved.');
}

/** Opens any supported source. */
async function openSavable(source: unknown, signal: AbortSignal | undefined): Promise<OpenBody> {
  if (source instanceof Uint8Array) return openBytes(source);
  if (source instanceof Blob) {
    const body = openStream(source.stream());
    return { ...body, total: source.size, isAsSent: true };
  }
  if (isResponse(source)) return openResponse(source);
  const { b64_json: base64, url } = toFields(source);
  if (isText(base64)) {
    const decoded = decodeBytes(base64);
    check(decoded !== undefined, 'b64_json', 'is neither base64 nor a data URL.');
    return openBytes(decoded.bytes);
  }
  const isURL = typeof url === 'string' && url !== '';
  check(isURL, 'source', 'must be a response, a Blob, bytes or an image.');
  return openURL(url, signal);
}
