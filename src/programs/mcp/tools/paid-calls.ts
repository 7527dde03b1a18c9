import { stat } from 'node:fs/promises';
import { errorMessage } from '../../../answers/objects.ts';
import { systemErrorCode, thisProcess } from '../../../adapters/node/durable.ts';
import { round } from './cost.ts';
import { ToolError } from './errors.ts';
import { createDigest, type Job, type JobRecord, slug } from '../jobs/job.ts';
import type { JobWait } from '../jobs/jobs.ts';
import type { PreparedCall } from './prepare.ts';
import type { ServerParts } from './parts.ts';
import { prepareOutput, type Workspace } from './workspace.ts';

/** The arguments that all paid tools share. */
interface CallOptions {
  readonly model: string;
  readonly name?: string | undefined;
  readonly call_id?: string | undefined;
  readonly again?: string | undefined;
}

/** The answer of the user to the question before an expensive call; `undefined` before it is asked. */
export type Confirm = (message: string) => 'accepted' | 'declined' | 'ask' | 'impossible';

/** The result of a paid tool: its job, or a question to ask first. */
export type PaidCall =
  | { readonly record: JobRecord; readonly reused: boolean; readonly question?: undefined }
  | { readonly question: string };

const prefixes: Readonly<Record<Job['tool'], string>> = {
  create_image: 'image',
  edit_image: 'edit',
  create_speech: 'speech',
  transcribe_audio: 'transcript',
  create_video: 'video',
};

/** Creates the job of a call. Equal calls have the same id, unless `again` differs. */
function createJob(
  { request, inputs, label }: PreparedCall,
  { model, name, call_id: callId, again }: CallOptions,
  baseURL: string,
  { output }: Workspace,
): Job {
  const files = Object.entries(inputs).map(([field, list]) => [
    field,
    list.map(({ url, ...file }) => url ?? ('sha256' in file ? file.sha256 : '')),
  ]);
  const digest = createDigest([request.tool, baseURL, model, request.params, files]);
  const key = again === undefined ? digest : createDigest([digest, again]);
  const suffix = again === undefined ? '' : `:${createDigest(again).slice(0, 12)}`;
  const id =
    callId === undefined ? `${prefixes[request.tool]}-${key.slice(0, 24)}` : `${callId}${suffix}`;
  const shown = name ?? slug(label) ?? prefixes[request.tool];
  return {
    ...request,
    callId: id,
    model,
    inputs,
    digest,
    folder: output,
    name: `${shown}-${createDigest(id).slice(0, 8)}`,
    label: label.replaceAll(/\s+/g, ' ').slice(0, 80),
  };
}

async function areMissing({ files }: JobRecord): Promise<boolean> {
  for (const { path } of files) {
    if ((await stat(path).catch(() => undefined)) === undefined) return true;
  }
  return false;
}

/** Returns whether nothing was sent for a call, or nothing charged, so that it is admitted like a new one. */
const isNew = ({ state, charged, admitted }: JobRecord): boolean =>
  state === 'failed'
    ? charged === 'no'
    : state === 'queued' && charged === undefined && admitted !== true;

/** Records are written before anything is sent. */
function explainRecordError(error: unknown): never {
  if (systemErrorCode(error) === '') throw error;
  throw new ToolError(
    `Nothing was sent, because the call cannot be recorded: ${errorMessage(error)}.`,
  );
}

