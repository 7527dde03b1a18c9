import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../answers/objects.ts';
import {
  GatewayError,
  ImageSubmitUnknownError,
  ImageWaitError,
  toFile,
  VideoSubmitUnknownError,
  type Gateway,
  type ImageRequestOptions,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitLedger,
  type Uploadable,
} from '../../../index.ts';
import { thisProcess } from '../../../adapters/node/durable.ts';
import type { ReportedCosts } from '../../reported-costs.ts';
import { readPaidFile } from '../../unread.ts';
import { type Charged, type Input, isOver, type Job, type JobUpdate } from './job.ts';
import { toAgentMessage, withoutAdvice } from './messages.ts';
import { readRegular } from './opened.ts';
import {
  findResult,
  isCompleted,
  saveImages,
  checkFiles,
  saveOutput,
  saveUnread,
} from './outputs.ts';
import type { JobStore } from './store.ts';

/** What a job needs of the process that makes its call. */
export interface WorkerContext {
  readonly client: Gateway;
  readonly ledger: SubmitLedger;
  readonly store: JobStore;
  /** The folder for results whose own folder cannot be written. */
  readonly spareFolder: string;
  /** The costs that the gateway reports to `client`. */
  readonly costs: ReportedCosts;
}

type JobOf<Tool extends Job['tool']> = Extract<Job, { readonly tool: Tool }>;

/** A failure, with what is known about its charge. */
class JobError extends Error {
  override readonly name = 'JobError';
  readonly charged: Exclude<Charged, 'yes'>;

  constructor(message: string, charged: Exclude<Charged, 'yes'>, options?: ErrorOptions) {
    super(message, options);
    this.charged = charged;
  }
}

/** Another process is making the call. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Opens an input, and checks that the file is still the one that the call id was computed from. */
async function openInput(input: Input): Promise<Uploadable | string> {
  if (input.path === undefined) return input.url;
  const bytes = await readRegular(input.path).catch((cause: unknown) => {
    throw new JobError(`The file ${input.path} cannot be read.`, 'no', { cause });
  });
  if (createHash('sha256').update(bytes).digest('hex') !== input.sha256) {
    throw new JobError(`The file ${input.path} changed. Call the tool again.`, 'no');
  }
  return toFile(bytes, basename(input.path));
}

const openInputs = (inputs: readonly Input[] = []): Promise<(Uploadable | string)[]> =>
  Promise.all(inputs.map(openInput));

/**
 * Saves a result that was paid for.
 *
 * @param urls - Where the gateway keeps the result for a while.
 */
async function keep(
  save: () => Promise<JobUpdate>,
  requestId: string | null | undefined,
  urls: readonly string[] = [],
): Promise<JobUpdate> {
  const paid = { charged: 'yes', requestId: requestId ?? undefined } as const;
  try {
    return { state: 'done', ...paid, ...(await save()) };
  } catch (error) {
    const addresses = urls.length === 0 ? '' : ` Download it from ${urls.join(' and ')}`;
    const message = `The result could not be saved: ${errorMessage(error)}${addresses}`;
    return { state: 'failed', ...paid, message };
  }
}

async function makeImages(
  job: JobOf<'create_image' | 'edit_image'>,
  context: WorkerContext,
): Promise<JobUpdate> {
  const { client, ledger, store } = context;
  const { callId, model, inputs, tool } = job;
  const params = { ...job.params, model };
  const options: ImageRequestOptions = {
    ledger,
    callId,
    onUnknown: 'settle',
    async onSubmitted(ref) {
      await store.update(callId, {
        state: 'submitted',
        charged: 'yes',
        ref,
        requestId: ref.requestId,
      });
    },
  };
  const [mask] = await openInputs(inputs.mask);
  const image = await openInputs(inputs.image);
  const { data: images, request_id: requestId } = await (
    tool === 'create_image'
      ? client.images.generate(params, options)
      : client.images.edit({ ...params, image, ...(mask === undefined ? {} : { mask }) }, options)
  ).withResponse();
  const urls = images.data.flatMap(({ url }) => url ?? []);
  const folders = [job.folder, context.spareFolder];
  const save = (): Promise<JobUpdate> =>
    saveImages(images, folders, job.name, job.params.n, async (files) => {
      // If the record cannot be written, the other images are saved nevertheless.
      await store.update(callId, { charged: 'yes', files }).catch(() => {});
    });
  return keep(save, requestId, urls);
}

