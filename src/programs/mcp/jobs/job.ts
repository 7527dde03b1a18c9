import { createHash } from 'node:crypto';
import { isObject } from '../../../answers/objects.ts';
import type { ImageTaskRef, VideoTaskRef } from '../../../index.ts';
import type { Owner } from '../../../adapters/node/durable.ts';

/** Kinds of paid calls, as named by `--allow` and `--model`. */
export const kinds = ['image', 'speech', 'transcription', 'video'] as const;

export type Kind = (typeof kinds)[number];

/** An input of a call: a local file with the digest of its content, or a URL that the gateway reads. */
export type Input =
  | { readonly path: string; readonly sha256: string; readonly url?: undefined }
  | { readonly url: string; readonly path?: undefined };

/** Parameters of the tools that create images. */
interface ImageJobParams {
  readonly prompt: string;
  readonly n: number;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly output_format?: string | undefined;
}

interface SpeechJobParams {
  readonly input: string;
  readonly voice: string;
  readonly response_format: string;
  readonly speed?: number | undefined;
  readonly instructions?: string | undefined;
}

interface TranscriptionJobParams {
  readonly language?: string | undefined;
  readonly prompt?: string | undefined;
}

interface VideoJobParams {
  readonly prompt: string;
  readonly seconds?: string | undefined;
  readonly size?: string | undefined;
}

/** The parameters of a request, without its model and its files. */
export type JobRequest =
  | { readonly tool: 'create_image' | 'edit_image'; readonly params: ImageJobParams }
  | { readonly tool: 'create_speech'; readonly params: SpeechJobParams }
  | { readonly tool: 'transcribe_audio'; readonly params: TranscriptionJobParams }
  | { readonly tool: 'create_video'; readonly params: VideoJobParams };

/** A paid call: everything that a process needs to make it. */
export type Job = JobRequest & {
  readonly callId: string;
  readonly model: string;
  /** Files and URLs, by the parameter that takes them. */
  readonly inputs: Readonly<Partial<Record<'image' | 'mask' | 'file', readonly Input[]>>>;
  /** Digest of the request. A call id can be used for one request only. */
  readonly digest: string;
  /** The folder and the beginning of the name of the files to write. */
  readonly folder: string;
  readonly name: string;
  /** The first words of the prompt, for lists of jobs. */
  readonly label: string;
  /** The expected cost in US dollars; `undefined` if it is unknown. */
  readonly estimate?: number | undefined;
};

/** A file that a job has written. */
export interface OutputFile {
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** Whether a job was charged; `unknown` if its request was sent and its response was lost. */
export type Charged = 'yes' | 'no' | 'unknown';

/** The stored state of a job. */
export interface JobRecord {
  readonly v: 1;
  readonly callId: string;
  readonly tool: JobRequest['tool'];
  readonly model: string;
  readonly digest: string;
  readonly label: string;
  readonly folder: string;
  readonly name: string;
  /** The number of files that were requested. */
  readonly count: number;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * - `queued`: not sent yet.
   * - `running`: its process may have sent the request.
   * - `submitted`: the gateway is working on the task in `ref`.
   * - `done`: the result is complete.
   * - `failed`: it ended without a result.
   * - `unknown`: it may have been charged, and has no result.
   */
  readonly state: 'queued' | 'running' | 'submitted' | 'done' | 'failed' | 'unknown';
  /** `true` once a queued job fits into the budgets. It must not be started before. */
  readonly admitted?: boolean | undefined;
  /** The process that works on the job. */
  readonly owner: Owner;
  readonly estimate?: number | undefined;
  /** The cost that the gateway reported, in US dollars. */
  readonly cost?: number | undefined;
  readonly charged?: Charged | undefined;
  /** The id of the request in the gateway's usage log. */
  readonly requestId?: string | undefined;
  readonly ref?: VideoTaskRef | ImageTaskRef | undefined;
  /** The status of the task, such as `processing 40 %`. */
  readonly status?: string | undefined;
  /** The number of failed downloads of a video whose task is completed. */
  readonly failedDownloads?: number | undefined;
  /** The file that a video is being saved to. */
  readonly target?: string | undefined;
  readonly files: readonly OutputFile[];
  /** A small version of the first image, as base64 of a JPEG. */
  readonly thumbnail?: string | undefined;
  /** The text of a transcription. */
  readonly text?: string | undefined;
  /** The reason of a failure, and what to do. */
  readonly message?: string | undefined;
}

/** The fields of a record that change. */
export type JobUpdate = Partial<
  Omit<JobRecord, 'v' | 'callId' | 'tool' | 'model' | 'digest' | 'updatedAt'>
>;

/** The exit code of the process for a call if another process has made it. */
export const busyCode = 75;

/** Returns whether a job needs no more work. */
export function isOver({ state }: JobRecord): boolean {
  return state === 'done' || state === 'failed' || state === 'unknown';
}

/** The task status of a job whose video is completed, while it is downloaded. */
export const downloading = 'downloading';

/** The task status of a job whose video is completed, but could not be downloaded. */
export const undelivered = 'completed, not downloaded';

/** Returns whether a job ended because its video, which is paid for, could not be downloaded. */
export function isUndelivered({ state, status }: JobRecord): boolean {
  return state === 'failed' && status === undelivered;
}

/** Returns the cost of a job in US dollars, as reported or expected; `undefined` if it is unknown. */
export function jobCost({ cost, estimate, charged }: JobRecord): number | undefined {
  return charged === 'no' ? 0 : (cost ?? estimate);
}

function sortKeys(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the SHA-256 digest of a value as JSON, independent of the order of its keys. */
export function createDigest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex');
}

/** Returns the first words of a prompt as a part of a file name; `undefined` if it has no usable letters. */
export function slug(text: string): string | undefined {
  const words =
    text
      .normalize('NFKD')
      .toLowerCase()
      .match(/[\p{Letter}\p{Number}]+/gu) ?? [];
  let name = '';
  for (const word of words.slice(0, 6)) {
    if (name.length + word.length > 40) break;
    name += `${name === '' ? '' : '-'}${word}`;
  }
  return name === '' ? undefined : name;
}
