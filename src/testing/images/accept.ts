import type { ImageTaskShape, Quirks } from '../faults/quirks.ts';
import { pendingResponse } from '../control/pending.ts';
import { failureInside, fieldsBeside } from '../control/task-ends.ts';
import { authenticate } from '../server/auth.ts';
import type { Call, World } from '../server/call.ts';
import type { JsonObject } from '../../types.ts';
import type { ImageTask } from './tasks.ts';
import { list, record, text } from '../control/json.ts';

/** The route of tasks with a polling URL. Their id is in its query. */
const pollingPath = '/v1/get_result';

/** Parameters that a poll must repeat. They only look like names of secrets. */
const pollingQuery = { author: 'me', design: '2' };

/** The routes of image tasks, by shape. The others have none. */
const routes: Readonly<Partial<Record<ImageTaskShape, string>>> = {
  list: '/v1/images/tasks/',
  several: '/v1/images/tasks/',
  text: '/v1/images/tasks/',
  'task-info': '/v1/images/tasks/',
  'polling-url': pollingPath,
  object: '/v1/images/generations/',
  accepted: '/v1/images/jobs/',
  data: '/v1/tasks/',
  'status-url': '/queue/requests/',
};

/** Responds to an image call with a task. */
export function acceptImages(call: Call, answer: JsonObject, isFailed: boolean): Response {
  const { world, url } = call;
  const { quirks, clock, ids, imageTasks } = world;
  const { imageTasks: shape, imageTaskTime } = quirks;
  const endsAt = clock.now() + imageTaskTime;
  const pictures = shape === 'several' ? list(answer['data']) : [answer['data']];
  const tasks = pictures.map((data) => {
    const id = ids.next('imgtask_', 16);
    const made = { ...answer, data: Array.isArray(data) ? data : [data] };
    imageTasks.add({ id, shape, endsAt, isFailed, answer: made });
    return { task_id: id, status: 'submitted' };
  });
  const { task_id: id = '' } = tasks[0] ?? {};
  switch (shape) {
    case 'data':
      return Response.json({ code: 'success', message: '', data: { task_id: id } });
    case 'object':
      return Response.json({ id, object: 'image.generation.task', status: 'pending' });
    case 'task-info':
      return Response.json({ task_info: { id } });
    case 'polling-url': {
      const query = new URLSearchParams({ id, ...pollingQuery, signature: 's3cr3t' });
      return Response.json({ id, polling_url: `${url.origin}${pollingPath}?${query.toString()}` });
    }
    case 'text':
      return Response.json({ code: 1, description: 'Submitted', result: id });
    case 'accepted':
      return new Response(null, {
        status: 202,
        headers: { location: `/v1/images/jobs/${id}` },
      });
    case 'status-url':
    case 'foreign-url': {
      const origin = shape === 'status-url' ? url.origin : world.otherOrigin(url.origin);
      const place = `${origin}/queue/requests/${id}`;
      return Response.json({
        request_id: id,
        status: 'IN_QUEUE',
        response_url: place,
        status_url: `${place}/status`,
        cancel_url: `${place}/cancel`,
      });
    }
    default:
      return Response.json({ code: 200, data: tasks });
  }
}

function imageURLs({ answer }: ImageTask): string[] {
  return list(answer['data']).flatMap((item) => {
    const { url, b64_json: encoded } = record(item);
    return text(url) ?? text(encoded) ?? [];
  });
}

/** Returns the status body of a task in its shape. */
function statusBody(
  task: ImageTask,
  place: string,
  now: number,
  quirks: Readonly<Quirks>,
): JsonObject {
  const { id, shape, answer, isFailed } = task;
  const isOver = now >= task.endsAt;
  const words =
    shape === 'status-url'
      ? { going: 'IN_PROGRESS', done: 'COMPLETED' }
      : { going: 'processing', done: 'completed' };
  const status = isOver ? (isFailed ? 'failed' : words.done) : words.going;
  const failure = { message: 'The prompt was refused by moderation', code: 'content_policy' };
  const inside =
    isOver && isFailed ? failureInside(quirks.videoFailure, failure, 'image') : undefined;
  if (inside !== undefined) return { task_id: id, ...inside };
  const remark = isOver ? fieldsBeside(quirks) : {};
  const error = isOver && isFailed ? { error: failure } : remark;
  const isDone = isOver && !isFailed;
  const pictures = isDone ? imageURLs(task) : [];
  const named = { task_id: id, status, ...error };
  switch (shape) {
    case 'data': {
      const result = isDone ? { result: { images: pictures.map((url) => ({ url })) } } : {};
      return { code: 'success', message: '', data: { ...named, progress: '50%', ...result } };
    }
    case 'object':
      return {
        id,
        object: 'image.generation.task',
        status,
        ...error,
        result: isDone ? answer : null,
      };
    case 'accepted':
      return { id, status, ...error, output: isDone ? pictures : null };
    case 'text':
      return { id, status, ...error, imageUrl: pictures[0] ?? '' };
    case 'status-url':
      return { request_id: id, status, ...error, response_url: place.replace(/\/status$/, '') };
    case 'task-info': {
      const result = isDone ? { images: pictures.map((url) => ({ url })) } : {};
      return { task_info: { id, status }, ...error, ...result };
    }
    case 'polling-url': {
      const result = isDone ? { sample: pictures[0], prompt: 'A boat', seed: 1 } : null;
      return { id, status: isDone ? 'Ready' : isOver ? 'Error' : 'Pending', ...error, result };
    }
    default:
      return isDone ? { ...named, ...answer } : named;
  }
}

/** Handles the routes of image tasks. */
export function answerImageTask(
  request: Request,
  world: World,
  apiKey: string,
): Response | undefined {
  const { origin, pathname, searchParams } = new URL(request.url);
  const [last = '', rest = ''] = pathname.split('/').slice(-2).toReversed();
  const isStatus = last === 'status';
  const isPolling = pathname === pollingPath;
  const id = isPolling ? (searchParams.get('id') ?? '') : isStatus ? rest : last;
  const task = world.imageTasks.get(id);
  const prefix = task && routes[task.shape];
  if (task === undefined || prefix === undefined || request.method !== 'GET') return undefined;
  const isQueue = task.shape === 'status-url';
  const path = `${prefix}${task.id}${isStatus && isQueue ? '/status' : ''}`;
  if (pathname !== (task.shape === 'polling-url' ? pollingPath : path)) return undefined;
  const others = Object.entries(pollingQuery);
  if (isPolling && others.some(([name, value]) => searchParams.get(name) !== value)) {
    return undefined;
  }
  authenticate(request, apiKey);
  const now = world.clock.now();
  if (isQueue && !isStatus) {
    if (now < task.endsAt) {
      return Response.json({ detail: 'Request is still in progress' }, { status: 400 });
    }
    return Response.json({ images: imageURLs(task).map((url) => ({ url })), seed: 1 });
  }
  const accepted = now < task.endsAt ? pendingResponse(world.quirks) : undefined;
  return accepted ?? Response.json(statusBody(task, origin + pathname, now, world.quirks));
}