/** Claims a call in the ledger. Nothing is sent if that fails. */
function claimCall(ledger: SubmitLedger, callId: string, digest: string): Promise<SubmitClaim> {
  return ledger.claim(callId, digest).catch((cause: unknown) => {
    throw new JobError(`The ledger cannot be used: ${errorMessage(cause)}`, 'no', { cause });
  });
}

type UnknownClaim = Extract<SubmitClaim, { readonly status: 'submitting' | 'unknown' }>;

/** Frees a claim if the usage log proves that its request was not charged. */
async function releaseIfFree(
  { callId }: Job,
  { client, ledger }: WorkerContext,
  { claimId, requestId }: UnknownClaim,
): Promise<void> {
  if (requestId === undefined) return;
  const settled = await client.account.settle(requestId).catch(() => undefined);
  const isFree = settled?.verdict === 'not_charged' || settled?.verdict === 'refunded';
  if (isFree && settled.isFinal) await ledger.finish(callId, 'not_submitted', { claimId });
}

/**
 * Makes a call without a task once, as images and videos are by the client itself, and saves its result. A ledger
 * stores handles of tasks only, so a call that succeeded stays there with an unknown outcome, which keeps other
 * machines from repeating it; this machine has its result.
 */
async function makeOnce<T>(
  job: Job,
  context: WorkerContext,
  send: () => Promise<{ readonly result: T; readonly requestId: string | null | undefined }>,
  save: (result: T) => Promise<JobUpdate>,
): Promise<JobUpdate> {
  const { ledger } = context;
  const { callId, digest } = job;
  let claim = await claimCall(ledger, callId, digest);
  // A damaged entry has no digest.
  if ('inputHash' in claim && claim.inputHash !== '' && claim.inputHash !== digest) {
    throw new JobError(`The call id ${callId} belongs to another request.`, 'no');
  }
  if ((claim.status === 'unknown' || claim.status === 'submitting') && claim.isAlive !== true) {
    await releaseIfFree(job, context, claim);
    claim = await claimCall(ledger, callId, digest);
  }
  if (claim.status !== 'claimed') {
    if (claim.status === 'submitting' && claim.isAlive === true) throw new BusyError();
    throw new JobError(
      'It may have been sent before, and its result is not on this computer.',
      'unknown',
    );
  }
  const { claimId } = claim;
  // Without this entry, the claim has no outcome, which keeps the call from being sent again too.
  const finish = (end: SubmitEnd, requestId: string | undefined): Promise<void> =>
    ledger.finish(callId, end, { claimId, requestId }).catch(() => {});
  try {
    const { result, requestId } = await send();
    const update = await keep(() => save(result), requestId);
    await finish('unknown', requestId ?? undefined);
    return update;
  } catch (error) {
    const isFree = GatewayError.isInstance(error) && error.outcome !== 'unknown';
    await finish(isFree ? 'not_submitted' : 'unknown', findRequestId(error));
    throw error;
  }
}

/** A repeat of a request whose response was lost may be charged again. */
const once = { retryUnknownOutcome: false } as const;

function makeSpeech(job: JobOf<'create_speech'>, context: WorkerContext): Promise<JobUpdate> {
  const { model, params } = job;
  const folders = [job.folder, context.spareFolder];
  return makeOnce(
    job,
    context,
    async () => {
      const { data, request_id: requestId } = await context.client.audio.speech
        .create({ ...params, model }, once)
        .withResponse();
      return { result: await readPaidFile(data, params.response_format), requestId };
    },
    async (bytes) => {
      const files = [await saveOutput(bytes, folders, job.name, params.response_format)];
      return { files, ...(await checkFiles(files, 'audio')) };
    },
  );
}

async function transcribe(
  job: JobOf<'transcribe_audio'>,
  context: WorkerContext,
): Promise<JobUpdate> {
  const { model, params, inputs } = job;
  const [file] = await openInputs(inputs.file);
  if (file === undefined || typeof file === 'string') {
    throw new JobError('transcribe_audio needs a file.', 'no');
  }
  return makeOnce(
    job,
    context,
    async () => {
      const { data, request_id: requestId } = await context.client.audio.transcriptions
        .create({ ...params, model, file }, once)
        .withResponse();
      return { result: data.text, requestId };
    },
    async (text) => ({ text }),
  );
}

async function submitVideo(job: JobOf<'create_video'>, context: WorkerContext): Promise<JobUpdate> {
  const { client, ledger } = context;
  const { callId, model, params, inputs } = job;
  const [reference] = await openInputs(inputs.image);
  const { ref } = await client.videos.create(
    {
      ...params,
      model,
      ...(reference === undefined ? {} : { input_reference: reference }),
    },
    { ledger, callId, onUnknown: 'settle' },
  );
  return { state: 'submitted', charged: 'yes', ref, requestId: ref.requestId };
}

