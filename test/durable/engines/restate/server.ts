import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, ServerProcess } from '../../../servers/processes.ts';
import type { EngineServer } from '../../engines.ts';

/** Starts a Restate server of the npm package, with its files in a temporary folder. */
export async function startRestate(): Promise<EngineServer> {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-restate-'));
  const ports = { node: await freePort(), ingress: await freePort(), admin: await freePort() };
  const settings = {
    RESTATE_BASE_DIR: folder,
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(ports.node),
    RESTATE_INGRESS__BIND_PORT: String(ports.ingress),
    RESTATE_ADMIN__BIND_PORT: String(ports.admin),
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128MB',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FORMAT: 'compact',
    // So that a worker is called soon after it was killed for the twelfth time.
    RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '100ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '200ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: 'unlimited',
  };
  const env = { ...process.env, ...settings };
  const server = await ServerProcess.start(program, ['--no-logo'], 'became Leader', { env });
  return {
    environment: {
      RESTATE_INGRESS_URL: `http://127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN_URL: `http://127.0.0.1:${ports.admin}`,
      PORT: String(await freePort()),
    },
    async [Symbol.asyncDispose]() {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
