import { findVendor, type EmulatorModel, type Vendor } from '../control/models.ts';
import { defaultQuirks, type Quirks, type VideoQuirks } from '../faults/quirks.ts';

/** Failure of a video task. */
export interface TaskFailure {
  readonly message: string;
  readonly code: string | null;
  /** The `type` of the error if it is shown without a status. @defaultValue "server_error" */
  readonly type?: string | undefined;
  /**
   * Format of the failure in `GET /v1/videos/{task_id}`: `failed`, `{ error, id }` without a status, or
   * `unknown` for ever. The vendor's status route always reports FAILURE. @defaultValue "failed"
   */
  readonly shownAs?: 'failed' | 'no-status' | 'unknown' | undefined;
}

/** Behaviour of the gateway's channel to a video vendor. */
export interface VideoChannel {
  /** Default duration and size. */
  readonly seconds: string;
  readonly size: string;
  /** Supported sizes; others are rejected with this code. */
  readonly sizes: RegExp;
  readonly sizeCode: string;
  /** Fields whose reference images reach the vendor, `file` for uploads; others are dropped. */
  readonly reads: readonly string[];
  /** Typed fields of `metadata`; values of another type cannot be passed on. */
  readonly metadata: Readonly<Record<string, 'string' | 'number' | 'object'>>;
  /** `seconds` is billed although the vendor does not receive it. */
  readonly billsUnread: boolean;
  /** Returns the multipliers of the price of one video, which the response to the submission lists. */
  readonly ratios: (seconds: number, size: string) => Readonly<Record<string, number>>;
  /** The content is served from a URL of the vendor, with that server's validators. */
  readonly hasContentAddress: boolean;
  /** Only `content` is read, and only in JSON. */
  readonly needsContent: boolean;
  /** Failure if moderation rejects the prompt. */
  readonly failure: TaskFailure;
  /** Behaviour of the vendor's models, unless a quirk is set. */
  readonly quirks: Partial<VideoQuirks>;
}

/** Alibaba's prices depend on the resolution. */
function aliRatios(seconds: number, size: string): Readonly<Record<string, number>> {
  const lines = Math.min(...(size.match(/\d+/g) ?? []).map(Number));
  if (lines >= 1080) return { 'resolution-1080P': 10 / 3, seconds };
  return lines >= 720 ? { 'resolution-720P': 2, seconds } : { 'resolution-480P': 1, seconds };
}

/** A channel that supports everything. */
const plain: VideoChannel = {
  seconds: '4',
  size: '1280x720',
  sizes: /^\d+[x*]\d+$|^\d+p$/i,
  sizeCode: 'invalid_size',
  reads: ['file', 'input_reference', 'image', 'images'],
  metadata: {},
  billsUnread: false,
  ratios: (seconds) => ({ seconds, size: 1 }),
  hasContentAddress: true,
  needsContent: false,
  failure: {
    message: 'The content was rejected by the safety review.',
    code: 'content_policy_violation',
  },
  quirks: {},
};

/** A channel with one price for all videos, regardless of their length. */
const perVideo = { ratios: () => ({}) } satisfies Partial<VideoChannel>;

const common: Partial<VideoQuirks> = {
  videoEarlyEnd: true,
  videoLength: 'missing',
  videoRemix: 'new',
  videoPollError: 'none',
};

const channels: Readonly<Partial<Record<Vendor, VideoChannel>>> = {
  // Sora.
  openai: {
    ...plain,
    hasContentAddress: false,
    size: '720x1280',
    sizes: /^(720x1280|1280x720|1024x1792|1792x1024)$/,
    failure: {
      message: 'Your request was blocked by our moderation system.',
      code: 'moderation_blocked',
    },
    quirks: {
      videoKeys: 'all',
      videoStatuses: { unknown: 'queued' },
      videoUrl: 'missing',
      videoRemix: 'not-found',
      videoPollError: 'no-status',
    },
  },
  kling: {
    ...plain,
    ...perVideo,
    seconds: '5',
    reads: ['image'],
    metadata: { duration: 'string', camera_control: 'object' },
    failure: { message: 'Failure to pass the risk control system', code: '' },
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoModel: 'empty',
      videoTimes: 'milliseconds-later',
      videoLength: 'completed',
      videoUsage: true,
    },
  },
  ali: {
    ...plain,
    ratios: aliRatios,
    seconds: '5',
    size: '1920*1080',
    sizes: /^\d+\*\d+$|^\d+p$/i,
    sizeCode: 'build_request_failed',
    reads: ['input_reference', 'image'],
    metadata: { parameters: 'object' },
    failure: {
      message: 'Output data may contain inappropriate content.',
      code: 'DataInspectionFailed',
    },
    quirks: { ...common, videoStatuses: { unknown: 'queued' }, videoUrlBefore: 'empty' },
  },
  vidu: {
    ...plain,
    ...perVideo,
    seconds: '5',
    reads: ['image', 'images'],
    metadata: { duration: 'number' },
    failure: { message: 'AuditSubmitIllegal', code: 'AuditSubmitIllegal' },
    quirks: { ...common, videoJsonSeconds: 'ignored', videoModel: 'empty' },
  },
  hailuo: {
    ...plain,
    ...perVideo,
    seconds: '6',
    reads: [],
    metadata: { duration: 'number' },
    failure: { message: 'the generated video involves sensitive content', code: '1027' },
    quirks: { ...common, videoJsonSeconds: 'ignored', videoUrlBefore: 'reason' },
  },
  jimeng: {
    ...plain,
    ...perVideo,
    seconds: '5',
    reads: ['file', 'image'],
    metadata: { frames: 'number' },
    failure: { message: 'Post Text Risk Not Pass', code: '50512' },
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoModel: 'empty',
      videoUrlBefore: 'empty',
      videoPollError: 'failed',
    },
  },
  // Veo.
  google: {
    ...plain,
    ratios: (seconds) => ({ resolution: 1, seconds }),
    seconds: '8',
    reads: ['file'],
    metadata: { durationSeconds: 'number' },
    billsUnread: true,
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoStatuses: { unknown: 'in_progress', queued: 'in_progress' },
      videoUrl: 'missing',
      videoError: 'missing',
      videoRefund: 'unless-polled',
      videoPollError: 'failed-first',
      vendorBody: 'simple',
    },
  },
  // Seedance.
  doubao: {
    ...plain,
    ...perVideo,
    seconds: '5',
    reads: [],
    needsContent: true,
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoId: 'both-always',
      videoUrlBefore: 'empty',
      videoUsage: true,
    },
  },
};

/** State that a video task needs from the gateway. */
export interface VideoWorld {
  readonly models: readonly EmulatorModel[];
  readonly quirks: Quirks;
}

/** Returns the channel that serves a model. */
export function findChannel({ models }: VideoWorld, model: string): VideoChannel {
  const vendor = findVendor(models, model);
  return (vendor === undefined ? undefined : channels[vendor]) ?? plain;
}

/** Returns the quirks of a model: those of its vendor, overridden by quirks that are set. */
export function quirksFor(world: VideoWorld, model: string): Quirks {
  const defaults: Readonly<Record<string, unknown>> = { ...defaultQuirks };
  const { quirks } = world;
  const changed = Object.entries(quirks).filter(([name, value]) => value !== defaults[name]);
  return { ...quirks, ...findChannel(world, model).quirks, ...Object.fromEntries(changed) };
}
