import { saysFailure } from '../../answers/failure.ts';
import { defineHidden, findId, isNumber, isObject, isText } from '../../answers/objects.ts';
import type { ResponseSchema } from '../../answers/reader.ts';
import {
  check,
  checkModel,
  checkObject,
  checkText,
  checkWord,
  shown,
} from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import { digestURLs, listURLs, rememberSent } from '../../answers/result-places.ts';
import { APIError, UnexpectedResponseError } from '../../errors/api-errors.ts';
import { explainSubmission } from '../../errors/operation-errors.ts';
import { writeParams } from '../../gateways/define.ts';
import { newApi } from '../../gateways/new-api.ts';
import { writeJSON } from '../../http/json.ts';
import {
  type Change,
  type OperationRequest,
  unchanged,
  withoutChanged,
} from '../../http/request.ts';
import { OpenResponse } from '../../calls/open-response.ts';
import { GatewayPromise } from '../../calls/promise.ts';
import { type ResultFormat, findRequest } from '../../calls/gateway-request.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import type { DefinedGateway } from '../../options/gateway-profile.ts';
import type { GatewayOptions } from '../../options/options.ts';
import type { JsonObject } from '../../types.ts';
import { changeOptions, optionsFor } from '../../options/resolve.ts';
import { copyOptions, copyParams } from '../../options/snapshot.ts';
import { checkData, isUploadable } from '../../uploads/file-input.ts';
import { jsonWithImages } from '../../uploads/json-files.ts';
import { checkImageText } from '../../uploads/references.ts';
import { type FormField, formBody } from '../../uploads/multipart.ts';
import { VideoSubmitResponseError } from './errors.ts';
import type { Submission } from '../../tasks/kind.ts';
import { makeRef } from '../../tasks/ref.ts';
import { resolveOwnTask } from './ref.ts';
import { comparable, filesLast, holdsFile, submitOnce } from '../../tasks/submit.ts';
import { findTaskId, videoSchemaFor } from './schema.ts';
import { adviceToWait, readTask, videoTasks } from './kind.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
} from './types.ts';
import type { VideoSubmitOptions } from './wait-options.ts';

/** Writes `seconds` as text: the gateway cannot decode a JSON number, although its documentation allows one. */
function toSecondsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isPositive = isNumber(value) && value > 0;
  const problem = 'must be a number above 0, or such a number as text.';
  check(isPositive || isText(value), 'seconds', problem);
  return String(value);
}

type Profile = DefinedGateway['profile'];

/** Rejects references that gateways ignore but still bill for. */
function checkReference(field: string, value: unknown, profile: Profile | undefined): void {
  if (value === undefined || value === null || isUploadable(value)) return;
  checkData(field, value);
  check(typeof value !== 'string' || isText(value), field, 'is empty; omit it.');
  const problem = `must be a file, or a URL or data URL as text, not ${shown(value)}. The gateway does not store files, so file ids are not supported.`;
  check(isText(value), field, problem);
  checkImageText(field, value, profile);
}

/** Returns an image reference as a file or text. OpenAI's object form is replaced by its URL. */
function toReference(value: unknown, profile: Profile | undefined): unknown {
  const field = 'input_reference';
  if (isObject(value) && 'image_url' in value && !isUploadable(value)) {
    const { image_url: url } = value;
    checkImageText(`${field}.image_url`, checkText(`${field}.image_url`, url, 'a URL'), profile);
    return url;
  }
  checkReference(field, value, profile);
  return value;
}

export interface VideoSubmission extends Pick<VideoTaskRef, 'model' | 'remixOf'> {
  readonly operation: 'videos.create' | 'videos.remix';
  /** Fields of the body. Unknown fields are sent unchanged. */
  readonly fields: JsonObject;
  /** The trace of the original of a remix. */
  readonly origin?: string | undefined;
}

/** Checks the submission of a new task. Rejects input that cannot work but would be charged. */
export function createSubmission(
  { gateway }: Pick<Transport, 'gateway'>,
  params: VideoCreateParams | JsonObject,
): VideoSubmission {
  checkParams('videos.create', params);
  const { prompt, seconds, input_reference: reference, image, images } = params;
  const profile = gateway?.profile;
  const model = checkModel(params['model']);
  checkText('prompt', prompt, 'a description of the video');
  for (const [name, value] of Object.entries({ image, images })) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const [index, item] of list.entries()) {
      checkReference(list === value ? `${name}[${index}]` : name, item, profile);
    }
  }
  const converted = {
    seconds: toSecondsText(seconds),
    input_reference: toReference(reference, profile),
  };
  return { operation: 'videos.create', fields: { ...copyParams(params), ...converted }, model };
}

export function remixSubmission(
  transport: Transport,
  task: VideoTaskLike,
  params: VideoRemixParams,
): VideoSubmission {
  checkParams('videos.remix', params);
  checkText('prompt', params.prompt, 'what to change');
  const { ref } = resolveOwnTask(transport, task);
  const { id: remixOf, model, trace: origin } = ref;
  return { operation: 'videos.remix', fields: { ...params }, remixOf, model, origin };
}

