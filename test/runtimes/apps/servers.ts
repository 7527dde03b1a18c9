import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createEmulator, type Emulator } from 'model-gateway/testing';
import { until } from './visit.ts';

const next = createRequire(import.meta.url).resolve('next/dist/bin/next');

/** Files of a Next app besides the recipe: a page, and the same recipe on the edge. */
const appOfNext: Readonly<Record<string, string>> = {
  'app/edge/[...path]/route.ts': `export const runtime = 'edge';
export { handle as POST } from '@/handler';
`,
  'app/layout.tsx': `import type { ReactNode } from 'react';

export default function Layout({ children }: { children: ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  'app/page.tsx': `'use client';
import { useEffect } from 'react';
import { start } from '@/page';

export default function Page() {
  useEffect(start, []);
  return null;
}
`,
  // All packages are beside this project. The recipes are compiled with the other checks.
  'next.config.ts': `export default {
  turbopack: { root: '${path.join(import.meta.dirname, '..')}' },
  typescript: { ignoreBuildErrors: true },
};
`,
  // The rest Next writes by itself.
  'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["../*"] } } }',
};

/** A recipe that runs, and the gateway that it has for itself. */
export interface Running extends AsyncDisposable {
  readonly url: string;
  readonly emulator: Emulator;
}

/** The recipes as a user has copied them, in a folder below the packages that they need. */
export class Copies implements Disposable {
  readonly folder = path.join(import.meta.dirname, '../.apps');
  /** Files served to browsers. */
  readonly public = path.join(this.folder, 'public');

  constructor() {
    this[Symbol.dispose]();
    cpSync(path.join(import.meta.dirname, '../../../examples/servers'), this.folder, {
      recursive: true,
    });
    cpSync(path.join(import.meta.dirname, 'page.ts'), path.join(this.folder, 'page.ts'));
    for (const [name, content] of Object.entries(appOfNext)) this.write(`next/${name}`, content);
  }

  write(name: string, content: string): void {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** Builds the app of Next, without the environment of its server. */
  async buildNext(): Promise<void> {
    const child = this.#run([next, 'build'], 'next', {});
    const printed = collectOutput(child);
    const [code] = await once(child, 'close');
    const isWarned = printed().includes('Node.js API');
    if (code !== 0 || isWarned) throw new Error(`next build ended with ${code}\n${printed()}`);
  }

  /** Starts a recipe, with the key in its environment. */
  async start(name: 'hono' | 'express' | 'next'): Promise<Running> {
    const emulator = createEmulator({ apiKey: `sk-of-the-server-with-${name}` });
    const gateway = await emulator.listen();
    const port = await freePort();
    const isNext = name === 'next';
    const child = this.#run(isNext ? [next, 'start'] : [`${name}.ts`], isNext ? name : '.', {
      GATEWAY_BASE_URL: gateway.url,
      GATEWAY_API_KEY: emulator.apiKey,
      PORT: String(port),
    });
    const closed = once(child, 'close');
    const printed = collectOutput(child);
    const url = `http://127.0.0.1:${port}`;
    await until(`${name} answers`, () => {
      if (child.exitCode !== null) throw new Error(`${name} has ended\n${printed()}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
    return {
      url,
      emulator,
      async [Symbol.asyncDispose]() {
        child.kill();
        await closed;
        await gateway.close();
      },
    };
  }

  #run(args: readonly string[], folder: string, env: Record<string, string>): ChildProcess {
    const cwd = path.join(this.folder, folder);
    const own = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env };
    return spawn(process.execPath, args, { cwd, env: own });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Collects what a program prints. */
function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let printed = '';
  for (const stream of [stdout, stderr]) stream?.on('data', (text) => (printed += String(text)));
  return () => printed;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('Missing free port');
  return address.port;
}
