import {
  findFirst,
  findId,
  findIds,
  unwrapLevels,
  listObjects,
  trimmedText,
} from '../answers/objects.ts';
import { findComplaint, saysFailure } from '../answers/failure.ts';
import type { JsonObject } from '../types.ts';
import type { TaskErrorDetails, TaskStatus } from './types.ts';

/** The meaning of a status word. */
interface StatusReading {
  readonly status: TaskStatus;
  /**
   * `known`: the word has this meaning. `empty`: the word has no meaning; many gateways send `unknown` for
   * a task that they have not checked yet. `foreign`: a word that is not in the list.
   */
  readonly word: 'known' | 'empty' | 'foreign';
}

/** The statuses of a task, the least advanced first. */
export const statuses: readonly TaskStatus[] = ['queued', 'in_progress', 'completed', 'failed'];

/** Words of gateways and vendors, without separators and prefixes such as `JOB_STATE_`. */
const words: Readonly<Record<TaskStatus, readonly string[]>> = {
  queued: [
    'queued queue queueing queuing inqueue pending submitted created accepted waiting',
    'preparing starting notstart notstarted',
  ],
  in_progress: ['inprogress processing running generating rendering'],
  completed: ['completed complete succeeded succeed success successful done finished ready'],
  failed: [
    'failed fail failure unsuccessful error errored timedout timeout expired 失败',
    'abort aborted cancel cancelled canceled cancelling canceling killed interrupted terminated',
    'blocked filtered denied refused revoked rejected moderated contentmoderated requestmoderated nsfw',
  ],
};

/**
 * Parses the status word of a gateway, in any case and spelling.
 *
 * An unknown word counts as `queued`, so that a paid task is never abandoned because of a word.
 */
export function readStatusWord(word: string | undefined): StatusReading {
  const joined = (word ?? '').toLowerCase().replace(/[\s_-]/g, '');
  const plain = joined.replace(/^(?:job|task|mediageneration)?(?:state|status)?/, '') || joined;
  const status = statuses.find((each) =>
    words[each].some((line) => line.split(' ').includes(plain)),
  );
  if (status !== undefined) return { status, word: 'known' };
  return { status: 'queued', word: plain === '' || plain === 'unknown' ? 'empty' : 'foreign' };
}

/** Returns whether a body names this task; a record of a task may also have its own id. */
export function namesTask(body: JsonObject, id: string): boolean {
  return unwrapLevels(body).some((level) => findIds(level).includes(id));
}

/**
 * Parses a response with ids of 16 digits or more as text, because they may be integers beyond 2^53. A list of one task
 * is that task.
 */
export function parseWithIds(text: string): unknown {
  // Quotes inside JSON strings are escaped, so this matches only fields.
  const large =
    /("(?:id|task_id|video_id|taskId|job_id|jobId|JobId|generation_id|queue_id)"\s*:\s*)(-?\d{16,})([\s,}])/g;
  const value: unknown = JSON.parse(text.replace(large, '$1"$2"$3'));
  const [task] = Array.isArray(value) && value.length === 1 ? listObjects(value) : [];
  const isTask = task !== undefined && (statusWordIn(task) ?? findIds(task)[0]) !== undefined;
  return isTask ? task : value;
}

function statusWordIn(level: JsonObject): string | undefined {
  const word = findFirst([level['status'], level['task_status'], level['state']], trimmedText);
  // Google's operations have no status.
  return word ?? (level['done'] === true ? 'done' : undefined);
}

/** Returns the state of a task as a number, which some vendors send instead of a word. */
export function stateNumberIn(level: JsonObject): number | undefined {
  const states = [level['status'], level['task_status'], level['state']];
  return states.find((state) => typeof state === 'number');
}

/** Returns the status word of the gateway, from the outermost body that has one. */
export function findStatusWord(body: JsonObject): string | undefined {
  const levels = unwrapLevels(body);
  const [outer, ...inner] = levels.map(statusWordIn);
  const within = inner.find((word) => word !== undefined);
  // A wrapper without an id that says `success` means the request, not the task.
  const isWrapper = findIds(body).length === 0 && readStatusWord(outer).status === 'completed';
  if (!isWrapper) return outer ?? within;
  const hasNumber = levels.slice(1).some((level) => stateNumberIn(level) !== undefined);
  return hasNumber ? within : (within ?? outer);
}

/**
 * Reads progress as a number from 0 to 100, from `85`, `"85"`, `"85%"` or `0.85`; `undefined` for
 * anything else.
 */
export function readProgress(value: unknown): number | undefined {
  const text = trimmedText(value)?.replace(/%$/, '');
  const number = typeof value === 'number' ? value : Number(text);
  if (!(number >= 0 && number <= 100)) return undefined;
  const isFraction = number > 0 && number < 1 && !/%\s*$/.test(String(value));
  return isFraction ? Math.round(number * 100) : number;
}

