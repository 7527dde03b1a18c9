/** Hosts whose configuration can be printed. */
export const hosts = ['claude', 'claude-desktop', 'codex', 'cursor', 'opencode', 'vscode'] as const;

export type Host = (typeof hosts)[number];

/** The name of the folder for results in a workspace, or in the home folder. */
export const outputName = 'model-gateway-output';

/** Tells whether a host has one configuration for all projects. */
export const isForAllProjects = (host: Host): boolean =>
  host === 'claude-desktop' || host === 'codex';

/** A configuration to paste, and where. */
export interface HostConfiguration {
  readonly where: string;
  readonly text: string;
}

/** Variables of the environment that a server needs, without the key itself. */
interface Variables {
  readonly baseURL: string;
  readonly gateway: string | undefined;
}

const toJSON = (config: object): string => JSON.stringify(config, undefined, 2);

/** Strings, lists of them and numbers are the same in TOML as in JSON. */
const toTOML = (entries: object): string =>
  Object.entries(entries)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join('\n');

/**
 * Returns the configuration of a host. The key is never in it: it is read from the environment of the host, from a
 * prompt, or from the key file.
 *
 * @param args - Further arguments of `model-gateway mcp`.
 */
export function configure(
  host: Host,
  { baseURL, gateway }: Variables,
  args: readonly string[],
): HostConfiguration {
  const command = 'npx';
  const all = ['-y', 'model-gateway', 'mcp', ...args];
  const settings: Record<string, string> = {
    GATEWAY_BASE_URL: baseURL,
    ...(gateway === undefined ? {} : { GATEWAY_PROFILE: gateway }),
  };
  const env = (key: string): Record<string, string> => ({ ...settings, GATEWAY_API_KEY: key });
  switch (host) {
    case 'claude':
      return {
        where: '.mcp.json of the project, for Claude Code',
        text: toJSON({
          mcpServers: { 'model-gateway': { command, args: all, env: env('${GATEWAY_API_KEY}') } },
        }),
      };
    case 'claude-desktop':
      return {
        where:
          'claude_desktop_config.json, which Claude Desktop opens under Settings, Developer, Edit Config',
        text: toJSON({ mcpServers: { 'model-gateway': { command, args: all, env: settings } } }),
      };
    case 'codex':
      return {
        where: '~/.codex/config.toml',
        text: [
          '[mcp_servers.model-gateway]',
          toTOML({
            command,
            args: all,
            env_vars: ['GATEWAY_API_KEY'],
            // npx downloads the package first, for which the default of 10 s may be too short.
            startup_timeout_sec: 60,
          }),
          '',
          '[mcp_servers.model-gateway.env]',
          toTOML(settings),
        ].join('\n'),
      };
    case 'cursor':
      return {
        where: '.cursor/mcp.json of the project',
        text: toJSON({
          mcpServers: {
            'model-gateway': { command, args: all, env: env('${env:GATEWAY_API_KEY}') },
          },
        }),
      };
    case 'opencode':
      return {
        where: 'opencode.json of the project',
        text: toJSON({
          mcp: {
            'model-gateway': {
              type: 'local',
              command: [command, ...all],
              environment: env('{env:GATEWAY_API_KEY}'),
            },
          },
        }),
      };
    case 'vscode':
      return {
        where: '.vscode/mcp.json of the project',
        text: toJSON({
          inputs: [
            {
              type: 'promptString',
              id: 'gateway-key',
              description: 'The key of the gateway',
              password: true,
            },
          ],
          servers: {
            'model-gateway': {
              type: 'stdio',
              command,
              args: all,
              env: env('${input:gateway-key}'),
            },
          },
        }),
      };
  }
}
