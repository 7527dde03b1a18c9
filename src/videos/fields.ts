import type { JsonObject } from '../types.ts';
import { firstOf } from '../answers/objects.ts';
import { idsIn, levelsOf, objectOf, textOf } from '../answers/task-id.ts';
import { readStatusWord } from './status.ts';

/** Whether a body is about this task; a record of it has an id of its own beside that of the task. */
export function namesTask(body: JsonObject, id: string): boolean {
  return levelsOf(body).some((level) => idsIn(level).includes(id));
}

/** Parses an answer whose ids may be numbers beyond 2^53: those are kept as the text that came. */
export function parseWithIds(text: string): unknown {
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

/** The gateway's own status word, from the outermost body that has one. */
export function findStatusWord(body: JsonObject): string | undefined {
  const [outer, ...inner] = levelsOf(body).map(statusWordIn);
  const within = inner.find((word) => word !== undefined);
  // A wrapper without an id that says `success` means the request, not the task.
  const isWrapper = idsIn(body).length === 0 && readStatusWord(outer).status === 'completed';
  return isWrapper ? (within ?? outer) : (outer ?? within);
}

/** Text when it is an http(s) URL or a data URL; gateways put error sentences in the same fields. */
export function resultURLOf(value: unknown): string | undefined {
  const text = textOf(Array.isArray(value) ? value[0] : value);
  if (text === undefined) return undefined;
  if (/^data:[^\s,]*,/i.test(text)) return text;
  if (!/^https?:\/\/\S+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

/** Where the result of a task is. It says something only of tasks that have ended well. */
export function findResultURL(body: JsonObject): string | undefined {
  return firstOf(levelsOf(body), (level) => {
    const metadata = objectOf(level['metadata']) ?? {};
    const content = objectOf(level['content']) ?? {};
    const result = objectOf(level['task_result']) ?? {};
    const video = objectOf(result['videos']) ?? objectOf(level['video']) ?? {};
    const places = [
      metadata['url'],
      level['url'],
      level['video_url'],
      level['result_url'],
      level['output'],
      content['video_url'],
      video['url'],
    ];
    return firstOf(places, resultURLOf);
  });
}

/** Where the result of a completed task is. Old builds put it where failed tasks have their reason. */
export function findCompletedURL(body: JsonObject): string | undefined {
  return (
    findResultURL(body) ?? firstOf(levelsOf(body), (level) => resultURLOf(level['fail_reason']))
  );
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
export function findProgress(body: JsonObject): number | undefined {
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
export function findTimestamp(body: JsonObject, names: readonly string[]): number | undefined {
  return firstOf(levelsOf(body), (level) => firstOf(names, (name) => timestampOf(level[name])));
}
