import type { VideoTaskRef } from '../../index.ts';
import { check, isObject, type VideoJobData, type VideoJobParams } from './job.ts';

/** Input of `videoJob()`. */
export interface VideoJobRequest {
  /**
   * Your own id of the video, which becomes the job id: a queue accepts each id once, so adding it again
   * has no effect. Must not contain ":" or consist only of digits.
   */
  id: string;
  /** Parameters of `videos.create()`, or of `videos.remix()` if `remixOf` is set. */
  params: VideoJobParams | { prompt: string };
  /** The id or handle of the video to remix. */
  remixOf?: string | VideoTaskRef | undefined;
}

/** A job for `addBulk` and flows of BullMQ. */
export interface NewVideoJob {
  name: string;
  data: VideoJobData;
  opts: { jobId: string };
}

/**
 * Creates a job for a queue whose workers use `videoProcessor`. Rejects input that BullMQ or a worker
 * would reject later.
 *
 * @throws `InvalidInputError` naming the invalid field
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
    check(isText, `params.${name}`, 'is required for a video.');
  }
  checkJSON('params', params);
  const data = remixOf === undefined ? { params } : { params, remixOf };
  return { name: 'video', data, opts: { jobId: id } };
}

/** Rejects ids that BullMQ rejects or misinterprets, with a message that names the fix. */
function checkJobId(id: unknown): void {
  const isText = typeof id === 'string' && id.trim() !== '';
  check(isText, 'id', 'is empty; pass your own id for the video, such as "order-17".');
  const fix = `use another character, as in "${id.replaceAll(':', '-').slice(0, 40)}".`;
  check(!id.includes(':'), 'id', `contains ":", with which BullMQ separates its keys; ${fix}`);
  const problem = `is a number, and BullMQ reserves numbers for its own ids; put a word before it: "video-${id}".`;
  check(!/^-?\d+$/.test(id), 'id', problem);
  const isPlain = !/[\p{Surrogate}\p{Cc}]/u.test(id);
  check(isPlain, 'id', 'contains a control character or a lone surrogate.');
}

/** Throws if a value cannot be stored as JSON, which would silently turn a file into `{}`. */
function checkJSON(field: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) checkJSON(`${field}[${index}]`, entry);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    const problem =
      'is not JSON, the format in which jobs are stored; pass a file as its URL or data URL.';
    check(isPlain, field, problem);
    for (const [name, entry] of Object.entries(value)) checkJSON(`${field}.${name}`, entry);
    return;
  }
  const isLost = typeof value === 'function' || typeof value === 'symbol';
  check(!isLost && typeof value !== 'bigint', field, 'cannot be stored as JSON.');
}
