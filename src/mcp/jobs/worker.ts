import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorMessage } from '../../answers/objects.ts';
import {
  GatewayError,
  ImageSubmitUnknownError,
  ImageWaitError,
  toFile,
  VideoSubmitUnknownError,
  type Gateway,
  type ImageRequestOptions,
  type SubmitClaim,
  type SubmitLedger,
  type Uploadable,
} from '../../index.ts';
import { isAlive, thisProcess, type Owner } from '../../node/durable.ts';
import type { ReportedCosts } from '../../observing/costs.ts';
import { isOver, type Charged, type Input, type Job, type JobRecord } from './job.ts';
import { readThumbnail, saveImages, saveOutput } from './outputs.ts';
import type { JobStore, JobUpdate } from './store.ts';

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
  readonly charged: Charged;

  constructor(message: string, charged: Charged, options?: ErrorOptions) {
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
  const bytes = await readFile(input.path).catch((cause: unknown) => {
    throw new JobError(`The file ${input.path} cannot be read.`, 'no', { cause });
  });
  if (createHash('sha256').update(bytes).digest('hex') !== input.sha256) {
    throw new JobError(`The file ${input.path} changed. Call the tool again.`, 'no');
  }
  return toFile(bytes, basename(input.path));
}

const openInputs = (inputs: readonly Input[] = []): Promise<(Uploadable | string)[]> =>
  Promise.all(inputs.map(openInput));

/** Saves a result that was paid for. */
async function keep<T>(save: Promise<T>, url?: string | null): Promise<T> {
  return save.catch((cause: unknown) => {
    const address = url ? ` Its address is ${url}` : '';
    const message = `The result could not be saved: ${errorMessage(cause)}${address}`;
    throw new JobError(message, 'yes', { cause });
  });
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
      await store.update(callId, { state: 'submitted', ref, requestId: ref.requestId });
    },
  };
  const [mask] = await openInputs(inputs.mask);
  const image = await openInputs(inputs.image);
  const { data: images, request_id: requestId } = await (
    tool === 'create_image'
      ? client.images.generate(params, options)
      : client.images.edit({ ...params, image, ...(mask === undefined ? {} : { mask }) }, options)
  ).withResponse();
  await store.update(callId, { charged: 'yes', requestId: requestId ?? undefined });
  if (images.data.length === 0) {
    throw new JobError("The gateway's safety filter removed every image.", 'yes');
  }
  const url = images.data.find((one) => one.url)?.url;
  const folders = [job.folder, context.spareFolder];
  // Each is recorded at once, so that a crash loses none that is saved.
  const saving = saveImages(images, folders, job.name, (files) => store.update(callId, { files }));
  return { state: 'done', charged: 'yes', ...(await keep(saving, url)) };
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
  if (isFree && settled.isFinal) await ledger.finish(callId, 'not_submitted', claimId);
}

/**
 * Makes a call without a task once, as images and videos are by the client itself. A ledger stores handles of
 * tasks only, so a call that succeeded stays there with an unknown outcome, which keeps other machines from
 * repeating it; this machine has its result.
 */
async function makeOnce<T>(
  job: Job,
  context: WorkerContext,
  send: () => Promise<{ readonly result: T; readonly requestId: string | undefined }>,
): Promise<T> {
  const { ledger, store } = context;
  const { callId, digest } = job;
  let claim = await ledger.claim(callId, digest);
  if ('inputHash' in claim && claim.inputHash !== digest) {
    throw new JobError(`The call id ${callId} belongs to another request.`, 'no');
  }
  if ((claim.status === 'unknown' || claim.status === 'submitting') && claim.isAlive !== true) {
    await releaseIfFree(job, context, claim);
    claim = await ledger.claim(callId, digest);
  }
  if (claim.status !== 'claimed') {
    if (claim.status === 'submitting' && claim.isAlive === true) throw new BusyError();
    throw new JobError(
      'An earlier attempt may have been charged, and its result is lost.',
      'unknown',
    );
  }
  const { claimId } = claim;
  try {
    const { result, requestId } = await send();
    await ledger.finish(callId, 'unknown', claimId, requestId);
    await store.update(callId, { charged: 'yes', requestId });
    return result;
  } catch (error) {
    const isFree = GatewayError.isInstance(error) ? error.outcome !== 'unknown' : false;
    await ledger.finish(callId, isFree ? 'not_submitted' : 'unknown', claimId, requestIdOf(error));
    throw error;
  }
}

