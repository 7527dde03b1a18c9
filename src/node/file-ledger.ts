import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { checkCallId, checkEnd } from '../videos/ledger.ts';
import { parseVideoTaskRef } from '../videos/ref.ts';
import type { SubmitClaim, SubmitEnd, SubmitLedger } from '../videos/ledger.ts';
import type { VideoTaskRef } from '../videos/types.ts';
import { createFile, replaceFile, syncFolder } from './durable.ts';
import { codeOf } from './file-error.ts';
import {
  claimIdOf,
  describe,
  isGivenBack,
  readEntry,
  unreadable,
  type Entry,
  type Found,
} from './ledger-entry.ts';
import { isThisProcess, shortHash, thisProcess } from './owner.ts';

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
  if (typeof folder !== 'string' || folder === '') {
    throw new InvalidInputError(
      'folder',
      'must be text that is not empty; give the folder for the files of the ledger.',
    );
  }
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
      const number = (found.at(-1)?.number ?? 0) + 1;
      const isCreated = await createFile(this.#path(callId, number), JSON.stringify(entry));
      if (isCreated && !(await this.#hasRival(callId, number, found))) {
        // Only now: as long as there was no later file, they were what others had to begin after.
        await this.#remove(callId, found.filter(isGivenBack));
        return { status: 'claimed' };
      }
      if (isCreated) await rm(this.#path(callId, number), { force: true });
      // Somebody else was quicker; the next look tells who.
    }
  }

  async accept(callId: string, ref: VideoTaskRef): Promise<void> {
    checkCallId(callId);
    const entered = parseVideoTaskRef(ref);
    const found = await this.#find(callId);
    const { number, entry } = ownOf(found) ?? { number: 1, entry: unreadable(callId) };
    await makeFolder(this.#folder);
    await this.#write(callId, number, { ...entry, ref: entered, end: undefined });
  }

  async finish(callId: string, end: SubmitEnd): Promise<void> {
    checkCallId(callId);
    checkEnd(end);
    const found = await this.#find(callId);
    const isDone = end === 'completed' || end === 'failed';
    const claim = ownOf(isDone ? found.filter(({ entry }) => entry.ref !== undefined) : found);
    if (claim === undefined) return;
    const { number, entry } = claim;
    if (end === 'not_submitted' && entry.ref !== undefined) return;
    await this.#write(callId, number, { ...entry, end });
  }

  /**
   * Whether somebody else has claimed the call since it was looked at. A list of files that change
   * meanwhile may miss some, and with them the number that comes next. Of two that claim at the same
   * time each writes before it looks, so at least one of them sees the other and gives way.
   */
  async #hasRival(callId: string, own: number, before: readonly Found[]): Promise<boolean> {
    const known = new Set(before.map(claimIdOf));
    const found = await this.#find(callId);
    return found.some(
      (claim) => claim.number !== own && !isGivenBack(claim) && !known.has(claimIdOf(claim)),
    );
  }

  #write(callId: string, number: number, entry: Entry): Promise<void> {
    return replaceFile(this.#path(callId, number), JSON.stringify(entry));
  }

  async #remove(callId: string, found: readonly Found[]): Promise<void> {
    for (const { number } of found) await rm(this.#path(callId, number), { force: true });
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

/** Of several claims the one of this process; otherwise the last one, with which it goes on. */
function ownOf(found: readonly Found[]): Found | undefined {
  const claims = found.filter((claim) => !isGivenBack(claim));
  return claims.findLast(({ entry }) => isThisProcess(entry.owner)) ?? claims.at(-1);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
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
