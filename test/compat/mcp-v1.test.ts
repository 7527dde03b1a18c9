// Tools of a server through `Client` of version 1 of the official SDK, as it is.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Gateway } from '../../dist/index.js';
import { mcpTools } from '../../dist/helpers/mcp.js';
import { createEmulator } from '../../dist/testing/index.js';
import { expect, onTestFinished, test } from 'vitest';

test('runTools() calls the tools of a client of version 1', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  server.registerTool('now', { description: 'The time.' }, () => ({
    content: [{ type: 'text', text: 'noon' }],
  }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  const mcp = new Client({ name: 'client', version: '1.0.0' });
  await Promise.all([server.connect(far), mcp.connect(near)]);
  onTestFinished(() => mcp.close());
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const client = new Gateway({ apiKey, baseURL, fetch });

  const runner = client.chat.completions.runTools({
    model: 'm-chat',
    messages: [{ role: 'user', content: 'What time is it?' }],
    tools: await mcpTools(mcp),
  });

  expect(await runner.finalContent()).toContain('noon');
  expect(emulator.charges).toHaveLength(2);
});
