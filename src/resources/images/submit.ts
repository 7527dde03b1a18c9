import { isText } from '../../answers/objects.ts';
import { listURLs, rememberSent, withoutSent } from '../../answers/result-places.ts';
import { OpenResponse } from '../../calls/open-response.ts';
import { GatewayPromise, readChange } from '../../calls/promise.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import type { Transport } from '../../calls/transport.ts';
import { expectsJSON, explained, type DescribedFailure } from '../../errors/operation-errors.ts';
import { type OperationRequest, unchanged } from '../../http/request.ts';
import type { IncomingResponse } from '../../http/responses/response-body.ts';
import { check } from '../../options/check.ts';
import type { RequestOptions } from '../../options/options.ts';
import { changeOptions, withDefaults, withoutNulls } from '../../options/resolve.ts';
import { copyOptions } from '../../options/snapshot.ts';
import { eventFormat, streamOfTask } from '../../streams/open-stream.ts';
import type { StreamProtocol } from '../../streams/protocol.ts';
import type { Stream } from '../../streams/stream.ts';
import { withLimit } from '../../tasks/limits.ts';
import { type ImageTaskRef, makeImageRef } from '../../tasks/ref.ts';
import { WaitScope } from '../../tasks/scope.ts';
import type { LoggedTask, Submission } from '../../tasks/kind.ts';
import { comparable, type Submitted, submitOnce } from '../../tasks/submit.ts';
import type { CheckedWait } from '../../tasks/wait-options.ts';
import { followTask } from '../../tasks/wait.ts';
import { readTaskResponse, TaskResponse, withForeignURL } from './accepted.ts';
import { ImageWaitAbortedError, ImageWaitTimeoutError } from './errors.ts';
import { imageErrors, imageTasks } from './kind.ts';
import type { ImageTask } from './poll.ts';
import { holdsNestedPicture } from './pictures.ts';
import { wholeFormat } from './schema.ts';
import type { ImageParamsBase, ImagesResponse } from './types.ts';
import { readImages } from './wait.ts';
import type { ImageRequestOptions } from './wait-options.ts';

export interface ImageCall {
  readonly operation: 'images.generate' | 'images.edit';
  readonly params: ImageParamsBase;
  /** Checks the parameters and writes the request. */
  readonly write: (
    params: ImageParamsBase,
    options: ImageRequestOptions | undefined,
  ) => OperationRequest<'images.edit'>;
}

/** The response to a submission: images, or a task. */
type Answered<Result> = Result | TaskResponse<Result>;

/** Adds advice to errors of forms at gateways that expect JSON, and of calls that exceeded the timeout of a proxy. */
function explainImages(failure: DescribedFailure, isForm: boolean): Error | undefined {
  const { status, advice } = failure.init;
  const form =
    'Files are sent as a form. If the gateway expects JSON, pass the images as data URLs, or set requests: { "images.edit": { body: "json" } } in its profile.';
  const other = isForm ? explained(failure, expectsJSON, `${form} ${advice}`) : undefined;
  if (other !== undefined || (status !== 504 && status !== 524)) return other;
  const way =
    'For slow images behind a proxy, use stream: true, or a model or route that returns a task.';
  return explained(failure, /^/, `${way} ${advice}`);
}

/** Checks the parameters of a call and writes its request. */
function writeCall(
  { write }: ImageCall,
  options: ImageRequestOptions | undefined,
  params: ImageParamsBase,
) {
  const request = write(params, options);
  const isForm = 'form' in request && request.isWritten !== true;
  return {
    ...request,
    explain: (failure: DescribedFailure) => explainImages(failure, isForm),
    holdsResult: (value: unknown) => holdsNestedPicture(withoutSent(value, listURLs(params))),
  };
}

/** Returns the options of the wait for a task that a call for images submitted. */
function toWaitOptions(options: ImageRequestOptions): CheckedWait<ImageTask> {
  const defaults = withDefaults('images.wait', {});
  const { taskTimeout = defaults.timeout } = options;
  const pollTimeout = Math.min(defaults.pollTimeout, options.timeout ?? defaults.pollTimeout);
  const given = withoutNulls(options, 'images.generate');
  return changeOptions(defaults, { ...given, ...defaults, pollTimeout, timeout: taskTimeout });
}

const resultIn = <Result>(data: Answered<Result>): Result | undefined =>
  data instanceof TaskResponse ? undefined : data;

/** The reason of a wait that took longer than its call may take. */
const tooLate = Symbol('tooLate');

/** One call for images, with the wait for its task if there is one. */
class ImageRun {
  readonly transport: Transport;
  /** A copy, because the caller may change its options before the wait. */
  readonly options: ImageRequestOptions;
  readonly #startedAt = performance.now();

  constructor(transport: Transport, options: ImageRequestOptions | undefined) {
    this.transport = transport;
    this.options = copyOptions(options) ?? {};
  }

  /**
   * Returns the result of the call. If there is a task, hands over its handle and waits for it, until the
   * `totalTimeout` of the call has passed.
   */
  async finish<Result extends object>(
    submitted: Submitted<ImageTaskRef, { readonly data: Answered<Result> }>,
    toResult: (images: ImagesResponse) => Result,
    foreignURL?: string,
  ): Promise<Result> {
    const { transport, options } = this;
    const { onSubmitted, totalTimeout = transport.client.call.totalTimeout } = options;
    const end = totalTimeout === null ? null : this.#startedAt + totalTimeout - performance.now();
    return withLimit(options.signal, end, tooLate, async (signal) => {
      const waitOptions = changeOptions(toWaitOptions(options), { signal });
      const scope = new WaitScope(imageTasks, transport, waitOptions);
      try {
        return await followTask(scope, submitted, { onSubmitted, resultIn }, (done) =>
          toResult(readImages(scope, done)),
        );
      } catch (error) {
        if (!ImageWaitAbortedError.isInstance(error) || error.cause !== tooLate) {
          throw withForeignURL(error, foreignURL);
        }
        const late = 'Image task $1 did not finish within the totalTimeout of its call';
        const message = error.summary.replace(/^Waiting for image task (.*?) was aborted/, late);
        throw new ImageWaitTimeoutError(message, Object.assign({}, error, { cause: undefined }));
      } finally {
        scope.close();
      }
    });
  }

