import { isObject } from '../../answers/objects.ts';
import { nodeProcess } from './node-process.ts';

function parseProxy(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const text = /^[a-z\d]+:\/\//i.test(value) ? value : `http://${value}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Returns the proxy of an agent of undici, which holds it under symbols: `ProxyAgent` as `{ uri }`, and
 * `EnvHttpProxyAgent` as an agent for each protocol.
 */
function proxyOfAgent(agent: unknown, protocol: string, levels = 2): URL | undefined {
  if (!isObject(agent) || levels === 0) return undefined;
  const symbols = Object.getOwnPropertySymbols(agent);
  for (const symbol of symbols) {
    const value: unknown = Reflect.get(agent, symbol);
    const found = isObject(value) ? parseProxy(value['uri']) : undefined;
    if (found !== undefined) return found;
  }
  const agentSymbol = symbols.find(({ description }) => description === `${protocol} proxy agent`);
  return agentSymbol && proxyOfAgent(Reflect.get(agent, agentSymbol), protocol, levels - 1);
}

/** Keys under which copies of undici share their global agent. */
const globalAgents = [2, 1].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

/** Returns the proxy that environment variables name, if Node's fetch uses them. */
function proxyOfEnvironment(protocol: string): URL | undefined {
  const env = nodeProcess()?.env;
  if (env?.['NODE_USE_ENV_PROXY'] !== '1') return undefined;
  const names = protocol === 'https' ? ['https_proxy', 'http_proxy'] : ['http_proxy'];
  for (const name of names) {
    const found = parseProxy(env[name] ?? env[name.toUpperCase()]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the proxy of a request, if it is known: of the agent in `fetchOptions`, of Bun's option, of undici's
 * global agent, or of the environment.
 */
export function findProxy(url: string, fetchOptions: object | undefined): URL | undefined {
  try {
    const protocol = url.startsWith('https:') ? 'https' : 'http';
    const { dispatcher, proxy }: { dispatcher?: unknown; proxy?: unknown } = fetchOptions ?? {};
    const agents = [
      dispatcher,
      ...globalAgents.map((key): unknown => Reflect.get(globalThis, key)),
    ];
    for (const agent of dispatcher === undefined ? agents : [dispatcher]) {
      const found = proxyOfAgent(agent, protocol);
      if (found !== undefined) return found;
    }
    return parseProxy(proxy) ?? proxyOfEnvironment(protocol);
  } catch {
    // An agent may be an object whose fields throw.
    return undefined;
  }
}

/** Ports that the Fetch standard forbids. */
const forbidden =
  /^(0|1|7|9|11|13|15|17|19|2[0-35]|37|4[23]|53|69|77|79|87|95|10[1-4]|109|11[01357-9]|123|13[579]|143|161|179|389|427|465|51[2-5]|526|53[0-2]|540|548|55[46]|563|587|601|636|989|99[035]|1719|172[03]|2049|3659|4045|4190|506[01]|6000|6566|666[5-9]|6679|6697|10080)$/;

export const isForbiddenPort = (port: string): boolean => forbidden.test(port);
