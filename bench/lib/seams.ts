import path from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * What every page carries for something that few use, as the files of `src` that it stands in. Calls of
 * what these files export stay where they are, a few bytes each; all else has to stand in them.
 */
export const seams = {
  /** What is remembered of calls, for what was spent and for the books, and a budget that refuses them. */
  books: ['account/load.ts', 'observing/calls.ts'],
  /** That somebody may be told of calls. */
  observer: ['observing/load.ts'],
} as const;

/** What a file exports, by name. */
async function exportsOf(file: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [file],
    format: 'esm',
    metafile: true,
    write: false,
    outdir: 'out',
  });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

/**
 * Builds the source without a seam: in place of its files stand functions that do nothing, whose calls
 * esbuild leaves out.
 *
 * @throws when a file is not there any more, or nothing of it was built
 */
export function without(files: readonly string[], source: string): Plugin {
  return {
    name: 'without',
    setup(built) {
      const left = new Set(files.map((file) => path.join(source, file)));
      built.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        if (!files.includes(path.relative(source, file))) return undefined;
        left.delete(file);
        const names = await exportsOf(file);
        const contents = names.map((name) => `export const ${name} = () => {};`).join('\n');
        return { contents, loader: 'ts' };
      });
      built.onEnd(() => {
        if (left.size > 0) throw new Error(`Nothing loads ${[...left].join(', ')}.`);
      });
    },
  };
}
