import type { JsonObject } from '../types/common.ts';
import type { VideoTaskError } from '../types/videos.ts';
import { isObject } from './objects.ts';
import { levelsOf, textOf } from './video-fields.ts';
import { readStatusWord } from './video-status.ts';

/** What a failed task says when the gateway gave no reason at all. */
export const noReason = 'The gateway gave no reason.';

/** Some gateways put the whole JSON answer of the vendor into a text field; one level is unwrapped. */
function unwrap(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const inner: unknown = JSON.parse(text);
    return (isObject(inner) ? reasonIn(inner) : undefined) ?? text;
  } catch {
    return text;
  }
}

/** The reason that one object holds, apart from what is nested in it. */
function reasonIn(level: JsonObject): string | undefined {
  const { error } = level;
  const inner: JsonObject = isObject(error) ? error : {};
  const places = [
    inner['message'],
    inner['msg'],
    inner['detail'],
    inner['reason'],
    error,
    level['fail_reason'],
    level['task_status_msg'],
  ];
  return places.map(textOf).find((text) => text !== undefined);
}

/** A `message` next to the task; wrappers write `"SUCCEED"` there when only the request succeeded. */
function messageIn(level: JsonObject): string | undefined {
  const message = textOf(level['message']);
  if (message === undefined || /^ok$/i.test(message)) return undefined;
  return readStatusWord(message).status === 'completed' ? undefined : message;
}

function codeOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return textOf(value);
}

/** Why a task failed. To be asked only of failed tasks: other tasks fill these fields too. */
export function findFailure(body: JsonObject): VideoTaskError {
  const levels = levelsOf(body);
  const codes = levels.map(({ error }) => (isObject(error) ? codeOf(error['code']) : undefined));
  const code = codes.find((found) => found !== undefined);
  const reason = [...levels.map(reasonIn), ...levels.map(messageIn)].find(
    (found) => found !== undefined,
  );
  const message = reason === undefined ? (code ?? noReason) : unwrap(reason);
  return code === undefined ? { message } : { message, code };
}

const reviewWords =
  /moderat|sensitive|safety|nsfw|violat|inappropriate|prohibit|(content|risk)[\s_-]?(policy|review|filter|control|check)|审核|敏感|违规/i;

/** Whether a failure reads like a content review. A guess: the gateway does not say. */
export function readsLikeReview({ message, code }: VideoTaskError): boolean {
  return reviewWords.test(message) || reviewWords.test(code ?? '');
}
