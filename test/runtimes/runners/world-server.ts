import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isStepCount, streamText, tool } from 'ai';
import { Gateway } from 'model-gateway';
import { createModelGateway } from 'model-gateway/ai-sdk';
import { createEmulator } from 'model-gateway/testing';
import * as z from 'zod';
import { behaviourNames, startFaultyServer } from '../../helpers/faulty-server.ts';
import type { Family, World } from '../harness/world.ts';
import type { Certificates } from '../servers/certificates.ts';
import { startFaultServers } from '../servers/fault-server.ts';

/** A file that the page server hands out. */
export interface ServedFile {
  readonly type: string;
  readonly content: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Everything around one runtime: an emulator, fault servers, and a page for browsers. */
export interface RunningWorld extends AsyncDisposable {
  readonly world: World;
  /** The origin of the page server. */
  readonly page: string;
  /** Files of the page server, by path. */
  readonly files: Map<string, ServedFile>;
}

function answer(response: ServerResponse, file: ServedFile | undefined): void {
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': file.type, ...file.headers });
  response.end(file.content);
}

/** Answers with a chat as lines of JSON, as the server of an app does that keeps the key from pages. */
async function relay(client: Gateway, response: ServerResponse): Promise<void> {
  const stream = client.chat.completions.stream({
    model: 'm-large',
    messages: [{ role: 'user', content: 'Tell me a [long] story' }],
  });
  response.writeHead(200, { 'content-type': 'text/plain', 'access-control-allow-origin': '*' });
  try {
    for await (const bytes of stream.toReadableStream()) {
      // Bytes that are not on their way when the connection is cut would be lost.
      await new Promise((resolve) => response.write(bytes, resolve));
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Answers with a chat as the AI SDK sends it to pages. */
async function relayByAISDK(client: Gateway, response: ServerResponse): Promise<void> {
  const weather = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, sky: 'clear' }),
  });
  const result = streamText({
    model: createModelGateway({ client })('m-large'),
    prompt: 'Weather in Rome?',
    tools: { weather },
    stopWhen: isStepCount(3),
    onError: () => {},
  });
  const { headers, body } = result.toUIMessageStreamResponse();
  response.writeHead(200, Object.fromEntries(headers));
  for await (const bytes of body ?? []) response.write(bytes);
  response.end();
}

/** Starts the servers that one runtime needs. */
export async function startWorld(
  runtime: string,
  family: Family,
  certificates: Certificates,
): Promise<RunningWorld> {
  const emulator = createEmulator();
  const listening = await emulator.listen();
  const faults = await startFaultServers(certificates);
  const faulty = await startFaultyServer();
  const files = new Map<string, ServedFile>();
  const questions: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
    '/hits': (query) => faults.takeHits(query.get('fault') ?? ''),
    '/open': faulty.open,
  };
  const client = new Gateway({ baseURL: listening.url, apiKey: emulator.apiKey, logLevel: 'off' });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    // A connection that is kept may be closed while a slow machine sends the next request on it.
    response.setHeader('connection', 'close');
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/relay') {
      void relay(client, response);
      return;
    }
    if (url.pathname === '/ai-sdk-chat') {
      void relayByAISDK(client, response);
      return;
    }
    const asked = questions[url.pathname];
    if (asked === undefined) {
      answer(response, files.get(url.pathname));
      return;
    }
    const content = JSON.stringify(asked(url.searchParams));
    const headers = { 'access-control-allow-origin': '*' };
    answer(response, { type: 'application/json', content, headers });
  };
  const server = createServer(handle);
  const page = await new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve(`http://127.0.0.1:${port}`);
    });
  });
  const world: World = {
    runtime,
    family,
    emulator: listening.url,
    apiKey: emulator.apiKey,
    faults: faults.addresses,
    faulty: { url: faulty.url, models: behaviourNames },
    control: page,
  };
  files.set('/world.json', { type: 'application/json', content: JSON.stringify(world) });
  return {
    world,
    page,
    files,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await Promise.all([emulator, faults, faulty].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}
