import { errorMessage, isNumber, isObject, isText } from '../answers/objects.ts';
import {
  check,
  checkModel,
  checkObject,
  checkParams,
  checkText,
  checkWord,
  shown,
} from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import {
  explainSubmission,
  unknownAdvice,
  VideoSubmitUnknownError,
} from '../errors/operation-errors.ts';
import { writeJSON } from '../http/json.ts';
import type { OperationRequest } from '../http/request.ts';
import { GatewayPromise, type WithResponse } from '../http/promise.ts';
import { shownOf } from '../http/make-error.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { GatewayOptions } from '../options.ts';
import type { JsonObject } from '../types.ts';
import { copyOptions } from '../snapshot.ts';
import { isUploadable } from '../uploads/file-input.ts';
import { type FormField, formBody } from '../uploads/multipart.ts';
import { adviceToWait, VideoSubmitAnswerError } from './errors.ts';
import { LedgerCall, type Settled, type SubmittedRequest } from './ledger.ts';
import { makeRef, ownTask } from './ref.ts';
import { defineHidden, findTaskId, videoSchema } from './schema.ts';
import { readTask } from './step.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
} from './types.ts';
import type { VideoSubmitOptions } from './wait-options.ts';

/** Seconds as text: the gateway cannot decode a JSON number there, though its document allows it. */
function secondsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isPositive = isNumber(value) && value > 0;
  const problem = 'must be a number above 0, or such a number as text.';
  check(isPositive || isText(value), 'seconds', problem);
  return String(value);
}

/** Refuses what no gateway could take for a reference image, and would drop and charge. */
function checkReference(field: string, value: unknown): void {
  if (value === undefined || value === null || isUploadable(value)) return;
  check(typeof value !== 'string' || isText(value), field, 'is empty; leave it out.');
  const problem = `must be a file, or a URL or data URL as text, not ${shown(value)}. The gateway keeps no files, so there are no file ids.`;
  check(isText(value), field, problem);
}

/** The image reference as it travels: a file or text. OpenAI's object form is taken apart. */
function referenceOf(value: unknown): unknown {
  const field = 'input_reference';
  if (isObject(value) && 'image_url' in value && !isUploadable(value)) {
    checkText(`${field}.image_url`, value['image_url'], 'an http(s) URL or a data URL');
    return value['image_url'];
  }
  checkReference(field, value);
  return value;
}

/** What a caller submits, checked. */
export interface Order extends Pick<VideoTaskRef, 'model' | 'remixOf'> {
  readonly operation: 'videos.create' | 'videos.remix';
  /** Those that this package does not know go along as they are. */
  readonly fields: JsonObject;
  /** The trace of the task that is remixed. */
  readonly origin?: string | undefined;
}

/** A new task. Input that would be charged and could not work is refused. */
export function creation(params: VideoCreateParams): Order {
  checkParams('videos.create', params);
  checkModel(params.model);
  checkText('prompt', params.prompt, 'a description of the video');
  for (const name of ['image', 'images'] as const) {
    const images: unknown = params[name];
    if (!Array.isArray(images)) checkReference(name, images);
    else for (const [index, image] of images.entries()) checkReference(`${name}[${index}]`, image);
  }
  const seconds = secondsText(params.seconds);
  const fields = {
    ...params,
    seconds,
    input_reference: referenceOf(params.input_reference),
  };
  return { operation: 'videos.create', fields, model: params.model };
}

/** A new version of a task. */
export function remixing(
  transport: Transport,
  task: VideoTaskLike,
  params: VideoRemixParams,
): Order {
  checkParams('videos.remix', params);
  checkText('prompt', params.prompt, 'what to change');
  const { ref } = ownTask(transport, task);
  const { id: remixOf, model, trace: origin } = ref;
  return { operation: 'videos.remix', fields: { ...params }, remixOf, model, origin };
}

function holdsFile(value: unknown): boolean {
  return isUploadable(value) || (Array.isArray(value) && value.some(isUploadable));
}

/** Refuses files where JSON is written, which would make `{}` of them. */
function refuseFiles(path: string, fields: JsonObject, fix: string): void {
  for (const [name, value] of Object.entries(fields)) {
    check(!holdsFile(value), `${path}${name}`, `is a file, which JSON cannot hold; ${fix}.`);
  }
}

/** Refuses values that JSON cannot hold, before a ledger claims the submission. */
function checkWritable(fields: JsonObject): void {
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'object' && value !== null && !holdsFile(value)) writeJSON(name, value);
  }
}

/** The fields with files last, so that a gateway knows the model before it reads them. */
function filesLast(fields: JsonObject) {
  return Object.entries(fields)
    .map(([name, value]) => ({ name, value, isFile: holdsFile(value) }))
    .toSorted((one, other) => Number(one.isFile) - Number(other.isFile));
}

