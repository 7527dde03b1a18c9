import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  mcpTools,
  type MCPClient,
  type MCPClientV1,
  type MCPToolResult,
} from '../../src/adapters/helpers/mcp.ts';
import { APIUserAbortError, type Gateway, InvalidInputError } from '../../src/index.ts';
import { bodyOf, emulated, failureOf, json, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Lisbon?' }] };
const text = (value: string) => ({ type: 'text' as const, text: value });
const pixel = 'iVBORw0KGgo=';

/** A client that is connected to a server of the official SDK. */
async function connect(register: (server: McpServer) => void): Promise<Client> {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  register(server);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'client', version: '1.0.0' });
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  return client;
}

const city = z.object({ city: z.string() });

function addWeather(server: McpServer): void {
  server.registerTool(
    'get_weather',
    { description: 'The weather in a city.', inputSchema: city },
    () => ({ content: [text('Sunny, 24 degrees')] }),
  );
}

/** A client with the members that `mcpTools()` uses. */
function listing(...names: readonly string[]): MCPClient {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return {
    listTools: () => Promise.resolve({ tools }),
    callTool: ({ name }) => Promise.resolve({ content: [text(`called ${name}`)] }),
  };
}

/** A completion that calls a tool once, and then one that is done. */
function calling(name: string, args = '{}') {
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name, arguments: args } }];
  const messages = [{ content: null, tool_calls }, { content: 'Done.' }];
  return scripted(
    messages.map((message, index) => {
      const finish_reason = index === 0 ? 'tool_calls' : 'stop';
      return json({
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
      });
    }),
  );
}

/** Runs a tool once; returns what the model receives, and the reported errors. */
async function run(mcp: MCPClient | MCPClientV1, name: string, args?: string, options = {}) {
  const { client, requests } = calling(name, args);
  const errors: string[] = [];
  const runner = client.chat.completions
    .runTools({ ...ask, tools: await mcpTools(mcp, options) })
    .on('functionToolCallError', (error) => errors.push(error.message));
  await runner.done();
  const { messages }: { messages: { content: unknown }[] } = untyped(await bodyOf(requests[1]));
  return { received: messages.at(-1)?.content, errors };
}