/** Rejects files in a JSON body, where they would become `{}`. */
function refuseFiles(path: string, fields: JsonObject, fix: string): void {
  for (const [name, value] of Object.entries(fields)) {
    check(!holdsFile(value), `${path}${name}`, `is a file, which JSON cannot contain; ${fix}.`);
  }
}

/** Rejects values that JSON cannot hold, before a ledger claims the submission. */
function checkWritable(fields: JsonObject): void {
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'object' && value !== null && !holdsFile(value)) writeJSON(name, value);
  }
}

/** Writes checked fields as a request body. */
function writeBody(
  fields: JsonObject,
  bodyFormat: GatewayOptions['bodyFormat'],
): OperationRequest<'videos.create'> {
  const { metadata, image, images } = fields;
  if (isObject(metadata)) refuseFiles('metadata.', metadata, 'pass its URL or data URL as text');
  checkWritable(fields);
  if (bodyFormat === 'json') {
    refuseFiles('', fields, 'pass its URL or data URL as text, or omit bodyFormat: "json"');
    return { json: fields };
  }
  // A form cannot express a list of one item: gateways reject a single value under the name of the list.
  const isOne = Array.isArray(images) && images.length === 1 && (image ?? undefined) === undefined;
  const form = filesLast(fields).map(({ name, value, isFile }): FormField => {
    const field = isOne && name === 'images' ? 'image' : name;
    return isFile ? [field, value, 'image'] : [field, value];
  });
  return { form: formBody(form) };
}

/**
 * Warns about a Hailuo model without a size. Gateways of the new-api family then count the resolution twice, and
 * request no duration.
 */
function warnAboutSize({ client, gateway }: Transport, model: unknown, size: unknown): void {
  const { name = newApi.name } = gateway?.profile ?? {};
  if (name !== newApi.name || isText(size) || !isText(model) || !/hailuo/i.test(model)) return;
  client.log.warnOnce([
    'size is missing: gateways of the new-api family charge Hailuo models without it twice, and drop seconds. Set a size, such as "1366x768".',
  ]);
}

function buildRequest(
  transport: Transport,
  { operation, fields, remixOf = '', origin: trace, model }: VideoSubmission,
  options: VideoSubmitOptions,
) {
  const { client } = transport;
  const profile = transport.gateway?.profile;
  const sent = profile?.requests?.[operation]?.body;
  const isRemix = operation === 'videos.remix' && sent === undefined;
  const ownFormat = sent === 'json' || isRemix ? 'json' : 'form';
  const { extraBody } = options;
  const bodyFormat = options.bodyFormat ?? client.bodyFormat ?? ownFormat;
  checkWord('bodyFormat', bodyFormat, ['form', 'json']);
  checkObject('extraBody', extraBody);
  // The request of a remix doesn't contain the model, but the price depends on it.
  const sentModel = isText(extraBody?.['model']) ? extraBody['model'] : model;
  const params = { video_id: remixOf, ...(sentModel !== undefined && { model: sentModel }) };
  const written = { ...writeParams(profile, operation, fields, params), ...extraBody };
  if (operation === 'videos.create') warnAboutSize(transport, written['model'], written['size']);
  const isJSON = ownFormat === 'json' && bodyFormat === 'json';
  const hasFiles = Object.values(fields).some(holdsFile);
  if (isJSON && hasFiles) checkWritable({ ...fields, ...extraBody });
  const body: OperationRequest<'videos.create'> =
    isJSON && hasFiles ? { form: jsonWithImages(written) } : writeBody(written, bodyFormat);
  return { ...body, isWritten: true, params, trace, explain: explainSubmission };
}

/** Creates the handle of a submitted task. */
function createRef(
  { baseURL, gateway }: Transport,
  { model, remixOf }: VideoSubmission,
  id: string,
  details: Pick<VideoTaskRef, 'callId' | 'requestId' | 'trace' | 'model' | 'sent'>,
): VideoTaskRef {
  const name = gateway?.profile.name;
  return makeRef({
    ...details,
    id,
    baseURL,
    createdAt: Date.now(),
    model: model ?? details.model,
    remixOf,
    gateway: name === newApi.name ? undefined : name,
  });
}

/** Returns the format of the response to a submission. */
function submittedFormat(
  transport: Transport,
  submission: VideoSubmission,
  sent: readonly string[],
): ResultFormat<VideoTask, 'json'> {
  let named: string | undefined;
  const schema: ResponseSchema<VideoTask> = {
    ...videoSchemaFor(sent),
    result: {
      name: 'task id',
      isIn(body) {
        const id = findTaskId(body);
        named ??= id;
        // The id in text beside an error may be that of another task.
        return findId(body) !== undefined || (id !== undefined && !saysFailure(body));
      },
    },
  };
  const format = jsonFormat({ schema });
  return {
    kind: 'json',
    async read(request, received) {
      const { requestId } = received;
      const { id: callId, trace } = request;
      const by = { callId, requestId, trace, sent: digestURLs(sent) };
      try {
        const { value: task } = await format.read(request, received);
        const { id, model } = task;
        defineHidden(task, 'ref', createRef(transport, submission, id, { ...by, model }));
        rememberSent(sent, task.ref);
        return { value: task };
      } catch (error) {
        const isRead = UnexpectedResponseError.isInstance(error) && isObject(error.data);
        if (!isRead || named === undefined) throw error;
        // The response that strict validation rejected still names the task, which is paid for.
        const { body, data, summary } = error;
        const ref = createRef(transport, submission, named, by);
        const id = transport.client.credential.hide(named);
        const advice = adviceToWait(ref, id === named);
        const init = Object.assign({}, error, { advice, ref, body, data });
        throw new VideoSubmitResponseError(`Video task ${id} was submitted, but ${summary}`, init);
      }
    },
  };
}

