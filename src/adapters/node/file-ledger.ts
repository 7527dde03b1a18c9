import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, parseJSON, toFields } from '../../answers/objects.ts';
import { check } from '../../options/check.ts';
import {
  checkFinish,
  checkLedgerCall,
  type FinishDetails,
  isSameTask,
  type ListingLedger,
  type OpenCall,
  selectOpen,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
} from '../../tasks/ledger.ts';
import { parseTaskRef } from '../../tasks/ref.ts';
import type { TaskRef } from '../../tasks/ref.ts';
import {
  systemErrorCode,
  createFile,
  isAlive,
  type Owner,
  replaceFile,
  shortHash,
  syncFolder,
  thisProcess,
} from './durable.ts';

/** A claim of a call, as stored on disk. */
interface Entry {
  readonly v: 1;
  readonly callId: string;
  /** A random id of the claim, which proves whose file it is. Missing in entries of older versions. */
  readonly id?: string | undefined;
  readonly inputHash: string;
  readonly owner: Owner;
  /** Time of the claim, for readers of the file. */
  readonly claimedAt: string;
  readonly ref?: TaskRef | undefined;
  readonly end?: SubmitEnd | undefined;
  /** The id of the request in the gateway's usage log. */
  readonly requestId?: string | undefined;
  /** Set if the error response was read completely. */
  readonly isErrorComplete?: boolean | undefined;
}

/** A stored entry with its location. */
interface Found {
  /**
   * Number of the claim. A claim that replaces another has a higher number. 0 means a task without a claim.
   */
  readonly number: number;
  readonly path: string;
  readonly entry: Entry;
}

/** A ledger in a folder. */
export interface FileLedger extends ListingLedger {
  /**
   * Removes the calls that have finished, so that the folder does not grow for ever. A removed call id counts as new, so
   * keep calls for longer than your jobs may be retried.
   *
   * @param options - `before`: only calls that finished before this time, in milliseconds since 1970.
   * @returns The number of removed calls
   */
  removeFinished(options: { before: number }): Promise<number>;
}

/** Minimum age of temporary files to be removed as leftovers of killed processes, in milliseconds. */
const maxLeftoverAge = 3_600_000;

/**
 * Creates a ledger of submissions in a folder: one small JSON file per call id, and a subfolder for calls
 * that were claimed more than once.
 *
 * It survives `kill -9` and power failures at any point. Any number of processes may share the folder: if
 * several claim the same call, one succeeds. The files contain call ids and handles, but no keys or
 * prompts. Files of finished calls may be deleted, also by `removeFinished()`; their call ids then count as new.
 *
 * @param folder - Created if it does not exist. Use a local disk.
 *
 * @example
 * const ledger = fileLedger('var/videos');
 * await client.videos.createAndWait(params, { ledger, callId: job.id });
 */
export function fileLedger(folder: string): FileLedger {
  const problem =
    'must be a string that is not empty; pass the folder for the files of the ledger.';
  check(typeof folder === 'string' && folder !== '', 'folder', problem);
  return new LedgerInFolder(resolve(folder));
}

/** Maximum number of calls whose unrecorded outcomes are remembered. */
const maxUnrecorded = 10_000;

/** The longest pause before a call is claimed again next to a rival, in milliseconds. It doubles up to the limit. */
const firstPause = 5;
const longestPause = 500;

/** The outcome of a claim: what to write to its file, or `undefined` to remove it because nothing was submitted. */
type Outcome = Partial<Entry> | undefined;

/** Outcomes of claims of this process that could not be recorded, by the folders of calls and by claims. */
const unrecorded = new Map<string, Map<string, Outcome>>();

