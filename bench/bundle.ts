import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { Effort, Metric, Part, PartResult } from './lib/metric.ts';
import { specifiers, type Column } from './lib/packages.ts';
import { seams, without } from './lib/seams.ts';
import packageJson from '../package.json' with { type: 'json' };

const bench = import.meta.dirname;
const root = path.join(bench, '..');

/** A program that can use all of a client. */
function programOf(column: Column): string {
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

/** What a program takes that uses only a part of this client. */
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
  /** Everything that was written. */
  readonly minified: number;
  readonly gzip: number;
  /** What is loaded before anything is called. */
  readonly initialGzip: number;
  /** What is loaded with the first question to the account; known of our source alone. */
  readonly accountGzip: number;
  readonly metafile: Metafile;
}

/** @param splitting - Off for a program that needs so little that it has no parts to be loaded later. */
async function bundle(program: string, splitting = true, plugins: Plugin[] = []): Promise<Sizes> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: bench },
    bundle: true,
    minify: true,
    splitting,
    plugins,
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
  const outputs = new Map(
    outputFiles.map(({ path: file, contents }) => [path.relative(bench, file), contents]),
  );
  /** What is loaded with a part, besides what is there already. */
  const loadedWith = (part: string, known: ReadonlySet<string>): Set<string> => {
    const files = new Set<string>();
    const visit = (file: string): void => {
      if (known.has(file) || files.has(file)) return;
      files.add(file);
      for (const { path: next, kind } of metafile.outputs[file]?.imports ?? []) {
        if (kind === 'import-statement') visit(next);
      }
    };
    const entries = Object.keys(metafile.outputs);
    entries.filter((file) => metafile.outputs[file]?.entryPoint === part).forEach(visit);
    return files;
  };
  const initial = loadedWith('<stdin>', new Set());
  const account = loadedWith('../src/account/reader.ts', initial);
  const gzipOf = (files: Iterable<string>): number =>
    [...files].reduce(
      (sum, file) => sum + gzipSync(outputs.get(file) ?? '', { level: 9 }).byteLength,
      0,
    );
  return {
    minified: outputFiles.reduce((sum, { contents }) => sum + contents.byteLength, 0),
    gzip: gzipOf(outputs.keys()),
    initialGzip: gzipOf(initial),
    accountGzip: gzipOf(account),
    metafile,
  };
}

/** Minified bytes of our own bundle by library and by room of src. */
async function breakdown(): Promise<Record<string, number>> {
  const { metafile } = await bundle(`export * from '../src/index.ts';`);
  const rooms: Record<string, number> = {};
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const room = roomOf(file);
      rooms[room] = (rooms[room] ?? 0) + bytesInOutput;
    }
  }
  return Object.fromEntries(Object.entries(rooms).toSorted(([, a], [, b]) => b - a));
}

/** What a page pays for what it does not use, before its first call, and for the account when it asks. */
async function measureSeams(): Promise<Metric[]> {
  const page = "import { Gateway } from '../src/index.ts'; globalThis.Gateway = Gateway;";
  const whole = await bundle(page);
  const labels = {
    books: '– of it for totals, budget and the memory of calls',
    observer: '– of it for observers',
  };
  const account: Metric = {
    id: 'bundle.account',
    label: '– loaded with the first question to the account',
    unit: 'KiB',
    values: { 'model-gateway': whole.accountGzip / 1024 },
  };
  const ofSeams = await Promise.all(
    (['books', 'observer'] as const).map(async (seam): Promise<Metric> => {
      const rest = await bundle(page, true, [without(seams[seam], path.join(root, 'src'))]);
      const values = { 'model-gateway': (whole.initialGzip - rest.initialGzip) / 1024 };
      return { id: `bundle.${seam}`, label: labels[seam], unit: 'KiB', values };
    }),
  );
  return [...ofSeams, account];
}

function roomOf(file: string): string {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  if (library !== undefined) return library;
  const inside = path.relative(root, path.resolve(bench, file));
  return /^src\/[^/]+(?=\/)/.exec(inside)?.[0] ?? 'src';
}

async function measure({ columns }: Effort): Promise<PartResult> {
  const sizes: Partial<Record<Column, Omit<Sizes, 'metafile' | 'accountGzip'>>> = {};
  const gzip: Partial<Record<Column, number>> = {};
  const initial: Partial<Record<Column, number>> = {};
  for (const column of columns) {
    const { metafile: _, accountGzip: __, ...own } = await bundle(programOf(column));
    sizes[column] = own;
    gzip[column] = own.gzip / 1024;
    initial[column] = own.initialGzip / 1024;
  }
  const partly = await Promise.all(
    parts.map(async ({ id, label, program }) => {
      const { gzip: bytes } = await bundle(program, false);
      return { id, label, unit: 'KiB', values: { 'model-gateway': bytes / 1024 } } as const;
    }),
  );
  return {
    metrics: [
      { id: 'bundle', label: 'Browser bundle, gzip', unit: 'KiB', values: gzip },
      {
        id: 'bundle.initial',
        label: '– loaded before the first call',
        unit: 'KiB',
        values: initial,
      },
      ...(await measureSeams()),
      ...partly,
    ],
    raw: { bytes: sizes, minifiedBytesByRoom: await breakdown() },
  };
}

export const bundlePart: Part = { name: 'bundle', measure };
