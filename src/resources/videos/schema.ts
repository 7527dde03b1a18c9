import type { JsonObject } from '../../types.ts';
import { readBase64 } from '../../answers/bytes.ts';
import {
  defineHidden,
  findFirst,
  findId,
  findTaskRequestId,
  idText,
  isObject,
  listObjects,
  readId,
  toFields,
  trimmedText,
  unwrapLevels,
} from '../../answers/objects.ts';
import { findComplaint, findFailure } from '../../answers/failure.ts';
import {
  findProgress,
  findStatusWord,
  parseWithIds,
  findWithheld,
  hasFailedByNumber,
  hasSucceededByFlag,
  readStatusWord,
  stateNumberIn,
} from '../../tasks/reading.ts';
import type { VideoStatus, VideoTask } from './types.ts';
import type { FieldsOf, ResponseSchema } from '../../answers/reader.ts';
import {
  deepestResult,
  notResults,
  parseNested,
  rememberSent,
  sentBy,
  withoutSent,
} from '../../answers/result-places.ts';

/** Returns the name of Google's operation. Names of other kinds are labels. */
function findOperationName({ name }: JsonObject): string | undefined {
  const text = trimmedText(name);
  return text !== undefined && /(^|\/)operations\//.test(text) ? text : undefined;
}

/** Fields with the id of a task at any place. */
const idField = /^(task|job|generation|prediction|queue|operation)_?(uu)?id$/i;

/** Finds the id of a task in nested objects that other places do not name. */
function searchId(value: unknown, levels = 4): string | undefined {
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return findFirst(value, (item) => searchId(item, levels - 1));
  return findFirst(Object.entries(toFields(value)), ([name, inner]) => {
    if (/error|input/i.test(name)) return undefined;
    return idField.test(name) ? readId(inner) : searchId(inner, levels - 1);
  });
}

/** Returns the task id in the response to a submission. */
export function findTaskId(body: JsonObject): string | undefined {
  const known = findId(body) ?? findOperationName(body) ?? findTaskRequestId(body);
  return known ?? searchId(body) ?? idText(body['data']) ?? idText(body['result']);
}

