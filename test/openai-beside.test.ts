// The same programs with `openai` and with this client, against one server: what they send and receive
// has to agree, except for the rows of the table in docs/guides/from-openai.md.
import { createServer } from 'node:http';
import { once } from 'node:events';
import TheirOpenAI from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import OpenAI from '../src/index.ts';
import { untyped } from './helpers/untyped.ts';

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
  const programs: readonly (readonly [string, Program, string])[] = [
    [
      'a list in the query',
      (client) => client.get('/x', { query: { tag: ['a', 'b'] } }),
      '{"ok":true}',
    ],
    ['an object in the query', (client) => client.get('/x', { query: nested }), '{"ok":true}'],
    [
      'a date in the query',
      (client) => client.get('/x', { query: { at: new Date(0) } }),
      '{"ok":true}',
    ],
    ['empty JSON', (client) => client.get('/x'), ''],
    ['a POST whose body is null', (client) => client.post('/x', { body: null }), '{"ok":true}'],
    ['a GET whose body is null', (client) => client.get('/x', { body: null }), '{"ok":true}'],
  ];

  test.each(programs)('%s', async (_, program, body) => {
    const { theirs, ours } = await runBeside(program, { body });

    expect(ours).toStrictEqual(theirs);
  });
});

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ask: Program = (client) => client.chat.completions.create({ model: 'm', messages });

describe('errors', () => {
  const fail: Program = async (client) => {
    const failure: unknown = await Promise.resolve(ask(client)).catch((error: unknown) => error);
    const { status, code, requestID } = untyped<InstanceType<typeof OpenAI.APIError>>(failure);
    return { status, code, requestID };
  };

  test.each([42, 0, null, '', 'slow_down', undefined])('a code %j', async (code) => {
    const body = JSON.stringify({ error: { message: 'Bad.', code } });

    const { theirs, ours } = await runBeside(fail, { body, status: 400 });

    expect(ours.result).toStrictEqual(theirs.result);
    expect(ours.result).toStrictEqual({ status: 400, code, requestID: null });
  });
});
