import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import type { Effort, Part, PartResult } from './lib/metric.ts';
import { specifiers, type Column } from './lib/packages.ts';
import packageJson from '../package.json' with { type: 'json' };

const bench = import.meta.dirname;
const root = path.join(bench, '..');

/** A program that can use all of a client. */
function buildProgram(column: Column): string {
  if (column === '@google/genai') return "export * from '@google/genai/web';";
  return specifiers[column]
    .map((specifier, index) =>
      [
        `import * as all${index} from '${specifier}';`,
        `export * from '${specifier}';`,
        // Not every package has one.
        `export const default${index} = all${index}.default;`,
      ].join('\n'),
    )
    .join('\n');
}

/** Programs that use a part of this client alone. */
const parts = [
  {
    id: 'bundle.stream',
    label: 'Reader of streams alone, gzip',
    program: "export * from '../dist/stream.js';",
  },
  {
    id: 'bundle.error',
    label: 'GatewayError alone, gzip',
    program: "export { GatewayError } from '../dist/index.js';",
  },
] as const;

interface Sizes {
  readonly minified: number;
  readonly gzip: number;
}

/** Bundles a program into one file, as a page loads it. */
async function bundle(program: string): Promise<Sizes & { readonly metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: bench },
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: 'out',
    absWorkingDir: bench,
    define: { __VERSION__: JSON.stringify(packageJson.version) },
    logLevel: 'error',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild has written no file.');
  const gzip = gzipSync(file.contents, { level: 9 }).byteLength;
  return { minified: file.contents.byteLength, gzip, metafile };
}

/** Minified bytes of our own bundle by library and by room of src. */
async function breakdown(): Promise<Record<string, number>> {
  const { metafile } = await bundle(`export * from '../src/index.ts';`);
  const rooms: Record<string, number> = {};
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const room = sourceFolder(file);
      rooms[room] = (rooms[room] ?? 0) + bytesInOutput;
    }
  }
  return Object.fromEntries(Object.entries(rooms).toSorted(([, a], [, b]) => b - a));
}

function sourceFolder(file: string): string {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  if (library !== undefined) return library;
  const inside = path.relative(root, path.resolve(bench, file));
  return (
    /^src\/(?:(?:adapters|policies|programs|resources)\/)?[^/]+(?=\/)/.exec(inside)?.[0] ?? 'src'
  );
}

async function measure({ columns }: Effort): Promise<PartResult> {
  const sizes: Partial<Record<Column, Sizes>> = {};
  const values: Partial<Record<Column, number>> = {};
  for (const column of columns) {
    const { minified, gzip } = await bundle(buildProgram(column));
    sizes[column] = { minified, gzip };
    values[column] = gzip / 1024;
  }
  const partly = await Promise.all(
    parts.map(async ({ id, label, program }) => {
      const { gzip } = await bundle(program);
      return { id, label, unit: 'KiB', values: { 'model-gateway': gzip / 1024 } } as const;
    }),
  );
  return {
    metrics: [{ id: 'bundle', label: 'Browser bundle, gzip', unit: 'KiB', values }, ...partly],
    raw: { bytes: sizes, minifiedBytesByRoom: await breakdown() },
  };
}

export const bundlePart: Part = { name: 'bundle', measure };
