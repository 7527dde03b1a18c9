import { GatewayError } from '../errors/gateway-error.ts';

/** A file cannot be written. `cause` is the error of the system. */
export class FileError extends GatewayError {
  static override readonly kind: string = 'FileError';

  /** The code of the system, for example `ENOSPC`. */
  readonly code: string;
  /** The file that was to be written. */
  readonly path: string;

  constructor(path: string, code: string, problem: string, cause: unknown) {
    super(`"${path}" ${problem}`, { outcome: 'unknown', advice: '', cause });
    this.code = code;
    this.path = path;
  }
}

const noPermission = 'may not be written by this user.';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'is in a folder that does not exist; create it first.',
  ENOTDIR: 'has a file in its path where a folder should be.',
  EISDIR: 'is a folder; give the path of a file.',
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: 'is on a file system that cannot be written.',
  ENOSPC: 'does not fit: the disk is full.',
  EDQUOT: 'does not fit: the disk quota is used up.',
  EFBIG: 'is larger than this file system or user may have files.',
  ENAMETOOLONG: 'has a name that is too long.',
  EMFILE: 'cannot be opened: too many files are open.',
  EIO: 'cannot be written: the disk has failed.',
};

/** The code of an error of the system, or `""`. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** Says in words what kept a file from being written; other errors pass as they are. */
export function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const isOfSystem =
    error instanceof Error && 'syscall' in error && !GatewayError.isInstance(error);
  const problem = isOfSystem ? problems[code] : undefined;
  return problem === undefined ? error : new FileError(path, code, problem, error);
}
