import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as CallOptions,
  Experimental_VideoModelV4OperationStartResult as StartResult,
  JSONObject,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  VideoWaitError,
  type Gateway,
  type SubmitLedger,
  type VideoCreateInput,
  type VideoSubmitOptions,
  type VideoTaskRef,
} from '../../index.ts';
import { toReference, toUpload } from './media.ts';
import { convertErrors, errorMessage } from './errors.ts';
import { toHeaders, numbered, providerName, readCall, unsupported, readEnum } from './options.ts';

/** Settings that prevent the loss of videos that are paid for. */
export interface VideoSettings {
  /**
   * Called and awaited with the handle of each task as soon as the gateway accepts it. Save the handle:
   * `experimental_getVideoStatus` accepts it as `operation`, even after a crash.
   */
  readonly onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
  /**
   * Records submissions before they are sent, so that no submission is sent twice. Set
   * `providerOptions.modelGateway.callId` to an id that is the same after a crash.
   */
  readonly ledger?: SubmitLedger | undefined;
}

type StartOptions = Parameters<NonNullable<VideoModelV4['doStart']>>[0];

/** Submits the videos of a call. Returns their handle, or a list of handles if there are several. */
export async function startVideos(
  client: Gateway,
  model: string,
  settings: VideoSettings,
  options: StartOptions,
): Promise<StartResult> {
  const { providerOptions, request, warnings, hasOwnKey } = readStartOptions(options);
  const isOpenRouter = client.transport().gateway?.profile.name === 'openrouter';
  warnings.push(...createWarnings(options, isOpenRouter));
  if (settings.ledger !== undefined && !hasOwnKey) {
    const message = `The ledger records this video under a random id, so it cannot be found after a crash. Set providerOptions.${providerName}.callId.`;
    warnings.push({ type: 'other', message });
  }
  const params = toVideoParams(model, options, warnings, isOpenRouter);
  const submission: VideoSubmitOptions = {
    ...request,
    extraBody: isOpenRouter
      ? { ...openRouterFields(options), ...request.extraBody }
      : request.extraBody,
    ...readSubmitOptions(providerOptions),
    ledger: settings.ledger,
  };
  const refs: VideoTaskRef[] = [];
  let headers: Record<string, string> | undefined;
  for (let index = 0; index < options.n; index += 1) {
    try {
      const started = await submit(client, params, numbered(submission, index), settings, refs);
      headers ??= toHeaders(started);
    } catch (error) {
      // Videos accepted before are paid for: return them instead of throwing.
      if (index === 0) throw error;
      const message = `Of ${options.n} videos only ${refs.length} were submitted. ${errorMessage(error)}`;
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

/** Converts a handle to a plain JSON object. */
function plain(ref: VideoTaskRef): JSONObject {
  return { ...ref };
}

/**
 * Reads the options of a call. The AI SDK sends an idempotency key in a header; it becomes the call id,
 * which the client sends only to gateways that honour such keys.
 */
function readStartOptions(options: StartOptions) {
  const entries = Object.entries(options.headers ?? {});
  const key = entries.find(isKey)?.[1];
  const headers = Object.fromEntries(entries.filter((entry) => !isKey(entry)));
  const { request, providerOptions, warnings } = readCall({ ...options, headers }, [
    'bodyFormat',
    'onUnknown',
  ]);
  const { callId = key } = request;
  const hasOwnKey =
    request.callId !== undefined || (key !== undefined && !key.startsWith('aisdk_vid_'));
  return { providerOptions, request: { ...request, callId }, warnings, hasOwnKey };
}

function isKey([name]: readonly [string, unknown]): boolean {
  return name.toLowerCase() === 'idempotency-key';
}

function readSubmitOptions(
  providerOptions: JSONObject,
): Pick<VideoSubmitOptions, 'bodyFormat' | 'onUnknown'> {
  return {
    bodyFormat: readEnum(providerOptions, 'bodyFormat', ['form', 'json']),
    onUnknown: readEnum(providerOptions, 'onUnknown', ['fail', 'resubmit', 'settle']),
  };
}

/** Submits one video and reports its handle. */
function submit(
  client: Gateway,
  params: VideoCreateInput,
  options: VideoSubmitOptions,
  { onSubmitted }: VideoSettings,
  refs: VideoTaskRef[],
): Promise<Response> {
  const signal = options.signal ?? undefined;
  const failed = { client, operation: 'videos.create', signal } as const;
  return convertErrors(failed, async () => {
    const { data, response } = await client.videos.create(params, options).withResponse();
    const { ref } = data;
    refs.push(ref);
    try {
      await onSubmitted?.(ref);
    } catch (cause) {
      const message = `The video was submitted, but onSubmitted failed: ${errorMessage(cause)}`;
      const waited = { ref, lastStatus: undefined, elapsed: 0, polls: 0 };
      const advice = 'It is paid for; get its status with error.ref.';
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

function createWarnings(options: StartOptions, isOpenRouter: boolean): SharedV4Warning[] {
  const metadata = `For models that support it, set providerOptions.${providerName}.metadata.`;
  const names = ['aspectRatio', 'fps', 'seed', 'generateAudio'] as const;
  const warnings = names
    .filter((name) => options[name] !== undefined && (!isOpenRouter || name === 'fps'))
    .map((name) => unsupported(name, isOpenRouter ? undefined : metadata));
  if (options.webhookUrl !== undefined) warnings.push(unsupported('webhookUrl'));
  if (!isOpenRouter && findLastFrame(options) !== undefined) {
    warnings.push(unsupported('last_frame', metadata));
  }
  return warnings;
}

function findLastFrame({ frameImages }: CallOptions): CallOptions['image'] {
  return frameImages?.find(({ frameType }) => frameType === 'last_frame')?.image;
}

/** Returns the body fields that OpenRouter has for options of the AI SDK. */
function openRouterFields(options: CallOptions): Record<string, unknown> {
  const { aspectRatio, seed, generateAudio, image: first } = options;
  const last = findLastFrame(options);
  const frames = Object.entries({ first_frame: first, last_frame: last }).flatMap(
    ([frame_type, file]) =>
      file === undefined
        ? []
        : { type: 'image_url', image_url: { url: toReference(file) }, frame_type },
  );
  const fields = {
    aspect_ratio: aspectRatio,
    seed,
    generate_audio: generateAudio,
    frame_images: frames.length === 0 ? undefined : frames,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Models that read a reference image from `image`, as text; others read `input_reference`. */
const readsImage = /kling|vidu|jimeng|wan/i;

function toVideoParams(
  model: string,
  { prompt = '', duration, resolution, image, inputReferences = [] }: CallOptions,
  warnings: SharedV4Warning[],
  isOpenRouter: boolean,
): VideoCreateInput {
  const params: VideoCreateInput = { model, prompt, seconds: duration, size: resolution };
  if (isOpenRouter) {
    // `image` is a frame, which is in the fields for OpenRouter.
    if (inputReferences.length > 0) params.images = inputReferences.map(toReference);
    return params;
  }
  const field = readsImage.test(model) ? 'image' : 'input_reference';
  if (image !== undefined) {
    params[field] = field === 'image' ? toReference(image) : toUpload(image);
    warnings.push(reference('image', field));
  }
  if (inputReferences.length > 0) {
    params.images = inputReferences.map(toReference);
    warnings.push(reference('inputReferences', 'images'));
  }
  return params;
}

/** Creates a warning, because gateways drop a reference that the model does not read but still bill for the video. */
function reference(feature: string, field: string): SharedV4Warning {
  const details = `Sent as ${field}. For models that read another field, set that field in providerOptions.${providerName}.`;
  return { type: 'compatibility', feature, details };
}
