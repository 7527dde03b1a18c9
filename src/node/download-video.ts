import {
  APIError,
  APIConnectionError,
  APIUserAbortError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
} from '../errors/api-errors.ts';
import { ContentExpiredError, ContentNotReadyError } from '../errors/operation-errors.ts';
import type { Gateway } from '../gateway.ts';
import type { VideoDownloadOptions } from '../videos/wait-options.ts';
import { isCompleted, ownTask } from '../videos/ref.ts';
import { delay } from '../http/abort.ts';
import { pairsOf } from '../http/request.ts';
import type { VideoTaskLike } from '../videos/types.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { checkBoolean, checkObject } from '../check.ts';
import { explainFileError, checkTarget } from './durable.ts';
import { isEncoded, isSameVersion, Part, rangeOf, type Resumable, validatorOf } from './parts.ts';
import {
  checkPath,
  checkSaveOptions,
  checkWhole,
  decodeDataURL,
  notWhole,
  openBytes,
  openResponse,
  openRest,
  receive,
  type OpenBody,
  type SavedFile,
  type SaveOptions,
} from './save-to.ts';

/** Options of `downloadVideo`. Those of a request hold for each of its requests. */
export interface DownloadVideoOptions
  extends
    SaveOptions,
    Pick<
      VideoDownloadOptions,
      'variant' | 'headers' | 'query' | 'fetchOptions' | 'maxRetries' | 'timeout' | 'idleTimeout'
    > {
  /** The file to write. An existing one is replaced when everything has come. */
  to: string;
  /**
   * Whether to keep what has come when the download fails, and to go on with what an earlier one left,
   * also one of a process that was killed. It works where the server names the version of the file and
   * honours `Range`; elsewhere the download begins again.
   * @defaultValue false
   */
  resume?: boolean | undefined;
}

/** What is needed of a client. */
type Client = Pick<Gateway, 'baseURL' | 'videos'>;

/**
 * Downloads the content of a completed task into a file. Free.
 *
 * It streams into a temporary file beside `to`, which takes its place only when everything has come and
 * its length is right. A download that breaks off is gone on with
 * at its end where the server honours `Range`, and begins again elsewhere. Memory stays flat whatever
 * the size. The key is never sent on to another host. Limits of downloads, and content that is not there
 * yet, are waited for as `videos.downloadContent` does it.
 *
 * @param client - The client of the gateway that has the task.
 * @param task - The id, the handle (`task.ref`) or the task.
 * @throws `ContentNotReadyError` when the task is not completed yet
 * @throws `ContentExpiredError` when the content is gone
 * @throws `VideoFailedError` when the task failed
 * @throws `FileError` when the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` when the body breaks off again and again, or is not as announced
 * @throws `APIUserAbortError` when `signal` was aborted
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
  const { id } = ownTask(client, task).ref;
  const { resume = false, variant = '', signal } = options;
  checkSaveOptions(options);
  checkBoolean('resume', resume);
  checkObject('headers', options.headers);
  let part: Part | undefined;
  try {
    await checkTarget(target);
    part = await Part.take(target, `${client.baseURL} ${id} ${variant}`, resume);
    await new Download(client, task, part, options).run();
    await part.finish(target);
    return { path: target, bytes: part.file.size };
  } catch (error) {
    // The first error says more than what cleaning up may run into.
    await part?.release(resume && !ContentExpiredError.isInstance(error)).catch(() => {});
    if (signal?.aborted === true && !APIUserAbortError.isInstance(error)) {
      const init = { outcome: 'unknown', advice: 'It can be repeated.', cause: error } as const;
      throw new APIUserAbortError('The download was aborted.', init);
    }
    throw explainFileError(error, target);
  }
}

/** How often a download may break off without having gained anything, unless `maxRetries` is given. */
const defaultRetries = 2;

/** The pause before a download is gone on with, in milliseconds; it doubles with each failure. */
const firstPause = 1_000;
const longestPause = 30_000;

/** Whether an error passes, so that a download of the task can go on. */
function passes(error: unknown, task: VideoTaskLike): boolean {
  // A file that comes in a coding comes so again.
  if (UnexpectedResponseError.isInstance(error)) return !isEncoded(error.headers ?? new Headers());
  if (APIConnectionError.isInstance(error)) return true;
  const status = APIError.isInstance(error) ? error.status : undefined;
  // It was waited for.
  if (status === 502 && isCompleted(task)) return false;
  return status !== undefined && (status >= 500 || status === 429 || status === 408);
}

