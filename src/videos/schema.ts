import type { JsonObject } from '../types.ts';
import {
  firstOf,
  isObject,
  parseJSON,
  idsIn,
  levelsOf,
  objectOf,
  objectsOf,
  textOf,
  findId,
  holdsSomething,
} from '../answers/objects.ts';
import type { VideoTaskError, VideoStatus, VideoTask } from './types.ts';
import type { FieldsOf, ResponseSchema } from '../answers/reader.ts';

/** What a status word means. */
interface StatusReading {
  readonly status: VideoStatus;
  /**
   * `known`: the word has this meaning. `empty`: the word says nothing yet; `unknown` is what many
   * gateways call a task that they have not looked at. `foreign`: not a word that is known here.
   */
  readonly word: 'known' | 'empty' | 'foreign';
}

/** Words of gateways and vendors, without separators and without what `JOB_STATE_` says. */
const words = {
  queued: 'queued queueing pending submitted created inqueue preparing notstart waiting',
  in_progress: 'inprogress processing running generating rendering',
  completed: 'completed complete succeeded succeed success done finished',
  failed: [
    'failed fail failure error errored timedout timeout expired',
    'abort aborted cancel cancelled canceled cancelling canceling killed interrupted terminated',
    'blocked filtered denied refused revoked rejected moderated',
  ].join(' '),
} satisfies Record<VideoStatus, string>;

const statusByWord = new Map<string, VideoStatus>();
for (const status of ['queued', 'in_progress', 'completed', 'failed'] as const) {
  for (const word of words[status].split(' ')) statusByWord.set(word, status);
}

/**
 * The status that a gateway's word stands for, in any case and spelling.
 *
 * A word that is not known counts as `queued`: a task that is paid for is never given up for a word.
 */
export function readStatusWord(word: string | undefined): StatusReading {
  const joined = (word ?? '').toLowerCase().replace(/[\s_-]/g, '');
  const plain = joined.replace(/^(?:job|task)?(?:state|status)?/, '') || joined;
  const status = statusByWord.get(plain);
  if (status !== undefined) return { status, word: 'known' };
  return { status: 'queued', word: plain === '' || plain === 'unknown' ? 'empty' : 'foreign' };
}

/** Fields that say what became of a request. Next to them, `request_id` is only the id of the request. */
const requestFields = ['error', 'errors', 'code', 'message', 'msg', 'detail', 'base_resp', 'data'];

/** Returns the request id of a body that names its task by nothing else, as xAI's does. */
function findRequestId(body: JsonObject): string | undefined {
  if (requestFields.some((name) => holdsSomething(body[name]))) return undefined;
  return textOf(body['request_id']);
}

/** Returns the id of the task that a submission made. */
export function findTaskId(body: JsonObject): string | undefined {
  return findId(body) ?? findRequestId(body);
}

/** Whether a body is about this task; a record of it has an id of its own beside that of the task. */
export function namesTask(body: JsonObject, id: string): boolean {
  return levelsOf(body).some((level) => idsIn(level).includes(id));
}

/** Parses an answer whose ids may be numbers beyond 2^53: those are kept as the text that came. */
function parseWithIds(text: string): unknown {
  // Inside of JSON text a quote has a backslash before it, so this only ever finds fields.
  const large = /("(?:id|task_id|video_id|taskId|job_id)"\s*:\s*)(-?\d{16,})([\s,}])/g;
  return JSON.parse(
    text.replace(large, (field: string, name: string, digits: string, end: string) =>
      Number.isSafeInteger(Number(digits)) ? field : `${name}"${digits}"${end}`,
    ),
  );
}

function statusWordIn(level: JsonObject): string | undefined {
  return firstOf([level['status'], level['task_status'], level['state']], textOf);
}

/** The state of a task as a number, which some vendors send in place of a word. */
function stateNumberIn(level: JsonObject): number | undefined {
  const states = [level['status'], level['task_status'], level['state']];
  return states.find((state) => typeof state === 'number');
}

/** The gateway's own status word, from the outermost body that has one. */
function findStatusWord(body: JsonObject): string | undefined {
  const levels = levelsOf(body);
  const [outer, ...inner] = levels.map(statusWordIn);
  const within = inner.find((word) => word !== undefined);
  // A wrapper without an id that says `success` means the request, not the task.
  const isWrapper = idsIn(body).length === 0 && readStatusWord(outer).status === 'completed';
  if (!isWrapper) return outer ?? within;
  const hasNumber = levels.slice(1).some((level) => stateNumberIn(level) !== undefined);
  return hasNumber ? within : (within ?? outer);
}

