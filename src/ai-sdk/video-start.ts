import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as CallOptions,
  Experimental_VideoModelV4File as VideoFile,
  Experimental_VideoModelV4OperationStartResult as StartResult,
  JSONObject,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  VideoWaitError,
  type Gateway,
  type SubmitLedger,
  type Uploadable,
  type VideoCreateParams,
  type VideoSubmitOptions,
  type VideoTaskRef,
} from '../index.ts';
import { bytesOf, dataURL } from './media.ts';
import { calling, messageOf } from './errors.ts';
import { headersOf, numbered, providerName, readCall, unsupported, wordOf } from './options.ts';

/** How videos that are paid for are kept from being lost. */
export interface VideoSettings {
  /**
   * Called with the handle of each task as soon as the gateway has accepted it, and awaited. Save it:
   * as `operation` of `experimental_getVideoStatus` it gives the video, whatever happens here.
   */
  readonly onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
  /**
   * Where submissions are written down before they are sent, so that none is made twice. Calls name
   * themselves by `providerOptions.modelGateway.callId`, the same after a crash.
   */
  readonly ledger?: SubmitLedger | undefined;
}

type StartOptions = Parameters<NonNullable<VideoModelV4['doStart']>>[0];

/** Submits the videos of a call, and gives their handle: a list of them when there are several. */
export async function startVideos(
  client: Gateway,
  model: string,
  settings: VideoSettings,
  options: StartOptions,
): Promise<StartResult> {
  const { own, request, hasOwnKey } = callOf(client, options);
  const warnings = warningsOf(options);
  if (settings.ledger !== undefined && !hasOwnKey) {
    const message = `The ledger keeps this video under an id of this call alone, so it is not found again after a crash. Give providerOptions.${providerName}.callId.`;
    warnings.push({ type: 'other', message });
  }
  const params = paramsOf(model, options, warnings);
  const submission: VideoSubmitOptions = {
    ...request,
    ...submitOptionsOf(own),
    ledger: settings.ledger,
  };
  const refs: VideoTaskRef[] = [];
  let headers: Record<string, string> | undefined;
  for (let index = 0; index < options.n; index += 1) {
    try {
      const started = await submit(client, params, numbered(submission, index), settings, refs);
      headers ??= headersOf(started);
    } catch (error) {
      // What was accepted before is paid for: it is given, and not lost with the error of the next.
      if (index === 0) throw error;
      const message = `Of ${options.n} videos only ${refs.length} were submitted. ${messageOf(error)}`;
      warnings.push({ type: 'other', message });
      break;
    }
  }
  const [operation = {}, ...others] = refs.map(plain);
  return {
    operation: options.n === 1 ? operation : [operation, ...others],
    warnings,
    providerMetadata: { [providerName]: { refs: [operation, ...others] } },
    response: { timestamp: new Date(), modelId: model, headers },
  };
}

/** A handle as the plain JSON that it is. */
function plain(ref: VideoTaskRef): JSONObject {
  return { ...ref };
}

/**
 * Reads the options of a call. The AI SDK makes a key for each call, as a header; here it is the id of
 * the call, which the client sends only to gateways that honour such keys.
 */
function callOf(client: Gateway, options: StartOptions) {
  const entries = Object.entries(options.headers ?? {});
  const key = entries.find(isKey)?.[1];
  const headers = Object.fromEntries(entries.filter((entry) => !isKey(entry)));
  const { request, own } = readCall(client, { ...options, headers }, ['bodyFormat', 'onUnknown']);
  const { callId = key } = request;
  const hasOwnKey =
    request.callId !== undefined || (key !== undefined && !key.startsWith('aisdk_vid_'));
  return { own, request: { ...request, callId }, hasOwnKey };
}

function isKey([name]: readonly [string, unknown]): boolean {
  return name.toLowerCase() === 'idempotency-key';
}

function submitOptionsOf(own: JSONObject): Pick<VideoSubmitOptions, 'bodyFormat' | 'onUnknown'> {
  return {
    bodyFormat: wordOf(own, 'bodyFormat', ['form', 'json']),
    onUnknown: wordOf(own, 'onUnknown', ['fail', 'resubmit', 'settle']),
  };
}

/** Submits one video, and hands over its handle. */
function submit(
  client: Gateway,
  params: VideoCreateParams,
  options: VideoSubmitOptions,
  { onSubmitted }: VideoSettings,
  refs: VideoTaskRef[],
): Promise<Response> {
  const signal = options.signal ?? undefined;
  const failed = { client, operation: 'videos.create', signal } as const;
  return calling(failed, async () => {
    const { data, response } = await client.videos.create(params, options).withResponse();
    const { ref } = data;
    refs.push(ref);
    try {
      await onSubmitted?.(ref);
    } catch (cause) {
      const message = `The video was submitted as ${ref.id}, but onSubmitted failed: ${messageOf(cause)}`;
      const waited = { ref, lastStatus: undefined, elapsed: 0, polls: 0 };
      const advice = 'It is paid for; its status is asked for with error.ref.';
      throw new VideoWaitError(message, {
        outcome: 'unknown',
        callId: ref.callId,
        cause,
        advice,
        ...waited,
      });
    }
    return response;
  });
}

function warningsOf(options: StartOptions): SharedV4Warning[] {
  const metadata = `Models that know it take it in providerOptions.${providerName}.metadata.`;
  const names = ['aspectRatio', 'fps', 'seed', 'generateAudio'] as const;
  const warnings = names
    .filter((name) => options[name] !== undefined)
    .map((name) => unsupported(name, metadata));
  if (options.webhookUrl !== undefined) warnings.push(unsupported('webhookUrl'));
  if (options.frameImages?.some(({ frameType }) => frameType === 'last_frame') === true) {
    warnings.push(unsupported('last_frame', metadata));
  }
  return warnings;
}

/** The models that read a reference image as text in `image`; others read `input_reference`. */
const readsImage = /kling|vidu|jimeng|wan/i;

function paramsOf(
  model: string,
  { prompt = '', duration, resolution, image, inputReferences = [] }: CallOptions,
  warnings: SharedV4Warning[],
): VideoCreateParams {
  const params: VideoCreateParams = { model, prompt, seconds: duration, size: resolution };
  const field = readsImage.test(model) ? 'image' : 'input_reference';
  if (image !== undefined) {
    params[field] = field === 'image' ? textOf(image) : inputOf(image);
    warnings.push(reference('image', field));
  }
  if (inputReferences.length > 0) {
    params.images = inputReferences.map(textOf);
    warnings.push(reference('inputReferences', 'images'));
  }
  return params;
}

/** Gateways drop a reference that the model does not read, and charge for the video without it. */
function reference(feature: string, field: string): SharedV4Warning {
  const details = `Sent as ${field}. A model that reads another field ignores it; that one can be given in providerOptions.${providerName}.`;
  return { type: 'compatibility', feature, details };
}

function textOf(file: VideoFile): string {
  return file.type === 'url' ? file.url : dataURL(file.data, file.mediaType);
}

function inputOf(file: VideoFile): Uploadable | string {
  return file.type === 'url' ? file.url : { data: bytesOf(file.data), type: file.mediaType };
}
