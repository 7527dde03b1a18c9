import { lstat, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject, parseJSON } from '../answers/objects.ts';
import { check } from '../check.ts';
import {
  checkCallId,
  checkEnd,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitLedger,
} from '../videos/ledger.ts';

import { parseVideoTaskRef } from '../videos/ref.ts';
import type { VideoTaskRef } from '../videos/types.ts';
import { createFile, replaceFile, syncFolder } from './durable.ts';
import { codeOf } from './file-error.ts';
import { isAlive, isThisProcess, shortHash, thisProcess, type Owner } from './owner.ts';

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
}

/** Where an entry is: a claim that takes another one over has a higher number. */
interface Found {
  readonly number: number;
  readonly entry: Entry;
}

/** Temporary files of processes that were killed are removed when they are older, in milliseconds. */
const leftoverAge = 3_600_000;

/**
 * A ledger of submissions in a folder: one small JSON file for each call id.
 *
 * It survives `kill -9` and power failures at any point, and any number of processes may use the same
 * folder: of those that claim the same call, one gets it. The files hold call ids and handles, no keys
 * and no prompts. A file of a call that is over may be deleted; its call id counts as new then.
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
  #swept: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    checkCallId(callId);
    // Each time: somebody may have removed it.
    await makeFolder(this.#folder);
    this.#swept ??= removeLeftovers(this.#folder).catch((error: unknown) => {
      this.#swept = undefined;
      throw error;
    });
    await this.#swept;
    const claimedAt = new Date().toISOString();
    const entry: Entry = { v: 1, callId, inputHash, owner: thisProcess(), claimedAt };
    for (;;) {
      const found = await this.#find(callId);
      const latest = found.findLast((claim) => !isGivenBack(claim));
      const isReplaced = latest !== undefined && claimIdOf(latest) === replaces;
      const known = found.find(({ entry: { ref } }) => ref !== undefined);
      if (known !== undefined) return describe(known);
      if (latest !== undefined && !isReplaced) return describe(latest);
      const path = this.#path(callId, (found.at(-1)?.number ?? 0) + 1);
      const isCreated = await createFile(path, JSON.stringify(entry));
      if (isCreated && !(await this.#hasRival(callId, path, found))) {
        // Only now: as long as there was no later file, they were what others had to begin after.
        for (const { number } of found.filter(isGivenBack)) {
          await rm(this.#path(callId, number), { force: true });
        }
        return { status: 'claimed' };
      }
      if (isCreated) await rm(path, { force: true });
      // Somebody else was quicker; the next look tells who.
    }
  }

  async accept(callId: string, given: VideoTaskRef): Promise<void> {
    checkCallId(callId);
    const ref = parseVideoTaskRef(given);
    const found = await this.#find(callId);
    await makeFolder(this.#folder);
    const claim = ownOf(found) ?? { number: 1, entry: unreadable(callId) };
    await this.#write(claim, { ref, end: undefined });
  }

  async finish(callId: string, end: SubmitEnd): Promise<void> {
    checkCallId(callId);
    checkEnd(end);
    const found = await this.#find(callId);
    const isDone = end === 'completed' || end === 'failed';
    const claim = ownOf(isDone ? found.filter(({ entry }) => entry.ref !== undefined) : found);
    if (claim === undefined) return;
    if (end === 'not_submitted' && claim.entry.ref !== undefined) return;
    await this.#write(claim, { end });
  }

  /**
   * Whether somebody else has claimed the call since it was looked at. A list of files that change
   * meanwhile may miss some, and with them the number that comes next. Of two that claim at the same
   * time each writes before it looks, so at least one of them sees the other and gives way.
   */
  async #hasRival(callId: string, own: string, before: readonly Found[]): Promise<boolean> {
    const known = new Set(before.map(claimIdOf));
    const others = (await this.#find(callId)).filter((claim) => !isGivenBack(claim));
    return others.some(
      (claim) => this.#path(callId, claim.number) !== own && !known.has(claimIdOf(claim)),
    );
  }

  #write({ number, entry }: Found, change: Partial<Entry>): Promise<void> {
    const path = this.#path(entry.callId, number);
    return replaceFile(path, JSON.stringify({ ...entry, ...change }));
  }

  /** Every claim of a call, oldest first. Not by counting up: somebody may have deleted one. */
  async #find(callId: string): Promise<Found[]> {
    const prefix = `${nameOf(callId)}.`;
    const found: Found[] = [];
    for (const name of await namesIn(this.#folder)) {
      const [, digits] = /^(\d+)\.json$/.exec(name.slice(prefix.length)) ?? [];
      if (digits === undefined || !name.startsWith(prefix)) continue;
      const number = Number(digits);
      const entry = await readEntry(this.#path(callId, number), callId);
      if (entry !== undefined) found.push({ number, entry });
    }
    return found.toSorted((one, other) => one.number - other.number);
  }

  #path(callId: string, number: number): string {
    return join(this.#folder, `${nameOf(callId)}.${number}.json`);
  }
}

/** The name of a call in file names. Half a surrogate pair has no bytes of its own. */
function nameOf(callId: string): string {
  return shortHash(/\p{Surrogate}/u.test(callId) ? JSON.stringify(callId) : callId, 32);
}

/** Names one claim of a call. */
function claimIdOf({ number, entry: { claimedAt, owner } }: Found): string {
  return shortHash(JSON.stringify([number, claimedAt, owner]));
}

/** What an entry says to somebody who wants to submit. */
function describe(found: Found): SubmitClaim {
  const { inputHash, ref, end, owner, claimedAt } = found.entry;
  if (ref !== undefined) {
    return { status: end === undefined ? 'accepted' : 'finished', inputHash, ref };
  }
  const claim = { inputHash, claimId: claimIdOf(found) };
  return end === undefined
    ? { status: 'submitting', ...claim, isAlive: isAlive(owner, Date.parse(claimedAt)) }
    : { status: 'unknown', ...claim, isAlive: false };
}

/** Whether a claim was given back, because it provably made no task. */
function isGivenBack({ entry: { ref, end } }: Found): boolean {
  return ref === undefined && end === 'not_submitted';
}

/** Of several claims the one of this process; otherwise the last one, with which it goes on. */
function ownOf(found: readonly Found[]): Found | undefined {
  const claims = found.filter((claim) => !isGivenBack(claim));
  return claims.findLast(({ entry }) => isThisProcess(entry.owner)) ?? claims.at(-1);
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

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    // The folder may hold files of others.
    if (!/^[\da-f]{32}\.\d+\.json\.[\da-f]{12}\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    const changed = await stat(path).catch(() => undefined);
    if (changed !== undefined && Date.now() - changed.mtimeMs > leftoverAge) {
      await rm(path, { force: true });
    }
  }
}
