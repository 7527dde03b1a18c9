/**
 * Tools of MCP servers (modelcontextprotocol.io) for `chat.completions.runTools()` and `generate.runTools()`.
 *
 * @module model-gateway/helpers/mcp
 */
import { decodedLength } from '../../answers/bytes.ts';
import { isObject, isText, listObjects, parseJSON, toFields } from '../../answers/objects.ts';
import { check, checkDuration, checkFunction, checkObject } from '../../options/check.ts';
import { parseArguments } from '../../structured/locate-json.ts';
import type { AutoParseableTool } from '../../structured/types.ts';
import type { JsonObject } from '../../types.ts';

/** A tool in the list of an MCP server. */
export interface MCPTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The arguments as a JSON Schema. */
  readonly inputSchema: object;
}

/** One page of the tools of an MCP server. */
export interface MCPToolList {
  readonly tools: readonly MCPTool[];
  /** Set if there are more pages. */
  readonly nextCursor?: string | null | undefined;
}

/** The result of a tool, as the MCP server sent it. */
export interface MCPToolResult {
  /** Texts, images, audio, resources and links to resources. */
  readonly content?: readonly object[] | undefined;
  readonly structuredContent?: unknown;
  /** `true` if the tool failed; the content describes the problem. */
  readonly isError?: boolean | undefined;
}

/** A call of a tool, under the name that its server uses. */
export interface MCPToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Options of a call of a tool, as `Client` of the official SDK takes them. */
export interface MCPCallOptions {
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. */
  readonly timeout?: number;
}

/** A connected client of an MCP server, such as `Client` of `@modelcontextprotocol/client`. */
export interface MCPClient {
  readonly listTools: (params?: { cursor: string }) => Promise<MCPToolList>;
  readonly callTool: (
    params: { name: string; arguments: Record<string, unknown> },
    options: MCPCallOptions,
  ) => Promise<MCPToolResult>;
}

/** A connected `Client` of `@modelcontextprotocol/sdk`, version 1, whose options follow the schema of the result. */
export interface MCPClientV1 {
  readonly listTools: (params?: { cursor: string }) => Promise<MCPToolList>;
  readonly callTool: (
    params: { name: string; arguments: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal: AbortSignal; timeout?: number },
  ) => Promise<object>;
}

/** Options of `mcpTools()`. */
export interface MCPToolsOptions {
  /** Put before the name of each tool, for example `files_`. Letters, digits, underscores and dashes. */
  readonly prefix?: string | undefined;
  /**
   * Time limit of one tool call in milliseconds.
   * @defaultValue that of the MCP client: 60 seconds in the official SDK
   */
  readonly timeout?: number | undefined;
  /**
   * Called and awaited with each result before the model receives it, for example to show its images. If it
   * throws, the model receives the message as the error of the tool.
   */
  readonly onResult?: ((result: MCPToolResult, call: MCPToolCall) => unknown) | undefined;
}

type AnyClient = MCPClient | MCPClientV1;

/** The longest name that OpenAI accepts. */
const longestName = 64;

/** Returns valid and unique names. Valid names are kept unless they repeat. */
function toUniqueNames(names: readonly string[]): string[] {
  const original = new Set(names);
  const taken = new Set<string>();
  return names.map((name) => {
    const valid = name.replaceAll(/[^\w-]/g, '_') || 'tool';
    let unique = valid.slice(0, longestName);
    for (
      let count = 2;
      taken.has(unique) || (unique !== name && original.has(unique));
      count += 1
    ) {
      const suffix = `_${count}`;
      unique = valid.slice(0, longestName - suffix.length) + suffix;
    }
    taken.add(unique);
    return unique;
  });
}

/** Returns the tools on all pages. A repeated cursor or page ends the list: some servers ignore cursors. */
async function listAll(client: AnyClient): Promise<MCPTool[]> {
  const tools: MCPTool[] = [];
  const cursors = new Set<string>();
  const pages = new Set<string>();
  let page = await client.listTools();
  for (;;) {
    const text = JSON.stringify(page.tools);
    if (page.tools.length > 0 && pages.has(text)) return tools;
    pages.add(text);
    tools.push(...page.tools);
    const { nextCursor: cursor } = page;
    if (typeof cursor !== 'string' || cursors.has(cursor)) return tools;
    cursors.add(cursor);
    page = await client.listTools({ cursor });
  }
}

/** Calls a tool. `callTool()` of version 1 has one required parameter, and takes the schema of the result second. */
async function callTool(
  client: AnyClient,
  call: MCPToolCall,
  options: MCPCallOptions,
): Promise<MCPToolResult> {
  const input = client.callTool.length === 1 ? [call, undefined, options] : [call, options];
  return toFields(await Reflect.apply(client.callTool, client, input));
}