/** Makes paid calls. Each call id is sent once, by this or any other process that shares the ledger. */
export class PaidCalls {
  readonly #parts: ServerParts;
  /** The last admission of each call id, so that equal calls at the same time are admitted one by one. */
  readonly #admissions = new Map<string, Promise<unknown>>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /**
   * Starts a call or continues an existing one, and waits for it.
   *
   * @throws `ToolError` if it cannot be made; nothing was sent then
   */
  async make(
    call: PreparedCall,
    options: CallOptions,
    workspace: Workspace,
    confirm: Confirm,
    wait: JobWait,
  ): Promise<PaidCall> {
    const { client, jobs } = this.#parts;
    const job = createJob(call, options, client.toJSON().baseURL, workspace);
    const { callId } = job;
    const before = this.#admissions.get(callId) ?? Promise.resolve();
    const admission = before
      .then(() => this.#admit(job, workspace, confirm))
      .catch(explainRecordError);
    const settled = admission.catch(() => {});
    this.#admissions.set(callId, settled);
    const admitted = await admission.finally(() => {
      if (this.#admissions.get(callId) === settled) this.#admissions.delete(callId);
    });
    if (typeof admitted === 'string') return { question: admitted };
    const record = await jobs.wait(callId, wait);
    if (record === undefined) throw new ToolError(`The record of the call ${callId} was deleted.`);
    return { record, reused: !admitted };
  }

  /**
   * Starts a call unless it is running or over.
   *
   * @returns `true` if it is a new call, `false` if it exists, or a question to ask the user first
   */
  async #admit(job: Job, workspace: Workspace, confirm: Confirm): Promise<boolean | string> {
    const { store, jobs } = this.#parts;
    const { callId } = job;
    const known = await store.read(callId);
    if (known !== undefined && known.digest !== job.digest) {
      throw new ToolError(
        `The call_id ${callId} was used for another request on ${new Date(known.createdAt).toISOString()}. Choose another one. Nothing was sent.`,
      );
    }
    if (known !== undefined && !isNew(known)) return this.#continue(job, known);
    // Another process is admitting it.
    if (known?.state === 'queued' && jobs.isRunning(known)) return false;
    const { estimate, question } = await this.#check(job, confirm);
    if (question !== undefined) return question;
    await prepareOutput(workspace);
    const priced: Job = { ...job, estimate };
    if (known === undefined) {
      const record = await store.create(priced);
      // Another process was faster.
      return record === undefined ? false : this.#start(priced, record);
    }
    const now = await store.read(callId);
    // Another process has repeated the call meanwhile.
    if (now !== undefined && !isNew(now)) return this.#continue(job, now);
    return this.#start(priced, await store.replace(priced));
  }

  /**
   * Starts a recorded job if it fits into the budgets.
   *
   * @returns `false` if another process has replaced its record
   */
  async #start(job: Job, record: JobRecord): Promise<boolean> {
    const { store, jobs, spending } = this.#parts;
    try {
      await spending.check(record);
      if (!(await store.admit(record))) return false;
    } catch (error) {
      // What cannot be removed is not started: it is not admitted, or its start checks the budgets again.
      await store.remove(record).catch(() => {});
      throw error;
    }
    jobs.start(job);
    return true;
  }

  /**
   * Continues an existing call where another process, or an earlier run, has left it.
   *
   * @returns `true` if its request may be sent now
   */
  async #continue(job: Job, known: JobRecord): Promise<boolean> {
    const { store, jobs, spending } = this.#parts;
    const { callId } = job;
    const { state, ref } = known;
    if (state === 'done' && (await areMissing(known))) {
      if (ref?.kind !== 'video') {
        throw new ToolError(
          `The files of this call are gone: ${known.files.map(({ path }) => path).join(', ')}. It was charged. To pay for a new result, pass again with any text.`,
        );
      }
      // The gateway still has the video, at least for a while.
      await store.update(callId, { state: 'submitted', files: [], target: undefined });
    }
    if (['submitted', 'done', 'failed'].includes(state) || jobs.isRunning(known)) return false;
    const isSent = state !== 'queued' || known.charged !== undefined;
    if (isSent) {
      // The ledger decides whether the request may be sent; after an unknown outcome only if the usage log proves
      // that it was free.
      spending.adopt(callId);
      await store.update(callId, {
        state: 'queued',
        admitted: true,
        charged: state === 'queued' ? known.charged : 'unknown',
        owner: thisProcess(),
      });
    } else {
      // It fits into the budget of today, but perhaps not into that of this process.
      await spending.check(known);
      await store.update(callId, { owner: thisProcess() });
    }
    jobs.start({ ...job, estimate: known.estimate });
    return true;
  }

  /** Checks the model and the cost of a new call. Only reads. */
  async #check(
    job: Job,
    confirm: Confirm,
  ): Promise<{ readonly estimate: number | undefined; readonly question?: string }> {
    const { models, anyModel, estimator, confirmAbove } = this.#parts;
    if (!anyModel) await models.check(job.model);
    const { amount, reason } = await estimator.estimate(job.model, job);
    const estimate = amount?.value;
    if (confirmAbove === undefined) return { estimate };
    if (estimate !== undefined && estimate <= confirmAbove) return { estimate };
    const price =
      estimate === undefined ? `an unknown amount (${reason})` : `about $${round(estimate)}`;
    const message = `${job.tool} with ${job.model} costs ${price}. Make the call?`;
    switch (confirm(message)) {
      case 'accepted':
        return { estimate };
      case 'ask':
        return { estimate, question: message };
      case 'declined':
        throw new ToolError('The user declined the call. Nothing was sent.');
      case 'impossible':
        throw new ToolError(
          `${job.tool} with ${job.model} costs ${price}, which the user must confirm, and this client cannot ask. Restart the server with a higher --confirm. Nothing was sent.`,
        );
    }
  }
}