/** The film that a task itself holds, as a data URL. */
function heldBy(task: VideoTaskLike): Uint8Array | undefined {
  const url = typeof task === 'object' && 'url' in task ? task.url : undefined;
  return decodeDataURL(url ?? '');
}

/** Statuses that say nothing about where the content is. */
const definite = new Set([401, 402, 403, 429]);

/** One download, over all its requests. */
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

  /** Receives everything, however often the body breaks off on the way. */
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
        if (signal?.aborted === true || !passes(error, this.#task) || failures >= maxRetries)
          throw error;
      }
      longest = Math.max(longest, file.size);
      await delay(Math.min(longestPause, firstPause * 2 ** failures), signal);
    }
  }

  async #receive(): Promise<void> {
    const body = await this.#open();
    const { file } = this.#part;
    const { total } = body;
    let hasEnded = false;
    try {
      await receive(body, file, this.#options);
      hasEnded = true;
      await checkWhole(body, file);
    } catch (error) {
      const isShort = total !== undefined && file.size < total;
      const isLong = total !== undefined && file.size > total;
      // What is short is right so far; otherwise nobody knows which bytes are wrong.
      if (isLong || (hasEnded && !isShort)) await this.#part.restart(undefined);
      throw error;
    }
  }

  /** Opens what is still missing. */
  async #open(): Promise<OpenBody> {
    const { file, known } = this.#part;
    const part = file.size > 0 ? known : undefined;
    const held = this.#options.variant === undefined ? heldBy(this.#task) : undefined;
    if (held !== undefined) return this.#openDecoded(held);
    let response: Response;
    try {
      response = await this.#request(part);
    } catch (error) {
      const isPastEnd = part !== undefined && APIError.isInstance(error) && error.status === 416;
      if (!isPastEnd) {
        const bytes = await this.#decodeInstead(error);
        if (bytes === undefined) throw error;
        return this.#openDecoded(bytes);
      }
      response = new Response(null, { status: 416, headers: error.headers ?? {} });
    }
    const { status, headers } = response;
    if (status !== 206 && status !== 416) return this.#openWhole(response, undefined);
    const range = rangeOf(headers);
    if (part !== undefined) {
      const { start, total = part.total } = range ?? {};
      if (start === file.size && isSameVersion(headers, part)) {
        if (status === 416) return { ...openBytes(new Uint8Array()), total };
        const isRest = total === (part.total ?? total) && !isEncoded(headers);
        if (isRest) return openRest(response, total);
      }
      // Another part than the one that was asked for is of no use.
      await response.body?.cancel();
      await this.#part.restart(undefined);
      return this.#open();
    }
    if (range?.start === 0 && range.total !== undefined) {
      return this.#openWhole(response, range.total);
    }
    await response.body?.cancel();
    throw notWhole('a part of it has come that was not asked for.');
  }

  async #openDecoded(bytes: Uint8Array): Promise<OpenBody> {
    await this.#part.restart(undefined);
    return openBytes(bytes);
  }

  /** @param size - Of the file, where the answer tells it in another way than by its length. */
  async #openWhole(response: Response, size: number | undefined): Promise<OpenBody> {
    const body = await openResponse(response);
    const { isAsSent, total = size } = body;
    const validator = isAsSent ? validatorOf(response.headers) : undefined;
    const known = { total: size ?? total };
    await this.#part.restart(validator === undefined ? undefined : { validator, ...known });
    return { ...body, ...known };
  }

  #request(known: Resumable | undefined): Promise<Response> {
    const { to: _to, resume: _resume, onProgress: _onProgress, ...request } = this.#options;
    const headers = [...pairsOf(request.headers)];
    if (known !== undefined) {
      headers.push(['range', `bytes=${this.#part.file.size}-`], ['if-range', known.validator]);
    }
    return this.#client.videos.downloadContent(this.#task, { ...request, headers });
  }

  /** Results that the gateway holds as a data URL, which not all of them serve as content. */
  async #decodeInstead(error: unknown): Promise<Uint8Array | undefined> {
    if (!APIError.isInstance(error)) return undefined;
    const { status = 401, headers: sent } = error;
    if (UnexpectedRedirectError.isInstance(error)) {
      return decodeDataURL(sent?.get('location') ?? '');
    }
    const isKnown = ContentExpiredError.isInstance(error) || ContentNotReadyError.isInstance(error);
    if (isKnown || definite.has(status)) return undefined;
    const { signal, headers, query, fetchOptions } = this.#options;
    try {
      const options = { signal, headers, query, fetchOptions };
      return heldBy(await this.#client.videos.retrieve(this.#task, options));
    } catch {
      return undefined;
    }
  }
}