/** Replaces base64 by its size, because the results of tools are text and base64 is costly there. */
function withoutData(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if ((name !== 'data' && name !== 'blob') || typeof value !== 'string') return [name, value];
      return [name, `(${decodedLength(value)} bytes, not shown)`];
    }),
  );
}

/** Returns a content block as text for the model. */
function blockToText(block: JsonObject): string {
  const resource = toFields(block['resource']);
  if (block['type'] === 'text' && typeof block['text'] === 'string') return block['text'];
  if (typeof resource['text'] === 'string')
    return `${String(resource['uri'])}:\n${resource['text']}`;
  const shown = isObject(block['resource']) ? { ...block, resource: withoutData(resource) } : block;
  return JSON.stringify(withoutData(shown));
}

/** Returns the result as text for the model; `undefined` if it is empty. */
function resultToText({ content, structuredContent }: MCPToolResult): string | undefined {
  const texts = listObjects(content).map(blockToText);
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  // Most servers repeat structured content as text for clients that don't know it.
  if (json !== undefined && !texts.some((text) => JSON.stringify(parseJSON(text)) === json))
    texts.push(json);
  return texts.length === 0 ? undefined : texts.join('\n');
}

function parseObject(text: string): JsonObject {
  const value = parseArguments(text);
  if (!isObject(value)) throw new Error('they must be a JSON object');
  return value;
}

function toTool(
  client: AnyClient,
  { name: original, title, description = title, inputSchema }: MCPTool,
  name: string,
  { timeout, onResult }: MCPToolsOptions,
): AutoParseableTool<JsonObject> {
  // Some providers reject `$schema`, which servers add to each tool.
  const { $schema: _, properties, ...others } = toFields(inputSchema);
  // OpenAI rejects the request if a tool has no type or no properties, as SDKs describe one without arguments.
  const parameters = { type: 'object', ...others, properties: properties ?? {} };
  return {
    type: 'function',
    function: { name, ...(isText(description) ? { description } : {}), parameters },
    $parseRaw: parseObject,
    async $callback(args, { controller: { signal } }) {
      const call = { name: original, arguments: args };
      const limit = timeout === undefined ? {} : { timeout };
      const result = await callTool(client, call, { signal, ...limit });
      await onResult?.(result, call);
      const text = resultToText(result);
      if (result.isError === true) throw new Error(text ?? 'The server sent no description.');
      return text;
    },
  };
}

/**
 * Lists the tools of MCP servers for `runTools()`, which calls them on their servers.
 *
 * Input schemas are sent unchanged, apart from `$schema`; a missing `type` or `properties` is added. The model receives results as text: texts and text
 * resources as they are, links and structured content as JSON, and of images, audio and other binary content
 * only the type and size, because gateways accept nothing else as the result of a tool. If a tool fails
 * (`isError`) or its server can't be reached, the model receives the message. An abort of the run is passed on
 * to the running tools.
 *
 * @param clients - A connected client, or several, of version 1 or 2 of the official SDK. Characters that OpenAI rejects in names of tools become
 *   underscores, names are cut to 64 characters, and tools with the same name get a number: `search_2`.
 * @throws `InvalidInputError` if an option is invalid; whatever the client throws if a list can't be read
 *
 * @example
 * const tools = [...(await mcpTools(mcpClient)), weather];
 * const runner = client.chat.completions.runTools({ model, messages, tools });
 */
export async function mcpTools(
  clients: AnyClient | readonly AnyClient[],
  options: MCPToolsOptions = {},
): Promise<AutoParseableTool<JsonObject>[]> {
  checkObject('options', options);
  const { prefix = '', timeout, onResult } = options;
  check(/^[\w-]*$/.test(prefix), 'prefix', 'must be letters, digits, underscores and dashes.');
  if (timeout !== undefined) checkDuration('timeout', timeout);
  checkFunction('onResult', onResult);
  const list: readonly AnyClient[] = [clients].flat();
  const isConnected = list.every(
    (client) => typeof client?.listTools === 'function' && typeof client.callTool === 'function',
  );
  check(isConnected, 'clients', 'must be MCP clients, with listTools() and callTool().');
  const pages = await Promise.all(
    list.map(async (client) => (await listAll(client)).map((tool) => ({ client, tool }))),
  );
  const found = pages.flat();
  const names = toUniqueNames(found.map(({ tool }) => prefix + tool.name));
  return found.map(({ client, tool }, index) => toTool(client, tool, names[index] ?? '', options));
}
