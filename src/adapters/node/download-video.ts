import { decodeDataURL } from '../../answers/bytes.ts';
import {
  APIError,
  APIConnectionError,
  APIUserAbortError,
  UnexpectedResponseError,
} from '../../errors/api-errors.ts';
import { ContentExpiredError, ContentUnavailableError } from '../../errors/operation-errors.ts';
import type { FullClient } from '../../client/gateway.ts';
import type { VideoDownloadOptions } from '../../resources/videos/wait-options.ts';
import { findCompleted, resolveOwnTask } from '../../resources/videos/ref.ts';
import { delay } from '../../http/abort.ts';
import { headerPairs } from '../../http/request.ts';
import type { VideoTaskLike } from '../../resources/videos/types.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { checkBoolean, checkObject } from '../../options/check.ts';
import { explainFileError, checkTarget } from './durable.ts';
import {
  isEncoded,
  isSameVersion,
  Part,
  readRange,
  type Resumable,
  readValidator,
} from './parts.ts';
import {
  checkContainer,
  checkPath,
  checkSaveOptions,
  checkLength,
  incompleteError,
  openBytes,
  openResponse,
  openRest,
  receive,
  type OpenBody,
  type SavedFile,
  type SaveOptions,
} from './save-to.ts';

/** Options of `downloadVideo`. Request options apply to each of its requests. */
export interface DownloadVideoOptions
  extends
    SaveOptions,
    Pick<
      VideoDownloadOptions,
      | 'variant'
      | 'resultURL'
      | 'headers'
      | 'query'
      | 'fetchOptions'
      | 'maxRetries'
      | 'timeout'
      | 'idleTimeout'
    > {
  /** Path of the file to write. An existing file is replaced once the download is complete. */
  to: string;
  /**
   * Keep the partial file if the download fails, and resume the one of an earlier download, even if its
   * process was killed. Requires a server that sends a validator (ETag or Last-Modified) and supports
   * `Range`; otherwise the download starts over.
   * @defaultValue false
   */
  resume?: boolean | undefined;
}

/** The part of the client that a download uses. */
type Client = Pick<FullClient, 'videos'>;

/**
 * Downloads the content of a completed task to a file. Free.
 *
 * The content is streamed to a temporary file next to `to`, which replaces `to` once it is complete and
 * its length is correct. An interrupted download continues where it stopped if the server supports
 * `Range`, and starts over otherwise. Memory use does not depend on the size. The key is never sent to
 * another host. Download limits, and content that is not available yet, are handled as in
 * `videos.downloadContent`.
 *
 * @param client - The client of the gateway that has the task.
 * @param task - The id, the handle (`task.ref`) or the task.
 * @throws `ContentNotReadyError` if the task is not completed yet
 * @throws `ContentUnavailableError` if neither the content route nor the URL in the task returns the video;
 * `error.url` is that URL, or `undefined` if a completed task has none
 * @throws `ContentExpiredError` if the content has expired
 * @throws `VideoFailedError` if the task failed
 * @throws `FileError` if the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` if the body is repeatedly cut off, or has an unexpected length
 * @throws `APIUserAbortError` if `signal` was aborted
 *
 * @example
 * const video = await client.videos.wait(ref);
 * await downloadVideo(client, video, { to: 'boat.mp4', resume: true });
 */
export async function downloadVideo(
  client: Client,
  task: VideoTaskLike,
  options: DownloadVideoOptions,
): Promise<SavedFile> {
  if (typeof client?.videos?.downloadContent !== 'function') {
    throw new InvalidInputError('client', 'must be a Gateway.');
  }
  const target = checkPath('to', options?.to);
  const { id, baseURL } = resolveOwnTask(client.videos.transport(), task).ref;
  const { resume = false, variant = '', signal } = options;
  checkSaveOptions(options);
  checkBoolean('resume', resume);
  checkObject('headers', options.headers);
  let part: Part | undefined;
  try {
    await checkTarget(target);
    part = await Part.take(target, `${baseURL} ${id} ${variant}`, resume);
    await new Download(client, task, part, options).run();
    await part.finish(target);
    return { path: target, bytes: part.file.size };
  } catch (error) {
    // The original error is more useful than one from the cleanup.
    await part?.release(resume && !ContentExpiredError.isInstance(error)).catch(() => {});
    if (signal?.aborted === true && !APIUserAbortError.isInstance(error)) {
      const init = { outcome: 'unknown', advice: 'It can be repeated.', cause: error } as const;
      throw new APIUserAbortError('The download was aborted.', init);
    }
    throw explainFileError(error, target);
  }
}

/** Maximum number of consecutive failures without progress, unless `maxRetries` is set. */
const defaultRetries = 2;

/** Delay before a download is resumed, in milliseconds; it doubles with each failure. */
const firstPause = 1_000;
const longestPause = 30_000;

