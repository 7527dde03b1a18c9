import type { VideoTaskRef } from '../index.ts';
import { check, isObject, type VideoJobData, type VideoJobParams } from './job.ts';

/** A video to be made. */
export interface VideoJobRequest {
  /**
   * Your own id of the video, which becomes that of the job: a queue takes each once, so adding it again
   * changes nothing. No ":" and not only digits.
   */
  id: string;
  /** What to make: the parameters of `videos.create()`, or of `videos.remix()` with `remixOf`. */
  params: VideoJobParams | { prompt: string };
  /** The video to remix: its id or its handle. */
  remixOf?: string | VideoTaskRef | undefined;
}

/** A job, as `addBulk` and flows of BullMQ take it. */
export interface NewVideoJob {
  name: string;
  data: VideoJobData;
  opts: { jobId: string };
}

/**
 * Makes a job of a video, for a queue whose workers have `videoProcessor`. What BullMQ or a worker would
 * not take is refused here, where the mistake was made.
 *
 * @throws `InvalidInputError` naming the field that cannot work
 *
 * @example
 * await videos.addBulk(orders.map(({ id, prompt }) =>
 *   videoJob({ id: `order-${id}`, params: { model: 'sora-2', prompt } }),
 * ));
 */
export function videoJob({ id, params, remixOf }: VideoJobRequest): NewVideoJob {
  checkJobId(id);
  check(isObject(params), 'params', 'must be an object: the parameters of videos.create().');
  const wanted = remixOf === undefined ? ['model', 'prompt'] : ['prompt'];
  for (const name of wanted) {
    const value: unknown = Reflect.get(params, name);
    const isText = typeof value === 'string' && value.trim() !== '';
    check(isText, `params.${name}`, 'is empty; a video needs it.');
  }
  checkJSON('params', params);
  const data = remixOf === undefined ? { params } : { params, remixOf };
  return { name: 'video', data, opts: { jobId: id } };
}

/** What BullMQ says of ids, but with the fix, and what it takes and then reads as something else. */
function checkJobId(id: unknown): void {
  const isText = typeof id === 'string' && id.trim() !== '';
  check(isText, 'id', 'is empty; give your own id of the video, such as "order-17".');
  const fix = `use another sign, as in "${id.replaceAll(':', '-').slice(0, 40)}".`;
  check(!id.includes(':'), 'id', `holds ":", with which BullMQ parts its keys; ${fix}`);
  const problem = `is a number, which BullMQ keeps for ids of its own; put a word before it: "video-${id}".`;
  check(!/^-?\d+$/.test(id), 'id', problem);
  const isPlain = !/[\p{Surrogate}\p{Cc}]/u.test(id);
  check(isPlain, 'id', 'holds a control character or half of a surrogate pair.');
}

/** Jobs are JSON, which makes `{}` of a file without a word. */
function checkJSON(field: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) checkJSON(`${field}[${index}]`, entry);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    const problem =
      'is no JSON, as which jobs are stored; give a file by its URL or data URL, as text.';
    check(isPlain, field, problem);
    for (const [name, entry] of Object.entries(value)) checkJSON(`${field}.${name}`, entry);
    return;
  }
  const isLost = typeof value === 'function' || typeof value === 'symbol';
  check(!isLost && typeof value !== 'bigint', field, 'cannot be stored as JSON.');
}
