import { APIError } from '../errors/api-error.ts';
import {
  APIConnectionError,
  APIUserAbortError,
  UnexpectedRedirectError,
} from '../errors/connection-error.ts';
import {
  ContentExpiredError,
  ContentNotReadyError,
  UnexpectedResponseError,
} from '../errors/response-error.ts';
import type { Gateway } from '../gateway.ts';
import type { VideoDownloadOptions } from '../resources/videos.ts';
import { nameTask } from '../tasks/task-ref.ts';
import { delay } from '../time/delay.ts';
import type { VideoTaskLike } from '../types/videos.ts';
import { decodeDataURL } from './data-url.ts';
import { explainFileError } from './file-error.ts';
import { checkTarget } from './growing-file.ts';
import { Part, type Resumable } from './parts.ts';
import { openBytes, openResponse, openRest, type OpenBody } from './savable.ts';
import { checkPath, checkWhole, receive, type SavedFile, type SaveOptions } from './save-to.ts';

/** Options of {@link downloadVideo}. Those of a request hold for each of its requests. */
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

/** How often a download may break off without having gained anything, unless `maxRetries` is given. */
const defaultRetries = 2;

/** The pause before a download is gone on with, in milliseconds; it doubles with each failure. */
const firstPause = 1_000;

/** What names a version of the file, where the server tells it. Weak tags do not promise equal bytes. */
function validatorOf(headers: Headers): string | undefined {
  if (headers.has('content-encoding')) return undefined;
  const tag = headers.get('etag') ?? '';
  return /^"[^"]*"$/.test(tag) ? tag : (headers.get('last-modified') ?? undefined);
}

/** Where a partial answer begins, and the size of the whole. */
function rangeOf(headers: Headers): { start: number; total: number | undefined } | undefined {
  const [, start, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range')?.trim() ?? '') ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === '*' ? undefined : Number(total) };
}

/** Whether an error passes, so that a download can go on. */
function passes(error: unknown): boolean {
  if (UnexpectedResponseError.isInstance(error) || APIConnectionError.isInstance(error))
    return true;
  const status = APIError.isInstance(error) ? error.status : undefined;
  return status !== undefined && (status >= 500 || status === 429 || status === 408);
}

/** Statuses that say nothing about where the content is. */
const definite = new Set([401, 402, 403, 429]);

type Client = Pick<Gateway, 'baseURL' | 'videos'>;

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
        if (signal?.aborted === true || !passes(error) || failures >= maxRetries) throw error;
      }
      longest = Math.max(longest, file.size);
      await delay(firstPause * 2 ** failures, signal);
    }
  }

  async #receive(): Promise<void> {
    const body = await this.#open();
    await receive(body, this.#part.file, this.#options);
    try {
      await checkWhole(body, this.#part.file);
    } catch (error) {
      // Nobody knows which bytes are wrong.
      await this.#part.restart(undefined);
      throw error;
    }
  }

  /** Opens what is still missing. */
  async #open(): Promise<OpenBody> {
    const { file, known } = this.#part;
    const isResumed = known !== undefined && file.size > 0;
    let response: Response;
    try {
      response = await this.#request(isResumed ? known : undefined);
    } catch (error) {
      const isPastEnd = isResumed && APIError.isInstance(error) && error.status === 416;
      if (isPastEnd) return this.#openPastEnd(error.headers);
      const bytes = await this.#decodeInstead(error);
      if (bytes === undefined) throw error;
      await this.#part.restart(undefined);
      return openBytes(bytes);
    }
    const { headers, status } = response;
    const validator = validatorOf(headers);
    const range = status === 206 ? rangeOf(headers) : undefined;
    if (!isResumed || status !== 206) {
      const body = await openResponse(response);
      const total = range?.total ?? body.total;
      const isKnown = body.isAsSent && validator !== undefined;
      await this.#part.restart(isKnown ? { validator, total } : undefined);
      return { ...body, total };
    }
    const isSame = validator === undefined || validator === known.validator;
    if (range?.start === file.size && isSame) {
      return openRest(response, range.total ?? known.total);
    }
    // Another part than the one that was asked for is of no use.
    await response.body?.cancel();
    return this.#openAnew();
  }

  /** The part is as long as the file, or longer. */
  async #openPastEnd(headers: Headers | undefined): Promise<OpenBody> {
    const { size } = this.#part.file;
    if (headers?.get('content-range')?.trim() !== `bytes */${size}`) return this.#openAnew();
    return { ...openBytes(new Uint8Array()), total: size };
  }

  async #openAnew(): Promise<OpenBody> {
    await this.#part.restart(undefined);
    return this.#open();
  }

  #request(known: Resumable | undefined): Promise<Response> {
    const { to: _to, resume: _resume, onProgress: _onProgress, ...request } = this.#options;
    const given = request.headers;
    const headers = { ...(given instanceof Headers ? Object.fromEntries(given) : given) };
    if (known !== undefined) {
      headers['range'] = `bytes=${this.#part.file.size}-`;
      headers['if-range'] = known.validator;
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
      const { url = '' } = await this.#client.videos.retrieve(this.#task, options);
      return decodeDataURL(url);
    } catch {
      return undefined;
    }
  }
}

/**
 * Downloads the content of a completed task into a file. Free.
 *
 * It streams into a temporary file beside `to`, which takes its place only when everything has come and
 * length and digest, where the server gives one, are right. A download that breaks off is gone on with
 * at its end where the server honours `Range`, and begins again elsewhere. Memory stays flat whatever
 * the size. The key is never sent on to another host.
 *
 * @param client - The client of the gateway that has the task.
 * @param task - The id, the handle (`task.ref`) or the task.
 * @throws `ContentNotReadyError` when the task is not completed yet
 * @throws `ContentExpiredError` when the content is gone
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
  const target = checkPath('to', options?.to);
  const { id } = nameTask(task);
  const { resume = false, variant = '', signal } = options;
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
