/** Hosts whose configuration can be printed. */
export const hosts = ['claude', 'cursor', 'vscode', 'opencode'] as const;

export type Host = (typeof hosts)[number];

/** A configuration to paste, and where. */
export interface HostConfiguration {
  readonly where: string;
  readonly config: object;
}

/** Variables of the environment that a server needs, without the key itself. */
interface Variables {
  readonly baseURL: string;
  readonly gateway: string | undefined;
}

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
  const env = (key: string): Record<string, string> => ({
    GATEWAY_BASE_URL: baseURL,
    ...(gateway === undefined ? {} : { GATEWAY_PROFILE: gateway }),
    GATEWAY_API_KEY: key,
  });
  switch (host) {
    case 'claude':
      return {
        where: '.mcp.json of the project, for Claude Code',
        config: {
          mcpServers: { 'model-gateway': { command, args: all, env: env('${GATEWAY_API_KEY}') } },
        },
      };
    case 'cursor':
      return {
        where: '.cursor/mcp.json of the project',
        config: {
          mcpServers: {
            'model-gateway': { command, args: all, env: env('${env:GATEWAY_API_KEY}') },
          },
        },
      };
    case 'vscode':
      return {
        where: '.vscode/mcp.json of the project',
        config: {
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
        },
      };
    case 'opencode':
      return {
        where: 'opencode.json of the project',
        config: {
          mcp: {
            'model-gateway': {
              type: 'local',
              command: [command, ...all],
              environment: env('{env:GATEWAY_API_KEY}'),
            },
          },
        },
      };
  }
}