/** Text when it is an http(s) URL or a data URL; gateways put error sentences in the same fields. */
export function resultURLOf(value: unknown): string | undefined {
  const text = textOf(Array.isArray(value) ? value[0] : value);
  if (text === undefined) return undefined;
  if (/^data:[^\s,]*,/i.test(text)) return text;
  if (!/^https?:\/\/\S+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

/** What a body has at a path such as `output.message`; of a list, it is the first item that counts. */
function at(level: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => objectOf(value)?.[name], level);
}

/** The first of these places of a body that holds something. */
function placeOf<T>(
  level: JsonObject,
  paths: readonly string[],
  read: (value: unknown) => T | undefined,
): T | undefined {
  return firstOf(paths, (path) => read(at(level, path)));
}

const toPaths = (places: readonly string[]): readonly (readonly string[])[] =>
  places.map((place) => place.split('.'));

/** Where a body has its result. The URL of a video there proves that the task has ended well. */
const resultPlaces = toPaths([
  'metadata.url',
  'url',
  'video_url',
  'result_url',
  'output',
  'task_result.videos.url',
  'video.url',
  'data',
  'result',
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
]);

/** More places. In a list of parts, a task that still runs may repeat its reference video there. */
const contentPlaces = toPaths(['content.video_url', 'content.video_url.url', 'content.url']);

/** Types of items in a list of results that are not the video. */
const otherTypes = /^(image|cover|thumbnail|poster|audio|text)/i;
const imageFile = /\.(png|jpe?g|webp|gif|avif)$/i;

/** Parses a list or an object that came as JSON text. */
function parseNested(value: unknown): unknown {
  const isNested = typeof value === 'string' && /^\s*[[{]/.test(value);
  return isNested ? (parseJSON(value) ?? value) : value;
}

/** Returns the values at a path, those of every item where there is a list on it. */
function valuesAt(owner: unknown, path: readonly string[]): readonly unknown[] {
  const value = parseNested(owner);
  const [name, ...rest] = path;
  if (name === undefined) return [value].flat();
  return objectsOf(value)
    .filter(({ type }) => !otherTypes.test(textOf(type) ?? ''))
    .flatMap((item) => valuesAt(item[name], rest));
}

/** Text when it is a URL that is not one of an image: covers stand before the video in some lists. */
function videoURLOf(value: unknown): string | undefined {
  const found = resultURLOf(value);
  if (found === undefined) return undefined;
  return imageFile.test(new URL(found).pathname) ? undefined : found;
}

type ReadURL = (value: unknown) => string | undefined;

function findURL(
  level: JsonObject,
  places: readonly (readonly string[])[],
  read: ReadURL,
): string | undefined {
  return firstOf(places, (path) => firstOf(valuesAt(level, path), read));
}

/** Where the result of a task is. It says something only of tasks that have ended well. */
function findResultURL(body: JsonObject, read: ReadURL = videoURLOf): string | undefined {
  return firstOf(levelsOf(body), (level) => {
    const found = findURL(level, resultPlaces, read);
    return found ?? (isObject(level['content']) ? findURL(level, contentPlaces, read) : undefined);
  });
}

/** Where the result of a completed task is. Old builds put it where failed tasks have their reason. */
function findCompletedURL(body: JsonObject): string | undefined {
  const levels = levelsOf(body);
  return (
    findResultURL(body) ??
    firstOf(levels, (level) => findURL(level, contentPlaces, videoURLOf)) ??
    findResultURL(body, resultURLOf) ??
    firstOf(levels, (level) => resultURLOf(level['fail_reason']))
  );
}

/**
 * Concludes from other fields that a task has ended, where its status word has no known meaning.
 *
 * Most vendors that number their states mean "done" by 2 and "failed" by 3, but some mean "running" by
 * 2 and "done" by 3. So a number ends a task only together with a result or a reason.
 */
function concludeStatus(
  body: JsonObject,
  word: string | undefined,
): 'completed' | 'failed' | undefined {
  if (findResultURL(body) !== undefined) return 'completed';
  const state = word ?? firstOf(levelsOf(body), stateNumberIn);
  if (Number(state) === 2 && findCompletedURL(body) !== undefined) return 'completed';
  const isFailed =
    Number(state) === 3 &&
    levelsOf(body).some((level) => placeOf(level, failurePlaces, textOf) !== undefined);
  return isFailed ? 'failed' : undefined;
}

/**
 * Progress as a number from 0 to 100, out of `85`, `"85"`, `"85%"` and `0.85`; `undefined` for
 * anything else.
 */
export function progressOf(value: unknown): number | undefined {
  const text = textOf(value)?.replace(/%$/, '');
  const number = typeof value === 'number' ? value : Number(text);
  if (!(number >= 0 && number <= 100)) return undefined;
  const isFraction = number > 0 && number < 1 && text === undefined;
  return isFraction ? Math.round(number * 100) : number;
}

/** The progress of a task, from the outermost body that has one. */
function findProgress(body: JsonObject): number | undefined {
  return firstOf(levelsOf(body), (level) => progressOf(level['progress']));
}

/** In seconds this is the year 5138, in milliseconds it is 1973. */
const largestSeconds = 1e11;

/** Seconds since 1970, out of seconds or milliseconds, as a number or as text. */
export function timestampOf(value: unknown): number | undefined {
  const number = typeof value === 'number' ? value : Number(textOf(value));
  if (!Number.isFinite(number) || number <= 0) return undefined;
  return number > largestSeconds ? Math.floor(number / 1_000) : number;
}

/** The first time that one of these fields holds, outermost body first. */
function findTimestamp(body: JsonObject, names: readonly string[]): number | undefined {
  return firstOf(levelsOf(body), (level) => firstOf(names, (name) => timestampOf(level[name])));
}

/** What a failed task says when the gateway gave no reason at all. */
export const noReason = 'The gateway gave no reason.';

/** Some gateways put the whole JSON answer of the vendor into a text field; one level is unwrapped. */
function unwrap(text: string): string {
  const inner = parseJSON(text);
  return (isObject(inner) ? reasonIn(inner) : undefined) ?? text;
}

/** A message about the request; it says `"SUCCEED"` when only that succeeded, and not the task. */
function notSuccess(value: unknown): string | undefined {
  const message = textOf(value);
  if (message === undefined || /^ok$/i.test(message)) return undefined;
  return readStatusWord(message).status === 'completed' ? undefined : message;
}

/** Where a body has its error; some gateways put one into another, or into a list. */
const errorPlaces = ['error.error', 'errors.error', 'error', 'errors'];

/** Where only a body of a task that failed has anything, the most telling place first. */
const failurePlaces = [
  ...errorPlaces.flatMap((place) =>
    ['message', 'msg', 'detail', 'reason'].map((field) => `${place}.${field}`),
  ),
  'error',
  'fail_reason',
  'failure_reason',
  'failedReason',
  'failReason',
  'failMsg',
  'error_message',
  'error_msg',
  'failure',
];

/** Where a body has its reason, the most telling place first. */
const reasonPlaces = [...failurePlaces, 'task_status_msg', 'reason', 'detail', 'output.error'];

/** Where a body has the code of its vendor. A plain `code` is that of the request. */
const codePlaces = [
  ...errorPlaces.map((place) => `${place}.code`),
  'error_code',
  'err_code',
  'failureCode',
  'failCode',
  'output.code',
];

/** The reason that one object holds, apart from what is nested in it. */
function reasonIn(level: JsonObject): string | undefined {
  return (
    placeOf(level, reasonPlaces, textOf) ??
    placeOf(level, ['output.message', 'base_resp.status_msg'], notSuccess)
  );
}

function codeIn(level: JsonObject): string | undefined {
  const status = at(level, 'base_resp.status_code');
  return placeOf(level, codePlaces, codeOf) ?? codeOf(status === 0 ? undefined : status);
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/** Why a task failed. To be asked only of failed tasks: other tasks fill these fields too. */
export function findFailure(body: JsonObject): VideoTaskError {
  const levels = levelsOf(body);
  const code = firstOf(levels, codeIn);
  const reason = firstOf(levels, reasonIn) ?? firstOf(levels, ({ message }) => notSuccess(message));
  const message = reason === undefined ? (code ?? noReason) : unwrap(reason);
  return code === undefined ? { message } : { message, code };
}

/** What stands in place of a status, where a body has neither that nor a result. */
export function findComplaint(body: JsonObject): VideoTaskError | undefined {
  const hasError = levelsOf(body).some(({ error }) => objectOf(error) ?? textOf(error));
  const failure = hasError ? findFailure(body) : undefined;
  return failure?.message === noReason ? undefined : failure;
}

const reviewWords =
  /moderat|sensitive|safety|nsfw|violat|inappropriate|prohibit|(content|risk)[\s_-]?(policy|review|filter|control|check|not[\s_-]?pass)|audit\w?submit|审核|敏感|违规/i;

/** Of a service that stumbled, be it the review: neither the content nor the request is at fault. */
const stumbleWords =
  /quota|rate[\s_-]?limit|too[\s_-]?many|per[\s_-]?minute|timed?[\s_-]?out|unavailable|upstream|connection|overloaded|\b(?:429|5\d\d)\b/i;

function reads(pattern: RegExp, { message, code = '' }: VideoTaskError): boolean {
  return pattern.test(message) || pattern.test(code);
}

/** Whether a failure reads like a content review. A guess: the gateway does not say. */
export function readsLikeReview(failure: VideoTaskError): boolean {
  return reads(reviewWords, failure) && !reads(stumbleWords, failure);
}

/** Not keys, tokens or answers: those are the gateway's own, and what fails on them may recover. */
const inputWords =
  /(invalid|illegal|unsupported|missing|bad)[\s_.-]?(request|param|argument|input|prompt|image|size|seconds|duration|resolution)|(prompt|image|input|size|seconds|duration|resolution) is (invalid|required|not supported)/i;

/** Whether a failure lies in what was submitted, so that the task cannot recover from it. */
export function isCausedByInput(failure: VideoTaskError): boolean {
  const isAtFault = reads(reviewWords, failure) || reads(inputWords, failure);
  return isAtFault && !reads(stumbleWords, failure);
}

/** Accepts text, and the numbers that vendors use as states. */
function statusText(value: unknown): string | undefined {
  const isKnown = typeof value === 'string' || [0, 1, 2, 3].some((state) => state === value);
  return isKnown ? undefined : 'string';
}

const fields: FieldsOf<Omit<VideoTask, 'ref' | 'raw'>> = {
  id: 'string or number',
  task_id: 'string or number',
  object: 'string',
  model: 'string',
  status: statusText,
  raw_status: 'any',
  inferred: 'any',
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
};

/** Sets fields, or takes them away when there is nothing to say. */
function put(value: JsonObject, contents: JsonObject): void {
  for (const key in contents) {
    const content = contents[key] ?? undefined;
    if (content !== undefined) value[key] = content;
    else if (key in value) delete value[key];
  }
}

/** Adds a field that `JSON.stringify` and loops do not see. */
export function defineHidden(value: object, key: string, content: unknown): void {
  // Every attribute is named: one that is left out stays as it is when the gateway sent such a field.
  const attributes = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(value, key, { value: content, ...attributes });
}

/** Sets the status of a task, and the fields that depend on it. */
function putStatus(value: JsonObject, body: JsonObject, status: VideoStatus): void {
  value['status'] = status;
  value['error'] = status === 'failed' ? findFailure(body) : null;
  put(value, { url: status === 'completed' ? findCompletedURL(body) : undefined });
}

/** Gives a task the status that the caller reads out of the gateway's word. */
export function restateVideo(task: VideoTask, status: VideoStatus): void {
  if (isObject(task)) putStatus(task, isObject(task.raw) ? task.raw : {}, status);
}

/**
 * A video task, whichever of the known bodies it came in: OpenAI's object, the gateway's own
 * record, its short form with and without wrapper, the vendor's body, or a wrapper without a task.
 *
 * What the body does not say, the id of a poll and the handle, is set by whoever made the call.
 */
export const videoSchema: ResponseSchema<VideoTask> = {
  fields,
  parse: parseWithIds,
  normalize(value) {
    const body = { ...value };
    const word = findStatusWord(body);
    const reading = readStatusWord(word);
    const concluded = reading.word === 'known' ? undefined : concludeStatus(body, word);
    const id = findTaskId(body) ?? '';
    const { seconds, object, model, size, remixed_from_video_id } = body;
    put(value, {
      id,
      task_id: id,
      raw_status: word,
      inferred: concluded === undefined ? undefined : true,
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
    putStatus(value, body, concluded ?? reading.status);
    defineHidden(value, 'raw', body);
  },
};
