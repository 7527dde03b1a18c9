import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { createEmulator, type Emulator } from '../../src/testing/index.ts';
import { freePort, ServerProcess } from '../servers/processes.ts';

export const masterKey = 'sk-master';

/** A LiteLLM proxy whose models are those of an emulator. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly emulator: Emulator;
  /** Returns a client of the proxy. */
  readonly connect: (options?: GatewayOptions) => Gateway;
}

/** One model group: the emulator's model, and other parameters of LiteLLM. */
interface Deployment {
  readonly model: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly info?: Readonly<Record<string, unknown>>;
}

/** The configuration of a proxy: its model groups, each with one or more deployments, and other sections. */
interface Setup {
  readonly models: Readonly<Record<string, Deployment | readonly Deployment[]>>;
  readonly sections?: Readonly<Record<string, object>>;
  /** Python files to put beside the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts a proxy in front of an emulator. */
export async function startProxy(
  bin: string,
  { models, sections, files = {} }: Setup,
): Promise<Proxy> {
  const emulator = createEmulator();
  const { url: upstream } = await emulator.listen();
  const deployments = Object.entries(models).flatMap(([name, group]) =>
    [group].flat().map(({ model, params, info = {} }) => ({
      model_name: name,
      litellm_params: {
        model: `openai/${model}`,
        api_base: `${upstream}/v1`,
        api_key: emulator.apiKey,
        ...params,
      },
      model_info: info,
    })),
  );
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-litellm-'));
  const config = {
    model_list: deployments,
    general_settings: { master_key: masterKey },
    ...sections,
  };
  // JSON is YAML.
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const port = await freePort();
  const server = await ServerProcess.start(
    join(bin, 'litellm'),
    ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', `${port}`],
    'Uvicorn running on',
    {
      cwd: folder,
      // It would fetch its price list from the network, and report its use.
      env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False' },
    },
  );
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    emulator,
    connect: (options = {}) =>
      new Gateway({
        baseURL: url,
        apiKey: masterKey,
        gateway: 'litellm',
        logLevel: 'off',
        maxRetries: 0,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await server.stop('SIGTERM');
      await emulator[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