/** Returns the progress of a task, from the outermost body that has one. */
export function findProgress(body: JsonObject): number | undefined {
  return findFirst(unwrapLevels(body), (level) => readProgress(level['progress']));
}

/**
 * Returns whether a body may be the answer to a poll: it has a task's id or status, or reports no error. A paid task is
 * not given up because of a body that says nothing, or of a message.
 */
export function isPolledTask(body: JsonObject): boolean {
  const word = findStatusWord(body);
  const { word: meaning } = readStatusWord(word);
  if (meaning === 'known' || findId(body) !== undefined) return true;
  return hasFailedByNumber(body, word) || !saysFailure(body);
}

/** Values of kie's `successFlag` for a task that failed. */
const failedFlags: readonly number[] = [2, 3];

/** Returns whether kie's `successFlag` says that a task is completed. */
export const hasSucceededByFlag = (body: JsonObject): boolean =>
  unwrapLevels(body).some(({ successFlag: flag }) => Number(flag) === 1);

/**
 * Returns whether a body without a status word says by a number that its task failed. Most vendors use 3 for that, but
 * some for "done", so a number counts only together with a reason.
 */
export function hasFailedByNumber(body: JsonObject, word: string | undefined): boolean {
  const levels = unwrapLevels(body);
  const state = word ?? findFirst(levels, stateNumberIn);
  const isNamed =
    Number(state) === 3 ||
    levels.some(({ successFlag: flag }) => failedFlags.includes(Number(flag)));
  return isNamed && findComplaint(body) !== undefined;
}

/** Returns why a task that is called completed has no result: an error beside its status, or a withheld result. */
export function findWithheld(body: JsonObject): TaskErrorDetails | undefined {
  const isModerated = unwrapLevels(body).some((level) =>
    [level, ...listObjects(level['video'])].some((each) => each['respect_moderation'] === false),
  );
  const complaint = findComplaint(body) ?? findFiltered(body);
  if (!isModerated || complaint !== undefined) return complaint;
  return {
    message: 'The vendor withheld the result after its moderation.',
    code: 'respect_moderation',
  };
}

/** Returns why Google's Veo has filtered a video. */
function findFiltered(body: JsonObject): TaskErrorDetails | undefined {
  const answers = unwrapLevels(body).flatMap((level) => [
    level,
    ...listObjects(level['generateVideoResponse']),
  ]);
  return findFirst(
    answers,
    ({ raiMediaFilteredCount: count, raiMediaFilteredReasons: reasons }) => {
      const texts = [reasons].flat().flatMap((reason) => trimmedText(reason) ?? []);
      if (texts.length === 0 && !(Number(count) > 0)) return undefined;
      const message = texts.join(' ') || 'The vendor filtered the result.';
      return { message, code: 'content_filtered' };
    },
  );
}

const reviewWords =
  /moderat|sensitive|safety|nsfw|violat|inappropriate|prohibit|(content|risk)[\s_-]?(policy|review|filter|control|check|not[\s_-]?pass)|audit\w?submit|审核|敏感|违规/i;

/** Failures of a service, including the review service, which neither the content nor the request caused. */
const stumbleWords =
  /quota|rate[\s_-]?limit|too[\s_-]?many|per[\s_-]?minute|timed?[\s_-]?out|unavailable|upstream|connection|overloaded|\b(?:429|5\d\d)\b/i;

function reads(pattern: RegExp, { message, code = '' }: TaskErrorDetails): boolean {
  return pattern.test(message) || pattern.test(code);
}

/** Returns whether a failure reads like a content review. This is a guess from its message and code. */
export function readsLikeReview(failure: TaskErrorDetails): boolean {
  return reads(reviewWords, failure) && !reads(stumbleWords, failure);
}

/**
 * Words for input. Keys, tokens and responses are left out: they belong to the gateway, so the task may
 * recover.
 */
const inputWords =
  /(invalid|illegal|unsupported|missing|bad)[\s_.-]?(request|param|argument|input|prompt|image|size|seconds|duration|resolution)|(prompt|image|input|size|seconds|duration|resolution) is (invalid|required|not supported)/i;

/** Returns whether the submitted input caused a failure, so that the task cannot recover. */
export function isCausedByInput(failure: TaskErrorDetails): boolean {
  const isAtFault = reads(reviewWords, failure) || reads(inputWords, failure);
  return isAtFault && !reads(stumbleWords, failure);
}

/** Returns whether an error response means that the gateway has no such task, or not yet. */
export function isMissingTask({
  status,
  code,
  message,
}: {
  readonly status?: number | undefined;
  readonly code?: unknown;
  readonly message: string;
}): boolean {
  // Most gateways report a missing task with status 400.
  const isNamed = status === 400 && /task.{0,100}?not.{0,6}(exist|found)/i.test(message);
  return status === 404 || code === 'task_not_exist' || isNamed;
}
