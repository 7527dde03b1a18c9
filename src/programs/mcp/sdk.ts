/**
 * What the server uses of the MCP SDK and of zod. The build bundles this file as `#mcp-sdk`, so that the
 * package needs neither.
 */
export {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
export { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
// One by one, so that the rest of zod is left out.
export { array, boolean, enum, number, object, strictObject, string, type infer } from 'zod/v4';
