import { homedir } from 'node:os';
import { parse, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputName } from '../configuration.ts';
import { ToolError } from './errors.ts';
import type { InputRules } from './inputs.ts';
import { prepareFolder } from '../jobs/outputs.ts';

/** The folders of a connection: where files may be read, and where results are written. */
export interface Workspace extends Pick<InputRules, 'folders' | 'hosts'> {
  readonly output: string;
}

/** Settings of the workspace. */
export interface WorkspaceSettings {
  /** Folders whose files may be read; empty to use those of the client, or the current folder. */
  readonly roots: readonly string[];
  /** The folder for results, relative to the first root. */
  readonly dir: string | undefined;
  readonly hosts: readonly string[];
}

/** Returns the folder of a root that a client names; `undefined` if it is not a local folder. */
function toFolder(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** Hosts that are not started in a project start their servers in the root or the home folder. */
function isProject(folder: string): boolean {
  return folder !== parse(folder).root && folder !== homedir();
}

/** Returns the workspace of a connection. @param clientRoots - The roots that the client names, as URIs. */
export function openWorkspace(
  { roots, dir, hosts }: WorkspaceSettings,
  clientRoots: readonly string[],
): Workspace {
  const named = clientRoots.map(toFolder).filter((folder) => folder !== undefined);
  const current = process.cwd();
  const chosen = roots.length > 0 ? roots.map((root) => resolve(root)) : named;
  const base = chosen[0] ?? current;
  const output = resolve(base, dir ?? outputName);
  const readable = chosen.length > 0 ? chosen : isProject(current) ? [current] : [];
  return { output, folders: [...new Set([...readable, output])], hosts };
}

/** Creates the folder for results. @throws `ToolError` if it cannot be written */
export async function prepareOutput({ output }: Workspace): Promise<void> {
  await prepareFolder(output).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError(
      `The folder ${output} is not writable (${reason}). Restart the server with --dir <folder>. Nothing was sent.`,
    );
  });
}
