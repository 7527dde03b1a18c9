import { APIError, BadRequestError, GatewayError, type VideoTask } from '../../../../index.ts';
import { type CallContext, collect, must } from './call.ts';
import { isEvents, isPost } from './exchanges.ts';
import { createPicture, createSound, prompts, toDataURL } from './samples.ts';

/** Returns the lowest quality, for models that know the parameter. Others may reject it. */
const lowQuality = (model: string): object => (/gpt-image/i.test(model) ? { quality: 'low' } : {});

const imageOptions = ({ timeout }: CallContext) => ({ taskTimeout: timeout });

function mustHaveImage({ data }: { readonly data: readonly object[] }): void {
  must(data.length > 0, 'the response has no image');
}

export async function makeImage(context: CallContext): Promise<void> {
  const { client, model } = context;
  const params = { model, prompt: prompts.image, ...lowQuality(model) };
  mustHaveImage(await client.images.generate(params, imageOptions(context)));
}

export async function streamImage(context: CallContext): Promise<void> {
  const { client, model, profile } = context;
  const names = profile?.requests?.['images.generate']?.names;
  const partial = names?.['partial_images'] === null ? {} : { partial_images: 1 };
  const params = { model, prompt: prompts.image, stream: true, ...partial } as const;
  const stream = await client.images.generate(
    { ...params, ...lowQuality(model) },
    imageOptions(context),
  );
  must((await collect(stream)).length > 0, 'the stream has no image');
  const answer = context.exchanges.findLast(isPost);
  must(answer !== undefined && isEvents(answer), 'JSON in place of events', true);
}

/** Edits a file. Requests base64, unless the gateway rejects `response_format`. */
export async function editAsForm(context: CallContext): Promise<void> {
  const { client, model, profile } = context;
  const isJSON = profile?.requests?.['images.edit']?.body === 'json';
  must(!isJSON, 'this gateway takes edits as JSON alone', true);
  const params = {
    model,
    prompt: prompts.edit,
    image: await createPicture(),
    ...lowQuality(model),
  };
  const options = imageOptions(context);
  const edit = (format: object) => client.images.edit({ ...params, ...format }, options);
  const response = await edit({ response_format: 'b64_json' }).catch((error: unknown) => {
    const isRejected = GatewayError.isInstance(error) && error.outcome === 'rejected';
    if (isRejected && error.message.includes('response_format')) return edit({});
    throw error;
  });
  mustHaveImage(response);
}

export async function editAsJSON(context: CallContext): Promise<void> {
  const { client, model } = context;
  const image_url = await toDataURL(await createPicture());
  const params = { model, prompt: prompts.edit, images: [{ image_url }], ...lowQuality(model) };
  mustHaveImage(await client.images.edit(params, imageOptions(context)));
}

export async function speak({ client, model, shared }: CallContext): Promise<void> {
  const params = { model, voice: 'alloy', input: prompts.speech, response_format: 'mp3' } as const;
  const response = await client.audio.speech.create(params);
  const bytes = await response.arrayBuffer();
  must(bytes.byteLength > 0, 'the file is empty');
  shared.speech = new File([bytes], 'speech.mp3', { type: 'audio/mpeg' });
}

export async function transcribe({ client, model, shared }: CallContext): Promise<void> {
  await client.audio.transcriptions.create({ model, file: shared.speech ?? createSound() });
}

/** Models that ignore `stream` are transcribed whole. */
export async function streamTranscript({ client, model, shared }: CallContext): Promise<void> {
  const file = shared.speech ?? createSound();
  const stream = await client.audio.transcriptions.create({ model, file, stream: true });
  must((await collect(stream)).length > 0, 'the stream has no text');
}

/** Requests subtitles, which some gateways replace by JSON. */
export async function translate({ client, model, shared }: CallContext): Promise<void> {
  const file = shared.speech ?? createSound();
  await client.audio.translations.create({ model, file, response_format: 'vtt' });
}

/** Lengths of videos that vendors accept, in seconds, the shortest of each. */
const shortest: readonly (readonly [names: RegExp, seconds: string])[] = [
  [/sora|veo/i, '4'],
  [/hailuo|minimax/i, '6'],
];

/** Returns the length of the video that a report requests from a model, in seconds. */
export const videoSeconds = (model: string): string =>
  shortest.find(([names]) => names.test(model))?.[1] ?? '5';

/** Submits a video once as a form, and as JSON if the form was rejected before any work. */
async function submitVideo({ client, model, profile }: CallContext): Promise<VideoTask> {
  const params = { model, prompt: prompts.video, seconds: videoSeconds(model) };
  try {
    return await client.videos.create(params);
  } catch (error) {
    const isJSON = profile?.requests?.['videos.create']?.body === 'json';
    const isRejected = BadRequestError.isInstance(error) && error.outcome === 'rejected';
    const isForm = APIError.isInstance(error) && error.status === 415;
    if (isJSON || !(isRejected || isForm)) throw error;
    return client.videos.create(params, { bodyFormat: 'json' });
  }
}

export async function makeVideo(context: CallContext): Promise<void> {
  const { client, shared, timeout, signal, onTask } = context;
  const task = await submitVideo(context);
  onTask(task.id);
  // Shows what the gateway sends before a video is made.
  await client.videos.retrieve(task, { signal }).catch(() => undefined);
  shared.video = await client.videos.wait(task, { timeout, signal });
}

/** Requests the first bytes of the video. */
export async function readContent({ client, shared: { video } }: CallContext): Promise<void> {
  if (video === undefined) return;
  const headers = { range: 'bytes=0-99' };
  const response = await client.videos.downloadContent(video, {}, { headers });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  // A gateway that ignores the range sends the whole video.
  await reader?.cancel();
  must(first?.done === false, 'the file is empty');
}

/** Reads the record of the video on the route of a vendor that most gateways have. */
export async function readFromVendor({ client, shared: { video } }: CallContext): Promise<void> {
  if (video === undefined) return;
  await client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: video.id });
}
