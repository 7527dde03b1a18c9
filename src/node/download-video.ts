import { APIUserAbortError, ContentExpiredError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { checkBoolean, checkObject } from '../check.ts';
import { ownTask } from '../videos/ref.ts';
import type { VideoTaskLike } from '../videos/types.ts';
import { Download, type Client, type DownloadVideoOptions } from './download.ts';
import { explainFileError } from './file-error.ts';
import { checkTarget } from './durable.ts';
import { Part } from './parts.ts';
import { checkPath, checkSaveOptions, type SavedFile } from './save-to.ts';

/**
 * Downloads the content of a completed task into a file. Free.
 *
 * It streams into a temporary file beside `to`, which takes its place only when everything has come and
 * length and digest, where the server gives one, are right. A download that breaks off is gone on with
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
  const { id } = ownTask(client, task);
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