/** Checked fields as the body of a request. */
function bodyOf(
  fields: JsonObject,
  bodyFormat: GatewayOptions['bodyFormat'],
): OperationRequest<'videos.create'> {
  const { metadata, image, images } = fields;
  if (isObject(metadata)) refuseFiles('metadata.', metadata, 'give its URL or data URL as text');
  checkWritable(fields);
  if (bodyFormat === 'json') {
    refuseFiles('', fields, 'give its URL or data URL as text, or leave bodyFormat: "json" out');
    return { json: fields };
  }
  // Read from a form, a list of one is no list, and gateways refuse it under the name of the list.
  const isOne = Array.isArray(images) && images.length === 1 && (image ?? undefined) === undefined;
  const form = filesLast(fields).map(({ name, value, isFile }): FormField => {
    const field = isOne && name === 'images' ? 'image' : name;
    return isFile ? [field, value, 'image'] : [field, value];
  });
  return { form: formBody(form) };
}

/**
 * What is submitted, to be compared with what was submitted before: the same however it travels. Of
 * files only the field counts. Ledgers hold digests of it, so its shape may not change.
 */
function comparable(fields: JsonObject): readonly unknown[] {
  const entries = filesLast(fields);
  if (!entries.some(({ isFile }) => isFile)) return [fields, undefined];
  return [undefined, entries.map(({ name, value }) => [name, withoutFiles(value)])];
}

function withoutFiles(value: unknown): unknown {
  if (isUploadable(value)) return false;
  return Array.isArray(value) ? value.map(withoutFiles) : value;
}

/** What the ledger of a submission knows it by, where there is one. */
function ledgerCallOf({
  ledger,
  callId,
  onUnknown = 'fail',
  signal,
}: VideoSubmitOptions): LedgerCall | undefined {
  checkWord('onUnknown', onUnknown, ['fail', 'resubmit', 'settle']);
  if (ledger === undefined) return undefined;
  for (const method of ['claim', 'accept', 'finish', 'entry'] as const) {
    const hasMethod = typeof ledger?.[method] === 'function';
    check(hasMethod, 'ledger', `has no method ${method}(); give a SubmitLedger.`);
  }
  const problem = 'is needed with a ledger; give the id of your job, the same at every attempt.';
  check(callId !== undefined, 'callId', problem);
  return new LedgerCall(ledger, callId, signal);
}

function requestOf(
  transport: Transport,
  { fields, remixOf = '', origin: trace, model }: Order,
  options: VideoSubmitOptions,
) {
  const { bodyFormat = transport.client.bodyFormat, extraBody } = options;
  checkWord('bodyFormat', bodyFormat, ['form', 'json']);
  checkObject('extraBody', extraBody);
  // The model of a remix stands nowhere in its request; its price depends on it.
  const params = { video_id: remixOf, ...(model === undefined ? {} : { model }) };
  const body = bodyOf({ ...fields, ...extraBody }, bodyFormat);
  return { ...body, params, trace, explain: explainSubmission };
}

/** The handle of a task that was submitted. */
function refOf(
  { baseURL }: Transport,
  { model, remixOf }: Order,
  id: string,
  said: Pick<VideoTaskRef, 'callId' | 'requestId' | 'trace' | 'model'>,
): VideoTaskRef {
  const createdAt = Date.now();
  return makeRef({ ...said, id, baseURL, createdAt, remixOf, model: model ?? said.model });
}

/** The extra fields are in the body already, and a status request has none. */
function withoutBody(options: VideoSubmitOptions): VideoSubmitOptions {
  return options.extraBody === undefined ? options : { ...options, extraBody: undefined };
}

/** Sends a submission, without a ledger. */
function send(
  transport: Transport,
  order: Order,
  options: VideoSubmitOptions,
  request = requestOf(transport, order, options),
): GatewayPromise<VideoTask> {
  const answer = jsonAnswer({ schema: videoSchema });
  const format: typeof answer = {
    kind: 'json',
    async read(call, received) {
      const { requestId, response } = received;
      const by = { callId: call.id, requestId, trace: call.trace };
      try {
        const { value: task } = await answer.read(call, received);
        const { id, model, raw } = task;
        if (id === '') throw nameless(raw, by, response.headers);
        defineHidden(task, 'ref', refOf(transport, order, id, { ...by, model }));
        return { value: task };
      } catch (error) {
        throw withRef(error, (id) => refOf(transport, order, id, by));
      }
    },
  };
  return transport.call(order.operation, request, format, withoutBody(options));
}

/** A submission that was accepted, but does not say which task it made. */
function nameless(
  raw: unknown,
  { callId, requestId }: Pick<VideoTaskRef, 'callId' | 'requestId'>,
  headers: Headers,
): VideoSubmitUnknownError {
  const attempt = { phase: 'body', requestId } as const;
  return new VideoSubmitUnknownError(
    'A video task was probably created, but the answer holds no task id.',
    {
      callId,
      headers,
      requestID: requestId,
      error: shownOf(raw),
      body: JSON.stringify(raw),
      evidence: { ...attempt, attempts: [attempt] },
      advice: `${unknownAdvice} The answer is in error.body.`,
    },
  );
}

