import type { JsonObject } from '../types.ts';
import type { VideoStatus, VideoTask } from './types.ts';
import { isObject } from '../answers/objects.ts';
import type { FieldsOf, ResponseSchema } from '../answers/reader.ts';
import { findFailure } from './failure.ts';
import {
  findCompletedURL,
  findId,
  findProgress,
  findResultURL,
  findStatusWord,
  findTimestamp,
  parseWithIds,
} from './fields.ts';
import { readStatusWord } from './status.ts';

const fields: FieldsOf<Omit<VideoTask, 'ref' | 'raw'>> = {
  id: 'string or number',
  task_id: 'string or number',
  object: 'string',
  model: 'string',
  status: 'string',
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

/** Fields of which `null` says no more than their absence. */
const nullableFields = ['object', 'model', 'seconds', 'size', 'remixed_from_video_id'] as const;

/** Sets a field, or takes it away when there is nothing to say. */
function put(value: JsonObject, key: string, content: unknown): void {
  if (content !== undefined) value[key] = content;
  else if (key in value) delete value[key];
}

/** Adds a field that `JSON.stringify` and loops do not see. */
export function hide(value: object, key: string, content: unknown): void {
  // Every attribute is named: one that is left out stays as it is when the gateway sent such a field.
  const attributes = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(value, key, { value: content, ...attributes });
}

/** Sets the status of a task, and the fields that depend on it. */
function putStatus(value: JsonObject, body: JsonObject, status: VideoStatus): void {
  value['status'] = status;
  value['error'] = status === 'failed' ? findFailure(body) : null;
  put(value, 'url', status === 'completed' ? findCompletedURL(body) : undefined);
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
    const isInferred = reading.word !== 'known' && findResultURL(body) !== undefined;
    const id = findId(body) ?? '';
    value['id'] = id;
    value['task_id'] = id;
    put(value, 'raw_status', word);
    put(value, 'inferred', isInferred ? true : undefined);
    putStatus(value, body, isInferred ? 'completed' : reading.status);
    put(value, 'progress', findProgress(body));
    put(value, 'created_at', findTimestamp(body, ['created_at', 'created', 'submit_time']));
    put(value, 'completed_at', findTimestamp(body, ['completed_at', 'finish_time']));
    put(value, 'expires_at', findTimestamp(body, ['expires_at']));
    if (typeof body['seconds'] === 'number') value['seconds'] = String(body['seconds']);
    for (const key of nullableFields) if (value[key] === null) delete value[key];
    hide(value, 'raw', body);
  },
};
