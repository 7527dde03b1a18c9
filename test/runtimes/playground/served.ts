import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Emulator } from 'model-gateway/testing';

const program = fileURLToPath(
  new URL('../node_modules/model-gateway/dist/cli/main.js', import.meta.url),
);

/** A playground in a process of its own, as people start it. */
export interface Served {
  readonly url: string;
  /** Ends it, as Ctrl-C does, or at once as a crash does. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts the built program. */
export async function serve(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [program, 'playground', '--json', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  if (child.stdout === null) throw new Error('The playground has no output.');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(String(line));
  return {
    url,
    async end(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}

/** Starts the built program for an emulator, which it knows as a gateway, with an empty state folder. */
export async function serveFor(emulator: Emulator): Promise<Served> {
  const home = mkdtempSync(join(tmpdir(), 'playground-home-'));
  const gateway = await emulator.listen();
  const served = await serve(['--port', '0'], {
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    XDG_STATE_HOME: home,
  });
  return {
    url: served.url,
    async end(signal) {
      await served.end(signal);
      await gateway.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
