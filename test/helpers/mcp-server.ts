// An MCP server of the official SDK, on standard input and output.
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const server = new McpServer({ name: 'stdio', version: '1.0.0' });
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
let aborted = 0;

server.registerTool(
  'get_weather',
  { description: 'The weather in a city.', inputSchema: z.object({ city: z.string() }) },
  ({ city }) => text(`Sunny in ${city}, 24 degrees`),
);
server.registerTool('draw.it', { description: 'Draws.' }, () => ({
  content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
}));
server.registerTool('fail', {}, () => ({ ...text('No such file'), isError: true }));
server.registerTool('wait', {}, async ({ mcpReq: { signal } }) => {
  await delay(60_000, undefined, { signal }).catch(() => {
    aborted += 1;
  });
  return text('Done');
});
server.registerTool('count_aborted', {}, () => text(`${aborted} aborted`));
server.registerTool('exit', {}, () => process.exit(1));

await server.connect(new StdioServerTransport());