/** An answer that strict validation refuses still names the task, which is paid for. */
function withRef(error: unknown, makeHandle: (id: string) => VideoTaskRef): unknown {
  if (!UnexpectedResponseError.isInstance(error) || !isObject(error.data)) return error;
  const id = findTaskId(error.data);
  if (id === undefined) return error;
  const { body, data } = error;
  const ref = makeHandle(id);
  const message = error.message.replace(` ${error.advice}`, '');
  const init = Object.assign({}, error, { advice: adviceToWait(ref), ref, body, data });
  return new VideoSubmitAnswerError(`Video task ${id} was submitted, but ${message}`, init);
}

/** A task that was submitted: now, or before, as the ledger knows. */
interface Submitted {
  readonly ref: VideoTaskRef;
  /** The answer, when it was submitted now. */
  readonly answer?: WithResponse<VideoTask>;
  /** What it was entered under. */
  readonly call: LedgerCall | undefined;
}

/** Looks up in the usage log of the gateway whether a submission with an unknown outcome was charged. */
export type SettleSubmission = (
  transport: Transport,
  callId: string,
  request: SubmittedRequest,
  signal: AbortSignal | null | undefined,
) => Promise<{
  readonly verdict: Settled['verdict'];
  readonly taskId?: string | undefined;
  readonly why: string;
}>;

/** What a submission needs of its client. */
export interface Submitter {
  readonly transport: Transport;
  /** `undefined` if the client has no account. */
  readonly settle: SettleSubmission | undefined;
}

/** Submits a task; with a ledger, once for each call id, whatever happens to the process. */
export async function submitOnce(
  submitter: Submitter,
  order: Order,
  options: VideoSubmitOptions,
): Promise<Submitted> {
  const { transport } = submitter;
  transport.checkOptions(options);
  const call = ledgerCallOf(options);
  // What cannot be sent is not claimed either.
  const request = requestOf(transport, order, options);
  const known = await call?.claim(contentOf(order, options), options.onUnknown, (before) =>
    settleCall(submitter, order, options, before),
  );
  if (known !== undefined) return { ref: known, call };
  const answer = await send(transport, order, options, request)
    .withResponse()
    .catch(async (error: unknown) => {
      if (VideoSubmitAnswerError.isInstance(error)) await call?.accept(error.ref);
      else {
        const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
        await call?.finish(isUnknown ? 'unknown' : 'not_submitted', onlyRequest(error));
      }
      throw error;
    });
  const { ref } = answer.data;
  await call?.accept(ref);
  return { ref, answer, call };
}

/** Returns the only request that a failed submission sent. */
function onlyRequest(error: unknown): SubmittedRequest {
  if (!GatewayError.isInstance(error)) return {};
  const [request = {}, ...others] = error.evidence.attempts.filter(
    ({ phase }) => phase !== 'connect',
  );
  return others.length === 0 ? request : {};
}

/** Looks up in the usage log what became of a submission that a ledger knows. */
async function settleCall(
  { transport, settle }: Submitter,
  order: Order,
  { callId = '', signal }: VideoSubmitOptions,
  request: SubmittedRequest,
): Promise<Settled> {
  if (settle === undefined) {
    return { verdict: 'unknowable', why: 'this client has no account to read the usage log with' };
  }
  try {
    const settled = await settle(transport, callId, request, signal);
    const { requestId } = request;
    const { verdict, why, taskId } = settled;
    if (verdict !== 'charged' || taskId === undefined) return { verdict, why };
    return { verdict, why, ref: refOf(transport, order, taskId, { callId, requestId }) };
  } catch (cause) {
    // A usage log that cannot be read proves nothing.
    const why = errorMessage(cause);
    return { verdict: 'unknowable', why, cause };
  }
}

/** What tells one submission from another. Ledgers hold digests of it, so its shape may not change. */
function contentOf(
  { operation, fields, remixOf }: Order,
  { extraBody }: VideoSubmitOptions,
): unknown {
  const params = remixOf === undefined ? undefined : { video_id: remixOf };
  return [[operation, params, ...comparable(fields)], extraBody];
}

/** Submits a task. One that the ledger knows already is read instead. */
export function submit(
  submitter: Submitter,
  order: Order,
  given: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  const { transport } = submitter;
  // The ledger is read first; until then the caller may change its options.
  const options = copyOptions(given) ?? {};
  if (ledgerCallOf(options) === undefined) return send(transport, order, options);
  const done = submitOnce(submitter, order, options).then(({ ref, answer }) => {
    if (answer !== undefined) return answer;
    return readTask(transport, ownTask(transport, ref), withoutBody(options)).withResponse();
  });
  const answer = done.then(({ data, response: read, request_id: requestId }) => {
    // The ledger had to know the task first, so the body was read; this is the same once more.
    const response = Response.json(data.raw, read);
    const parse = () => Promise.resolve(data);
    return { response, requestId: requestId ?? undefined, parse, raw: () => response };
  });
  return new GatewayPromise(answer);
}
