import { defineHidden, isObject } from '../../answers/objects.ts';
import { digestURLs, rememberSent, withoutSent } from '../../answers/result-places.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import type { ReadOther } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import { revise } from '../../errors/gateway-error.ts';
import {
  type IncomingResponse,
  ReadFailure,
  unusable,
} from '../../http/responses/response-body.ts';
import { displayURL, isSecretName } from '../../http/url.ts';
import { type ImageTaskRef, makeImageRef } from '../../tasks/ref.ts';
import { ImageWaitError } from './errors.ts';
import { type AcceptedTask, findAcceptedTask } from './task.ts';
import type { ImagesResponse } from './types.ts';

/** A task that a gateway returned instead of images. */
interface Accepted<Result> {
  readonly ref: ImageTaskRef;
  /** The status URL in the response, if the key may not be sent to it. */
  readonly foreignURL: string | undefined;
  /** Converts the images of the completed task to the result of the call. */
  readonly toResult: (images: ImagesResponse) => Result;
}

/** A response that names a task: its fields, and the handle as `ref`, for observers and the account. */
export class TaskResponse<Result> {
  readonly #accepted: Accepted<Result>;

  constructor(fields: object, accepted: Accepted<Result>) {
    // Assigning would change the prototype if there is a field `__proto__`.
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(fields));
    defineHidden(this, 'ref', accepted.ref);
    this.#accepted = accepted;
  }

  static task<Result>(response: TaskResponse<Result>): Accepted<Result> {
    return response.#accepted;
  }
}

/** Returns the status path of a task below the gateway origin; `undefined` if the key may not be sent there. */
function toPollPath(
  { address, ids }: AcceptedTask,
  calledURL: string,
  baseURL: string,
): string | undefined {
  if (address === undefined || !URL.canParse(address, calledURL)) return undefined;
  const { origin, pathname, searchParams } = new URL(address, calledURL);
  if (origin !== new URL(baseURL).origin) return undefined;
  // Handles hold no secrets, and polls use the key.
  const shown = [...searchParams].filter(([name]) => !isSecretName(name));
  const query = new URLSearchParams(shown).toString();
  const whole = query === '' ? pathname : `${pathname}?${query}`;
  const [id = ''] = ids;
  const path = whole.split(encodeURIComponent(id)).join('{id}');
  return path.includes('{id}') || ids.length === 1 ? path : undefined;
}

/**
 * Returns a function that recognizes a task in a response. It throws if the gateway accepted the request without naming
 * a task.
 *
 * @param transport - The client of the call: a task exists on one gateway only.
 * @param model - The requested model.
 * @param toResult - Returns the function that converts the images of the task.
 * @param sent - The URLs that the call sent.
 */
export function readTaskResponse<Result>(
  { baseURL, gateway }: Transport,
  model: string | null | undefined,
  toResult: (request: GatewayRequest, incoming: IncomingResponse) => Accepted<Result>['toResult'],
  sent: readonly string[],
): ReadOther<TaskResponse<Result>> {
  return (value, request, incoming, text) => {
    const { response, requestId } = incoming;
    const task = findAcceptedTask(withoutSent(value, sent), response);
    if (task === undefined) return undefined;
    const [id] = task.ids;
    if (id === undefined) {
      const problem =
        'the response contains neither a task nor an image. The images may be paid for.';
      const failed = unusable({ response, requestId }, problem, text);
      throw new ReadFailure({ ...failed, kind: 'undecided' });
    }
    const name = gateway?.profile.name;
    const path = toPollPath(task, request.url, baseURL);
    const ref = makeImageRef({
      id,
      ids: task.ids.length > 1 ? [...task.ids] : undefined,
      path,
      baseURL,
      model: model || undefined,
      createdAt: Date.now(),
      callId: request.id,
      requestId,
      gateway: name === 'new-api' ? undefined : name,
      trace: request.trace,
      sent: digestURLs(sent),
    });
    rememberSent(sent, ref);
    const foreignURL = path === undefined ? task.address : undefined;
    const accepted = { ref, foreignURL, toResult: toResult(request, incoming) };
    return new TaskResponse(isObject(value) ? value : {}, accepted);
  };
}

/** Adds the status URL, to which no request was sent, to the error of a task that no route knows. */
export function withForeignURL(error: unknown, url: string | undefined): unknown {
  if (!ImageWaitError.isInstance(error) || url === undefined) return error;
  const sentence = `Its response contains the URL ${displayURL(url)}, to which the key is not sent.`;
  revise(error, { advice: `${sentence} ${error.advice}` });
  return error;
}
