import type { JsonObject } from '../types.ts';
import type { VideoStatus, VideoTask } from './types.ts';
import { isObject } from '../answers/objects.ts';
import { findId } from '../answers/task-id.ts';
import type { FieldsOf, ResponseSchema } from '../answers/reader.ts';
import { findFailure } from './failure.ts';
import {
  findCompletedURL,
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
    const isInferred = reading.word !== 'known' && findResultURL(body) !== undefined;
    const id = findId(body) ?? '';
    const { seconds, object, model, size, remixed_from_video_id } = body;
    put(value, {
      id,
      task_id: id,
      raw_status: word,
      inferred: isInferred ? true : undefined,
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
    putStatus(value, body, isInferred ? 'completed' : reading.status);
    defineHidden(value, 'raw', body);
  },
};
