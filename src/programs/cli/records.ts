import { access, constants, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, trimmedText } from '../../answers/objects.ts';
import { parseVideoTaskRef, type SubmitEntry, type VideoTaskRef } from '../../index.ts';
import { fileLedger } from '../../adapters/node/file-ledger.ts';
import { createFile, replaceFile } from '../../adapters/node/durable.ts';
import { isAlive, shortHash, thisProcess, type Owner } from '../../adapters/node/durable.ts';
import { stateFolder } from './settings.ts';
import { UsageError } from './usage.ts';

/** The stored state of a call that creates images. */
interface PictureRecord {
  readonly callId: string;
  readonly input: string;
  readonly startedAt: string;
  /** The process that made the call. */
  readonly owner: Owner;
  /** The files that were written; missing until the call has succeeded. */
  readonly paths?: readonly string[] | undefined;
}

const hashName = (text: string): string => shortHash(text, 32);

/** Creates a folder below `stateFolder()`. Throws if it is not writable. */
export async function makeFolder(name: string): Promise<string> {
  const folder = join(stateFolder(), name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch {
    throw new UsageError(
      `The folder ${folder} is not writable. Set XDG_STATE_HOME to a writable folder.`,
    );
  }
  return folder;
}

/** A call that must not be paid twice. */
export interface OnceCall {
  /** The files of an earlier run that succeeded. */
  readonly paths: readonly string[] | undefined;
  /** The state of an earlier run that has not recorded files. */
  readonly earlier: 'running' | 'lost' | undefined;
  /** Frees the id, because nothing was charged. */
  release(): Promise<void>;
  /** Records the files that were written. */
  finish(paths: readonly string[]): Promise<void>;
}

/**
 * Records a call before it is sent, so that a second run of the same command does not pay twice.
 *
 * @param input - The parameters. A call id can be used for one set of parameters only.
 */
export async function beginOnce(callId: string, input: unknown): Promise<OnceCall> {
  const path = join(await makeFolder('calls'), `${hashName(callId)}.json`);
  const startedAt = new Date().toISOString();
  const record: PictureRecord = {
    callId,
    input: hashName(JSON.stringify(input)),
    startedAt,
    owner: thisProcess(),
  };
  const call = (before?: Pick<OnceCall, 'paths' | 'earlier'>): OnceCall => ({
    paths: before?.paths,
    earlier: before?.earlier,
    release: () => rm(path, { force: true }),
    finish: (written) => replaceFile(path, JSON.stringify({ ...record, paths: written })),
  });
  if ((await createFile(path, JSON.stringify(record))) !== undefined) return call();
  const before = await readRecord(path);
  if (before !== undefined && before.input !== record.input) {
    throw new UsageError(
      `The call id ${callId} was used for another request on ${before.startedAt}. Choose a new one.`,
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
    // A damaged file still proves that the call was made.
    return undefined;
  }
}

/** Creates the folder of the ledger of submitted videos. Throws if it is not writable. */
export function ledgerFolder(): Promise<string> {
  return makeFolder('ledger');
}

const videoPath = (folder: string, id: string): string => join(folder, `${hashName(id)}.json`);

/** Stores the handle of a submitted video, for `video wait` and `video list`. */
export async function rememberVideo(ref: VideoTaskRef): Promise<void> {
  await replaceFile(videoPath(await makeFolder('videos'), ref.id), JSON.stringify(ref));
}

/** Records where the file of a video was saved. */
export async function rememberFile(id: string, path: string): Promise<void> {
  await replaceFile(videoPath(await makeFolder('files'), id), JSON.stringify({ path }));
}

/** Returns where the file of a video was saved, if it is still there. */
export async function findFile(id: string): Promise<string | undefined> {
  try {
    const stored: unknown = JSON.parse(
      await readFile(videoPath(await makeFolder('files'), id), 'utf8'),
    );
    const path = trimmedText(isObject(stored) ? stored['path'] : undefined);
    if (path !== undefined) await access(path, constants.R_OK);
    return path;
  } catch {
    return undefined;
  }
}

/** Returns the entry of a call in the ledger. */
async function findEntry(callId: string): Promise<SubmitEntry | undefined> {
  try {
    return await fileLedger(await ledgerFolder()).entry(callId);
  } catch {
    // Without a readable ledger, the id can still be that of a task.
    return undefined;
  }
}

/** Parses an argument that is a handle as JSON, a task id or a call id, and looks up the handle of an id. */
export async function findVideo(idOrHandle: string): Promise<string | VideoTaskRef> {
  if (idOrHandle.trimStart().startsWith('{')) {
    try {
      return parseVideoTaskRef(JSON.parse(idOrHandle));
    } catch {
      throw new UsageError(
        'This is not the handle of a video. Pass it exactly as it was printed, or pass the id.',
      );
    }
  }
  try {
    const stored = await readFile(videoPath(await makeFolder('videos'), idOrHandle), 'utf8');
    return parseVideoTaskRef(JSON.parse(stored));
  } catch {
    const [ref] = (await findEntry(idOrHandle))?.refs ?? [];
    return ref?.kind === 'video' ? ref : idOrHandle;
  }
}

/**
 * Parses an argument as `findVideo()` does, or as the call id of a submission without a task.
 *
 * @returns the request id of such a call; `undefined` if it is unknown
 */
export async function findCall(id: string): Promise<string | VideoTaskRef | undefined> {
  const found = await findVideo(id);
  const entry = typeof found === 'string' ? await findEntry(found) : undefined;
  if (entry === undefined) return found;
  return 'requestId' in entry ? entry.requestId : undefined;
}

/** Returns the handles of all videos submitted by this user, newest first. */
export async function knownVideos(): Promise<VideoTaskRef[]> {
  const folder = await makeFolder('videos');
  const refs: VideoTaskRef[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue;
    try {
      refs.push(parseVideoTaskRef(JSON.parse(await readFile(join(folder, name), 'utf8'))));
    } catch {
      // Not a handle.
    }
  }
  return refs.toSorted((a, b) => b.createdAt - a.createdAt);
}