/** A repeat of a request whose response was lost may be charged again. */
const once = { retryUnknownOutcome: false } as const;

async function makeSpeech(job: JobOf<'create_speech'>, context: WorkerContext): Promise<JobUpdate> {
  const { model, params } = job;
  const bytes = await makeOnce(job, context, async () => {
    const { data, request_id: requestId } = await context.client.audio.speech
      .create({ ...params, model }, once)
      .withResponse();
    const result = new Uint8Array(await data.arrayBuffer());
    return { result, requestId: requestId ?? undefined };
  });
  const folders = [job.folder, context.spareFolder];
  const file = await keep(saveOutput(bytes, folders, job.name, params.response_format));
  return { state: 'done', charged: 'yes', files: [file] };
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
  const text = await makeOnce(job, context, async () => {
    const { data, request_id: requestId } = await context.client.audio.transcriptions
      .create({ ...params, model, file }, once)
      .withResponse();
    return { result: data.text, requestId: requestId ?? undefined };
  });
  return { state: 'done', charged: 'yes', text };
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

function requestIdOf(error: unknown): string | undefined {
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

/** Returns the change of the record after a failure; `undefined` if another process keeps it. */
async function describeFailure(
  error: unknown,
  { callId }: Job,
  { store }: WorkerContext,
): Promise<JobUpdate | undefined> {
  if (isBusy(error)) return undefined;
  const record = await store.read(callId);
  const message = errorMessage(error);
  if (ImageWaitError.isInstance(error)) {
    const saved = record?.files ?? [];
    // The images arrived and were saved before an earlier process ended.
    if (error.ref?.hasImages === true && saved.length > 0) {
      return { state: 'done', charged: 'yes', thumbnail: await readThumbnail(saved) };
    }
    const isRunning = error.ref !== undefined && error.ref.hasImages !== true;
    if (isRunning) return { state: 'submitted', charged: 'yes', ref: error.ref, message };
    return { state: 'failed', charged: 'yes', message };
  }
  const requestId = requestIdOf(error) ?? record?.requestId;
  if (error instanceof JobError) {
    const state = error.charged === 'unknown' ? 'unknown' : 'failed';
    return { state, charged: error.charged, message, requestId };
  }
  const isGateway = GatewayError.isInstance(error);
  const isUnknown = isGateway ? error.outcome === 'unknown' : true;
  if (record?.charged === 'yes') return { state: 'failed', charged: 'yes', message, requestId };
  return isUnknown
    ? { state: 'unknown', charged: 'unknown', message, requestId }
    : { state: 'failed', charged: 'no', message, requestId };
}

/** Returns whether another process works on a job. @param starter - The process that started this one. */
function isTaken({ state, owner, updatedAt }: JobRecord, starter: Owner): boolean {
  if (state === 'queued' || isOver({ state })) return false;
  const isOurs = owner.pid === starter.pid && owner.start === starter.start;
  return !isOurs && owner.pid !== process.pid && isAlive(owner, updatedAt) === true;
}

/**
 * Makes the paid call of a job, saves its result, and records both. A video is submitted, but not waited for.
 * Failures of the call are recorded, not thrown.
 *
 * @param starter - The process that started this one.
 * @returns `false` if another process is making the call
 */
export async function runJob(job: Job, starter: Owner, context: WorkerContext): Promise<boolean> {
  const { store, costs } = context;
  const { callId } = job;
  const record = await store.read(callId);
  if (record === undefined || isTaken(record, starter)) return false;
  await store.update(callId, { state: 'running', owner: thisProcess() });
  let update: JobUpdate | undefined;
  try {
    update = await makeCall(job, context);
  } catch (error) {
    update = await describeFailure(error, job, context);
  }
  if (update === undefined) return false;
  await store.update(callId, { ...update, cost: costs.total });
  return true;
}
