import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build as buildWithEsbuild } from 'esbuild';
import { build as buildWithVite, createLogger, type Logger } from 'vite';
import webpack from 'webpack';
import type { Case } from './case.ts';
import type { Project } from './project.ts';

/** A page's code that uses the client and nothing else. */
const page = `import { Gateway } from 'model-gateway';
globalThis.gateway = new Gateway({ apiKey: () => fetch('/key').then((r) => r.text()), baseURL: location.origin });
`;

/** A page's code that uses chat alone. */
const core = `import { Chat, createGateway } from 'model-gateway/core';
const apiKey = () => fetch('/key').then((r) => r.text());
globalThis.gateway = createGateway({ apiKey, baseURL: location.origin }, { chat: Chat });
`;

/** A page's code that reads what its server sends on. */
const reader = `import { ChatCompletionStream } from 'model-gateway/stream';
const { body } = await fetch('/chat', { method: 'POST' });
const stream = ChatCompletionStream.fromReadableStream(body);
stream.on('content', (delta) => document.body.append(delta));
`;

/** The most such a page may load, in KiB of gzip: with the client it would be 150. The bench has the gate. */
const maxReader = 21;
/** The same for a page that uses chat alone, of which webpack keeps most; the whole client is 150. */
const maxCore = 84;

/** A program for Node's side that says what holds. */
const program = `import { Gateway } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
const { apiKey, baseURL, fetch } = createEmulator();
const client = new Gateway({ apiKey, baseURL, fetch });
client.models.list().then(({ data }) => console.log('consumer: ' + (data.length > 3)));
`;

/** A service worker's code. It may not load anything after its installation. */
const serviceWorker = `import { Gateway } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
const { apiKey, baseURL, fetch } = createEmulator({ videoDuration: 0 });
const client = new Gateway({ apiKey, baseURL, fetch });
async function work() {
  const messages = [{ role: 'user', content: 'Hello' }];
  const stream = await client.chat.completions.create({ model: 'm-large', messages, stream: true });
  const { data } = await client.images.generate({ model: 'm-image', prompt: 'A boat' });
  const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
  const { next } = await client.videos.step(task);
  for await (const chunk of stream) return [chunk.object, data.length, next.video.status].join(' ');
}
self.worked = work();
`;

function writeSources(project: Project): void {
  project.write('bundled/page.js', page);
  project.write('bundled/core.js', core);
  project.write('bundled/reader.js', reader);
  project.write('bundled/program.js', program);
  project.write('bundled/service-worker.js', serviceWorker);
  project.write('bundled/index.html', '<script type="module" src="./page.js"></script>');
  project.write('bundled/core/index.html', '<script type="module" src="../core.js"></script>');
  project.write('bundled/reader/index.html', '<script type="module" src="../reader.js"></script>');
}

