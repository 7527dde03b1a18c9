import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The server of an engine. */
export interface EngineServer extends AsyncDisposable {
  /** Variables for workers, such as its address. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables for a video that does not share the state of the engine, which is then in the folder. */
  readonly apart?: (folder: string) => Readonly<Record<string, string>>;
}

const engines = join(import.meta.dirname, 'engines');
const examples = join(import.meta.dirname, '../../examples/durable');

/** Copies a recipe to where bundlers find the packages of its engine. Returns the folder. */
export async function copyRecipe(engine: string, files: readonly string[]): Promise<string> {
  const folder = join(engines, engine, '.recipe');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const name of [...files, 'video-steps.ts']) {
    await cp(join(examples, name), join(folder, name));
  }
  return folder;
}
