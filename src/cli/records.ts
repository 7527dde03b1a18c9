import { access, constants, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseVideoTaskRef, type VideoTaskRef } from '../index.ts';
import { createFile, replaceFile } from '../node/durable.ts';
import { isAlive, shortHash, thisProcess, type Owner } from '../node/durable.ts';
import { stateFolder } from './settings.ts';
import { UsageError } from './usage.ts';

/** What became of a call that makes pictures. */
interface PictureRecord {
  readonly callId: string;
  readonly input: string;
  readonly startedAt: string;
  /** The process that makes the call. */
  readonly owner: Owner;
  /** The files that were written; missing while nobody knows what became of the call. */
  readonly paths?: readonly string[] | undefined;
}

const nameOf = (text: string): string => shortHash(text, 32);

/** A folder below that of the state. Refuses one that cannot be written. */
export async function makeFolder(name: string): Promise<string> {
  const folder = join(stateFolder(), name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch {
    throw new UsageError(
      `The folder ${folder} cannot be written. Set XDG_STATE_HOME to a folder that can.`,
    );
  }
  return folder;
}

/** A call that may be made once. */
export interface OnceCall {
  /** The files of the first run, when it came to its end. */
  readonly paths: readonly string[] | undefined;
  /** What became of an earlier run that has not told of its files. */
  readonly earlier: 'running' | 'lost' | undefined;
  /** Nothing was charged: the id is free again. */
  release(): Promise<void>;
  /** The results were written. */
  finish(paths: readonly string[]): Promise<void>;
}

/**
 * Writes a call down before it is sent, so that a second run of the same command does not pay twice.
 *
 * @param input - What is asked for: a call id stands for one request.
 */
export async function beginOnce(callId: string, input: unknown): Promise<OnceCall> {
  const path = join(await makeFolder('calls'), `${nameOf(callId)}.json`);
  const startedAt = new Date().toISOString();
  const record: PictureRecord = {
    callId,
    input: nameOf(JSON.stringify(input)),
    startedAt,
    owner: thisProcess(),
  };
  const call = (before?: Pick<OnceCall, 'paths' | 'earlier'>): OnceCall => ({
    paths: before?.paths,
    earlier: before?.earlier,
    release: () => rm(path, { force: true }),
    finish: (written) => replaceFile(path, JSON.stringify({ ...record, paths: written })),
  });
  if (await createFile(path, JSON.stringify(record))) return call();
  const before = await readRecord(path);
  if (before !== undefined && before.input !== record.input) {
    throw new UsageError(
      `The call id ${callId} belongs to another request, of ${before.startedAt}. Choose a new one.`,
    );
  }
  if (before?.paths !== undefined) return call({ paths: before.paths, earlier: undefined });
  const isRunning =
    before !== undefined && isAlive(before.owner, Date.parse(before.startedAt)) === true;
  return call({ paths: undefined, earlier: isRunning ? 'running' : 'lost' });
}

async function readRecord(path: string): Promise<PictureRecord | undefined> {
  try {
    const record: PictureRecord = JSON.parse(await readFile(path, 'utf8'));
    return record;
  } catch {
    // A file that was cut says only that there was a call.
    return undefined;
  }
}

/** The folder of the ledger of submitted videos. Refuses one that cannot be written. */
export function ledgerFolder(): Promise<string> {
  return makeFolder('ledger');
}

const videoPath = (folder: string, id: string): string => join(folder, `${nameOf(id)}.json`);

/** Keeps the handle of a submitted video, for `video wait` and `video list`. */
export async function rememberVideo(ref: VideoTaskRef): Promise<void> {
  await replaceFile(videoPath(await makeFolder('videos'), ref.id), JSON.stringify(ref));
}

/** The task that an argument names: an id, or a handle as JSON. */
export async function findVideo(named: string): Promise<string | VideoTaskRef> {
  if (named.trimStart().startsWith('{')) {
    try {
      return parseVideoTaskRef(JSON.parse(named));
    } catch {
      throw new UsageError('This is no handle of a video. Give it as it was printed, or the id.');
    }
  }
  try {
    const stored = await readFile(videoPath(await makeFolder('videos'), named), 'utf8');
    return parseVideoTaskRef(JSON.parse(stored));
  } catch {
    return named;
  }
}

/** The handles of all videos that were submitted from here, the newest first. */
export async function knownVideos(): Promise<VideoTaskRef[]> {
  const folder = await makeFolder('videos');
  const refs: VideoTaskRef[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue;
    try {
      refs.push(parseVideoTaskRef(JSON.parse(await readFile(join(folder, name), 'utf8'))));
    } catch {
      // Not one of ours.
    }
  }
  return refs.toSorted((a, b) => b.createdAt - a.createdAt);
}
