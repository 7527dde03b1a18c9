import type { JsonObject } from '../types.ts';
import { firstOf, isObject } from './objects.ts';

/** A gateway may wrap the task of another gateway, which wraps the body of its vendor. */
const deepestLevel = 4;

export function objectOf(value: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : undefined;
}

/** Where gateways and vendors put a body inside of another. */
const wrappers = ['data', 'output', 'result', 'task', 'response', 'video'];

/** A video body and the bodies inside of it, outermost first. */
export function levelsOf(body: JsonObject): readonly JsonObject[] {
  const levels: JsonObject[] = [];
  for (let level = body; levels.push(level) < deepestLevel;) {
    const inner = firstOf(wrappers, (name) => objectOf(level[name]));
    if (inner === undefined) break;
    level = inner;
  }
  return levels;
}

/** Text that is not blank, trimmed; anything else counts as missing. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** An id as text. Numbers too large to be exact would be ids of other tasks. */
function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
  }
  return textOf(value);
}

/** The ids that one object holds; the first is its own. */
export function idsIn(level: JsonObject): readonly string[] {
  const { id, task_id: taskId, video_id: videoId, taskId: camel, job_id: jobId } = level;
  return [id, taskId, videoId, camel, jobId].map(idOf).filter((found) => found !== undefined);
}

/** The task id of a submission, wherever it is. Inside of another body, `id` may be that of a record. */
export function findId(body: JsonObject): string | undefined {
  const [, ...inner] = levelsOf(body);
  return (
    idsIn(body)[0] ??
    firstOf(
      inner,
      (level) =>
        firstOf([level['task_id'], level['taskId'], level['job_id']], idOf) ?? idsIn(level)[0],
    )
  );
}