describe('mcpTools() with a server of the official SDK', () => {
  const ways: readonly {
    api: string;
    answer: (client: Gateway, mcp: Client) => Promise<unknown>;
  }[] = [
    {
      api: 'chat',
      answer: async ({ chat }, mcp) =>
        chat.completions.runTools({ ...ask, tools: await mcpTools(mcp) }).finalContent(),
    },
    {
      api: 'chat, streamed',
      answer: async ({ chat }, mcp) =>
        chat.completions
          .runTools({ ...ask, tools: await mcpTools(mcp), stream: true })
          .finalContent(),
    },
    {
      api: 'generate',
      answer: async ({ generate }, mcp) => {
        const functions = await mcpTools(mcp);
        const params = { model: 'm-chat', contents: 'Lisbon?', functions };
        return (await generate.runTools(params)).response.text;
      },
    },
  ];

  test.each(ways)('runs its tools: $api', async ({ answer }) => {
    const { client, emulator } = emulated();

    expect(await answer(client, await connect(addWeather))).toContain('Sunny, 24 degrees');
    expect(emulator.requests).toHaveLength(2);
    expect(emulator.charges).toHaveLength(2);
  });

  test('sends the input schema unchanged, apart from $schema', async () => {
    const mcp = await connect(addWeather);
    const [listed] = (await mcp.listTools()).tools;

    const [tool] = await mcpTools(mcp);

    const { $schema, ...parameters }: Record<string, unknown> = { ...listed?.inputSchema };
    expect($schema).toContain('json-schema.org');
    expect(tool?.function).toEqual({
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters,
    });
  });

  const results: readonly { kind: string; result: CallToolResult; received: string }[] = [
    { kind: 'texts', result: { content: [text('One'), text('Two')] }, received: 'One\nTwo' },
    { kind: 'nothing', result: { content: [] }, received: 'null' },
    {
      kind: 'an image',
      result: {
        content: [text('A pixel'), { type: 'image', mimeType: 'image/png', data: pixel }],
      },
      received: 'A pixel\n{"type":"image","data":"(8 bytes, not shown)","mimeType":"image/png"}',
    },
    {
      kind: 'audio',
      result: { content: [{ type: 'audio', mimeType: 'audio/wav', data: pixel }] },
      received: '{"type":"audio","data":"(8 bytes, not shown)","mimeType":"audio/wav"}',
    },
    {
      kind: 'a text resource',
      result: {
        content: [{ type: 'resource', resource: { uri: 'file:///a.md', text: '# A\nB' } }],
      },
      received: 'file:///a.md:\n# A\nB',
    },
    {
      kind: 'a binary resource',
      result: {
        content: [{ type: 'resource', resource: { uri: 'file:///a.png', blob: pixel } }],
      },
      received:
        '{"type":"resource","resource":{"uri":"file:///a.png","blob":"(8 bytes, not shown)"}}',
    },
    {
      kind: 'a link to a resource',
      result: { content: [{ type: 'resource_link', uri: 'file:///a.md', name: 'A' }] },
      received: '{"name":"A","uri":"file:///a.md","type":"resource_link"}',
    },
    {
      kind: 'structured content alone',
      result: { content: [], structuredContent: { days: 3 } },
      received: '{"days":3}',
    },
    {
      kind: 'structured content and the same as text',
      result: { content: [text('{ "days": 3 }')], structuredContent: { days: 3 } },
      received: '{ "days": 3 }',
    },
    {
      kind: 'structured content and another text',
      result: { content: [text('3 days')], structuredContent: { days: 3 } },
      received: '3 days\n{"days":3}',
    },
  ];

  test.each(results)('the model receives $kind', async ({ result, received }) => {
    const mcp = await connect((server) => server.registerTool('find', {}, () => result));

    const ran = await run(mcp, 'find');

    expect(JSON.parse(JSON.stringify(ran))).toEqual({ received, errors: [] });
  });

  const failures: readonly {
    failure: string;
    tool?: () => CallToolResult;
    args?: string;
    error: string;
  }[] = [
    {
      failure: 'the tool reports an error',
      tool: () => ({ isError: true, content: [text('The disk is full')] }),
      error: 'The disk is full',
    },
    {
      failure: 'the tool reports an error without content',
      tool: () => ({ isError: true, content: [] }),
      error: 'The server sent no description.',
    },
    {
      failure: 'the tool throws',
      tool: () => {
        throw new Error('Out of memory');
      },
      error: 'Out of memory',
    },
    {
      failure: 'the server rejects the arguments',
      args: '{"city":1}',
      error: 'city: Invalid input',
    },
    { failure: 'the arguments are not an object', args: '[1]', error: 'must be a JSON object' },
    { failure: 'the arguments are not JSON', args: '{"city"', error: 'not valid JSON' },
  ];

  test.each(failures)('the model receives the error if $failure', async ({ tool, args, error }) => {
    const mcp = await connect((server) => {
      server.registerTool('find', { inputSchema: city }, () => tool?.() ?? { content: [] });
    });

    const { received, errors } = await run(mcp, 'find', args ?? '{"city":"Rome"}');

    expect(received).toContain(error);
    expect(errors).toEqual([expect.stringContaining(error)]);
  });

  test('the model receives the error if the connection is closed', async () => {
    const mcp = await connect(addWeather);
    const tools = await mcpTools(mcp);
    const { client, requests } = calling('get_weather', '{"city":"Rome"}');
    await mcp.close();

    await client.chat.completions.runTools({ ...ask, tools }).done();

    expect(JSON.stringify(await bodyOf(requests[1]))).toContain('The tool failed: ');
  });

  test('an abort of the run cancels the call on the server', async () => {
    const signals: AbortSignal[] = [];
    const mcp = await connect((server) => {
      server.registerTool('wait', {}, ({ mcpReq: { signal } }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      });
    });
    const { client } = calling('wait');

    const runner = client.chat.completions.runTools({ ...ask, tools: await mcpTools(mcp) });
    const failure = failureOf(runner.done());
    await expect.poll(() => signals).toHaveLength(1);
    runner.controller.abort();

    expect(await failure).toBeInstanceOf(APIUserAbortError);
    await expect.poll(() => signals).toMatchObject([{ aborted: true }]);
  });

  test('timeout limits a tool call', async () => {
    const mcp = await connect((server) => {
      server.registerTool('wait', {}, () => new Promise(() => undefined));
    });

    const { received } = await run(mcp, 'wait', '{}', { timeout: 20 });

    expect(received).toMatch(/The tool failed: .*timed out/i);
  });

  test('onResult receives the result and the call, and may fail it', async () => {
    const image = { type: 'image' as const, mimeType: 'image/png', data: pixel };
    const mcp = await connect((server) => {
      server.registerTool('draw.it', { inputSchema: city }, () => ({ content: [image] }));
    });
    const seen: unknown[] = [];
    const onResult = (result: MCPToolResult, call: unknown) => {
      seen.push(result.content, call);
      throw new Error('No screen');
    };

    const { received } = await run(mcp, 'draw_it', '{"city":"Rome"}', { onResult });

    expect(seen).toEqual([[image], { name: 'draw.it', arguments: { city: 'Rome' } }]);
    expect(received).toBe('The tool failed: No screen');
  });
});

const page = (name: string) => [{ name, inputSchema: { type: 'object' } }];

