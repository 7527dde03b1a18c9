import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, parseJSON } from '../../../answers/objects.ts';
import {
  createFile,
  replaceFile,
  shortHash,
  systemErrorCode,
  thisProcess,
} from '../../../adapters/node/durable.ts';
import type { Job, JobRecord, JobUpdate } from './job.ts';

/** Returns the folder for the records of jobs. */
export const jobsFolder = (state: string): string => join(state, 'jobs');

/** Returns the folder for results that cannot be saved elsewhere. */
export const spareFolder = (state: string): string => join(state, 'results');

function isRecord(value: unknown): value is JobRecord {
  return isObject(value) && value['v'] === 1 && typeof value['callId'] === 'string';
}

/** Reads a record; returns `undefined` if there is none, or it is damaged. */
async function readRecord(path: string): Promise<JobRecord | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // A record that cannot be read now may be that of a call that was charged.
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    return '';
  });
  const record = parseJSON(text);
  return isRecord(record) ? record : undefined;
}

/** Returns the first record of a job. */
function newRecord(job: Job): JobRecord {
  const { callId, tool, model, digest, label, folder, name, estimate } = job;
  const now = Date.now();
  return {
    v: 1,
    callId,
    tool,
    model,
    digest,
    label,
    folder,
    name,
    count: 'n' in job.params ? job.params.n : 1,
    createdAt: now,
    updatedAt: now,
    state: 'queued',
    owner: thisProcess(),
    estimate,
    files: [],
  };
}

/** Records of jobs in a folder, one JSON file each. Any number of processes may share it. */
export class JobStore {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Opens the store. @param folder - Created if it does not exist, readable only by this user. */
  static async open(folder: string): Promise<JobStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new JobStore(folder);
  }

  #path(callId: string): string {
    return join(this.folder, `${shortHash(callId, 32)}.json`);
  }

  /** Returns the record of a call; `undefined` if there is none, or it is damaged. */
  async read(callId: string): Promise<JobRecord | undefined> {
    const record = await readRecord(this.#path(callId));
    return record?.callId === callId ? record : undefined;
  }

  /**
   * Records a new job, owned by this process and not admitted.
   *
   * @returns `undefined` if there is a record of its call id
   */
  async create(job: Job): Promise<JobRecord | undefined> {
    const record = newRecord(job);
    const isCreated =
      (await createFile(this.#path(job.callId), JSON.stringify(record))) !== undefined;
    if (isCreated) return record;
    // A disk error damaged it. The ledger still knows whether the call was sent.
    return (await this.read(job.callId)) === undefined ? this.replace(job) : undefined;
  }

  /** Replaces the record of a job that may be started from the beginning. The call stays in the budgets meanwhile. */
  async replace(job: Job): Promise<JobRecord> {
    const record = newRecord(job);
    await replaceFile(this.#path(job.callId), JSON.stringify(record));
    return record;
  }

  /** Removes the record of a job that was not admitted, unless another process has replaced it. */
  async remove(record: JobRecord): Promise<void> {
    if (await this.#isStored(record)) await rm(this.#path(record.callId), { force: true });
  }

  /**
   * Records that a job fits into the budgets.
   *
   * @returns `false` if another process has replaced its record
   */
  async admit(record: JobRecord): Promise<boolean> {
    if (!(await this.#isStored(record))) return false;
    return (await this.update(record.callId, { admitted: true })) !== undefined;
  }

  /** Returns whether a record is still the one that this process has written. */
  async #isStored({ callId, createdAt, owner }: JobRecord): Promise<boolean> {
    const stored = await this.read(callId);
    const isSame =
      stored?.createdAt === createdAt &&
      stored.owner.pid === owner.pid &&
      stored.owner.start === owner.start;
    return isSame && stored.state === 'queued' && stored.admitted !== true;
  }

  /** Changes fields of a record. Only the process that works on a job calls this. */
  async update(callId: string, update: JobUpdate): Promise<JobRecord | undefined> {
    const record = await this.read(callId);
    if (record === undefined) return undefined;
    const changed: JobRecord = { ...record, ...update, updatedAt: Date.now() };
    await replaceFile(this.#path(callId), JSON.stringify(changed));
    return changed;
  }

  /** Returns all records, newest first. */
  async list(): Promise<JobRecord[]> {
    const records: JobRecord[] = [];
    for (const name of await readdir(this.folder)) {
      if (!name.endsWith('.json')) continue;
      const record = await readRecord(join(this.folder, name));
      if (record !== undefined) records.push(record);
    }
    return records.toSorted((a, b) => b.createdAt - a.createdAt);
  }

  /** Returns whether a job has saved a file under this path. */
  async hasResult(path: string): Promise<boolean> {
    return (await this.list()).some(({ files }) => files.some((file) => file.path === path));
  }
}
