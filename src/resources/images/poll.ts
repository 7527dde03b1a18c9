import { findIds, isObject, toFields, unwrapLevels, trimmedText } from '../../answers/objects.ts';
import type { ResponseSchema } from '../../answers/reader.ts';
import { sentBy, withoutSent } from '../../answers/result-places.ts';
import { APIError, UnexpectedResponseError } from '../../errors/api-errors.ts';
import type { WithResponse } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { displayURL, isSameOrigin } from '../../http/url.ts';
import type { RequestOptions } from '../../options/options.ts';
import { findComplaint, findFailure } from '../../answers/failure.ts';
import {
  findProgress,
  findStatusWord,
  findWithheld,
  hasFailedByNumber,
  parseWithIds,
  readStatusWord,
  statuses,
} from '../../tasks/reading.ts';
import type { Target } from '../../tasks/kind.ts';
import { acceptedStatus, pollFormat } from '../../tasks/poll-format.ts';
import { gatewayFor, type ImageTaskRef } from '../../tasks/ref.ts';
import type { PolledTask, TaskStatus } from '../../tasks/types.ts';
import type { JsonObject } from '../../types.ts';
import { findImages, joinImages } from './pictures.ts';

/** Routes that gateways use for image tasks, the most common first. */
const knownRoutes = [
  '/v1/images/tasks/{id}',
  '/v1/images/generations/{id}',
  '/v1/images/jobs/{id}',
  '/v1/tasks/{id}',
];

/** An image task as a poll returned it. */
export interface ImageTask extends PolledTask {
  /** The images of a completed task, in the form of a response; `undefined` if there are none. */
  images?: JsonObject | undefined;
  /** The URL of the result, if the response names a separate one. */
  resultURL?: string | undefined;
  /** `true` if the response describes a task. */
  isKnown: boolean;
}

/** Accepts any body; `toImageTask` searches it. */
const anyBody: ResponseSchema<unknown> = { fields: {}, parse: parseWithIds };

/** Reads a task from any of the known forms of a status body. */
function toImageTask(
  raw: unknown,
  polled: { readonly status: number },
  sent: readonly string[],
): ImageTask {
  const body = isObject(raw) ? raw : {};
  const levels = unwrapLevels(body);
  const word = findStatusWord(body);
  const reading = readStatusWord(word);
  const images = findImages(withoutSent(body, sent));
  const resultURL = levels.map((level) => trimmedText(level['response_url'])).find(Boolean);
  const hasPictures = Array.isArray(images?.['data']) && images['data'].length > 0;
  let { status } = reading;
  const isUnclear = reading.word !== 'known';
  if (isUnclear && hasPictures) status = 'completed';
  else if (isUnclear && hasFailedByNumber(body, word)) status = 'failed';
  const inferred: true | undefined =
    isUnclear && hasPictures && word !== undefined ? true : undefined;
  const withheld = status === 'completed' && !hasPictures ? findWithheld(body) : undefined;
  if (withheld !== undefined) status = 'failed';
  // In an envelope without an id, `status` describes the request, not the task.
  const isNamed =
    levels.some((level) => findIds(level).length > 0) || trimmedText(body['request_id']);
  const isEmpty = status === 'completed' && images === undefined && resultURL === undefined;
  if (isEmpty && !isNamed) status = 'queued';
  const isAccepted = polled.status === acceptedStatus;
  const isKnown = isAccepted || word !== undefined || hasPictures || Boolean(isNamed);
  const error = withheld ?? (status === 'failed' ? findFailure(body) : null);
  const progress = findProgress(body);
  // Beside images, an error is a remark, such as a lower quality than requested.
  const remark = hasPictures ? findComplaint(body) : undefined;
  if (images !== undefined && remark !== undefined) images['error'] = remark;
  const isDone = status === 'completed';
  const result = { images: isDone ? images : undefined, resultURL: isDone ? resultURL : undefined };
  // The account reads the id and the cost from the other fields of the response.
  const task = { ...body, status, raw_status: word, inferred, progress, error, raw, isKnown };
  return { ...task, ...result };
}

export function restateImage(task: ImageTask, status: TaskStatus): void {
  task.status = status;
  task.error = status === 'failed' ? findFailure(isObject(task.raw) ? task.raw : {}) : null;
}

type Read = WithResponse<ImageTask>;

/** Returns how to read a task at a path below the root of the gateway, or a URL on the gateway's origin. */
function readerFor(
  transport: Transport,
  { trace }: ImageTaskRef,
  options: RequestOptions,
  sent: readonly string[],
) {
  const format = pollFormat(anyBody, (raw, polled) => toImageTask(raw, polled, sent));
  return (id: string, path: string): Promise<Read> => {
    const spec = {
      operation: 'images.retrieveTask',
      method: 'GET',
      path,
      query: undefined,
      params: { task_id: id },
      charge: 'free',
      task: 'reads',
      accept: 'application/json',
      trace,
    } as const;
    return transport.raw(() => spec, format, options).withResponse();
  };
}

