import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { chunk, encode, usageChunk } from './sse.ts';

const begun = encode(chunk({ role: 'assistant', content: 'Hel' }));
const toolCall = {
  tool_calls: [
    { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } },
  ],
};

function events(response: ServerResponse, text: string): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text);
  return response;
}

/** Sends the beginning, and continues once it is sent. */
function beginEvents(response: ServerResponse, then: () => void): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(begun, () => setImmediate(then));
}

function completion(message: object, finish: string): string {
  const choices = [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish },
  ];
  return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices });
}

function answer(response: ServerResponse, isStream: boolean, delta: object, finish: string): void {
  if (isStream)
    events(response, encode(chunk(delta), chunk({}, finish), usageChunk, '[DONE]')).end();
  else
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion(delta, finish));
}

/** Behaviours of the server, by the requested model. */
const behaviours = {
  reset: (response) => response.destroy(),
  refused: (response) => response.writeHead(500).end('{"error":{"message":"no","code":"x"}}'),
  page: (response) => response.writeHead(200).end('<!doctype html>'),
  empty: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
  cut: (response) => beginEvents(response, () => response.destroy()),
  'cut-json': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
    response.write('{"choices":[', () => setImmediate(() => response.destroy()));
  },
  ended: (response) => beginEvents(response, () => response.end()),
  terminated: (response) => beginEvents(response, () => response.end(encode('[DONE]'))),
  'error-event': (response) =>
    beginEvents(response, () => response.end(encode({ error: { message: 'no' } }))),
  'bare-error': (response) =>
    beginEvents(response, () => response.end('{"error":{"message":"no"}}')),
  garbled: (response) => beginEvents(response, () => response.end('data: {"ch\n\n')),
  large: (response) =>
    beginEvents(response, () => response.end(`data: "${'x'.repeat(9_000)}"\n\n`)),
  silent: (response) => beginEvents(response, () => undefined),
  heartbeats: (response) => beginEvents(response, () => response.write(': PING\n\n')),
  mute: () => undefined,
  'wrong-output': (response, isStream) => answer(response, isStream, { content: 'Sure!' }, 'stop'),
  'cut-output': (response, isStream) => answer(response, isStream, { content: '{"a"' }, 'length'),
  'wants-tools': (response, isStream) => answer(response, isStream, toolCall, 'tool_calls'),
  whole: (response, isStream) => answer(response, isStream, { content: 'Hello' }, 'stop'),
} satisfies Record<string, (response: ServerResponse, isStream: boolean) => unknown>;

/** The name of a behaviour. */
export type Behaviour = keyof typeof behaviours;

/** Every behaviour. */
export const behaviourNames = Object.keys(behaviours).filter(isBehaviour);

/** Checks the name of a behaviour. */
export function isBehaviour(name: string): name is Behaviour {
  return Object.hasOwn(behaviours, name);
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += String(piece);
  return JSON.parse(text);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, stream } = Object(await readBody(request));
  const name = String(model ?? /models\/([\w-]+):/.exec(request.url ?? '')?.[1]);
  if (isBehaviour(name)) behaviours[name](response, stream === true);
  else response.writeHead(404).end();
}

/** Allows pages of any origin, as gateways do. */
const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type, accept',
  'access-control-max-age': '600',
};

/** A server whose behaviour is named by the model. */
export interface FaultyServer extends AsyncDisposable {
  readonly url: string;
  /** The number of requests. */
  readonly requests: () => number;
  /** The number of responses that are neither finished nor aborted by the client. */
  readonly open: () => number;
}

/** Starts a server on a real socket. */
export async function startFaultyServer(): Promise<FaultyServer> {
  let requests = 0;
  let open = 0;
  const server = createServer((request, response) => {
    response.setHeaders(new Map(Object.entries(corsHeaders)));
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    requests += 1;
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    // A client may disconnect during its request.
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