class LedgerInFolder implements FileLedger {
  readonly #folder: string;
  #older: Promise<ReadonlyMap<string, readonly number[]>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    checkLedgerCall(callId);
    // Create it each time, because it may have been deleted.
    await makeFolder(this.#folder);
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      await this.#recordOutcomes(callId);
      const found = await this.#find(callId);
      const known = toEntry(found);
      if (known !== undefined && ('ref' in known || known.claimId !== replaces)) {
        const { refs: _, ...claim } = known;
        return claim;
      }
      const claimId = await this.#enter(callId, inputHash, found);
      if (claimId !== undefined) return { status: 'claimed', claimId };
      // Another process was faster; the next lookup finds its claim. If each has seen the other, both have given way.
      await delay(pause * Math.random());
    }
  }

  /**
   * Creates the file of a claim.
   *
   * @returns The id of the claim; `undefined` if another process has claimed the call, too
   */
  async #enter(
    callId: string,
    inputHash: string,
    found: readonly Found[],
  ): Promise<string | undefined> {
    const id = randomBytes(6).toString('hex');
    const claimedAt = new Date().toISOString();
    const entry: Entry = { v: 1, callId, id, inputHash, owner: thisProcess(), claimedAt };
    const number = (found.at(-1)?.number ?? 0) + 1;
    const claimId = claimIdFor({ number, entry });
    const unique = async (): Promise<string> => {
      const folder = this.#callFolder(callId);
      await makeFolder(folder);
      return join(folder, `${number}.${id}.json`);
    };
    let isClaimed = false;
    try {
      const path = this.#path(callId, number);
      await makeFolder(dirname(path));
      const created = await createFile(path, JSON.stringify(entry), unique);
      isClaimed = created !== undefined && !(await this.#hasRival(callId, claimId, found));
    } finally {
      // After an error too: the file may exist nevertheless.
      if (!isClaimed) await this.#withdraw(callId, claimId);
    }
    if (!isClaimed) return undefined;
    // Removed only now, because these files determine the number of the new one.
    for (const claim of found.filter(isReleased)) {
      await rm(claim.path, { force: true }).catch(() => {});
    }
    return claimId;
  }

  /** Removes the file of a claim under which nothing was submitted, now or before the next claim. */
  async #withdraw(callId: string, claimId: string): Promise<void> {
    this.#remember(callId, new Map([[claimId, undefined]]));
    await this.#recordOutcomes(callId).catch(() => {});
  }

  #remember(callId: string, outcomes: ReadonlyMap<string, Outcome>): void {
    const key = this.#callFolder(callId);
    if (unrecorded.size >= maxUnrecorded) return;
    unrecorded.set(key, new Map([...(unrecorded.get(key) ?? []), ...outcomes]));
  }

  /** Records the outcomes of claims of this process that could not be recorded before. */
  async #recordOutcomes(callId: string): Promise<void> {
    const key = this.#callFolder(callId);
    const outcomes = unrecorded.get(key);
    if (outcomes === undefined) return;
    // Only one call does it, because the next claim may have the path of a removed one.
    unrecorded.delete(key);
    try {
      for (const claim of await this.#find(callId)) {
        const { ref, end } = claim.entry;
        const claimId = claimIdFor(claim);
        if (ref !== undefined || end !== undefined || !outcomes.has(claimId)) continue;
        const outcome = outcomes.get(claimId);
        await (outcome === undefined ? rm(claim.path, { force: true }) : write(claim, outcome));
      }
    } catch (error) {
      this.#remember(callId, outcomes);
      // A claim whose outcome is unknown keeps the call from being submitted anyway.
      if ([...outcomes.values()].includes(undefined)) throw error;
    }
  }

  async accept(callId: string, taskRef: TaskRef, claimId?: string): Promise<void> {
    checkLedgerCall(callId, claimId);
    const ref = parseTaskRef(taskRef);
    await makeFolder(this.#folder);
    const found = await this.#find(callId);
    if (claimId === undefined) {
      const claims = found.filter(({ number }) => number > 0);
      const first = claims.find(hasTask) ?? claims.at(-1);
      if (first !== undefined && hasTask(first) && !isSameTask(first.entry.ref, ref)) {
        await this.#keep(first.entry, first.entry.ref);
      }
      const path = this.#path(callId, 1);
      await write(first ?? { number: 1, path, entry: unreadableEntry(callId) }, {
        ref,
        end: undefined,
      });
      return;
    }
    const tasks = findTasks(found);
    if (tasks.some(({ entry }) => isSameTask(entry.ref, ref))) return;
    const claimed = found.find((claim) => claimIdFor(claim) === claimId);
    // Only its owner writes to the file of a claim, so concurrent updates keep both tasks.
    if (claimed !== undefined && tasks.length === 0) await write(claimed, { ref, end: undefined });
    else await this.#keep(found.at(-1)?.entry ?? unreadableEntry(callId), ref);
  }

  async finish(callId: string, end: SubmitEnd, details: FinishDetails = {}): Promise<void> {
    const { claimId, requestId, isErrorComplete } = checkFinish(callId, end, details);
    const isComplete = isErrorComplete === true && Boolean(requestId);
    const change = { end, requestId, ...(isComplete && { isErrorComplete }) };
    try {
      await this.#finish(callId, change, claimId);
    } catch (error) {
      // Otherwise the call would look as if it were being submitted for as long as this process runs.
      if (claimId !== undefined && (end === 'not_submitted' || end === 'unknown')) {
        const outcome = end === 'unknown' ? change : undefined;
        this.#remember(callId, new Map([[claimId, outcome]]));
      }
      throw error;
    }
  }

  async #finish(
    callId: string,
    change: Partial<Entry> & { readonly end: SubmitEnd },
    claimId: string | undefined,
  ): Promise<void> {
    const found = await this.#find(callId);
    const current = found.at(-1);
    if (current === undefined || (claimId ?? claimIdFor(current)) !== claimIdFor(current)) return;
    const [task] = findTasks(found);
    const { end } = change;
    if (end === 'completed' || end === 'failed') {
      if (task !== undefined) await write(task, { end });
    } else if (task === undefined) await write(current, change);
  }

  async entry(callId: string): Promise<SubmitEntry | undefined> {
    checkLedgerCall(callId);
    return toEntry(await this.#find(callId));
  }

  async open({ before }: { before?: number | undefined } = {}): Promise<OpenCall[]> {
    const calls: OpenCall[] = [];
    for (const { callId, found } of await this.#findAll()) {
      const entry = toEntry(found);
      const [first] = found;
      if (entry === undefined || first === undefined) continue;
      const { claimedAt, ref } = first.entry;
      const since = claimedAt === '' ? ref?.createdAt : Date.parse(claimedAt);
      calls.push({ callId, since, ...entry });
    }
    return selectOpen(calls, before);
  }

  async removeFinished({ before }: { before: number }): Promise<number> {
    check(Number.isFinite(before), 'before', 'must be a time in milliseconds since 1970.');
    let removed = 0;
    for (const { found } of await this.#findAll()) {
      if (toEntry(found)?.status !== 'finished') continue;
      const [task] = findTasks(found);
      const times = await Promise.all(found.map(async ({ path }) => (await lstat(path)).mtimeMs));
      if (task === undefined || times.some((time) => time >= before)) continue;
      // The finished task is removed last, so that the call never looks as if it had none.
      for (const { path } of found) if (path !== task.path) await rm(path, { force: true });
      await rm(task.path, { force: true });
      // It stays if another process has just written to it.
      for (const { path } of found) {
        if (dirname(path) !== this.#folder) await rmdir(dirname(path)).catch(() => {});
      }
      removed += 1;
    }
    return removed;
  }

  /** Returns the claims of all calls. A call without a readable file has the name of its files as its id. */
  async #findAll(): Promise<{ readonly callId: string; readonly found: readonly Found[] }[]> {
    const names = new Set<string>();
    for (const fileName of await listNames(this.#folder)) {
      const [, name] = /^([\da-f]{32})(?:\.\d+\.json)?$/.exec(fileName) ?? [];
      if (name !== undefined) names.add(name);
    }
    const calls: { readonly callId: string; readonly found: readonly Found[] }[] = [];
    for (const name of names) {
      const callId = (await this.#readCallId(name)) ?? name;
      const found = await this.#find(callId, name);
      calls.push({ callId, found });
    }
    return calls;
  }

  /** Returns the call id in one of the files of a call. */
  async #readCallId(name: string): Promise<string | undefined> {
    const paths = [1, ...((await this.#older)?.get(name) ?? [])].map((number) =>
      join(this.#folder, `${name}.${number}.json`),
    );
    const others = await listNames(join(this.#folder, name));
    for (const path of [...paths, ...others.map((other) => join(this.#folder, name, other))]) {
      const { callId } = toFields(parseJSON(await readFile(path, 'utf8').catch(() => '')));
      if (typeof callId === 'string' && callFileName(callId) === name) return callId;
    }
    return undefined;
  }

  /** Stores a task in addition to the one that the ledger returns. */
  async #keep(entry: Entry, ref: TaskRef): Promise<void> {
    const folder = this.#callFolder(entry.callId);
    await makeFolder(folder);
    const path = join(folder, `0.${shortHash(JSON.stringify([ref.baseURL, ref.id]))}.json`);
    // A file with this name is for the same task.
    await replaceFile(path, JSON.stringify({ ...entry, ref, end: undefined }));
  }

  /**
   * Returns whether another process has claimed the call since `before`. Listing a folder during changes
   * may miss files, and thus the next number. Each of two concurrent claims writes before it looks, so at
   * least one of them sees the other and backs off.
   */
  async #hasRival(callId: string, claimId: string, before: readonly Found[]): Promise<boolean> {
    const known = new Set([claimId, ...before.map(claimIdFor)]);
    const claims = (await this.#find(callId)).filter((claim) => !isReleased(claim));
    return claims.some((claim) => !known.has(claimIdFor(claim)));
  }

  /**
   * Returns all claims of a call, oldest first. They are found by listing the folder instead of counting
   * up, because some may have been deleted.
   */
  async #find(callId: string, name = callFileName(callId)): Promise<Found[]> {
    this.#older ??= openFolder(this.#folder).catch((error: unknown) => {
      this.#older = undefined;
      throw error;
    });
    const older = (await this.#older).get(name) ?? [];
    const found: Found[] = [];
    const read = async (number: number, path: string): Promise<void> => {
      const entry = await readEntry(path, callId);
      if (entry !== undefined) found.push({ number, path, entry });
    };
    for (const number of [1, ...older]) {
      await read(number, join(this.#folder, `${name}.${number}.json`));
    }
    // Listed after the first claim is read, because the first claim is removed only if there is a later one.
    for (const fileName of await listNames(join(this.#folder, name))) {
      const [, digits, random] =
        /^(\d+)(?:\.[\da-f]{12})?\.json(\.[\da-f]{12}\.tmp)?$/.exec(fileName) ?? [];
      const path = join(this.#folder, name, fileName);
      if (random !== undefined) await removeLeftover(path);
      else if (digits !== undefined) await read(Number(digits), path);
    }
    return found.toSorted((a, b) => a.number - b.number);
  }

  /** Returns the folder for the files of a call except the first. */
  #callFolder(callId: string): string {
    return join(this.#folder, callFileName(callId));
  }

  #path(callId: string, number: number): string {
    const folder = this.#callFolder(callId);
    return number === 1 ? `${folder}.1.json` : join(folder, `${number}.json`);
  }
}

function write({ path, entry }: Found, change: Partial<Entry>): Promise<void> {
  return replaceFile(path, JSON.stringify({ ...entry, ...change }));
}

/** Returns the file name of a call. Lone surrogates have no UTF-8 encoding, so they are escaped. */
function callFileName(callId: string): string {
  return shortHash(/\p{Surrogate}/u.test(callId) ? JSON.stringify(callId) : callId, 32);
}

/** Returns the id of a claim. */
function claimIdFor({ number, entry }: Pick<Found, 'number' | 'entry'>): string {
  const { id, claimedAt, owner } = entry;
  return shortHash(JSON.stringify([number, claimedAt, owner, ...(id === undefined ? [] : [id])]));
}

/** A claim with a task. */
type FoundTask = Found & { readonly entry: { readonly ref: TaskRef } };

function hasTask(found: Found): found is FoundTask {
  return found.entry.ref !== undefined;
}

/** Returns the tasks of a call, tasks with a claim first. */
function findTasks(found: readonly Found[]): FoundTask[] {
  const tasks = found.filter(hasTask);
  const ofClaims = tasks.filter(({ number }) => number > 0);
  return [...ofClaims, ...tasks.filter(({ number }) => number === 0)];
}

/** Converts the files of a call to an entry; returns `undefined` if it is unclaimed or all claims were released. */
function toEntry(found: readonly Found[]): SubmitEntry | undefined {
  const current = found.at(-1);
  if (current === undefined || found.every(isReleased)) return undefined;
  const { inputHash, end, owner, claimedAt, requestId, isErrorComplete } = current.entry;
  const tasks = findTasks(found);
  const [task] = tasks;
  if (task !== undefined) {
    const refs = tasks
      .map(({ entry: { ref } }) => ref)
      .filter((ref, index, all) => all.findIndex((other) => isSameTask(ref, other)) === index);
    const isOver = task.entry.end === 'completed' || task.entry.end === 'failed';
    const status = isOver ? 'finished' : 'accepted';
    return { status, inputHash: task.entry.inputHash, ref: task.entry.ref, refs };
  }
  const claim = { inputHash, claimId: claimIdFor(current), refs: [] };
  const request = requestId && { requestId, ...(isErrorComplete === true && { isErrorComplete }) };
  return end === undefined
    ? { status: 'submitting', ...claim, isAlive: isAlive(owner, Date.parse(claimedAt)) }
    : // A released claim does not resolve the unknown outcome of earlier ones.
      { status: 'unknown', ...claim, isAlive: false, ...request };
}

/** Returns whether a claim was released because nothing was submitted. */
function isReleased({ entry: { ref, end } }: Found): boolean {
  return ref === undefined && end === 'not_submitted';
}

/** Returns an entry for an unreadable file: the call is claimed, and nothing else is known. */
function unreadableEntry(callId: string): Entry {
  const owner = { host: '', pid: 0, start: '' };
  return { v: 1, callId, inputHash: '', owner, claimedAt: '' };
}

function isEntry(value: unknown, wanted: string): value is Entry {
  if (!isObject(value)) return false;
  const { callId, inputHash, owner, v } = value;
  return v === 1 && callId === wanted && typeof inputHash === 'string' && isObject(owner);
}

/** Reads an entry; returns `undefined` if the file does not exist. */
async function readEntry(path: string, callId: string): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    const found = await lstat(path).catch(() => undefined);
    // A dangling symbolic link is still an entry.
    return found?.isSymbolicLink() === true ? unreadableEntry(callId) : undefined;
  }
  const value = parseJSON(text);
  return isEntry(value, callId) ? value : unreadableEntry(callId);
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/** Folders that were created, but whose names may not be on the disk because a step failed. */
const unflushed = new Set<string>();

/** Creates a folder and its parents durably, so that they survive a power failure. */
async function makeFolder(folder: string): Promise<void> {
  let first: string | undefined;
  try {
    first = await mkdir(folder, { recursive: true });
  } catch (error) {
    unflushed.add(folder);
    throw error;
  }
  if (first !== undefined) {
    for (let path = folder; path.length >= first.length; path = dirname(path)) unflushed.add(path);
  }
  for (let path = folder; unflushed.has(path); path = dirname(path)) {
    await syncFolder(dirname(path));
    unflushed.delete(path);
  }
}

/**
 * Scans the folder once: removes leftovers of killed processes, and finds later claims that an earlier
 * version stored next to the first one.
 *
 * @returns The numbers of those claims by the file names of their calls.
 */
async function openFolder(folder: string): Promise<Map<string, number[]>> {
  const older = new Map<string, number[]>();
  for (const fileName of await listNames(folder)) {
    // The folder may contain other files.
    const [, name = '', digits, random] =
      /^([\da-f]{32})\.(\d+)\.json(\.[\da-f]{12}\.tmp)?$/.exec(fileName) ?? [];
    if (digits === undefined) continue;
    if (random !== undefined) await removeLeftover(join(folder, fileName));
    else if (digits !== '1') older.set(name, [...(older.get(name) ?? []), Number(digits)]);
  }
  return older;
}

async function removeLeftover(path: string): Promise<void> {
  const changed = await stat(path).catch(() => undefined);
  if (changed !== undefined && Date.now() - changed.mtimeMs > maxLeftoverAge) {
    await rm(path, { force: true });
  }
}
