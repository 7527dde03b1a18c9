import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mcpTools } from '../../src/adapters/helpers/mcp.ts';
import { APIUserAbortError } from '../../src/index.ts';
import { bodyOf, emulated, failureOf, json, scripted } from '../helpers/clients.ts';

const program = join(import.meta.dirname, '..', 'helpers', 'mcp-server.ts');
const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Lisbon?' }] };

/** A client of the official SDK, connected to a server in a process of its own. */
async function connect(): Promise<Client> {
  const client = new Client({ name: 'client', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program] }));
  onTestFinished(() => client.close());
  return client;
}

/** Runs one call of a tool. Returns what the model receives. */
async function run(mcp: Client, name: string) {
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name, arguments: '{}' } }];
  const answers = [{ content: null, tool_calls }, { content: 'Done.' }].map((message) =>
    json({
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    }),
  );
  const { client, requests } = scripted(answers);
  await client.chat.completions.runTools({ ...ask, tools: await mcpTools(mcp) }).done();
  return Object(await bodyOf(requests[1])).messages.at(-1).content;
}

describe('mcpTools() with a server on standard input and output', () => {
  test('runs its tools in chat', async () => {
    const { client, emulator } = emulated();
    const tools = await mcpTools(await connect());

    const runner = client.chat.completions.runTools({ ...ask, tools: tools.slice(0, 1) });

    expect(await runner.finalContent()).toContain('24 degrees');
    expect(emulator.requests).toHaveLength(2);
  });

  test('runs its tools in generate', async () => {
    const { client } = emulated();
    const [weather] = await mcpTools(await connect());

    const { response } = await client.generate.runTools({
      model: 'm-chat',
      contents: 'Lisbon?',
      functions: weather === undefined ? [] : [weather],
    });

    expect(response.text).toContain('24 degrees');
  });

  test.each([
    { name: 'draw_it', received: /^\{"type":"image".*\(8 bytes, not shown\)/ },
    { name: 'fail', received: /^The tool failed: No such file$/ },
    { name: 'exit', received: /^The tool failed: .*closed/i },
  ])('the model receives the result of $name', async ({ name, received }) => {
    expect(await run(await connect(), name)).toMatch(received);
  });

  test('an abort of the run cancels the call on the server', async () => {
    const mcp = await connect();
    const call = vi.spyOn(mcp, 'callTool');
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'wait', arguments: '{}' } }];
    const message = { role: 'assistant', content: null, tool_calls };
    const { client } = scripted([
      json({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    ]);

    const runner = client.chat.completions.runTools({ ...ask, tools: await mcpTools(mcp) });
    const failure = failureOf(runner.done());
    await expect.poll(() => call.mock.calls.length).toBeGreaterThan(0);
    runner.controller.abort();

    expect(await failure).toBeInstanceOf(APIUserAbortError);
    expect(await run(mcp, 'count_aborted')).toBe('1 aborted');
  });
});
