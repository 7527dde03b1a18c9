import { defaultQuirks, type Quirks, type VideoQuirks } from './quirks.ts';

/** Why a task of the emulator failed. */
export interface TaskFailure {
  readonly message: string;
  readonly code: string;
  /**
   * How `GET /v1/videos/{task_id}` shows it: as `failed`; for ever as `{ error, id }` without a status;
   * or for ever as `unknown`. The vendor's status route says FAILURE in each case. @defaultValue "failed"
   */
  readonly shownAs?: 'failed' | 'no-status' | 'unknown' | undefined;
}

/** What a vendor's channel makes of a submission. */
export interface VideoVendor {
  /** The names of its models. */
  readonly models: RegExp;
  /** How long a video is, and its size, where the vendor was told neither. */
  readonly seconds: string;
  readonly size: string;
  /** Which sizes it takes; another is refused with this code. */
  readonly sizes: RegExp;
  readonly sizeCode: string;
  /** The fields whose reference pictures reach the vendor, `file` for uploads; others are dropped. */
  readonly reads: readonly string[];
  /** Fields of `metadata` with a type; another type cannot be sent on. */
  readonly metadata: Readonly<Record<string, 'string' | 'number' | 'object'>>;
  /** Whether `seconds` is paid for, though the vendor does not hear of it. */
  readonly billsUnread: boolean;
  /** Whether it reads nothing but `content`, and that only in JSON. */
  readonly needsContent: boolean;
  /** How its review refuses. */
  readonly failure: TaskFailure;
  /** What its models do unless a quirk is set. */
  readonly quirks: Partial<VideoQuirks>;
}

/** A channel that understands everything. */
const plain: VideoVendor = {
  models: /^/,
  seconds: '4',
  size: '1280x720',
  sizes: /^\d+[x*]\d+$|^\d+p$/i,
  sizeCode: 'invalid_size',
  reads: ['file', 'input_reference', 'image', 'images'],
  metadata: {},
  billsUnread: false,
  needsContent: false,
  failure: {
    message: 'The content was rejected by the safety review.',
    code: 'content_policy_violation',
  },
  quirks: {},
};

const common: Partial<VideoQuirks> = {
  videoEarlyEnd: true,
  videoLength: 'missing',
  videoRemix: 'new',
  videoStumble: 'none',
};

const vendors: readonly VideoVendor[] = [
  {
    ...plain,
    models: /^sora|^gpt-video/,
    size: '720x1280',
    sizes: /^(720x1280|1280x720|1024x1792|1792x1024)$/,
    failure: {
      message: 'Your request was blocked by our moderation system.',
      code: 'moderation_blocked',
    },
    quirks: {
      videoKeys: 'all',
      videoWords: { unknown: 'queued' },
      videoUrl: 'missing',
      videoRemix: 'not-found',
      videoStumble: 'no-status',
    },
  },
  {
    ...plain,
    models: /^kling/,
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
  {
    ...plain,
    models: /^wan/,
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
    quirks: { ...common, videoWords: { unknown: 'queued' }, videoUrlBefore: 'empty' },
  },
  {
    ...plain,
    models: /^vidu/,
    seconds: '5',
    reads: ['image', 'images'],
    metadata: { duration: 'number' },
    failure: { message: 'AuditSubmitIllegal', code: 'AuditSubmitIllegal' },
    quirks: { ...common, videoJsonSeconds: 'ignored', videoModel: 'empty' },
  },
  {
    ...plain,
    models: /hailuo/i,
    seconds: '6',
    reads: [],
    metadata: { duration: 'number' },
    failure: { message: 'the generated video involves sensitive content', code: '1027' },
    quirks: { ...common, videoJsonSeconds: 'ignored', videoUrlBefore: 'reason' },
  },
  {
    ...plain,
    models: /^jimeng/,
    seconds: '5',
    reads: ['file', 'image'],
    metadata: { frames: 'number' },
    failure: { message: 'Post Text Risk Not Pass', code: '50512' },
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoModel: 'empty',
      videoUrlBefore: 'empty',
      videoStumble: 'failed',
    },
  },
  {
    ...plain,
    models: /^veo/,
    seconds: '8',
    reads: ['file'],
    metadata: { durationSeconds: 'number' },
    billsUnread: true,
    quirks: {
      ...common,
      videoJsonSeconds: 'ignored',
      videoWords: { unknown: 'in_progress', queued: 'in_progress' },
      videoUrl: 'missing',
      videoError: 'missing',
      videoRefund: 'unless-polled',
      videoStumble: 'failed-first',
      vendorBody: 'simple',
    },
  },
  {
    ...plain,
    models: /seedance/,
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
];

/** The vendor that a model belongs to, by its name. */
export function vendorOf(model: string): VideoVendor {
  return vendors.find(({ models }) => models.test(model)) ?? plain;
}

/** How a model behaves: as its vendor does, but for the quirks that are set. */
export function quirksFor(quirks: Quirks, model: string): Quirks {
  const defaults: Readonly<Record<string, unknown>> = { ...defaultQuirks };
  const changed = Object.entries(quirks).filter(([name, value]) => value !== defaults[name]);
  return { ...quirks, ...vendorOf(model).quirks, ...Object.fromEntries(changed) };
}
