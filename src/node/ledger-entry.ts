import { lstat, readFile } from 'node:fs/promises';
import type { SubmitClaim, SubmitEnd } from '../videos/ledger.ts';
import type { VideoTaskRef } from '../videos/types.ts';
import { codeOf } from './file-error.ts';
import { isAlive, shortHash, type Owner } from './owner.ts';

/** One claim of a call, as it is on disk. */
export interface Entry {
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
export interface Found {
  readonly number: number;
  readonly entry: Entry;
}

/** Names one claim of a call. */
export function claimIdOf({ number, entry: { claimedAt, owner } }: Found): string {
  return shortHash(JSON.stringify([number, claimedAt, owner]));
}

/** What an entry says to somebody who wants to submit. */
export function describe(found: Found): SubmitClaim {
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
export function isGivenBack({ entry: { ref, end } }: Found): boolean {
  return ref === undefined && end === 'not_submitted';
}

/** What stands for a file that cannot be read: somebody has claimed the call, and no more is known. */
export function unreadable(callId: string): Entry {
  const owner = { host: '', pid: 0, start: '' };
  return { v: 1, callId, inputHash: '', owner, claimedAt: '' };
}

function isEntry(value: unknown, wanted: string): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const nothing = { callId: undefined, inputHash: undefined, owner: undefined, v: undefined };
  const { callId, inputHash, owner, v } = { ...nothing, ...value };
  const isOwned = typeof owner === 'object' && owner !== null;
  return v === 1 && callId === wanted && typeof inputHash === 'string' && isOwned;
}

/** Reads an entry; `undefined` when there is no file. */
export async function readEntry(path: string, callId: string): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const found = await lstat(path).catch(() => undefined);
    // A link that leads nowhere keeps the name taken all the same.
    return found?.isSymbolicLink() === true ? unreadable(callId) : undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value, callId) ? value : unreadable(callId);
  } catch {
    return unreadable(callId);
  }
}