/** Returns an http(s) URL or a data URL; gateways put error messages in the same fields. */
export function toResultURL(value: unknown): string | undefined {
  const text = trimmedText(Array.isArray(value) ? value[0] : value);
  if (text === undefined) return undefined;
  if (/^data:[^\s,]*,/i.test(text)) return text;
  if (!/^https?:\/\/\S+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

/** Paths of the result in a body. The URL of a video there proves that the task is completed. */
const resultPlaces: readonly string[] = [
  'metadata.url',
  'url',
  'video_url',
  'result_url',
  'output',
  'task_result.videos.url',
  'video.url',
  'data',
  'result',
  'assets.video',
  ...['outputs', 'results', 'creations', 'result.outputs', 'result.assets'].flatMap((list) => [
    list,
    `${list}.url`,
    `${list}.video_url`,
  ]),
  ...['outputUrls', 'videoUrls', 'resultUrls', 'resultJson.resultUrls', 'unsigned_urls'].flatMap(
    (list) => [list, `${list}.url`],
  ),
  'generated_video.video_url',
  'download_url',
  'result.download_url',
  'task.content.url',
  'videos.url',
  'result.videos.url',
  'results.videos.url',
  'video_result.url',
  'works.video.resource',
  'output.works.video.resource',
];

/** More paths of the result. If `content` is a list, a running task may repeat its reference video there. */
const contentPlaces: readonly string[] = [
  'content.video_url',
  'content.video_url.url',
  'content.result_url',
  'content.url',
];

/** Types of result items that are not the video. */
const nonVideoTypes = /^(image|cover|thumbnail|poster|audio|text)/i;
const imageFile = /\.(png|jpe?g|webp|gif|avif)$/i;

/** Returns the values at a path, including those of every item of a list on it. */
function valuesAt(owner: unknown, path: readonly string[]): readonly unknown[] {
  const value = parseNested(owner);
  const [name, ...rest] = path;
  if (name === undefined) return [value].flat();
  return listObjects(value)
    .filter(({ type }) => !nonVideoTypes.test(trimmedText(type) ?? ''))
    .flatMap((item) => valuesAt(item[name], rest));
}

/** Returns a URL unless it is an image's: some lists have covers before the video. */
function toVideoURL(value: unknown): string | undefined {
  const url = toResultURL(value);
  if (url === undefined) return undefined;
  return imageFile.test(new URL(url).pathname) ? undefined : url;
}

type ReadURL = (value: unknown) => string | undefined;

function findURL(level: JsonObject, places: readonly string[], read: ReadURL): string | undefined {
  return findFirst(places, (place) => findFirst(valuesAt(level, place.split('.')), read));
}

/** Returns the URL of the result. It is meaningful only for completed tasks. */
function findResultURL(body: JsonObject, read: ReadURL = toVideoURL): string | undefined {
  return findFirst(unwrapLevels(body), (level) => {
    const found = findURL(level, resultPlaces, read);
    return found ?? (isObject(level['content']) ? findURL(level, contentPlaces, read) : undefined);
  });
}

const otherFields = notResults(/image|img|cover|poster|frame|audio/i);

const videoFile = /\.(mp4|webm|mov|m4v|mkv)$/i;

/** The shortest base64 text that counts as a video; shorter ones may be ids. */
const shortestVideo = 256;

/** Finds a video anywhere in the body of a completed task: a URL or bytes, by the path of the field or the file name. */
function searchVideo(value: unknown, path: string, levels = deepestResult): string | undefined {
  const inner = parseNested(value);
  if (typeof inner === 'string') {
    const url = toVideoURL(inner);
    if (url === undefined) {
      const isBytes = /b64|base64|bytes/i.test(path) && inner.length >= shortestVideo;
      const bytes = isBytes ? readBase64(inner) : undefined;
      return bytes && `data:${bytes.type ?? 'video/mp4'};base64,${bytes.base64}`;
    }
    return /video/i.test(path) || videoFile.test(new URL(url).pathname) ? url : undefined;
  }
  if (levels === 0) return undefined;
  if (Array.isArray(inner)) return findFirst(inner, (item) => searchVideo(item, path, levels - 1));
  return findFirst(Object.entries(toFields(inner)), ([name, field]) =>
    otherFields.test(name) ? undefined : searchVideo(field, `${path}.${name}`, levels - 1),
  );
}

/** Returns the URL of a completed task's result. Old builds put it where failed tasks have their reason. */
function findCompletedURL(body: JsonObject): string | undefined {
  const levels = unwrapLevels(body);
  return (
    findResultURL(body) ??
    findFirst(levels, (level) => findURL(level, contentPlaces, toVideoURL)) ??
    searchVideo(body, '') ??
    findResultURL(body, toResultURL) ??
    findFirst(levels, (level) => toResultURL(level['fail_reason']))
  );
}

/**
 * Infers from other fields that a task has ended, if its status is unknown.
 *
 * Most vendors with numeric states use 2 for "done" and 3 for "failed", but some use 2 for "running" and 3
 * for "done". So a number ends a task only together with a result or a reason.
 */
function inferStatus(
  body: JsonObject,
  word: string | undefined,
): 'completed' | 'failed' | undefined {
  if (findResultURL(body) !== undefined) return 'completed';
  const state = word ?? findFirst(unwrapLevels(body), stateNumberIn);
  const isEnded = Number(state) === 2 || hasSucceededByFlag(body);
  if (isEnded && findCompletedURL(body) !== undefined) return 'completed';
  return hasFailedByNumber(body, word) ? 'failed' : undefined;
}

/** The year 5138 in seconds, or 1973 in milliseconds. */
const largestSeconds = 1e11;

/** Converts seconds or milliseconds, as a number or text, to seconds since 1970. */
export function toTimestamp(value: unknown): number | undefined {
  const number = typeof value === 'number' ? value : Number(trimmedText(value));
  if (!Number.isFinite(number) || number <= 0) return undefined;
  return number > largestSeconds ? Math.floor(number / 1_000) : number;
}

/** Returns the first timestamp in these fields, outermost body first. */
function findTimestamp(body: JsonObject, names: readonly string[]): number | undefined {
  return findFirst(unwrapLevels(body), (level) =>
    findFirst(names, (name) => toTimestamp(level[name])),
  );
}

/** Accepts text and the numbers that vendors use as states. */
function checkStatus(value: unknown): string | undefined {
  const isKnown = typeof value === 'string' || [0, 1, 2, 3].some((state) => state === value);
  return isKnown ? undefined : 'string';
}

const fields: FieldsOf<Omit<VideoTask, 'ref' | 'raw'>> = {
  id: 'string or number',
  task_id: 'string or number',
  object: 'string',
  model: 'string',
  prompt: 'any',
  status: checkStatus,
  raw_status: 'any',
  inferred: 'any',
  content_id: 'any',
  progress: 'string or number',
  created_at: 'string or number',
  completed_at: 'string or number',
  expires_at: 'string or number',
  seconds: 'string or number',
  size: 'string',
  remixed_from_video_id: 'string',
  error: 'string or object',
  url: 'string',
  metadata: 'string or object',
  usage: 'any',
};

/** Sets fields, and deletes those without a value. */
function setFields(value: JsonObject, contents: JsonObject): void {
  for (const key in contents) {
    const content = contents[key] ?? undefined;
    if (content !== undefined) value[key] = content;
    else if (key in value) delete value[key];
  }
}

/** Sets the status of a task and the fields that depend on it. */
function setStatus(value: JsonObject, body: JsonObject, status: VideoStatus): void {
  const url = status === 'completed' ? findCompletedURL(body) : undefined;
  value['status'] = status;
  value['error'] = status === 'failed' ? findFailure(body) : null;
  // Beside a result, an error is a remark, such as a lower quality than requested.
  if (url !== undefined) value['error'] = findComplaint(body) ?? null;
  setFields(value, { url });
}

/** Sets the status to which the caller maps the gateway's own status. */
export function restateVideo(task: VideoTask, status: VideoStatus): void {
  if (!isObject(task)) return;
  const raw = toFields(task.raw);
  setStatus(task, toFields(withoutSent(raw, sentBy(raw))), status);
}

/**
 * Reads a video task from any of the known bodies: OpenAI's object, the gateway's own record, its short
 * form with and without wrapper, the vendor's body, or a wrapper without a task.
 *
 * The caller sets the fields that the body doesn't have: the id of a polled task, and the handle.
 *
 * @param sent - The URLs that the call sent which submitted the task. They are not its result.
 */
export const videoSchemaFor = (sent: readonly string[]): ResponseSchema<VideoTask> => ({
  fields,
  parse: parseWithIds,
  normalize(value) {
    const raw = { ...value };
    rememberSent(sent, raw);
    const body = toFields(withoutSent(raw, sent));
    const word = findStatusWord(body);
    const reading = readStatusWord(word);
    const inferredStatus = reading.word === 'known' ? undefined : inferStatus(body, word);
    const id = findTaskId(body) ?? '';
    const { seconds, object, model, size, remixed_from_video_id } = raw;
    setFields(value, {
      id,
      task_id: id,
      raw_status: word,
      inferred: inferredStatus === undefined ? undefined : true,
      progress: findProgress(body),
      created_at: findTimestamp(body, ['created_at', 'created', 'submit_time']),
      completed_at: findTimestamp(body, ['completed_at', 'finish_time']),
      expires_at: findTimestamp(body, ['expires_at']),
      seconds: typeof seconds === 'number' ? String(seconds) : seconds,
      object,
      model,
      size,
      remixed_from_video_id,
    });
    const status = inferredStatus ?? reading.status;
    setStatus(value, body, status);
    // An error beside a completed task without a result is a failure.
    const withheld =
      status === 'completed' && value['url'] === undefined ? findWithheld(body) : undefined;
    if (withheld !== undefined) setFields(value, { status: 'failed', error: withheld });
    defineHidden(value, 'raw', raw);
  },
});