describe('mcpTools()', () => {
  test('lists the tools on all pages', async () => {
    const pages = new Map<string | undefined, string>([
      [undefined, 'b'],
      ['b', 'c'],
    ]);
    const mcp: MCPClient = {
      ...listing(),
      listTools(params) {
        const cursor = params?.cursor;
        const tools = [{ name: `tool_${cursor ?? 'a'}`, inputSchema: {} }];
        return Promise.resolve({ tools, nextCursor: pages.get(cursor) });
      },
    };

    const tools = await mcpTools(mcp);

    expect(tools.map(({ function: { name } }) => name)).toEqual(['tool_a', 'tool_b', 'tool_c']);
  });

  test.each([
    ['has null as its cursor', [{ tools: page('a'), nextCursor: null }]],
    [
      'repeats a cursor',
      [
        { tools: page('a'), nextCursor: 'same' },
        { tools: page('b'), nextCursor: 'same' },
      ],
    ],
    [
      'is repeated whole, with other cursors',
      [
        { tools: page('a'), nextCursor: '1' },
        { tools: page('b'), nextCursor: '2' },
        { tools: page('b'), nextCursor: '3' },
      ],
    ],
    [
      'repeats itself for ever',
      Array.from({ length: 50 }, (_, at) => ({ tools: page('a'), nextCursor: String(at) })),
    ],
    [
      'is empty, and repeats its cursor',
      [
        { tools: page('a'), nextCursor: '1' },
        { tools: [], nextCursor: '1' },
      ],
    ],
  ])('lists each tool once if a page %s', async (_, answers) => {
    const left = [...answers];
    const mcp: MCPClient = {
      ...listing(),
      listTools: () => Promise.resolve(left.shift() ?? { tools: [], nextCursor: null }),
    };

    const names = (await mcpTools(mcp)).map(({ function: { name } }) => name);

    expect(names).toEqual([...new Set(names)]);
    expect(names[0]).toBe('a');
    expect(answers.length - left.length).toBeLessThan(4);
  });

  test.each([
    ['only a type', { type: 'object' }, {}],
    ['nothing', {}, {}],
    [
      'no properties',
      { type: 'object', additionalProperties: false },
      { additionalProperties: false },
    ],
    ['null as properties', { type: 'object', properties: null }, {}],
  ])(
    'lists the empty properties that OpenAI requires if a schema has %s',
    async (_, inputSchema, rest) => {
      const mcp: MCPClient = {
        ...listing(),
        listTools: () => Promise.resolve({ tools: [{ name: 'now', inputSchema }] }),
      };

      const [tool] = await mcpTools(mcp);

      expect(tool?.function.parameters).toEqual({ type: 'object', properties: {}, ...rest });
    },
  );

  test('lists and calls tools of a client of version 1, which takes its options third', async () => {
    const seen: unknown[] = [];
    const { listTools } = listing('find');
    const old: MCPClientV1 = {
      listTools,
      callTool: (params, ...others) => {
        seen.push(params, ...others);
        return Promise.resolve({ content: [text('Found')] });
      },
    };

    const { received, errors } = await run(old, 'find', '{"city":"Rome"}', { timeout: 500 });

    expect({ received, errors }).toEqual({ received: 'Found', errors: [] });
    const signal = expect.any(AbortSignal);
    expect(seen).toEqual([
      { name: 'find', arguments: { city: 'Rome' } },
      undefined,
      { signal, timeout: 500 },
    ]);
  });

  test('rejects with the error of the client', async () => {
    const offline = new Error('Offline');

    const mcp: MCPClient = { ...listing(), listTools: () => Promise.reject(offline) };

    expect(await failureOf(mcpTools(mcp))).toBe(offline);
  });

  const long = 'a'.repeat(70);
  const cases: readonly {
    names: readonly (readonly string[])[];
    prefix?: string;
    sent: readonly string[];
  }[] = [
    { names: [['read-file', 'Write_2']], sent: ['read-file', 'Write_2'] },
    { names: [['files.read', 'résumé', '']], sent: ['files_read', 'r_sum_', 'tool'] },
    { names: [['a.b', 'a_b', 'a/b']], sent: ['a_b_2', 'a_b', 'a_b_3'] },
    { names: [['find'], ['find', 'find_2']], sent: ['find', 'find_3', 'find_2'] },
    { names: [[long, `${long}b`]], sent: [long.slice(0, 64), `${long.slice(0, 62)}_2`] },
    { names: [['find']], prefix: 'web_', sent: ['web_find'] },
  ];

  test.each(cases)(
    'lists valid and unique names: $names become $sent',
    async ({ names, prefix, sent }) => {
      const clients = names.map((list) => listing(...list));

      const tools = await mcpTools(clients, { prefix });

      expect(tools.map(({ function: { name } }) => name)).toEqual(sent);
      const original = await Promise.all(
        tools.map((tool) =>
          tool.$callback?.({}, untyped({ controller: new AbortController() }), null),
        ),
      );
      expect(original).toEqual(names.flat().map((name) => `called ${name}`));
    },
  );

  test.each([
    { field: 'clients', clients: {}, options: {} },
    { field: 'clients', clients: [listing(), null], options: {} },
    { field: 'options', clients: listing(), options: 'web_' },
    { field: 'prefix', clients: listing(), options: { prefix: 'web.' } },
    { field: 'timeout', clients: listing(), options: { timeout: 0 } },
    { field: 'onResult', clients: listing(), options: { onResult: true } },
  ])('$field is checked', async ({ field, clients, options }) => {
    const failure = await failureOf(mcpTools(untyped(clients), untyped(options)));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toMatchObject({ field });
  });
});