/** Returns whether the download can continue after an error. */
function isTransient(error: unknown, task: VideoTaskLike): boolean {
  // The client has already tried the URL in the task.
  if (ContentUnavailableError.isInstance(error)) return false;
  // A file with a content encoding would be encoded again.
  if (UnexpectedResponseError.isInstance(error)) return !isEncoded(error.headers ?? new Headers());
  if (APIConnectionError.isInstance(error)) return true;
  const status = APIError.isInstance(error) ? error.status : undefined;
  // The client has already retried it.
  if (status === 502 && findCompleted(task) !== undefined) return false;
  return status !== undefined && (status >= 500 || status === 429 || status === 408);
}

/** Returns the video if the task contains it as a data URL. */
function decodeTask(task: VideoTaskLike): Uint8Array | undefined {
  const url = typeof task === 'object' && 'url' in task ? task.url : undefined;
  return decodeDataURL(url ?? '')?.bytes;
}

/** A download across all its requests. */
class Download {
  readonly #client: Client;
  readonly #task: VideoTaskLike;
  readonly #part: Part;
  readonly #options: DownloadVideoOptions;

  constructor(client: Client, task: VideoTaskLike, part: Part, options: DownloadVideoOptions) {
    this.#client = client;
    this.#task = task;
    this.#part = part;
    this.#options = options;
  }

  /** Receives the whole file, resuming after interruptions. */
  async run(): Promise<void> {
    const { signal, maxRetries = defaultRetries } = this.#options;
    const { file } = this.#part;
    let longest = file.size;
    for (let failures = 0; ; failures += 1) {
      try {
        await this.#receive();
        return;
      } catch (error) {
        if (file.size > longest) failures = 0;
        if (signal?.aborted === true || !isTransient(error, this.#task) || failures >= maxRetries)
          throw error;
      }
      longest = Math.max(longest, file.size);
      await delay(Math.min(longestPause, firstPause * 2 ** failures), signal);
    }
  }

  async #receive(): Promise<void> {
    const body = await this.#open();
    const { file } = this.#part;
    const { total = Infinity } = body;
    try {
      await receive(body, file, this.#options);
      await checkLength(body, file);
      if (body.received === 'rest' && body.total === undefined) await checkContainer(file);
    } catch (error) {
      // A short file is correct so far; in a long one it is unknown which bytes are wrong.
      if (file.size > total) await this.#part.restart(undefined);
      throw error;
    }
  }

  /** Opens the missing part. */
  async #open(): Promise<OpenBody> {
    const { file, known } = this.#part;
    const part = file.size > 0 ? known : undefined;
    const decoded = this.#options.variant === undefined ? decodeTask(this.#task) : undefined;
    if (decoded !== undefined) return this.#openDecoded(decoded);
    let response: Response;
    try {
      response = await this.#request(part);
    } catch (error) {
      const isPastEnd = part !== undefined && APIError.isInstance(error) && error.status === 416;
      if (!isPastEnd) throw error;
      response = new Response(null, { status: 416, headers: error.headers ?? {} });
    }
    const { status, headers } = response;
    if (status !== 206 && status !== 416) return this.#openWhole(response, undefined);
    const range = readRange(headers);
    if (part !== undefined) {
      const { start, total = part.total } = range ?? {};
      if (start === file.size && isSameVersion(headers, part)) {
        if (status === 416) return { ...openBytes(new Uint8Array()), total };
        const isRest = total === (part.total ?? total) && !isEncoded(headers);
        if (isRest) return openRest(response, total);
      }
      // Discard a range other than the requested one.
      await response.body?.cancel();
      await this.#part.restart(undefined);
      return this.#open();
    }
    if (range?.start === 0 && range.total !== undefined) {
      return this.#openWhole(response, range.total);
    }
    await response.body?.cancel();
    throw incompleteError('the server sent a byte range that was not requested.');
  }

  async #openDecoded(bytes: Uint8Array): Promise<OpenBody> {
    await this.#part.restart(undefined);
    return openBytes(bytes);
  }

  /** @param size - Size of the file, if the response reports it other than by its length. */
  async #openWhole(response: Response, size: number | undefined): Promise<OpenBody> {
    const body = await openResponse(response);
    const { isAsSent, total = size } = body;
    const validator = isAsSent ? readValidator(response.headers) : undefined;
    const known = { total: size ?? total };
    await this.#part.restart(validator === undefined ? undefined : { validator, ...known });
    return { ...body, ...known };
  }

  #request(known: Resumable | undefined): Promise<Response> {
    const { to: _to, resume: _resume, onProgress: _onProgress, ...request } = this.#options;
    const headers = [...headerPairs(request.headers)];
    if (known !== undefined) {
      headers.push(['range', `bytes=${this.#part.file.size}-`], ['if-range', known.validator]);
    }
    return this.#client.videos.downloadContent(this.#task, { ...request, headers });
  }
}