function makeCall(job: Job, context: WorkerContext): Promise<JobUpdate> {
  switch (job.tool) {
    case 'create_image':
    case 'edit_image':
      return makeImages(job, context);
    case 'create_speech':
      return makeSpeech(job, context);
    case 'transcribe_audio':
      return transcribe(job, context);
    case 'create_video':
      return submitVideo(job, context);
  }
}

function findRequestId(error: unknown): string | undefined {
  return GatewayError.isInstance(error)
    ? error.evidence.attempts.findLast(({ requestId }) => requestId !== undefined)?.requestId
    : undefined;
}

/** Returns whether another process is making the call, or has made it. */
function isBusy(error: unknown): boolean {
  const isUnknown =
    ImageSubmitUnknownError.isInstance(error) || VideoSubmitUnknownError.isInstance(error);
  return error instanceof BusyError || (isUnknown && error.isInProgress);
}

const returnedElsewhere =
  'The images were already returned, but are not on this machine: another machine with the same ledger has them, or they were lost before they were saved.';

/** Returns the change of the record after a failure. */
async function describeFailure(
  error: unknown,
  job: Job,
  context: WorkerContext,
): Promise<JobUpdate> {
  const record = await context.store.read(job.callId);
  const message = toAgentMessage(error);
  const requestId = findRequestId(error) ?? record?.requestId;
  const folders = [job.folder, context.spareFolder];
  if (ImageWaitError.isInstance(error)) {
    const { ref } = error;
    const isReturned = ref?.hasImages === true;
    if (ref !== undefined && !isReturned && !isCompleted(error)) {
      return { state: 'submitted', charged: 'yes', ref, message };
    }
    const found = record && (await findResult(record, context.spareFolder));
    if (found !== undefined) return found;
    const failed = { state: 'failed', charged: 'yes', requestId } as const;
    if (isReturned) return { ...failed, message: returnedElsewhere };
    return { ...failed, message, ...(await saveUnread(error, folders, job.name)) };
  }
  if (record?.charged === 'yes') return { state: 'failed', charged: 'yes', message, requestId };
  // A call that was sent is only sent again after the first attempt has proved to be free.
  const isDoubtful = record?.charged === 'unknown';
  const isFree =
    error instanceof JobError
      ? error.charged === 'no' && !isDoubtful
      : GatewayError.isInstance(error) &&
        (error.outcome === 'rejected' || (error.outcome === 'not_sent' && !isDoubtful));
  if (isFree) return { state: 'failed', charged: 'no', message, requestId };
  const found = record && (await findResult(record, context.spareFolder));
  if (found !== undefined) return found;
  const unread = await saveUnread(error, folders, job.name);
  const ending = { state: 'unknown', charged: 'unknown', message: withoutAdvice(error) } as const;
  return { ...ending, requestId, ...unread };
}

/** Time between two attempts while another process makes the call, in milliseconds. */
const busyInterval = 1_000;

/**
 * Makes the call of a job. If another process is making it, maybe on another machine, waits for that process.
 *
 * @returns The change of the record; `undefined` if the other process has recorded the end of the job
 */
async function makeOrAwaitCall(job: Job, context: WorkerContext): Promise<JobUpdate | undefined> {
  for (;;) {
    try {
      return await makeCall(job, context);
    } catch (error) {
      if (!isBusy(error)) return describeFailure(error, job, context);
    }
    await delay(busyInterval);
    const record = await context.store.read(job.callId);
    if (record === undefined || record.state === 'submitted' || isOver(record)) return undefined;
  }
}

/**
 * Makes the paid call of a queued job, saves its result, and records both. A video is submitted, but not waited
 * for. Failures of the call are recorded, not thrown.
 *
 * @returns `false` if the job is not queued any more, or another process has made the call
 */
export async function runJob(job: Job, context: WorkerContext): Promise<boolean> {
  const { store, costs } = context;
  const { callId } = job;
  const record = await store.read(callId);
  // The server that started this process may have been killed, and its job been given up or recorded anew.
  if (record?.state !== 'queued' || record.admitted !== true) return false;
  await store.update(callId, { state: 'running', owner: thisProcess() });
  const update = await makeOrAwaitCall(job, context);
  if (update === undefined) return false;
  await store.update(callId, { message: undefined, ...update, cost: costs.total });
  return true;
}
