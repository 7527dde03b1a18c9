// An agent makes a storyboard with the MCP server, which is killed at random. Each call is paid for once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Gateway } from 'model-gateway';
import { mcpTools, type MCPClient } from 'model-gateway/helpers/mcp';
import { createEmulator } from 'model-gateway/testing';

const emulator = createEmulator({ videoDuration: 1_000 });
const server = await emulator.listen();
const folder = await mkdtemp(join(tmpdir(), 'storyboard-'));

// In your own project: command 'npx' with args ['-y', 'model-gateway', 'mcp'].
const packagePath = fileURLToPath(import.meta.resolve('model-gateway/package.json'));
const program = join(packagePath, '../dist/cli/main.js');

/** Kills a process, if it still runs. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** A client that starts the server again after a lost connection, and repeats the call, as hosts do. */
class ReconnectingClient implements MCPClient {
  #connection: Promise<{ client: Client; transport: StdioClientTransport }> | undefined;
  starts = 0;

  async #connect() {
    this.starts += 1;
    const client = new Client({ name: 'storyboard', version: '1.0.0' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '--dir', join(folder, 'results')],
      env: {
        PATH: process.env['PATH'] ?? '',
        XDG_STATE_HOME: join(folder, 'state'),
        GATEWAY_BASE_URL: server.url,
        GATEWAY_API_KEY: emulator.apiKey,
      },
    });
    await client.connect(transport);
    return { client, transport };
  }

  async #repeat<Result>(call: (client: Client) => Promise<Result>): Promise<Result> {
    for (;;) {
      const connection = (this.#connection ??= this.#connect());
      try {
        const { client, transport } = await connection;
        const isCut = this.starts < 6 && Math.random() < 0.6;
        if (isCut && transport.pid !== null) {
          const { pid } = transport;
          setTimeout(() => kill(pid), Math.random() * 500);
        }
        return await call(client);
      } catch {
        // Of several calls that fail together, the first starts the server again.
        if (this.#connection === connection) this.#connection = undefined;
      }
    }
  }

  readonly listTools: MCPClient['listTools'] = (params) =>
    this.#repeat((client) => client.listTools(params));

  readonly callTool: MCPClient['callTool'] = (params, options) =>
    this.#repeat((client) => client.callTool(params, options));

  async end(): Promise<void> {
    await (await this.#connection)?.client.close();
  }
}

// What a model would decide: four pictures, then the film, then a summary.
const scenes = ['A harbour at dawn', 'A paper boat', 'A storm', 'A quiet beach'];
emulator.respondOnce('chat.completions.create', {
  toolCalls: scenes.map((prompt) => ({
    name: 'create_image',
    arguments: { prompt, model: 'm-image' },
  })),
});
const film = { prompt: 'A paper boat sails through a storm', model: 'm-video', seconds: 4 };
emulator.respondOnce('chat.completions.create', {
  toolCalls: [{ name: 'create_video', arguments: film }],
});
emulator.respondOnce('chat.completions.create', { text: 'The storyboard is ready.' });

const agent = new ReconnectingClient();
const gateway = new Gateway({ baseURL: server.url, apiKey: emulator.apiKey });
const runner = gateway.chat.completions
  .runTools({
    model: 'm-large',
    messages: [{ role: 'user', content: 'Make a storyboard with four pictures and a film.' }],
    tools: await mcpTools(agent),
  })
  .on('functionToolCall', ({ name, arguments: args }) => console.log(`${name} ${args}`))
  .on('functionToolCallError', (error) => console.log('It went wrong:', error.message));
console.log(await runner.finalContent());

// A host would let the model call wait_video.
const { signal } = new AbortController();
const call = { name: 'create_video', arguments: film };
let files: readonly { path: string }[] = [];
while (files.length === 0) {
  const { structuredContent } = await agent.callTool(call, { signal });
  const job: { call_id: string; files: { path: string }[] } = JSON.parse(
    JSON.stringify(structuredContent),
  );
  files = job.files;
  await agent.callTool({ name: 'wait_video', arguments: { call_id: job.call_id } }, { signal });
}
console.log(`Saved ${files.map(({ path }) => basename(path)).join(', ')}`);
await agent.end();

const paid = emulator.charges.filter(({ model }) => model !== 'm-large');
console.log(`The server was killed ${agent.starts - 1} times; ${paid.length} calls were charged.`);
await server.close();
await rm(folder, { recursive: true });
