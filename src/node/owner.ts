import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './durable.ts';

/** A process, so that others can tell whether it still runs. */
export interface Owner {
  /** The machine, and the container on it. */
  readonly host: string;
  readonly pid: number;
  /** When the process began, in words of the system; `""` where that is not known. */
  readonly start: string;
}

/** A short name for a longer text. */
export function shortHash(text: string, length = 12): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** Containers count their processes for themselves. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Process ids are used again, in containers often at once; together with this they are not. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[19] ?? '';
  } catch {
    return '';
  }
}

let known: Owner | undefined;

/** This process. Asked for only when it is needed: Deno asks its user for leave to tell a host name. */
export function thisProcess(): Owner {
  known ??= {
    host: shortHash(hostname() + processSpace(), 8),
    pid: process.pid,
    start: startOf(process.pid),
  };
  return known;
}

function isThisProcess({ host, pid, start }: Owner): boolean {
  const own = thisProcess();
  return host === own.host && pid === own.pid && start === own.start;
}

/** How long the id of a process is its own where no start is known, in milliseconds. */
const trustedFor = 3_600_000;

/**
 * Whether a process still runs; `undefined` when it is one of another machine, or nothing can tell:
 * its id may be another one's by now, and Deno asks for leave to run programs before it says that one
 * is there.
 *
 * @param seenAt - When it surely ran, in milliseconds since 1970.
 */
export function isAlive(owner: Owner, seenAt: number): boolean | undefined {
  const { host, pid, start } = owner;
  if (host !== thisProcess().host) return undefined;
  const isRecent = Date.now() - seenAt < trustedFor || undefined;
  if (isThisProcess(owner)) return start !== '' || isRecent;
  try {
    process.kill(pid, 0);
  } catch (error) {
    const code = codeOf(error);
    // A process of another user may not be signalled, but is there.
    if (code !== 'EPERM') return code === 'ESRCH' ? false : undefined;
  }
  const found = startOf(pid);
  return start === '' || found === '' ? isRecent : found === start;
}
