import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, parseJSON } from '../../../answers/objects.ts';
import { createFile, replaceFile, shortHash, thisProcess } from '../../../adapters/node/durable.ts';
import type { Job, JobRecord, JobUpdate } from './job.ts';

/** Returns the folder for the records of jobs. */
export const jobsFolder = (state: string): string => join(state, 'jobs');

/** Returns the folder for results that cannot be saved elsewhere. */
export const spareFolder = (state: string): string => join(state, 'results');

function isRecord(value: unknown): value is JobRecord {
  return isObject(value) && value['v'] === 1 && typeof value['callId'] === 'string';
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

  async read(callId: string): Promise<JobRecord | undefined> {
    const text = await readFile(this.#path(callId), 'utf8').catch(() => '');
    const record = parseJSON(text);
    return isRecord(record) && record.callId === callId ? record : undefined;
  }

  /**
   * Records a new job, owned by this process.
   *
   * @returns `undefined` if there is a record of its call id
   */
  async create(job: Job): Promise<JobRecord | undefined> {
    const { callId, tool, model, digest, label, folder, name, estimate } = job;
    const now = Date.now();
    const record: JobRecord = {
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
    const path = this.#path(callId);
    const text = JSON.stringify(record);
    if ((await createFile(path, text)) !== undefined) return record;
    const stored = parseJSON(await readFile(path, 'utf8').catch(() => ''));
    if (isObject(stored)) return undefined;
    // A disk error damaged it. The ledger still knows whether the call was sent.
    await rename(path, `${path}.damaged`);
    return (await createFile(path, text)) === undefined ? undefined : record;
  }

  /** Removes the record of a job that was never sent. */
  async remove(callId: string): Promise<void> {
    await rm(this.#path(callId), { force: true });
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
      const record = parseJSON(await readFile(join(this.folder, name), 'utf8').catch(() => ''));
      if (isRecord(record)) records.push(record);
    }
    return records.toSorted((a, b) => b.createdAt - a.createdAt);
  }

  /** Returns whether a job has saved a file under this path. */
  async hasResult(path: string): Promise<boolean> {
    return (await this.list()).some(({ files }) => files.some((file) => file.path === path));
  }
}
