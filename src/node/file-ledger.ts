import { lstat, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject, parseJSON } from '../answers/objects.ts';
import { check } from '../check.ts';
import {
  checkAsked,
  isSameTask,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
  type SubmitLedger,
} from '../videos/ledger.ts';
import { parseVideoTaskRef } from '../videos/ref.ts';
import type { VideoTaskRef } from '../videos/types.ts';
import {
  codeOf,
  createFile,
  isAlive,
  type Owner,
  replaceFile,
  shortHash,
  syncFolder,
  thisProcess,
} from './durable.ts';

/** One claim of a call, as it is on disk. */
interface Entry {
  readonly v: 1;
  readonly callId: string;
  readonly inputHash: string;
  readonly owner: Owner;
  /** When it was claimed, for whoever looks into the file. */
  readonly claimedAt: string;
  readonly ref?: VideoTaskRef | undefined;
  readonly end?: SubmitEnd | undefined;
  /** The request by which the gateway's usage log knows it. */
  readonly requestId?: string | undefined;
  /** Whether its error response was read to its end. */
  readonly isAnswered?: boolean | undefined;
}

/** An entry, and where it is. */
interface Found {
  /** A claim that takes another one over has a higher number. 0 is a task that came without a claim. */
  readonly number: number;
  readonly path: string;
  readonly entry: Entry;
}

/** Temporary files of processes that were killed are removed when they are older, in milliseconds. */
const leftoverAge = 3_600_000;

/**
 * A ledger of submissions in a folder: one small JSON file for each call id, and a folder for calls that
 * were claimed more than once.
 *
 * It survives `kill -9` and power failures at any point, and any number of processes may use the same
 * folder: of those that claim the same call, one gets it. The files hold call ids and handles, no keys
 * and no prompts. What there is of a call that is over may be deleted; its call id counts as new then.
 *
 * @param folder - Is created when it does not exist. It should be on a local disk.
 *
 * @example
 * const ledger = fileLedger('var/videos');
 * await client.videos.createAndWait(params, { ledger, callId: job.id });
 */
export function fileLedger(folder: string): SubmitLedger {
  const problem = 'must be text that is not empty; give the folder for the files of the ledger.';
  check(typeof folder === 'string' && folder !== '', 'folder', problem);
  return new FileLedger(resolve(folder));
}