/**
 * Sends a submission without a ledger. A remix is JSON, which more gateways read than a form, unless the caller or the
 * profile says otherwise; if a gateway rejects its format, it is sent once more as a form.
 */
function send(
  transport: Transport,
  submission: VideoSubmission,
  options: VideoSubmitOptions,
  request?: ReturnType<typeof buildRequest>,
): GatewayPromise<VideoTask> {
  const first = sendOnce(transport, submission, options, request);
  const { bodyFormat = transport.client.bodyFormat } = options;
  if (submission.operation !== 'videos.remix' || bodyFormat !== undefined) return first;
  const open = first.state().opened.catch((error: unknown) => {
    const isOver = findRequest(error)?.scope.isOver === true;
    if (isOver || !isOtherFormat(error)) throw error;
    const asForm = changeOptions(options, { bodyFormat: 'form' });
    return sendOnce(transport, submission, asForm).state().opened;
  });
  return new GatewayPromise(open);
}

/** Returns whether a gateway rejected a request because of the format of its body, which it then did not read. */
const isOtherFormat = (error: unknown): boolean =>
  APIError.isInstance(error) &&
  error.outcome === 'rejected' &&
  (error.status === 415 || /content[\s-]?type|multipart|form[\s-]?data/i.test(error.message));

function sendOnce(
  transport: Transport,
  submission: VideoSubmission,
  options: VideoSubmitOptions,
  request = buildRequest(transport, submission, options),
): GatewayPromise<VideoTask> {
  const isRemix = submission.operation === 'videos.remix';
  const submissionFor = (params: JsonObject, change: Change): VideoSubmission =>
    isRemix || change === unchanged ? submission : createSubmission(transport, params);
  // The fields of `extraBody` are already in the body. Options that are not an object are left to their check.
  const sendOptions =
    options.extraBody === undefined ? options : changeOptions(options, { extraBody: undefined });
  return transport.operate(
    submission.operation,
    submission.fields,
    {
      kind: 'json',
      write: (params, change) =>
        change === unchanged
          ? request
          : buildRequest(transport, submissionFor(params, change), withoutChanged(options, change)),
      format(params, change) {
        const changed = submissionFor(params, change);
        const sent = listURLs([changed.fields, options.extraBody]);
        return submittedFormat(transport, changed, sent);
      },
    },
    sendOptions,
  );
}

/** Returns a checked submission in the form that all kinds of tasks share. */
export function toTaskSubmission(
  transport: Transport,
  submission: VideoSubmission,
  options: VideoSubmitOptions,
): Submission<VideoTaskRef, VideoTask> {
  // Built before the claim, so that the ledger never claims a submission that cannot be sent.
  const request = buildRequest(transport, submission, options);
  return {
    kind: videoTasks,
    content() {
      const { operation, fields, remixOf } = submission;
      const params = remixOf === undefined ? undefined : { video_id: remixOf };
      return [[operation, params, ...comparable(fields)], options.extraBody];
    },
    model: submission.model,
    createRef: (id, { model, ...by }) => createRef(transport, { ...submission, model }, id, by),
    send: (limits) => send(transport, submission, changeOptions(options, limits), request),
    refIn: ({ data }) => data.ref,
    refInError: (error) => (VideoSubmitResponseError.isInstance(error) ? error.ref : undefined),
  };
}

/** Submits a task, or reads the existing task if the ledger already has one. */
export function submit(
  transport: Transport,
  submission: VideoSubmission,
  callerOptions: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  // The ledger is read first; meanwhile the caller may change its options.
  const options = copyOptions(callerOptions) ?? {};
  if (options.ledger === undefined) return send(transport, submission, options);
  const checked: VideoSubmitOptions = transport.checkOptions(submission.operation, options);
  const task = toTaskSubmission(transport, submission, checked);
  const done = submitOnce(transport, task, checked).then(({ ref, response: submitted, call }) => {
    if (submitted === undefined) {
      const resolved = resolveOwnTask(transport, ref);
      const reading = optionsFor(options, 'videos.retrieve');
      return readTask(transport, resolved, reading).withResponse();
    }
    call?.reportFailure(submitted.data);
    return submitted;
  });
  const opened = done.then(({ data, response: read, request_id: requestId }) => {
    // The body was consumed to store the task in the ledger first; this response repeats it.
    const response = Response.json(data.raw, read);
    return OpenResponse.of(response, requestId ?? undefined, data);
  });
  return new GatewayPromise(opened);
}