/** Forbidden in code for a page. */
const forbidden = [
  /\bfrom\s*["']node:/,
  /\bimport\s*\(?["']node:/,
  /\brequire\(["']node:/,
  /\bnew Function\b/,
  /\beval\(/,
];

function checkPage(code: string): string {
  for (const pattern of forbidden) {
    if (pattern.test(code)) throw new Error(`The bundle holds ${pattern.source}`);
  }
  return `${(code.length / 1024).toFixed(1)} KiB, ${(gzipSync(code).length / 1024).toFixed(1)} KiB gzip`;
}

/** @param most - In KiB of gzip. */
function checkSmallPage(code: string, most: number): string {
  const size = checkPage(code);
  if (gzipSync(code).length > most * 1024) throw new Error(`More than ${most} KiB: ${size}`);
  return size;
}

/** Globals of a service worker that the client needs. */
const workerGlobals = [
  'AbortController',
  'AbortSignal',
  'Blob',
  'DOMException',
  'Event',
  'EventTarget',
  'File',
  'FormData',
  'Headers',
  'ReadableStream',
  'Request',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'TransformStream',
  'URL',
  'URLSearchParams',
  'WritableStream',
  'atob',
  'btoa',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'performance',
  'queueMicrotask',
  'setTimeout',
  'structuredClone',
  'CompressionStream',
  'DecompressionStream',
];

function importScripts(): never {
  throw new Error('The service worker loads another script.');
}

/** Runs one file as a service worker does, where `import()` and, once installed, `importScripts()` fail. */
async function runServiceWorker(code: string): Promise<string> {
  if (/\bimport\s*\(/.test(code)) throw new Error('The service worker holds import().');
  const scope = createContext(
    Object.fromEntries(workerGlobals.map((name) => [name, Reflect.get(globalThis, name)])),
  );
  const location = new URL('https://example.com/service-worker.js');
  Object.assign(scope, { self: scope, location, importScripts });
  runInContext(code, scope);
  const worked: unknown = await runInContext('self.worked', scope);
  if (worked !== 'chat.completion.chunk 1 completed') throw new Error(String(worked));
  return checkPage(code);
}

/** A logger of Vite's that keeps what it warns of. */
function collectingLogger(warnings: string[]): Logger {
  const keep = (message: string): void => void warnings.push(message);
  return { ...createLogger('silent'), warn: keep, warnOnce: keep, error: keep };
}

async function bundleWithEsbuild(project: Project, entry: string): Promise<string> {
  const { outputFiles, warnings } = await buildWithEsbuild({
    entryPoints: [join(project.folder, `bundled/${entry}.js`)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join('\n'));
  return outputFiles[0]?.text ?? '';
}

/** @param folder - Where the page is. @param out - Where its code goes. */
async function bundleWithVite(project: Project, folder: string, out: string): Promise<string> {
  const warnings: string[] = [];
  await buildWithVite({
    root: join(project.folder, folder),
    configFile: false,
    logLevel: 'warn',
    customLogger: collectingLogger(warnings),
    build: { outDir: join(project.folder, out), emptyOutDir: true, target: 'es2022' },
  });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  const assets = join(project.folder, out, 'assets');
  return readdirSync(assets)
    .map((name) => readFileSync(join(assets, name), 'utf8'))
    .join('\n');
}

async function runWebpack(
  project: Project,
  entry: string,
  target: string | string[],
): Promise<void> {
  // A service worker is a script, everything else a module.
  const isModule = typeof target === 'string';
  const compiler = webpack({
    mode: 'production',
    context: project.folder,
    entry: `./bundled/${entry}.js`,
    target,
    experiments: { outputModule: isModule },
    output: {
      path: join(project.folder, 'webpack'),
      filename: isModule ? `${entry}.mjs` : `${entry}.js`,
      ...(isModule ? { library: { type: 'module' } } : {}),
    },
    performance: { hints: false },
  });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      const problems = [
        ...(stats?.compilation.errors ?? []),
        ...(stats?.compilation.warnings ?? []),
      ];
      compiler.close(() => {});
      if (error !== null || problems.length > 0) {
        reject(error ?? new Error(problems.map(({ message }) => message).join('\n')));
      } else resolve();
    });
  });
}

/** Programs that put modules together. */
export const bundlerCases: readonly Case[] = [
  {
    name: 'esbuild: a page',
    async run(project) {
      writeSources(project);
      return checkPage(await bundleWithEsbuild(project, 'page'));
    },
  },
  {
    name: 'esbuild: a page that uses chat alone',
    async run(project) {
      writeSources(project);
      return checkSmallPage(await bundleWithEsbuild(project, 'core'), maxCore);
    },
  },
  {
    name: 'esbuild: a page that reads a stream',
    async run(project) {
      writeSources(project);
      return checkSmallPage(await bundleWithEsbuild(project, 'reader'), maxReader);
    },
  },
  {
    name: 'esbuild: a service worker, where import() is forbidden',
    async run(project) {
      writeSources(project);
      const { outputFiles } = await buildWithEsbuild({
        entryPoints: [join(project.folder, 'bundled/service-worker.js')],
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        platform: 'browser',
        target: 'es2022',
        logLevel: 'silent',
      });
      return runServiceWorker(outputFiles[0]?.text ?? '');
    },
  },
  {
    name: 'webpack: a service worker, where import() is forbidden',
    async run(project) {
      writeSources(project);
      await runWebpack(project, 'service-worker', ['webworker', 'es2022']);
      const file = join(project.folder, 'webpack/service-worker.js');
      return runServiceWorker(readFileSync(file, 'utf8'));
    },
  },
  {
    name: 'esbuild: a program for Node, in CommonJS and as a module',
    async run(project) {
      writeSources(project);
      for (const format of ['esm', 'cjs'] as const) {
        const name = `esbuild/program.${format === 'esm' ? 'mjs' : 'cjs'}`;
        await buildWithEsbuild({
          entryPoints: [join(project.folder, 'bundled/program.js')],
          bundle: true,
          outfile: join(project.folder, name),
          format,
          platform: 'node',
          target: 'node22',
          logLevel: 'silent',
        });
        await project.mustHold(process.execPath, [name]);
      }
    },
  },
  {
    name: 'Vite: a page',
    async run(project) {
      writeSources(project);
      return checkPage(await bundleWithVite(project, 'bundled', 'vite'));
    },
  },
  {
    name: 'Vite: a page that uses chat alone',
    async run(project) {
      writeSources(project);
      return checkSmallPage(await bundleWithVite(project, 'bundled/core', 'vite-core'), maxCore);
    },
  },
  {
    name: 'Vite: a page that reads a stream',
    async run(project) {
      writeSources(project);
      return checkSmallPage(
        await bundleWithVite(project, 'bundled/reader', 'vite-reader'),
        maxReader,
      );
    },
  },
  {
    name: 'Vite: a program for the server',
    async run(project) {
      writeSources(project);
      const warnings: string[] = [];
      await buildWithVite({
        root: join(project.folder, 'bundled'),
        configFile: false,
        logLevel: 'warn',
        customLogger: collectingLogger(warnings),
        ssr: { noExternal: true },
        build: {
          ssr: 'program.js',
          outDir: join(project.folder, 'vite-server'),
          emptyOutDir: true,
          target: 'es2022',
        },
      });
      if (warnings.length > 0) throw new Error(warnings.join('\n'));
      await project.mustHold(process.execPath, ['vite-server/program.js']);
    },
  },
  {
    name: 'webpack: a page',
    async run(project) {
      writeSources(project);
      await runWebpack(project, 'page', 'web');
      return checkPage(readFileSync(join(project.folder, 'webpack/page.mjs'), 'utf8'));
    },
  },
  {
    name: 'webpack: a page that uses chat alone',
    async run(project) {
      writeSources(project);
      await runWebpack(project, 'core', 'web');
      const code = readFileSync(join(project.folder, 'webpack/core.mjs'), 'utf8');
      return checkSmallPage(code, maxCore);
    },
  },
  {
    name: 'webpack: a page that reads a stream',
    async run(project) {
      writeSources(project);
      await runWebpack(project, 'reader', 'web');
      return checkSmallPage(
        readFileSync(join(project.folder, 'webpack/reader.mjs'), 'utf8'),
        maxReader,
      );
    },
  },
  {
    name: 'webpack: a program for Node',
    async run(project) {
      writeSources(project);
      await runWebpack(project, 'program', 'node22');
      await project.mustHold(process.execPath, ['webpack/program.mjs']);
    },
  },
];
