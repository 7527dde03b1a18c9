import { build, type Metafile } from 'esbuild';

/** A bundle for runtimes without modules of their own. */
export interface Bundle {
  readonly code: string;
  /** Why it may not be used there; empty when it may. */
  readonly problems: readonly string[];
}

/** Ways of making code at run time that a strict content security policy forbids. */
const dynamicCode = [/\bnew Function\b/, /\bFunction\(/, /\beval\(/];

function nodeImports({ outputs }: Metafile): string[] {
  return Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .map(({ path }) => path);
}

/** Bundles an entry for browsers and workers, and looks for what cannot work there. */
export async function bundle(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL(`../entries/${entry}`, import.meta.url).pathname],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
    // Whatever is not in the bundle is reported below, by its name.
    external: ['node:*'],
  });
  const code = outputFiles[0]?.text ?? '';
  const imports = nodeImports(metafile).map((path) => `imports ${path}`);
  const dynamic = dynamicCode
    .filter((pattern) => pattern.test(code))
    .map((pattern) => `holds ${pattern.source}`);
  return { code, problems: [...imports, ...dynamic] };
}
