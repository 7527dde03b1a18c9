// Lets the model call the tools of an MCP server, which runs in this process here.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { Gateway } from 'model-gateway';
import { mcpTools } from 'model-gateway/helpers/mcp';
import * as z from 'zod';

const server = new McpServer({ name: 'files', version: '1.0.0' });
server.registerTool(
  'read_file',
  { description: 'Reads a text file.', inputSchema: z.object({ path: z.string() }) },
  ({ path }) => ({ content: [{ type: 'text', text: `The contents of ${path}` }] }),
);

const mcpClient = new Client({ name: 'example', version: '1.0.0' });
// For a server in another process, use StdioClientTransport or StreamableHTTPClientTransport.
const [near, far] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(far), mcpClient.connect(near)]);

const client = new Gateway();
const runner = client.chat.completions
  .runTools({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'What is in notes.txt?' }],
    tools: await mcpTools(mcpClient, { prefix: 'files_' }),
  })
  .on('functionToolCall', (call) => console.log(`The model calls ${call.name}(${call.arguments})`))
  .on('functionToolCallError', (error) => console.log('It went wrong:', error.message));
console.log(await runner.finalContent());
await mcpClient.close();