/** Returns whether an error only means that this route does not have the task. */
function isUnknownTask(error: unknown): boolean {
  if (!APIError.isInstance(error)) return false;
  const { status = 0, message } = error;
  if ([404, 405, 501].includes(status)) return true;
  // Gateways return an HTML page for unknown paths.
  if (UnexpectedResponseError.isInstance(error) && status < 300) return true;
  return status === 400 && /not.{0,6}(exist|found)/i.test(message);
}

/** The last route that knew a task, for each state shared by clients of a gateway. */
const remembered = new WeakMap<object, string>();

/** Lists the routes to try for a task, the most likely first: paths, or URLs on the gateway's origin. */
export function listRoutes(
  { path, baseURL }: Pick<ImageTaskRef, 'path' | 'baseURL'>,
  profileRoute: string | undefined,
  known: string | undefined,
): readonly string[] {
  const named = path === undefined ? undefined : new URL(baseURL).origin + path;
  const routes = [named, profileRoute, known, ...knownRoutes].filter(
    (route) => route !== undefined,
  );
  return [...new Set(routes)];
}

const fill = (route: string, id: string): string =>
  route.replaceAll('{id}', encodeURIComponent(id));

/**
 * Reads one task on the first route that knows it.
 *
 * @throws the first error other than a missing task; otherwise the first 404, or else the last error
 */
async function readOne(
  transport: Transport,
  ref: ImageTaskRef,
  id: string,
  options: RequestOptions,
  sent: readonly string[],
): Promise<Read> {
  const { shared } = transport.client;
  const profileRoute = gatewayFor(transport, ref)?.profile.imageTask;
  const readAt = readerFor(transport, ref, options, sent);
  let missing: unknown;
  let unknown: Read | undefined;
  for (const route of listRoutes(ref, profileRoute, remembered.get(shared))) {
    try {
      const read = await readAt(id, fill(route, id));
      if (read.data.isKnown) {
        if (route.includes('{id}')) remembered.set(shared, route);
        const url = findResultURL(ref, read.data);
        return url === undefined ? read : withResult(read, await readAt(id, url), sent);
      }
      unknown ??= read;
    } catch (error) {
      if (!isUnknownTask(error)) throw error;
      const isFirst = !(APIError.isInstance(missing) && missing.status === 404);
      if (isFirst) missing = error;
    }
  }
  if (unknown !== undefined) return unknown;
  throw missing;
}

/** Returns the URL of the result of a task, if it is at another URL of the gateway. */
function findResultURL(
  { baseURL }: ImageTaskRef,
  { images, resultURL }: ImageTask,
): string | undefined {
  if (images !== undefined || resultURL === undefined) return undefined;
  const base = new URL(baseURL).origin;
  const url = URL.canParse(resultURL, base) ? new URL(resultURL, base).href : undefined;
  return url !== undefined && isSameOrigin(url, base) ? url : undefined;
}

/** Adds the result of a task, which was read apart from it. */
function withResult({ data: task, response }: Read, result: Read, sent: readonly string[]): Read {
  const body = withoutSent(toFields(result.data.raw), sent);
  return { ...result, response, data: { ...task, images: findImages(body) } };
}

/** Returns the URL of a result on a host that must not receive the key, for error messages. */
export function foreignResult({ resultURL }: ImageTask): string | undefined {
  return resultURL === undefined ? undefined : displayURL(resultURL);
}

/** Joins the tasks of one call into one. Failed tasks count only if all of them failed. */
function joinTasks(tasks: readonly ImageTask[]): ImageTask {
  const [first] = tasks.toSorted(
    (one, other) => statuses.indexOf(one.status) - statuses.indexOf(other.status),
  );
  if (first === undefined) throw new TypeError('There is no task.');
  if (first.status !== 'completed') return first;
  const answers = tasks.map(({ images }) => images).filter((images) => images !== undefined);
  return { ...first, images: answers.length === 0 ? undefined : joinImages(answers) };
}

/** Polls the tasks of a handle once. */
export async function pollImages(
  transport: Transport,
  { ref, handle }: Target<ImageTaskRef>,
  options: RequestOptions,
): Promise<Read> {
  const { id, ids = [id] } = ref;
  const reads = await Promise.all(
    ids.map((one) => readOne(transport, ref, one, options, sentBy(handle, ref))),
  );
  const [first] = reads;
  if (first === undefined) throw new TypeError('There is no task.');
  return reads.length === 1 ? first : { ...first, data: joinTasks(reads.map(({ data }) => data)) };
}
