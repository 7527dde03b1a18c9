import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { SubmitClaim, SubmitEnd, SubmitLedger } from '../types/submit-ledger.ts';
import type { VideoTaskRef } from '../types/videos.ts';
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
  readonly ref?: VideoTaskRef;
  readonly end?: SubmitEnd;
}

/** Where an entry is: claims that were taken over are kept, and the next one has a higher number. */
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
  if (typeof folder !== 'string' || folder === '') {
    throw new InvalidInputError('folder', 'is empty; give the folder for the files of the ledger.');
  }
  return new FileLedger(resolve(folder));
}

class FileLedger implements SubmitLedger {
  readonly #folder: string;
  #ready: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    this.#ready ??= prepare(this.#folder).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    await this.#ready;
    const claimedAt = new Date().toISOString();
    const entry: Entry = { v: 1, callId, inputHash, owner: thisProcess(), claimedAt };
    for (;;) {
      const found = await this.#find(callId);
      const latest = found.at(-1);
      const isReplaced = latest !== undefined && claimIdOf(latest) === replaces;
      const known = found.find(({ entry: { ref } }) => ref !== undefined);
      if (known !== undefined) return describe(known);
      if (latest !== undefined && !isReplaced) return describe(latest);
      const path = this.#path(callId, (latest?.number ?? 0) + 1);
      if (await createFile(path, JSON.stringify(entry))) return { status: 'claimed' };
      // Somebody else was quicker; the next look tells who.
    }
  }

  async accept(callId: string, ref: VideoTaskRef): Promise<void> {
    const found = await this.#find(callId);
    await this.#write(callId, found, { ref });
  }

  async finish(callId: string, end: SubmitEnd): Promise<void> {
    const found = await this.#find(callId);
    const accepted = found.filter(({ entry: { ref } }) => ref !== undefined);
    if (end === 'completed' || end === 'failed') {
      await this.#write(callId, accepted, { end });
    } else if (end === 'unknown') {
      await this.#write(callId, found, { end });
    } else {
      const claim = ownOf(found);
      if (claim === undefined || claim.entry.ref !== undefined) return;
      await rm(this.#path(callId, claim.number), { force: true });
      await syncFolder(this.#folder);
    }
  }

  async #write(callId: string, found: readonly Found[], change: Partial<Entry>): Promise<void> {
    const { number, entry } = ownOf(found) ?? { number: 1, entry: unreadable(callId) };
    await mkdir(this.#folder, { recursive: true });
    await replaceFile(this.#path(callId, number), JSON.stringify({ ...entry, ...change }));
  }

  /** Every claim of a call, oldest first. */
  async #find(callId: string): Promise<Found[]> {
    const found: Found[] = [];
    for (let number = 1; ; number += 1) {
      const entry = await readEntry(this.#path(callId, number), callId);
      if (entry === undefined) return found;
      found.push({ number, entry });
    }
  }

  #path(callId: string, number: number): string {
    return join(this.#folder, `${shortHash(callId, 32)}.${number}.json`);
  }
}

/** Of several claims the one of this process; otherwise the last one, with which it goes on. */
function ownOf(found: readonly Found[]): Found | undefined {
  return found.findLast(({ entry }) => isThisProcess(entry.owner)) ?? found.at(-1);
}

function claimIdOf({ number, entry: { claimedAt, owner } }: Found): string {
  return shortHash(JSON.stringify([number, claimedAt, owner]));
}

function describe(found: Found): SubmitClaim {
  const { inputHash, ref, end, owner } = found.entry;
  if (ref !== undefined) {
    return { status: end === undefined ? 'accepted' : 'finished', inputHash, ref };
  }
  const claim = { inputHash, claimId: claimIdOf(found) };
  return end === undefined
    ? { status: 'submitting', ...claim, isAlive: isAlive(owner) }
    : { status: 'unknown', ...claim, isAlive: false };
}

/** What stands for a file that cannot be read: somebody has claimed the call, and no more is known. */
function unreadable(callId: string): Entry {
  const owner = { host: '', pid: 0, start: '' };
  return { v: 1, callId, inputHash: '', owner, claimedAt: '' };
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { inputHash, owner, v } = {
    inputHash: undefined,
    owner: undefined,
    v: undefined,
    ...value,
  };
  return v === 1 && typeof inputHash === 'string' && typeof owner === 'object' && owner !== null;
}

async function readEntry(path: string, callId: string): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : unreadable(callId);
  } catch {
    return unreadable(callId);
  }
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.tmp')) continue;
    const path = join(folder, name);
    const changed = await stat(path).catch(() => undefined);
    if (changed !== undefined && Date.now() - changed.mtimeMs > leftoverAge) {
      await rm(path, { force: true });
    }
  }
}