  /** Returns the result of a call without a ledger. */
  readonly complete = <Result extends object>(data: Answered<Result>): Result | Promise<Result> => {
    if (!(data instanceof TaskResponse)) return data;
    const { ref, toResult, foreignURL } = TaskResponse.task(data);
    return this.finish({ ref, response: { data }, call: undefined }, toResult, foreignURL);
  };
}

const asImages = (images: ImagesResponse): ImagesResponse => images;

/** Makes a call for whole images. With a ledger, each call id is submitted once, even if the process crashes. */
export function callForImages(
  transport: Transport,
  call: ImageCall,
  given: ImageRequestOptions | undefined,
): GatewayPromise<ImagesResponse> {
  const run = new ImageRun(transport, given);
  const { options } = run;
  const { operation, params } = call;
  const send = (
    sendOptions: ImageRequestOptions | undefined,
    written?: ReturnType<typeof writeCall>,
  ) =>
    transport.operate(
      operation,
      params,
      {
        kind: 'json',
        write: (sent, change) =>
          (change === unchanged ? written : undefined) ?? writeCall(call, sendOptions, sent),
        format(sent) {
          const urls = listURLs(sent);
          const readTask = readTaskResponse(transport, sent.model, () => asImages, urls);
          return wholeFormat(readTask, urls);
        },
      },
      sendOptions,
    );
  if (options.ledger === undefined) return send(given)._thenUnwrap(run.complete);
  const checked: ImageRequestOptions = transport.checkOptions(operation, options);
  // Written before the claim, so that the ledger never claims a submission that cannot be sent.
  const written = writeCall(call, checked, params);
  const sendWritten = (limits: RequestOptions) => send(changeOptions(checked, limits), written);
  return new GatewayPromise(submitWithLedger(call, run, sendWritten));
}

async function submitWithLedger(
  { operation, params }: ImageCall,
  run: ImageRun,
  send: (limits: RequestOptions) => GatewayPromise<Answered<ImagesResponse>>,
): Promise<OpenResponse<ImagesResponse>> {
  const { transport, options } = run;
  const { callId = '', extraBody } = options;
  const { model } = params;
  const fields: object = params;
  const { baseURL } = transport;
  const createRef = (id: string, task: LoggedTask): ImageTaskRef =>
    makeImageRef({ id, baseURL, createdAt: Date.now(), ...task });
  const submission: Submission<ImageTaskRef, Answered<ImagesResponse>> = {
    kind: imageTasks,
    content: () => [[operation, undefined, ...comparable({ ...fields })], extraBody],
    model: model ?? undefined,
    createRef,
    send,
    async refIn({ data, request_id: requestId }, sent) {
      if (data instanceof TaskResponse) return TaskResponse.task(data).ref;
      const { params: changed } = await readChange(sent);
      const used = isText(changed['model']) ? changed['model'] : (model ?? undefined);
      const task = { callId, requestId: requestId ?? undefined, model: used };
      return { ...createRef(callId, task), hasImages: true };
    },
    isResult: (data) => !(data instanceof TaskResponse),
  };
  const submitted = await submitOnce(transport, submission, options);
  const { ref, response: received } = submitted;
  if (received === undefined && ref.hasImages === true) {
    throw imageErrors.withoutResult(
      `Call ${ref.callId} already returned its images.`,
      'They are paid for, but the ledger does not store images. A new callId creates new ones and is charged again.',
      { ref, state: { polls: 0, status: 'completed' }, hide: transport.client.credential.hide },
    );
  }
  rememberSent(listURLs(params), ref);
  const data = received?.data;
  const { foreignURL } = data instanceof TaskResponse ? TaskResponse.task(data) : {};
  const images = await run.finish(submitted, asImages, foreignURL);
  // The body was read for the ledger; `response` has a copy of it.
  const response = Response.json(images, received?.response);
  const requestId = received === undefined ? ref.requestId : received.request_id;
  return OpenResponse.of(response, requestId ?? undefined, images);
}

/** Makes a call for a stream of images. A task that is returned instead becomes a stream once it is completed. */
export function streamImages<Item>(
  transport: Transport,
  call: ImageCall,
  given: ImageRequestOptions | undefined,
  protocolFor: (images: number, sent: readonly string[]) => StreamProtocol<Item>,
): GatewayPromise<Stream<Item>> {
  const run = new ImageRun(transport, given);
  const sent = transport.operate(
    call.operation,
    call.params,
    {
      kind: 'events',
      write(params) {
        const problem = 'cannot be combined with stream: true; omit one of them.';
        check(run.options.ledger === undefined, 'ledger', problem);
        return writeCall(call, given, params);
      },
      format: (sentParams) => {
        const { n, model } = sentParams;
        const urls = listURLs(sentParams);
        const protocol = protocolFor(n ?? 1, urls);
        const toStream = (request: GatewayRequest, incoming: IncomingResponse) =>
          streamOfTask(request, incoming, protocol);
        return eventFormat(protocol, readTaskResponse(transport, model, toStream, urls));
      },
    },
    given,
  );
  return sent._thenUnwrap(run.complete);
}
