import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, ServerProcess } from './processes.ts';

/** A Redis server of this machine, with its files in a temporary folder. */
export interface RedisServer extends AsyncDisposable {
  /** For example `redis://127.0.0.1:40002`. */
  readonly url: string;
  /** Ends it at once, as in a crash. */
  readonly stop: () => Promise<void>;
  /** Starts it again, on the same port and with the same files. */
  readonly start: () => Promise<void>;
}

/**
 * Starts the `redis-server` of the PATH.
 *
 * @param isDurable - Whether it writes every command to the disk before it answers.
 * @returns `undefined` where there is none.
 */
export async function startRedis(isDurable = false): Promise<RedisServer | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-redis-'));
  const port = await freePort();
  const settings = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    save: '',
    appendonly: isDurable ? 'yes' : 'no',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const launch = () => ServerProcess.start('redis-server', flags, 'Ready to accept connections');
  const remove = () => rm(folder, { recursive: true, force: true });
  let server: ServerProcess;
  try {
    server = await launch();
  } catch (error) {
    await remove();
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const stop = () => server.stop('SIGKILL');
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    async start() {
      server = await launch();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await remove();
    },
  };
}
