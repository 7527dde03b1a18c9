// The same programs with `openai` and with this client, against one server: what they send and receive
// has to agree, except for the rows of the table in docs/guides/from-openai.md.
import { createServer } from 'node:http';
import { once } from 'node:events';
import TheirOpenAI from 'openai';
import { zodResponseFormat as theirResponseFormat } from 'openai/helpers/zod';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { zodResponseFormat } from '../../src/adapters/helpers/zod.ts';
import OpenAI from '../../src/index.ts';
import { untyped } from '../helpers/untyped.ts';

interface Answer {
  readonly body: string;
  readonly status?: number;
  readonly type?: string;
}

type Program = (client: OpenAI) => unknown;

/** Answers every request the same way, and keeps what was sent. */
async function startServer({ body, status = 200, type = 'application/json' }: Answer) {
  const requests: { path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let sent = '';
    request.on('data', (piece: Buffer) => (sent += piece.toString()));
    request.on('end', () => {
      requests.push({ path: decodeURIComponent(request.url ?? ''), body: sent });
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { requests, baseURL: `http://127.0.0.1:${port}/v1` };
}

/** Runs a program with both clients. */
async function runBeside(program: Program, answer: Answer) {
  const { requests, baseURL } = await startServer(answer);
  const options = { apiKey: 'sk-1', baseURL, maxRetries: 0 };
  const theirs = await program(untyped<OpenAI>(new TheirOpenAI(options)));
  const sentByTheirs = requests.splice(0);
  const ours = await program(new OpenAI(options));
  return {
    theirs: { result: theirs, sent: sentByTheirs },
    ours: { result: ours, sent: requests },
  };
}

describe('routes by their path', () => {
  const nested = { filter: { deep: 1, list: [2, 3] } };
  const programs: readonly {
    readonly name: string;
    readonly program: Program;
    readonly body: string;
  }[] = [
    {
      name: 'a list in the query',
      program: (client) => client.get('/x', { query: { tag: ['a', 'b'] } }),
      body: '{"ok":true}',
    },
    {
      name: 'an object in the query',
      program: (client) => client.get('/x', { query: nested }),
      body: '{"ok":true}',
    },
    {
      name: 'a date in the query',
      program: (client) => client.get('/x', { query: { at: new Date(0) } }),
      body: '{"ok":true}',
    },
    { name: 'empty JSON', program: (client) => client.get('/x'), body: '' },
    {
      name: 'a POST whose body is null',
      program: (client) => client.post('/x', { body: null }),
      body: '{"ok":true}',
    },
    {
      name: 'a GET whose body is null',
      program: (client) => client.get('/x', { body: null }),
      body: '{"ok":true}',
    },
  ];

  test.each(programs)('$name', async ({ program, body }) => {
    const { theirs, ours } = await runBeside(program, { body });

    expect(ours).toStrictEqual(theirs);
  });
});

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ask: Program = (client) => client.chat.completions.create({ model: 'm', messages });

const fail: Program = async (client) => {
  const failure: unknown = await Promise.resolve(ask(client)).catch((error: unknown) => error);
  const { status, code, requestID } = untyped<InstanceType<typeof OpenAI.APIError>>(failure);
  return { status, code, requestID };
};

const stream: Program = async (client) => {
  const chunks: unknown[] = [];
  const params = { model: 'm', messages, stream: true } as const;
  for await (const one of await client.chat.completions.create(params)) chunks.push(one);
  return chunks;
};

const generate: Program = (client) => client.images.generate({ model: 'm', prompt: 'A cat' });

const events = (...list: readonly object[]): string =>
  [...list.map((event) => JSON.stringify(event)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');

describe('errors', () => {
  test.each([42, 0, null, '', 'slow_down', undefined])('a code %j', async (code) => {
    const body = JSON.stringify({ error: { message: 'Bad.', code } });

    const { theirs, ours } = await runBeside(fail, { body, status: 400 });

    expect(ours.result).toStrictEqual(theirs.result);
    expect(ours.result).toStrictEqual({ status: 400, code, requestID: null });
  });
});

describe('answers', () => {
  const message = { role: 'assistant', content: 'Hi', refusal: null };
  const choice = { index: 0, message, finish_reason: 'stop', logprobs: null };
  const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
  const nulls = { tool_calls: null, function_call: null, annotations: null, audio: null };
  const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const delta = { role: 'assistant', content: 'Hi', ...nulls, refusal: null };
  const piece = { index: 0, id: null, type: null, function: { name: null, arguments: null } };
  const chunk = { ...completion, object: 'chat.completion.chunk' };

  const answers: readonly {
    readonly name: string;
    readonly program: Program;
    readonly body: object;
  }[] = [
    { name: 'nothing that was not sent', program: ask, body: { ...completion, choices: [choice] } },
    {
      name: 'null in a message',
      program: ask,
      body: { ...completion, choices: [{ ...choice, message: { ...message, ...nulls } }] },
    },
    {
      name: 'null beside the choices',
      program: ask,
      body: {
        ...completion,
        choices: [choice],
        usage: null,
        system_fingerprint: null,
        service_tier: null,
      },
    },
    {
      name: 'null in the usage',
      program: ask,
      body: {
        ...completion,
        choices: [choice],
        usage: {
          ...counts,
          prompt_tokens_details: null,
          completion_tokens_details: { reasoning_tokens: null },
        },
      },
    },
    {
      name: 'null in images',
      program: generate,
      body: { created: 1, data: [{ url: 'https://x.test/a.png' }], background: null, usage: null },
    },
  ];

  test.each(answers)('answers keep $name', async ({ program, body }) => {
    const { theirs, ours } = await runBeside(program, { body: JSON.stringify(body) });

    expect(ours.result).toStrictEqual(theirs.result);
    expect(ours.result).toStrictEqual(body);
  });

  test('chunks keep null, and have no added fields', async () => {
    const sent = [
      {
        ...chunk,
        usage: null,
        choices: [{ index: 0, delta, finish_reason: null, logprobs: null }],
      },
      { ...chunk, choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ];

    const { theirs, ours } = await runBeside(stream, {
      body: events(...sent),
      type: 'text/event-stream',
    });

    expect(ours.result).toStrictEqual(theirs.result);
    expect(ours.result).toStrictEqual(sent);
  });
});

describe('schemas of zod', () => {
  test.each([
    ['the length of a text', z.object({ name: z.string().min(1).max(5) })],
    ['the length of a text in a list', z.object({ names: z.array(z.string().min(2)).min(1) })],
    ['a pattern', z.object({ name: z.string().regex(/a+/) })],
    ['a range', z.object({ count: z.int().min(1).max(9) })],
    ['a format', z.object({ page: z.url() })],
  ])('%s keeps strict mode', (_, schema) => {
    const { json_schema: ours } = zodResponseFormat(schema, 'answer');
    const { json_schema: theirs } = theirResponseFormat(schema, 'answer');
    const { $schema, ...sent } = theirs.schema ?? {};

    expect($schema).toBeTypeOf('string');
    expect(ours).toStrictEqual({ ...theirs, schema: sent });
    expect(ours.strict).toBe(true);
  });
});
