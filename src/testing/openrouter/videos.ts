import type { JsonObject } from '../../types.ts';
import { list, present, record, text } from '../control/json.ts';
import { checkWords } from '../routes/prompts.ts';
import { checkModelName, costField, readFields, type Call } from '../server/call.ts';
import { findChannel } from '../videos/vendors.ts';
import type { EmulatorVideo, VideoOrder } from '../videos/tasks.ts';
import { submitVideo } from '../videos/videos.ts';
import { invalidField, notFound } from './errors.ts';
import { pixelSize } from './sizes.ts';
import { costedUsage } from './usage.ts';

const jobPath = ({ id }: EmulatorVideo): string => `/api/v1/videos/${id}`;

const words = {
  unknown: 'pending',
  queued: 'pending',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
} as const;

/** Returns the status of a job, or the status that a fault sets. */
function statusWord({ fault }: Call, { state, expired }: EmulatorVideo): string {
  if (fault?.type === 'status-word') return fault.word;
  return expired ? 'expired' : words[state];
}

function jobBody(call: Call, video: EmulatorVideo): JsonObject {
  const { ledger, quirks } = call.world;
  const charge = ledger.charges.find(({ taskId }) => taskId === video.id);
  const isCompleted = video.state === 'completed' && !video.expired;
  return present({
    id: video.id,
    generation_id: charge?.requestId,
    polling_url: jobPath(video),
    status: statusWord(call, video),
    unsigned_urls: isCompleted
      ? [`${call.url.origin}${jobPath(video)}/content?index=0`]
      : undefined,
    usage: isCompleted ? costedUsage(costField(charge?.amount ?? 0, quirks)) : undefined,
    error: video.failure?.message,
  });
}

/** Returns the names of the reference images of a list. */
function referenceNames(name: string, items: readonly unknown[] | undefined): readonly string[] {
  return (items ?? []).map((item) => {
    const { type, frame_type: frame, image_url: image } = record(item);
    const hasImage = type !== 'image_url' || text(record(image)['url']) !== undefined;
    const isFrame = frame === 'first_frame' || frame === 'last_frame';
    if (!hasImage || (name === 'frame_images' && !isFrame)) throw invalidField(name);
    return isFrame ? `${name}.${frame}` : name;
  });
}

/** `POST /api/v1/videos`: a new video, or a continuation of `previous_job_id`. */
export function createOpenRouterVideo(call: Call): Response {
  const { tasks, models } = call.world;
  const fields = readFields(call);
  for (const name of ['seconds', 'input_reference', 'image', 'images']) {
    if (fields.raw(name) !== undefined) throw invalidField(name, 'Unrecognized key');
  }
  const model = checkModelName(call, fields.string('model'));
  const prompt = fields.string('prompt') ?? '';
  const frames = referenceNames('frame_images', fields.list('frame_images'));
  const references = referenceNames('input_references', fields.list('input_references'));
  if (prompt === '' && frames.length === 0) throw invalidField('prompt', 'Required');
  checkWords(prompt);
  fields.boolean('generate_audio');
  fields.integer('seed');
  const previousId = fields.string('previous_job_id');
  const previous = previousId === undefined ? undefined : tasks.get(previousId);
  if (previousId !== undefined && previous?.state !== 'completed') {
    throw previous === undefined
      ? notFound(`Job ${previousId} not found`)
      : invalidField('previous_job_id', 'is not completed');
  }
  const channel = findChannel({ models, quirks: call.world.quirks }, model);
  const seconds = String(fields.number('duration') ?? previous?.seconds ?? channel.seconds);
  if (!(Number(seconds) > 0)) throw invalidField('duration', 'must be positive');
  const { width, height } = pixelSize(
    { size: fields.string('size'), resolution: fields.string('resolution') },
    fields.string('aspect_ratio') ?? '16:9',
    720,
  );
  const order: VideoOrder = {
    model,
    prompt,
    seconds,
    size: `${width}x${height}`,
    references: [...frames, ...references],
    remixedFrom: previousId,
  };
  const { video } = submitVideo(call, order, seconds);
  const first: EmulatorVideo = { ...video, state: 'queued', failure: undefined };
  return Response.json(jobBody(call, first), { status: 202 });
}

/** `GET /api/v1/videos/{job}`. */
export function retrieveOpenRouterVideo(call: Call): Response {
  const id = call.parameters['task_id'] ?? '';
  const video = call.world.tasks.poll(id);
  if (video === undefined) throw notFound(`Job ${id} not found`);
  return Response.json(jobBody(call, video));
}

/** Models of `GET /api/v1/videos/models`. */
export function videoModels({ models }: Call['world']): unknown {
  const videos = models.filter(({ type }) => type === 'video');
  return {
    data: videos.map(({ id }) => ({
      id,
      canonical_slug: id,
      name: id,
      created: 1_626_777_600,
      description: 'Makes test pictures that move.',
      supported_resolutions: ['480p', '720p', '1080p'],
      supported_aspect_ratios: ['16:9', '9:16', '1:1'],
      supported_sizes: null,
      supported_durations: list([4, 8, 12]),
      supported_frame_images: ['first_frame', 'last_frame'],
      pricing_skus: { per_second: '0.002' },
      generate_audio: false,
      seed: true,
      creativity: null,
      upscale_factor: null,
      allowed_passthrough_parameters: [],
    })),
  };
}
