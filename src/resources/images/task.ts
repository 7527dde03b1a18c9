import {
  findFirst,
  findTaskRequestId,
  idText,
  isObject,
  unwrapLevels,
  firstObject,
  listObjects,
  readId,
  trimmedText,
} from '../../answers/objects.ts';
import { displayURL } from '../../http/url.ts';
import { findStatusWord, readStatusWord } from '../../tasks/reading.ts';
import type { JsonObject } from '../../types.ts';
import { holdsPicture } from './pictures.ts';

/** The task that a response names instead of containing images. */
export interface AcceptedTask {
  /** Empty if the gateway accepted the request (202) without naming a task. */
  readonly ids: readonly string[];
  /** The status URL from the response. */
  readonly address: string | undefined;
}

/** Returns the id in a field that only tasks have. */
const readTaskId = ({ task_id, taskId, job_id, jobId, JobId, queue_id }: JsonObject) =>
  findFirst([task_id, taskId, job_id, jobId, JobId, queue_id], readId);

/** Returns the id in a field that responses with images may have too. */
const readMakingId = ({ generation_id, generationId }: JsonObject) =>
  findFirst([generation_id, generationId], readId);

/** Returns the id in a field that other objects have too. */
function findAnyId(levels: readonly JsonObject[]): string | undefined {
  return findFirst(levels, ({ id }) => readId(id)) ?? readId(levels[0]?.['request_id']);
}

/** Returns ids that were sent instead of an object, as text or a list. */
function findIdTexts(body: JsonObject): readonly string[] {
  for (const name of ['data', 'result', 'output', 'task', 'response']) {
    const values: readonly unknown[] = [body[name]].flat();
    const ids = values.map(idText).filter((id) => id !== undefined);
    if (ids.length > 0 && ids.length === values.length) return ids;
  }
  return [];
}

/** Returns the ids of a list of tasks, if there are several. */
function findListedIds(levels: readonly JsonObject[], read: typeof readTaskId): readonly string[] {
  for (const level of levels) {
    for (const list of [level['data'], level['tasks'], level['output']]) {
      const ids = listObjects(Array.isArray(list) ? list : undefined).map(read);
      const known = ids.filter((id) => id !== undefined);
      if (known.length > 1) return [...new Set(known)];
    }
  }
  return [];
}

const addressFields = ['status', 'polling', 'poll', 'task', 'query', 'fetch', 'get'].flatMap(
  (name) => [`${name}_url`, `${name}Url`, `${name}URL`],
);

/** Returns the status URL of a task from the response. */
function findAddress(levels: readonly JsonObject[]): string | undefined {
  return findFirst(levels, (level) => {
    const { get, status } = firstObject(level['urls']) ?? {};
    return findFirst([...addressFields.map((name) => level[name]), status, get], trimmedText);
  });
}

/** Returns the id in the last or second-last segment of a URL. */
function idInAddress(address: string | undefined): string | undefined {
  const [last, ...before] = displayURL(address ?? '')
    .split('/')
    .filter(Boolean)
    .toReversed();
  return idText(last) ?? idText(before[0]);
}

/**
 * Returns the task that a response names, unless the response contains an image.
 *
 * @param received - The parsed response; `undefined` if the body was empty.
 */
export function findAcceptedTask(
  received: unknown,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): AcceptedTask | undefined {
  const body = received === undefined && status === 202 ? {} : received;
  if (!isObject(body) || holdsPicture(body)) return undefined;
  const levels = unwrapLevels(body);
  const read = readStatusWord(findStatusWord(body));
  const pollURL = findAddress(levels);
  const address = pollURL ?? headers.get('location') ?? undefined;
  const taskId = findFirst(levels, readTaskId);
  const { data } = body;
  const isEmpty = Array.isArray(data) && data.length === 0;
  // A filter may remove every image from the response of a finished task.
  const isFiltered = isEmpty && read.status === 'completed';
  if (isFiltered && status !== 202) return undefined;
  const isTask =
    isObject(body['task_info']) ||
    levels.some(({ object }) => /task|job/i.test(trimmedText(object) ?? ''));
  const isPending =
    read.word === 'known' && (read.status === 'queued' || read.status === 'in_progress');
  const isPolled = read.word === 'empty' && pollURL !== undefined;
  const isSure = status === 202 || isTask || isPolled || isPending;
  const several = findListedIds(
    levels,
    (item) => readTaskId(item) ?? (isSure ? readId(item['id']) : undefined),
  );
  const making = isEmpty ? undefined : (findFirst(levels, readMakingId) ?? findTaskRequestId(body));
  const taskName = taskId ?? (isSure ? findAnyId(levels) : undefined) ?? making;
  const single = taskName === undefined ? findIdTexts(body) : [taskName];
  const ids = several.length > 0 ? several : single;
  if (ids.length > 0) return { ids, address };
  if (status !== 202) return undefined;
  const inAddress = idInAddress(address);
  return { ids: inAddress === undefined ? [] : [inAddress], address };
}