class FileLedger implements SubmitLedger {
  readonly #folder: string;
  #older: Promise<ReadonlyMap<string, readonly number[]>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    checkAsked(callId);
    // Each time: somebody may have removed it.
    await makeFolder(this.#folder);
    const claimedAt = new Date().toISOString();
    const entry: Entry = { v: 1, callId, inputHash, owner: thisProcess(), claimedAt };
    for (;;) {
      const found = await this.#find(callId);
      const known = describe(found);
      if (known !== undefined && ('ref' in known || known.claimId !== replaces)) {
        const { refs: _, ...claim } = known;
        return claim;
      }
      const number = (found.at(-1)?.number ?? 0) + 1;
      const path = this.#path(callId, number);
      await makeFolder(dirname(path));
      const isCreated = await createFile(path, JSON.stringify(entry));
      if (isCreated && !(await this.#hasRival(callId, path, found))) {
        // Only now: as long as there was no later file, they were what others had to begin after.
        for (const claim of found.filter(isGivenBack)) await rm(claim.path, { force: true });
        return { status: 'claimed', claimId: claimIdOf({ number, path, entry }) };
      }
      if (isCreated) await rm(path, { force: true });
      // Somebody else was quicker; the next look tells who.
    }
  }

  async accept(callId: string, given: VideoTaskRef, claimId?: string): Promise<void> {
    checkAsked(callId, claimId);
    const ref = parseVideoTaskRef(given);
    await makeFolder(this.#folder);
    const found = await this.#find(callId);
    if (claimId === undefined) {
      const claims = found.filter(({ number }) => number > 0);
      const first = claims.find(hasTask) ?? claims.at(-1);
      if (first !== undefined && hasTask(first) && !isSameTask(first.entry.ref, ref)) {
        await this.#keep(first.entry, first.entry.ref);
      }
      const path = this.#path(callId, 1);
      await write(first ?? { number: 1, path, entry: unreadable(callId) }, { ref, end: undefined });
      return;
    }
    const tasks = tasksOf(found);
    if (tasks.some(({ entry }) => isSameTask(entry.ref, ref))) return;
    const own = found.find((claim) => claimIdOf(claim) === claimId);
    // Nobody else writes to the file of a claim, so of two that come at once both are kept.
    if (own !== undefined && tasks.length === 0) await write(own, { ref, end: undefined });
    else await this.#keep(found.at(-1)?.entry ?? unreadable(callId), ref);
  }

  async finish(
    callId: string,
    end: SubmitEnd,
    claimId?: string,
    requestId?: string,
    isAnswered?: boolean,
  ): Promise<void> {
    checkAsked(callId, claimId, end);
    const found = await this.#find(callId);
    const current = found.at(-1);
    if (current === undefined || (claimId ?? claimIdOf(current)) !== claimIdOf(current)) return;
    const [task] = tasksOf(found);
    if (end === 'completed' || end === 'failed') {
      if (task !== undefined) await write(task, { end });
    } else if (task === undefined)
      await write(current, {
        end,
        requestId,
        ...(isAnswered === true && requestId && { isAnswered }),
      });
  }

  async entry(callId: string): Promise<SubmitEntry | undefined> {
    checkAsked(callId);
    return describe(await this.#find(callId));
  }

  /** Keeps a task beside the one that the ledger gives to all who ask. */
  async #keep(entry: Entry, ref: VideoTaskRef): Promise<void> {
    const folder = join(this.#folder, nameOf(entry.callId));
    await makeFolder(folder);
    const path = join(folder, `0.${shortHash(JSON.stringify([ref.baseURL, ref.id]))}.json`);
    // One that is there already is of the same task.
    await createFile(path, JSON.stringify({ ...entry, ref, end: undefined }));
  }

  /**
   * Whether somebody else has claimed the call since it was looked at. A list of files that change
   * meanwhile may miss some, and with them the number that comes next. Of two that claim at the same
   * time each writes before it looks, so at least one of them sees the other and gives way.
   */
  async #hasRival(callId: string, own: string, before: readonly Found[]): Promise<boolean> {
    const known = new Set(before.map(claimIdOf));
    const others = (await this.#find(callId)).filter((claim) => !isGivenBack(claim));
    return others.some((claim) => claim.path !== own && !known.has(claimIdOf(claim)));
  }

  /**
   * Every claim of a call, oldest first. All of them are found by name, however many calls there are,
   * and not by counting up: somebody may have deleted one.
   */
  async #find(callId: string): Promise<Found[]> {
    const name = nameOf(callId);
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
    // After the first claim, which is only removed when there is a later one.
    for (const fileName of await namesIn(join(this.#folder, name))) {
      const [, digits, random] =
        /^(\d+)(?:\.[\da-f]{12})?\.json(\.[\da-f]{12}\.tmp)?$/.exec(fileName) ?? [];
      const path = join(this.#folder, name, fileName);
      if (random !== undefined) await removeLeftover(path);
      else if (digits !== undefined) await read(Number(digits), path);
    }
    return found.toSorted((one, other) => one.number - other.number);
  }

  #path(callId: string, number: number): string {
    const name = nameOf(callId);
    return join(this.#folder, number === 1 ? `${name}.1.json` : join(name, `${number}.json`));
  }
}

function write({ path, entry }: Found, change: Partial<Entry>): Promise<void> {
  return replaceFile(path, JSON.stringify({ ...entry, ...change }));
}

/** The name of a call in file names. Half a surrogate pair has no bytes of its own. */
function nameOf(callId: string): string {
  return shortHash(/\p{Surrogate}/u.test(callId) ? JSON.stringify(callId) : callId, 32);
}

/** Names one claim of a call. */
function claimIdOf({ number, entry: { claimedAt, owner } }: Found): string {
  return shortHash(JSON.stringify([number, claimedAt, owner]));
}

/** A claim that has led to a task. */
type FoundTask = Found & { readonly entry: { readonly ref: VideoTaskRef } };

function hasTask(found: Found): found is FoundTask {
  return found.entry.ref !== undefined;
}

/** The tasks of a call, those of its claims first. */
function tasksOf(found: readonly Found[]): FoundTask[] {
  const tasks = found.filter(hasTask);
  const ofClaims = tasks.filter(({ number }) => number > 0);
  return [...ofClaims, ...tasks.filter(({ number }) => number === 0)];
}

/** What the files of a call say; `undefined` when nobody has claimed it, or all claims were given back. */
function describe(found: readonly Found[]): SubmitEntry | undefined {
  const current = found.at(-1);
  if (current === undefined || found.every(isGivenBack)) return undefined;
  const { inputHash, end, owner, claimedAt, requestId, isAnswered } = current.entry;
  const tasks = tasksOf(found);
  const [task] = tasks;
  if (task !== undefined) {
    const refs = tasks
      .map(({ entry: { ref } }) => ref)
      .filter((ref, index, all) => all.findIndex((other) => isSameTask(ref, other)) === index);
    const isOver = task.entry.end === 'completed' || task.entry.end === 'failed';
    const status = isOver ? 'finished' : 'accepted';
    return { status, inputHash: task.entry.inputHash, ref: task.entry.ref, refs };
  }
  const claim = { inputHash, claimId: claimIdOf(current), refs: [] };
  const request = requestId && { requestId, ...(isAnswered === true && { isAnswered }) };
  return end === undefined
    ? { status: 'submitting', ...claim, isAlive: isAlive(owner, Date.parse(claimedAt)) }
    : // One that was given back leaves the doubt about those before it.
      { status: 'unknown', ...claim, isAlive: false, ...request };
}

/** Whether a claim was given back, because it provably made no task. */
function isGivenBack({ entry: { ref, end } }: Found): boolean {
  return ref === undefined && end === 'not_submitted';
}

/** What stands for a file that cannot be read: somebody has claimed the call, and no more is known. */
function unreadable(callId: string): Entry {
  const owner = { host: '', pid: 0, start: '' };
  return { v: 1, callId, inputHash: '', owner, claimedAt: '' };
}

function isEntry(value: unknown, wanted: string): value is Entry {
  if (!isObject(value)) return false;
  const { callId, inputHash, owner, v } = value;
  return v === 1 && callId === wanted && typeof inputHash === 'string' && isObject(owner);
}

/** Reads an entry; `undefined` when there is no file. */
async function readEntry(path: string, callId: string): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const found = await lstat(path).catch(() => undefined);
    // A link that leads nowhere keeps the name taken all the same.
    return found?.isSymbolicLink() === true ? unreadable(callId) : undefined;
  }
  const value = parseJSON(text);
  return isEntry(value, callId) ? value : unreadable(callId);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
}

/** Makes the folder, and makes it survive a power failure, with every folder above it that is new. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    await syncFolder(dirname(path));
  }
}

/**
 * Looks through a folder once: removes what killed processes have left behind, and finds the later
 * claims of calls that an earlier version has put beside the first.
 *
 * @returns The numbers of those claims by the names of the calls.
 */
async function openFolder(folder: string): Promise<Map<string, number[]>> {
  const older = new Map<string, number[]>();
  for (const fileName of await namesIn(folder)) {
    // The folder may hold files of others.
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
  if (changed !== undefined && Date.now() - changed.mtimeMs > leftoverAge) {
    await rm(path, { force: true });
  }
}
